#pragma once

#include <cstdint>
#include <kandinsky/export.hpp>
#include <string>
#include <string_view>

namespace KANDINSKY_API kandinsky {

/// The non-conformity score: a larger score means that a class is less expected at a pixel. docs/scores.md
/// has the formulas.
enum class ScoreKind {
    lac,     ///< 1 - p_c
    aps,     ///< sum of the probabilities from the most probable class to class c
    raps,    ///< aps plus a penalty for every rank beyond kreg
    saps,    ///< the largest probability plus a weight for every rank below the first
    margin,  ///< the largest probability of another class, minus p_c: from -1 to 1
    near,    ///< 1 - p_c plus a distance to where the model sees class c: from 0 to 1.5
};

/// Which labels share a curve.
enum class Condition {
    by_class,  ///< one curve per class, from the pixels that truly have it (the paper's tables)
    none,      ///< one curve for all labels together (the paper's text)
};

/// The score and its parameters.
struct ScoreOptions {
    ScoreKind kind = ScoreKind::lac;  ///< which score
    bool half = false;  ///< round p and 1 - p to half precision, as the released code does; lac only
    /// Whether aps, raps and saps subtract a random share of the class's own term, so that scores have no
    /// jumps.
    bool randomized = false;
    std::uint64_t seed = 0;       ///< of the random shares; calibrate() replaces it by its own seed
    double raps_lambda = 0.1;     ///< raps: penalty for each rank beyond raps_kreg, 0 to 1e6
    std::uint32_t raps_kreg = 1;  ///< raps: rank beyond which the penalty is added
    double saps_weight = 0.2;     ///< saps: weight of each rank below the first, above 0, at most 1e6

    friend bool operator==(const ScoreOptions&, const ScoreOptions&) = default;
};

[[nodiscard]] ScoreOptions default_score();  ///< the standard score: near

/// Throws a usage error for numbers out of range and for options that the score does not have.
void check_score(const ScoreOptions& options);

[[nodiscard]] std::string_view name_of(ScoreKind kind);     ///< the option's word
[[nodiscard]] ScoreKind score_kind(std::string_view name);  ///< throws a usage error for an unknown name
/// The score and its options for people: "raps (lambda 0.1, kreg 1, randomized, seed 0)".
[[nodiscard]] std::string describe(const ScoreOptions& options);
[[nodiscard]] std::string_view name_of(Condition condition);  ///< the option's word
[[nodiscard]] Condition condition_of(std::string_view name);  ///< throws a usage error for an unknown name

}  // namespace kandinsky
