#pragma once

#include <kandinsky/grid.hpp>
#include <string>
#include <string_view>

namespace kandinsky {

/// The non-conformity score: how strange a class looks at a pixel, more if larger. Formulas: docs/scores.md.
enum class ScoreKind {
    lac,     ///< 1 - p_c
    aps,     ///< sum of the probabilities down to and with class c, most probable first
    raps,    ///< aps and a penalty for every rank beyond kreg
    saps,    ///< the largest probability and a weight for every rank below it
    margin,  ///< the largest probability of another class, minus p_c: from -1 to 1
    near,    ///< 1 - p_c and a distance to where the model sees class c: from 0 to 1.5
};

/// Which pixels a curve speaks for.
enum class Condition {
    by_class,  ///< one curve per class, from the pixels that truly have it (the paper's tables)
    none,      ///< one curve for all labels together (the paper's text)
};

/// The score and its parameters.
struct ScoreOptions {
    ScoreKind kind = ScoreKind::lac;  ///< which score
    bool half = false;  ///< round p and 1 - p to half precision, as the released code does; lac only
    /// aps, raps and saps take away a random share of the class's own part, so that scores have no jumps.
    bool randomized = false;
    std::uint64_t seed = 0;       ///< of that share
    double raps_lambda = 0.1;     ///< raps: penalty for each rank ...
    std::uint32_t raps_kreg = 1;  ///< ... beyond this one
    double saps_weight = 0.2;     ///< saps: of each rank below the first

    friend bool operator==(const ScoreOptions&, const ScoreOptions&) = default;
};

[[nodiscard]] ScoreOptions default_score();  ///< the standard score: near

/// Throws a usage error for options that make no sense together.
void check_score(const ScoreOptions& options);

/// Whose pixels are scored: names the random numbers of randomised scores, no others look at it.
struct ScorePlace {
    std::uint64_t image = 0;      ///< image_key() of the whole image
    std::size_t first_pixel = 0;  ///< number of the first pixel within the image
};

/// Scores of every class from probabilities, both [classes][pixels]. The probabilities of a pixel need not
/// sum to one: they are taken as they are. Equal probabilities rank by class number. No allocation in the
/// long run (some scores keep scratch of one pixel's classes for each thread); NaN-free input gives NaN-free
/// output. lac and margin: O(classes) a pixel, the others O(classes log classes). Throws a usage error for
/// near, which needs whole images: score_image().
void score(const ScoreOptions& options, std::size_t classes, std::size_t pixels, const float* probs,
           float* scores, const ScorePlace& place = {});

/// Scores of one whole image with any score, [class][pixel] in and out. near: O(1) a pixel and class; scratch
/// of an image's cells a thread.
void score_image(const ScoreOptions& options, std::size_t classes, Grid grid, const float* probs,
                 float* scores);

/// The name of an image in random numbers: a hash of its probabilities alone, which prediction has, too.
[[nodiscard]] std::uint64_t image_key(std::size_t classes, std::size_t pixels, const float* probs);

/// The random share of a pixel, uniform in [0, 1): the same wherever (seed, image, pixel) are.
[[nodiscard]] float random_share(std::uint64_t seed, std::uint64_t image, std::size_t pixel);

/// No score lies outside when the probabilities of a pixel sum to at most one (up to rounding).
struct ScoreRange {
    float low = 0;   ///< the smallest
    float high = 1;  ///< the largest
};
/// The range of a score for so many classes.
[[nodiscard]] ScoreRange score_range(const ScoreOptions& options, std::size_t classes);
/// No score lies above, whatever the probabilities in [0, 1] sum to.
[[nodiscard]] float largest_score(const ScoreOptions& options, std::size_t classes);

/// Whether a class's own probability alone decides, so that thresholds on probabilities exist: lac only.
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
