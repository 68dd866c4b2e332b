#pragma once

#include <vector>

#include "calibrate/choose.hpp"

namespace kandinsky {

struct CrossLoss {
    std::vector<double> loss;  ///< of each contender, all 0 when nothing could be judged
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

}  // namespace kandinsky
