#pragma once

#include <kandinsky/calibrator.hpp>
#include <vector>

#include "partition/method.hpp"
#include "score/census.hpp"

namespace kandinsky {

/// A method with fixed options that is compared with others.
struct Contender {
    const Method* method = nullptr;
    MethodSettings settings;
    std::map<std::string, std::string> tuned;
};

/// Whether the method needs an array from the user.
[[nodiscard]] bool needs_array(const Method& method);

/// Whether cross-validation has a choice to make: the method, or the value of an option.
[[nodiscard]] bool has_choice(const CalibrateOptions& options);

/// Sets options that were not given and are "auto" by default to the paper's value: of the method, or of all
/// methods if the method is to be chosen.
void settle_defaults(CalibrateOptions& options);

/// All contenders, in the order of the table. For kAutoMethod every method that needs no array; for each
/// method all combinations of its options' trials where their value is "auto".
[[nodiscard]] std::vector<Contender> contenders(const CalibrateOptions& options);

struct CrossLoss {
    std::vector<double> loss;  ///< of each contender; all 0 if nothing could be validated
    std::size_t folds = 0;     ///< that could be judged
};

/// Threshold-weighted CRPS of every contender on every stratum: in each of five folds (by group id or image
/// content) the mean over the fold's cells p with scores of sum over b of v_p(b) (F(p, b) - V_p(b))^2, then
/// the mean over folds. F comes from the other folds, V is the fold's own distribution at p, and v_p are the
/// increments of a pilot from the other folds: a Gaussian of 1/40 of the height. The pilot is the same for
/// all contenders, so the loss is proper. F(p, b) is the level at which the contender's threshold passes
/// bin b: (scores up to b) / (n + 1) in a region of n scores, as the conformal rank has it, 0 without any.
/// Regions are found on features read from the training histograms (128 bins). `pooling` plays no part: the
/// loss compares distributions, each score alike. Pixels are counted in cells (cells.hpp), and regions are
/// found on the lattice of cells. Data are read twice whatever the number of contenders and strata, more
/// often where the counts of all strata exceed the memory allowed. Returns one entry for each stratum.
[[nodiscard]] std::vector<CrossLoss> cross_losses(const Dataset& data, const Census& census,
                                                  const CalibrateOptions& options,
                                                  const std::vector<Contender>& all, Progress& progress);

/// Chooses a contender for every stratum by cross-validation with the loss of cross_losses(), for each of
/// some methods that share all other options: [method][stratum]. Data are read once for all. Soft methods win
/// near ties: below kNearTie the loss cannot tell methods apart, and they have no shape to be wrong about.
/// Depends on the multiset of images, the options and the seed only.
inline constexpr double kNearTie = 0.02;
[[nodiscard]] std::vector<std::vector<Choice>> choose(const Dataset& data, const Census& census,
                                                      const std::vector<CalibrateOptions>& options,
                                                      Progress& progress);

}  // namespace kandinsky
