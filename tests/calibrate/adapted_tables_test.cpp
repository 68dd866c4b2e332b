#include "calibrate/adapted_tables.hpp"
#include "score/scoring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <kandinsky/predictor.hpp>

#include "calibrate/adapted_values.hpp"
#include "calibrate/moody.hpp"
#include "score/image_features.hpp"
#include "score/planes.hpp"
#include "score/score_scale.hpp"

namespace kandinsky {
namespace {

using test::image_of;
using test::Made;
using test::moody;

/// The rule of adapted_tables.hpp, written out. Counts the scores that lie between the limits, and checks
/// that the limits agree with the distributions.
class ByTables {
  public:
    ByTables(const AdaptedTables& tables, Grid grid, std::size_t alpha)
        : tables_(tables), grid_(grid), alpha_(alpha) {}

    std::size_t open = 0;

    bool in_set(std::int32_t shift, std::size_t pixel, float score) {
        const std::vector<std::uint32_t>& levels = tables_.levels[alpha_];
        const auto row = static_cast<std::size_t>(shift / Adaptation::kStep - tables_.least);
        const std::vector<std::uint16_t>&sure = tables_.sure[alpha_], &last = tables_.last[alpha_];
        const std::size_t places = tables_.places_down() * tables_.places_across();
        EXPECT_EQ(sure.size(), tables_.rows() * places);
        const std::size_t place = row * places + place_of(pixel);
        const float from = tables_.limits[sure[place]], to = tables_.limits[last[place]];
        const float largest = tables_.limits[tables_.limits.size() - 3];
        const bool in = score <= largest && decides(levels[row], pixel, score);
        EXPECT_TRUE(in || !std::isfinite(from) || score > from);
        EXPECT_TRUE(!in || !std::isfinite(to) || score <= to);
        if (score <= from) return true;
        if (score > to) return false;
        ++open;
        return in;
    }

  private:
    [[nodiscard]] std::size_t place_of(std::size_t pixel) const {
        const auto own = [](std::int64_t value) { return static_cast<std::size_t>(value); };
        if (!tables_.region.empty()) return own(tables_.region[pixel]);
        return own(tables_.down.place[pixel / grid_.width]) * tables_.places_across() +
               own(tables_.across.place[pixel % grid_.width]);
    }
    [[nodiscard]] bool decides(std::uint32_t level, std::size_t pixel, float score) const {
        const std::int64_t key = scale_key(score);
        std::size_t i = 0;
        for (std::size_t j = 1; j + 1 < tables_.columns(); ++j) i += tables_.edges[j] < key;
        const std::int64_t wide = tables_.edges[i + 1] - tables_.edges[i];
        const std::int64_t passed = std::clamp<std::int64_t>(key - tables_.edges[i], 0, wide);
        const std::int64_t below = share(pixel, i), above = share(pixel, i + 1);
        return (above - below) * passed <= (std::int64_t{level} * tables_.unit - below) * wide;
    }
    [[nodiscard]] std::int64_t share(std::size_t pixel, std::size_t column) const {
        const auto at = [&](std::int64_t cell) {
            return std::int64_t{tables_.share[static_cast<std::size_t>(cell) * tables_.columns() + column]};
        };
        if (!tables_.region.empty()) return at(tables_.region[pixel]);
        const std::size_t y = pixel / grid_.width, x = pixel % grid_.width;
        const AdaptedTables::Axis &down = tables_.down, &across = tables_.across;
        const auto width = static_cast<std::int64_t>(tables_.width);
        return down.low_weight[y] * across.low_weight[x] * at(down.low[y] * width + across.low[x]) +
               down.low_weight[y] * across.high_weight[x] * at(down.low[y] * width + across.high[x]) +
               down.high_weight[y] * across.low_weight[x] * at(down.high[y] * width + across.low[x]) +
               down.high_weight[y] * across.high_weight[x] * at(down.high[y] * width + across.high[x]);
    }

    const AdaptedTables& tables_;
    Grid grid_;
    std::size_t alpha_;
};

/// Compares the tables with Predictor. Returns how many scores lie between limits and need the distributions.
std::size_t compare(const CalibrateOptions& options, Grid grid, double others = 1) {
    const Made cal = moody(5, 40, 3, grid, 0, others), fresh = moody(6, 6, 3, grid, 0, others);
    const Calibrator calibrator = calibrate(cal.dataset(), options);
    EXPECT_TRUE(calibrator.adapts());
    const std::vector<double> alphas{0.0, 0.01, 0.1, 0.3, 0.7, 1.0};
    const std::size_t pixels = fresh.pixels();
    std::size_t open = 0;
    for (std::size_t a = 0; a < alphas.size(); ++a) {
        const Predictor predictor(calibrator, alphas[a], EmptySets::keep);
        for (std::size_t n = 0; n < fresh.recipe.images; ++n) {
            const std::vector<float> probs = image_of(fresh, n);
            std::vector<std::uint8_t> sets(probs.size());
            predictor.sets(probs, sets);
            std::vector<float> scores(probs.size());
            score_image(options.score, 3, grid, probs.data(), scores.data());
            std::vector<ImageFeatures> features;
            for (std::size_t c = 0; c < 3; ++c)
                features.push_back(image_features(std::span(probs).subspan(c * pixels, pixels)));
            for (std::size_t c = 0; c < 3; ++c) {
                const std::size_t s = calibrator.stratum_of(c);
                if (calibrator.adaptation_of(s) == nullptr) continue;
                const AdaptedTables tables = adapted_tables(calibrator, s, alphas);
                ByTables own(tables, grid, a);
                const std::int32_t shift =
                    calibrator.adaptation_of(s)->shift(stratum_features(features, calibrator.strata(), s));
                for (std::size_t p = 0; p < pixels; ++p) {
                    EXPECT_EQ(own.in_set(shift, p, scores[c * pixels + p]), sets[c * pixels + p] != 0)
                        << "alpha " << alphas[a] << " image " << n << " class " << c << " pixel " << p;
                    if (::testing::Test::HasFailure()) return open;
                }
                open += own.open;
            }
        }
    }
    return open;
}

TEST(AdaptedTables, TheirSetsAreThoseOfThePredictor) {
    std::size_t open = 0;
    for (const char* const method : {"image", "field", "kmeans", "pixel"})
        for (const ScoreKind kind : {ScoreKind::near, ScoreKind::lac, ScoreKind::margin, ScoreKind::saps})
            for (const Condition condition : {Condition::by_class, Condition::none}) {
                CalibrateOptions options;
                options.method.name = method;
                options.adapt = Adapt::image;
                options.score.kind = kind;
                options.condition = condition;
                options.promise = Promise::none;
                SCOPED_TRACE(std::string(method) + " " + std::string(name_of(kind)));
                // Where wrong classes are likely, levels with this score do not adapt.
                open += compare(options, {9, 8}, kind == ScoreKind::margin ? 0.05 : 1);
            }
    EXPECT_GT(open, 0u);
}

TEST(AdaptedTables, CellsOfALatticeAreReadBetweenTheirCentres) {
    CalibrateOptions options;
    options.method.name = "field";
    options.adapt = Adapt::image;
    options.promise = Promise::split;
    EXPECT_GT(compare(options, {70, 90}, 0.05), 0u);
}

TEST(AdaptedTables, OnlyFewScoresAreComparedWithTheCurves) {
    CalibrateOptions options;
    options.method = "field";
    options.adapt = Adapt::image;
    options.score.kind = ScoreKind::raps;
    options.promise = Promise::none;
    constexpr Grid kGrid{70, 90};
    const std::size_t scores = 6 * 6 * 3 * kGrid.pixels();  // alphas, images, classes
    const std::size_t open = compare(options, kGrid);
    EXPECT_GT(open, 0u);
    EXPECT_LT(open, scores / 1000);  // five times as many if limits were whole columns
}

TEST(AdaptedTables, ShiftsOfAllFitsAreListedByFeature) {
    CalibrateOptions options;
    options.adapt = Adapt::image;
    options.promise = Promise::leave_one_out;
    const Calibrator calibrator = calibrate(moody(5, 20).dataset(), options);
    ASSERT_TRUE(calibrator.adaptation_of(1) != nullptr);
    const Adaptation& own = *calibrator.adaptation_of(1);
    const std::vector<double> alphas{0.2};
    const AdaptedTables tables = adapted_tables(calibrator, 1, alphas);
    const std::size_t fits = own.shifts().size();
    ASSERT_EQ(tables.constant.size(), fits);
    ASSERT_GT(fits, 1u);
    for (std::size_t k = 0; k < ImageFeatures::kCount; ++k)
        for (std::size_t f = 0; f < fits; ++f) {
            EXPECT_EQ(tables.slope[k * fits + f], own.shifts()[f].slope[k]);
            EXPECT_EQ(tables.low[k * fits + f], own.shifts()[f].low[k]);
            EXPECT_EQ(tables.high[k * fits + f], own.shifts()[f].high[k]);
        }
    const auto [least, most] = own.range();
    EXPECT_EQ(tables.least * Adaptation::kStep, least);
    EXPECT_EQ(tables.levels[0].size(), static_cast<std::size_t>((most - least) / Adaptation::kStep + 1));
}

}  // namespace
}  // namespace kandinsky
