#pragma once

#include <optional>
#include <vector>

#include "partition/field/candidates.hpp"

namespace kandinsky::partition::field {

/// Products of the candidates' errors under cross-validation: for weights w that sum to 1 the blend's loss is
/// w' M w, and the diagonal has the losses of single candidates.
struct ErrorProducts {
    std::size_t candidates = 0;
    std::vector<double> values;  ///< [candidate][candidate], symmetric
    std::size_t folds = 0;       ///< number of folds that could be judged; 0: all values are 0
    std::vector<std::vector<double>>
        by_fold{};  ///< the same for each fold alone; empty where it was not judged

    [[nodiscard]] double at(std::size_t j, std::size_t k) const { return values[j * candidates + k]; }
};

/// [fold] the candidates fitted to the other folds; empty if these have no scores.
using FoldFields = std::vector<std::optional<CandidateFields>>;

/// Threshold-weighted CRPS. The product of candidates j and k at a pixel p with scores is the sum over the
/// bins b of v_p(b) (F_j(b) - V(b)) (F_k(b) - V(b)); the result is the mean over the pixels of a fold, then
/// over the folds. F comes from the other folds, V is the fold's own distribution at p, and v_p are the
/// increments of the pilot candidate. Only the middle pixels of cells are used, because neighbours hardly
/// differ; on grids of 3000 cells or more, only those of every second row and column. The order of sums does
/// not depend on threads.
[[nodiscard]] ErrorProducts cross_validate(const Cells& cells, const FoldHistograms& histograms,
                                           const std::vector<Candidate>& candidates, const FoldFields& fields,
                                           Progress& progress);

/// For each fold, the candidates fitted to the other folds.
[[nodiscard]] FoldFields fold_fields(const Cells& cells, const FoldHistograms& histograms,
                                     const std::vector<Candidate>& candidates);

}  // namespace kandinsky::partition::field
