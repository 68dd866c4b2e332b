#pragma once

#include <gtest/gtest.h>

#include <array>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/evaluate.hpp>
#include <string>
#include <utility>

#include "support/synthetic.hpp"

namespace kandinsky::test {

/// Images that differ in difficulty; their probabilities show how hard they are. Probabilities of wrong
/// classes are multiplied by `others`.
inline Made moody(std::uint64_t seed, std::size_t images = 30, std::size_t classes = 2, Grid grid = {9, 8},
                  std::size_t groups = 0, double others = 1) {
    Made made = make({.images = images, .classes = classes, .grid = grid, .seed = seed, .groups = groups});
    Random random(seed, 99);
    const std::size_t pixels = made.pixels();
    for (std::size_t n = 0; n < images; ++n) {
        const double mood = random.uniform();
        for (std::size_t p = 0; p < pixels; ++p)
            for (std::size_t c = 0; c < classes; ++c) {
                const bool own = made.truth[n * pixels + p] == c;
                const double right = 1 - mood * random.uniform();
                made.probs[(n * classes + c) * pixels + p] =
                    static_cast<float>(own ? right : others * (1 - right) * random.uniform());
            }
    }
    return made;
}

/// What levels by image must achieve on such images, relative to one level for all images.
struct Evenness {
    double others;  ///< of moody()
    double spread;  ///< largest ratio of the spreads of the images' coverage
    double growth;  ///< largest ratio of the false shares
    double slack;   ///< added to the limit of the false share
    double excess;  ///< added to the limit of the coverage
};

/// With `others` = 1 wrong classes are likely, so larger sets of hard images contain more of them. The limit
/// of the price (docs/adapt.md) therefore keeps levels closer together.
inline constexpr Evenness kEvenness[] = {{1, 0.9, 1.4, 0, 0}, {0.05, 0.7, 1, 0.005, 0.02}};

/// Compares class 1 of calibrators with one level and with levels by image, calibrated on 60 images, on 200
/// new images at alpha 0.2. All figures are means over 4 worlds: pairs of such data sets, drawn with their
/// own seeds. Over 15 other worlds with `others` = 1 the mean ratio of spreads was 0.76 to 0.82 (standard
/// deviation 0.1), and the mean ratio of false shares 1.10 to 1.25 (0.15). False shares grow because the
/// price is limited at the levels 0.85 to 0.95 only, and alpha 0.2 means the level 0.8. The limits are about
/// two standard deviations of a mean over 4 worlds away.
///
/// At the levels 0.85, 0.9 and 0.95 the price is compared without a promise, because with one the two
/// calibrators do not cover equally. Over 16 other worlds the growth of the false share, before sets are
/// filled, was 0.98 to 1.06 (a mean over 4 worlds has the standard deviation 0.03). With a price of at most
/// 1.1 in place of 1 it was 1.03 to 1.13.
inline void expect_more_even(const CalibrateOptions& options, const Evenness& wanted,
                             const std::string& which) {
    constexpr std::uint64_t kWorlds = 4;
    struct Sums {
        double spread = 0, hardest = 0, false_share = 0;
        std::array<double, 3> priced{};  ///< the false share at the levels 0.85, 0.9 and 0.95
    } before, after;
    double coverage = 0;
    CalibrateOptions plain = options;
    plain.adapt = Adapt::none;
    for (std::uint64_t world = 0; world < kWorlds; ++world) {
        const Made cal = moody(2 * world + 1, 60, 2, {9, 8}, 0, wanted.others),
                   fresh = moody(2 * world + 2, 200, 2, {9, 8}, 0, wanted.others);
        const Calibrator one_level = calibrate(cal.dataset(), plain),
                         adapted = calibrate(cal.dataset(), options);
        ASSERT_FALSE(one_level.adapts()) << which;
        ASSERT_EQ(adapted.options.promise, options.promise) << which;
        const EvaluationReport report =
            evaluate(fresh.dataset(), {&one_level, &adapted}, {.alpha = 0.2, .maps = false});
        for (const auto& [sum, found] :
             {std::pair{&before, &report.calibrators[0]}, std::pair{&after, &report.calibrators[1]}}) {
            sum->spread += found->strata[1].image_coverage.spread;
            sum->hardest += found->strata[1].image_coverage.hardest;
            sum->false_share += found->strata[1].false_share;
            for (std::size_t k = 0; k < 3; ++k) sum->priced[k] += found->strata[1].false_shares[16 + k];
        }
        coverage += report.calibrators[1].coverage_at_alpha / kWorlds;
    }
    EXPECT_LT(after.spread, wanted.spread * before.spread) << which;
    EXPECT_LT(after.false_share, wanted.growth * before.false_share + kWorlds * wanted.slack) << which;
    if (options.promise == Promise::none && wanted.others == 1) {
        double growth = 0;
        for (std::size_t k = 0; k < 3; ++k) growth += after.priced[k] / before.priced[k] / 3;
        EXPECT_LT(growth, 1.12) << which;
    }
    EXPECT_GT(after.hardest, before.hardest) << which;
    EXPECT_GT(coverage, 0.77) << which;
    // With loo each image gets the largest shift of all fits, so somewhat too much is covered.
    const double most = options.promise == Promise::leave_one_out ? 0.92 : 0.86;
    EXPECT_LT(coverage, most + wanted.excess) << which;
}

/// The probabilities of an image, [class][pixel].
inline std::vector<float> image_of(const Made& made, std::size_t n) {
    const std::size_t each = made.recipe.classes * made.pixels();
    return {made.probs.begin() + static_cast<std::ptrdiff_t>(n * each),
            made.probs.begin() + static_cast<std::ptrdiff_t>((n + 1) * each)};
}

}  // namespace kandinsky::test
