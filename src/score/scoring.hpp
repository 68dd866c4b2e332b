#pragma once

#include <kandinsky/grid.hpp>
#include <kandinsky/score.hpp>

namespace kandinsky {

/// The identity of the scored pixels, which determines the random numbers of randomised scores; other scores
/// ignore it.
struct ScorePlace {
    std::uint64_t image = 0;      ///< image_key() of the whole image
    std::size_t first_pixel = 0;  ///< number of the first pixel within the image
};

/// Scores of every class from probabilities, both [classes][pixels]. The probabilities of a pixel need not
/// sum to one. Equal probabilities rank by class number. Allocates nothing after a thread's first call (some
/// scores keep scratch for one pixel's classes). Input without NaN gives output without NaN. Cost per pixel:
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

/// Contains every score if the probabilities of a pixel sum to at most one (up to rounding).
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
/// threshold, for every float p in [0, 1]. -inf if the threshold is +inf; +inf if no probability qualifies or
/// the threshold is NaN. Throws a usage error unless has_probability_thresholds().
[[nodiscard]] float probability_threshold(const ScoreOptions& options, float score_threshold);

}  // namespace kandinsky
