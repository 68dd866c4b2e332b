#pragma once

#include <kandinsky/calibrator.hpp>
#include <vector>

#include "score/census.hpp"

namespace kandinsky {

/// A method with settled options, to be judged against others.
struct Contender {
    const Method* method = nullptr;
    MethodSettings settings;
    std::map<std::string, std::string> tuned;
};

/// Whether cross-validation has something to choose: the method, or the value of an option.
[[nodiscard]] bool has_choice(const CalibrateOptions& options);

/// Settles the options that are "auto" by default, and that nobody gave, on the paper's value: of the method,
/// or of all where the method is to be chosen.
void settle_defaults(CalibrateOptions& options);

/// Everything there is to choose from, in table order. For kAutoMethod every method that needs no array; for
/// each method all combinations of its options' trials where their value is "auto".
[[nodiscard]] std::vector<Contender> contenders(const CalibrateOptions& options);

/// Chooses a contender for every stratum by cross-validation with the loss of cross_loss.hpp, for each of
/// some methods that share all other options: [method][stratum]. Data are read once for all. Soft methods win
/// near ties: below kNearTie the loss cannot tell methods apart, and they have no shape to be wrong about.
/// Depends on the multiset of images, the options and the seed only.
inline constexpr double kNearTie = 0.02;
[[nodiscard]] std::vector<std::vector<Choice>> choose(const Dataset& data, const Census& census,
                                                      const std::vector<CalibrateOptions>& options,
                                                      Progress& progress);

}  // namespace kandinsky
