#pragma once

#include <optional>
#include <vector>

#include "partition/field/cross_validation.hpp"
#include "partition/fold_levels.hpp"

namespace kandinsky::partition::field {

inline constexpr double kRidge = 1e-5;  ///< makes the weights of nearly equal candidates unique

/// How far distributions depend on the place.
struct Locality {
    double place = 1;     ///< 0: one distribution for the whole image; 1: a distribution for each place
    bool support = true;  ///< the less data the class has, the more the image's distribution counts
    double unit = 1;      ///< number of scores at a pixel that count as one
};

struct Options {
    std::size_t folds = 5, bins = 128;
    FoldOrder order = FoldOrder::content;
    CandidateOptions candidates;  ///< with bandwidths in pixels
    Locality locality;
};

/// The result of learning for one stratum.
struct Learnt {
    std::vector<Candidate> candidates;
    ErrorProducts products;
    std::vector<double> weights;
    FoldDistributions fit;  ///< includes distributions without each fold if levels are needed
};

/// The weights w >= 0 with sum 1 that minimise w' M w + ridge |w|^2, where M [size][size] is symmetric and
/// positive semidefinite and size > 0. An active-set method: exact up to rounding, deterministic. The ridge
/// gives similar weights to candidates that hardly differ.
[[nodiscard]] std::vector<double> simplex_minimum(const std::vector<double>& products, std::size_t size,
                                                  double ridge);

/// Every cell's blended distribution: cumulative and 1 at the last bin.
[[nodiscard]] Plane blend(const Grid& grid, const CandidateFields& fields, const std::vector<double>& weights,
                          std::size_t bins, const Locality& locality = {});

/// The same in the stored form: multiples of 1/65536, rounded down, without the last bin.
[[nodiscard]] std::vector<std::uint16_t> stored(const Plane& blended);

/// The candidates for a grid of cells. `wanted` has bandwidths in pixels, the result in cells.
[[nodiscard]] std::vector<Candidate> candidates_on(const Cells& cells, CandidateOptions wanted);

/// Learns how pixels share scores, from the counts of one stratum, which has at least one score.
/// `without_folds`: also make the distributions without each fold, with the same weights.
[[nodiscard]] Learnt learn(const FoldHistograms& histograms, const Options& options, const Cells& cells,
                           bool without_folds, Progress& progress);

}  // namespace kandinsky::partition::field
