#pragma once

#include <kandinsky/weights.hpp>

#include "cli/options/input.hpp"
#include "cli/options/option_set.hpp"

namespace kandinsky::cli {

/// --weights, --shift-to and their options: the weights of calibration groups.
struct WeightFlags {
    std::string weights, shift_to, shift_groups;
    double max_weight = 0;  ///< 0: not given

    void declare(OptionSet& app);
    [[nodiscard]] bool given() const { return !weights.empty() || !shift_to.empty(); }
    /// The weights of the images that were read with `how`; empty if none are given.
    [[nodiscard]] GroupWeights load(const Input& images, const InputFlags& how, Progress& progress) const;
};

}  // namespace kandinsky::cli
