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

/// Whether cross-validation chooses something: the method, or the value of an option.
[[nodiscard]] bool has_choice(const CalibrateOptions& options);

/// Sets options whose default is "auto" to the paper's value unless they were given. Applies to the given
/// method, or to all methods if the method is to be chosen.
void settle_defaults(CalibrateOptions& options);

/// All contenders, in the order of the table: the given method, or for kAutoMethod every method that needs no
/// array, each with all combinations of the trial values of its options that are "auto".
/// With kAutoMethod, settle_defaults() comes first, so only options that were set to "auto" are compared.
[[nodiscard]] std::vector<Contender> contenders(const CalibrateOptions& options);

struct CrossLoss {
    std::vector<double> loss;  ///< of each contender; all 0 if nothing could be validated
    std::size_t folds = 0;     ///< number of folds that could be judged
};

/// Threshold-weighted CRPS of every contender on every stratum. There are five folds, by group id or image
/// content. At a cell p with scores the loss is the sum over the bins b of v_p(b) (F(p, b) - V_p(b))^2; the
/// result is the mean over the cells of a fold, then over the folds. F comes from the other folds, V is the
/// fold's own distribution at p, and v_p are the increments of a pilot, a Gaussian smooth of the other folds
/// over 1/40 of the height. The pilot is the same for all contenders, so the loss is proper. F(p, b) is
/// the level at which the contender's threshold passes bin b: (scores up to b) / (n + 1) in a region of n
/// scores, as for the conformal rank, and 0 without scores. Features for regions are read from the training
/// histograms (128 bins). `pooling` has no effect: the loss compares distributions in which all scores have
/// equal weight. Pixels are counted in cells (cells.hpp), and regions are found on the lattice of cells. Data
/// are read twice for any number of contenders and strata, more often if the counts of all strata exceed the
/// memory allowed. Returns one entry for each stratum.
[[nodiscard]] std::vector<CrossLoss> cross_losses(const Dataset& data, const Census& census,
                                                  const CalibrateOptions& options,
                                                  const std::vector<Contender>& all, Progress& progress);

/// Losses that differ by less than this share count as equal.
inline constexpr double kNearTie = 0.02;
/// Chooses a contender for every stratum by cross-validation with the loss of cross_losses(), for several
/// methods that share all other options: [method][stratum]. One run of cross_losses() serves all. The
/// contender with the least loss is chosen, or a soft method within kNearTie of it, which assumes no shape of
/// regions. Depends on the multiset of images, the options and the seed only.
[[nodiscard]] std::vector<std::vector<Choice>> choose(const Dataset& data, const Census& census,
                                                      const std::vector<CalibrateOptions>& options,
                                                      Progress& progress);

}  // namespace kandinsky
