#pragma once

#include <kandinsky/grid.hpp>
#include <string>
#include <string_view>

namespace kandinsky {

/// The non-conformity score: a larger score means that a class is less expected at a pixel. docs/scores.md
/// has the formulas.
enum class ScoreKind {
    lac,     ///< 1 - p_c
    aps,     ///< sum of the probabilities down to and with class c, most probable first
    raps,    ///< aps and a penalty for every rank beyond kreg
    saps,    ///< the largest probability and a weight for every rank below it
    margin,  ///< the largest probability of another class, minus p_c: from -1 to 1
    near,    ///< 1 - p_c and a distance to where the model sees class c: from 0 to 1.5
};

/// The pixels that a curve is for.
enum class Condition {
    by_class,  ///< one curve per class, from the pixels that truly have it (the paper's tables)
    none,      ///< one curve for all labels together (the paper's text)
};

/// The score and its parameters.
struct ScoreOptions {
    ScoreKind kind = ScoreKind::lac;  ///< which score
    bool half = false;  ///< round p and 1 - p to half precision, as the released code does; lac only
    /// Whether aps, raps and saps subtract a random share of the class's own part, so that scores have no
    /// jumps.
    bool randomized = false;
    std::uint64_t seed = 0;       ///< of that share
    double raps_lambda = 0.1;     ///< raps: penalty for each rank beyond raps_kreg
    std::uint32_t raps_kreg = 1;  ///< raps: rank beyond which the penalty is added
    double saps_weight = 0.2;     ///< saps: weight of each rank below the first

    friend bool operator==(const ScoreOptions&, const ScoreOptions&) = default;
};

[[nodiscard]] ScoreOptions default_score();  ///< the standard score: near

/// Throws a usage error for inconsistent options.
void check_score(const ScoreOptions& options);

/// The identity of the scored pixels, which determines the random numbers of randomised scores; other scores
/// ignore it.
struct ScorePlace {
    std::uint64_t image = 0;      ///< image_key() of the whole image
    std::size_t first_pixel = 0;  ///< number of the first pixel within the image
};

/// Scores of every class from probabilities, both [classes][pixels]. The probabilities of a pixel need not
/// sum to one. Equal probabilities rank by class number. Allocates nothing after a thread's first call (some
/// scores keep scratch for one pixel's classes). NaN-free input gives NaN-free output. Cost per pixel:
/// O(classes) for lac and margin, O(classes log classes) for the others. Throws a usage error for near, which
/// needs whole images: score_image().
void score(const ScoreOptions& options, std::size_t classes, std::size_t pixels, const float* probs,
           float* scores, const ScorePlace& place = {});

/// Scores of one whole image with any score, [class][pixel] in and out. Cost of near: O(1) per pixel and
/// class, and scratch for an image's cells per thread.
void score_image(const ScoreOptions& options, std::size_t classes, Grid grid, const float* probs,
                 float* scores);

/// The identity of an image for random numbers: a hash of its probabilities, which are known at prediction
/// too.
[[nodiscard]] std::uint64_t image_key(std::size_t classes, std::size_t pixels, const float* probs);

/// The random share of a pixel, uniform in [0, 1); a function of (seed, image, pixel).
[[nodiscard]] float random_share(std::uint64_t seed, std::uint64_t image, std::size_t pixel);

/// No score lies outside when the probabilities of a pixel sum to at most one (up to rounding).
struct ScoreRange {
    float low = 0;   ///< the smallest
    float high = 1;  ///< the largest
};
/// The range of a score for that many classes.
[[nodiscard]] ScoreRange score_range(const ScoreOptions& options, std::size_t classes);
/// An upper bound of the score for any probabilities in [0, 1].
[[nodiscard]] float largest_score(const ScoreOptions& options, std::size_t classes);

/// Whether the score depends on the class's own probability only, so that thresholds on probabilities exist:
/// lac only.
[[nodiscard]] inline bool has_probability_thresholds(const ScoreOptions& options) {
    return options.kind == ScoreKind::lac;
}

/// The smallest probability that is in the set at a score threshold: p >= result if and only if score(p) <=
/// threshold, for every float p in [0, 1]. -inf when the threshold is +inf, +inf when no probability
/// qualifies (NaN too). Throws a usage error unless has_probability_thresholds().
[[nodiscard]] float probability_threshold(const ScoreOptions& options, float score_threshold);

[[nodiscard]] std::string_view name_of(ScoreKind kind);     ///< the option's word
[[nodiscard]] ScoreKind score_kind(std::string_view name);  ///< throws a usage error for an unknown name
/// The score and its options for people: "raps (lambda 0.1, kreg 1, randomized, seed 0)".
[[nodiscard]] std::string describe(const ScoreOptions& options);
[[nodiscard]] std::string_view name_of(Condition condition);  ///< the option's word
[[nodiscard]] Condition condition_of(std::string_view name);  ///< throws a usage error for an unknown name

}  // namespace kandinsky
