#pragma once

#include <kandinsky/weights.hpp>

#include "cli/options/input.hpp"
#include "cli/options/option_set.hpp"

namespace kandinsky::cli {

/// --weights, --shift-to and what belongs to them: how much each calibration group counts.
struct WeightFlags {
    std::string weights, shift_to, shift_groups;
    double max_weight = 0;  ///< 0: not given

    void declare(OptionSet& app);
    [[nodiscard]] bool given() const { return !weights.empty() || !shift_to.empty(); }
    /// The weights of the images that were read with `how`; none where nothing is given.
    [[nodiscard]] GroupWeights load(const Input& images, const InputFlags& how, Progress& progress) const;
};

}  // namespace kandinsky::cli
