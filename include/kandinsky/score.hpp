#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kandinsky {

/// The non-conformity score: how strange a class looks at a pixel. Larger is stranger.
enum class ScoreKind {
    lac,  ///< 1 - p_c
};

/// Which pixels a curve speaks for.
enum class Condition {
    by_class,  ///< one curve per class, from the pixels that truly have it (the paper's tables)
    none,      ///< one curve for all labels together (the paper's text)
};

struct ScoreOptions {
    ScoreKind kind = ScoreKind::lac;
    bool half = false;  ///< round p and 1 - p to half precision, as the released code does

    friend bool operator==(const ScoreOptions&, const ScoreOptions&) = default;
};

/// Scores of every class from probabilities, both [classes][pixels]. No allocation; NaN-free input gives
/// NaN-free output.
void score(const ScoreOptions& options, std::size_t classes, std::size_t pixels, const float* probs,
           float* scores);

/// The smallest probability that is in the set at a score threshold: p >= result if and only if score(p) <=
/// threshold, for every float p in [0, 1]. -inf when the threshold is +inf, +inf when no probability
/// qualifies (NaN too).
[[nodiscard]] float probability_threshold(const ScoreOptions& options, float score_threshold);

[[nodiscard]] std::string_view name_of(ScoreKind kind);
[[nodiscard]] ScoreKind score_kind(std::string_view name);  ///< throws a usage error for an unknown name
[[nodiscard]] std::string_view name_of(Condition condition);
[[nodiscard]] Condition condition_of(std::string_view name);

}  // namespace kandinsky
