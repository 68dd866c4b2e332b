#pragma once

#include <optional>
#include <string>
#include <vector>

#include "partition/field/blend.hpp"
#include "partition/field/cross_validation.hpp"
#include "partition/field/levels.hpp"

namespace kandinsky::partition::field {

inline constexpr double kRidge = 1e-5;  ///< keeps the weights of candidates that say the same apart

struct Options {
    std::size_t folds = 5, bins = 128;
    FoldOrder order = FoldOrder::content;
    CandidateOptions candidates;
    Locality locality;
};

/// What was learnt about one stratum.
struct Learnt {
    std::vector<Candidate> candidates;
    ErrorProducts products;
    std::vector<double> weights;
    std::vector<std::uint16_t> distributions;                               ///< from all folds
    std::vector<std::optional<std::vector<std::uint16_t>>> without_fold{};  ///< where levels are wanted
};

/// The candidates for a grid of cells, whose bandwidths are asked for in pixels.
[[nodiscard]] std::vector<Candidate> candidates_on(const Cells& cells, CandidateOptions wanted);

/// Learns how pixels share from the counts of one stratum.
[[nodiscard]] Learnt learn(const FoldHistograms& histograms, const Options& options, const Cells& cells,
                           bool without_folds, Progress& progress);

/// What was learnt, as JSON for `inspect` and the report.
[[nodiscard]] std::string describe(const Learnt& learnt, std::size_t folds, const Cells& cells,
                                   std::size_t bins);

/// The numbers of smooth curves that every set of distributions on a grid of scores shares.
[[nodiscard]] SmoothCurves::Storage storage_on(const ScoreGrid& grid, const Cells& cells,
                                               std::optional<std::vector<std::uint16_t>> distributions);

/// The ladder's levels on the scale of the curves: as they are, or the groups' quantiles for them.
[[nodiscard]] std::vector<std::uint32_t> levels_of(const Ladder& ladder, const GroupLevels* fitted);

}  // namespace kandinsky::partition::field
