#pragma once

#include <kandinsky/score.hpp>

#include "score/scoring.hpp"

namespace kandinsky {

/// Scores of `n` pixels. Planes of probabilities lie `probs_step` floats apart, planes of scores
/// `scores_step`. Writes nothing for near. The rest of the contract is that of score().
void score_planes(const ScoreOptions& options, std::size_t classes, std::size_t n, const float* probs,
                  std::size_t probs_step, float* scores, std::size_t scores_step, const ScorePlace& place);

}  // namespace kandinsky
