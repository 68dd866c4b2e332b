#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <kandinsky/error.hpp>
#include <kandinsky/smooth_curves.hpp>
#include <limits>
#include <numeric>

#include "core/base/random.hpp"
#include "curve/curve_storage.hpp"
#include "curve/lattice.hpp"
#include "score/score_scale.hpp"

namespace kandinsky {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

/// Random distributions on a lattice, with flat stretches and ties.
SmoothCurves random_curves(Grid grid, std::uint32_t side, std::size_t bins, std::uint64_t seed) {
    Random random(seed);
    SmoothStorage storage;
    storage.side = side;
    std::vector<float> ends;
    while (ends.size() < bins) {
        ends.push_back(static_cast<float>(std::pow(random.uniform(), 3.0)));
        std::sort(ends.begin(), ends.end());
        ends.erase(std::unique(ends.begin(), ends.end(),
                               [](float a, float b) { return scale_key(a) == scale_key(b); }),
                   ends.end());
    }
    for (const float end : ends) storage.edges.push_back(scale_key(end));
    storage.origin = storage.edges.front() - 1000;
    const std::size_t cells = lattice_of(grid, side).pixels();
    for (std::size_t cell = 0; cell < cells; ++cell) {
        std::vector<std::uint16_t> own;
        for (std::size_t b = 0; b + 1 < bins; ++b)
            own.push_back(static_cast<std::uint16_t>(random.below(4) == 0 ? 0 : random.below(65536)));
        std::sort(own.begin(), own.end());
        storage.cumulative.insert(storage.cumulative.end(), own.begin(), own.end());
    }
    const Ladder ladder = Ladder::uniform(20);
    for (std::size_t r = 0; r < ladder.levels.size(); ++r)
        storage.levels.push_back(r + 2 >= ladder.levels.size()
                                     ? SmoothCurves::kNever
                                     : static_cast<std::uint32_t>(ladder.levels[r] * SmoothCurves::kOne));
    return smooth_from(grid, ladder, std::move(storage));
}

/// The definition in double precision: bilinear between the centres of cells, linear in the key.
double naive_level(const SmoothCurves& curves, const Grid& grid, std::size_t pixel, float score) {
    const SmoothStorage& from = storage_of(curves);
    const std::size_t bins = from.edges.size() - 1;
    const auto axis = [&](double at, std::size_t count) {
        const double place = std::clamp((at + 0.5) / from.side - 0.5, 0.0, static_cast<double>(count - 1));
        const auto low = static_cast<std::size_t>(place);
        return std::tuple(low, std::min(low + 1, count - 1), place - static_cast<double>(low));
    };
    std::size_t y0 = 0, y1 = 0, x0 = 0, x1 = 0;
    double v = 0, u = 0;
    std::tie(y0, y1, v) = axis(static_cast<double>(pixel / grid.width), curves.cells().height);
    std::tie(x0, x1, u) = axis(static_cast<double>(pixel % grid.width), curves.cells().width);
    const auto at = [&](std::size_t b) {
        const auto cell = [&](std::size_t y, std::size_t x) {
            return static_cast<double>(from.cumulative[(y * curves.cells().width + x) * bins + b]) / 65536;
        };
        return (1 - v) * ((1 - u) * cell(y0, x0) + u * cell(y0, x1)) +
               v * ((1 - u) * cell(y1, x0) + u * cell(y1, x1));
    };
    const double key = scale_key(score);
    std::size_t b = 0;
    while (b < bins && key > from.edges[b]) ++b;
    if (key > from.edges[b]) return 1;
    const double below = b > 0 ? at(b - 1) : 0.0, above = b < bins ? at(b) : 1.0;
    const double start = b > 0 ? from.edges[b - 1] : from.origin, end = from.edges[b];
    return below + (above - below) * std::clamp((key - start) / (end - start), 0.0, 1.0);
}

TEST(SmoothCurves, InterpolateBetweenCellsAsDefined) {
    for (const std::uint32_t side : {1u, 2u, 3u, 5u}) {
        const Grid grid{11, 13};
        const SmoothCurves curves = random_curves(grid, side, 9, side);
        Random random(7);
        for (int i = 0; i < 2000; ++i) {
            const std::size_t pixel = random.below(grid.pixels());
            const auto score = static_cast<float>(std::pow(random.uniform(), 3.0));
            EXPECT_NEAR(curves.level(pixel, score) / 65536.0, naive_level(curves, grid, pixel, score),
                        1.0001 / 65536)
                << "pixel " << pixel << " score " << score;
        }
    }
}

TEST(SmoothCurves, PutAClassIntoTheSetExactlyWhenItsLevelIsLowEnough) {
    EXPECT_TRUE(rc::check("threshold, level and p-value agree", [] {
        const Grid grid{static_cast<std::uint32_t>(*rc::gen::inRange(1, 9)),
                        static_cast<std::uint32_t>(*rc::gen::inRange(1, 9))};
        const auto side = static_cast<std::uint32_t>(*rc::gen::inRange(1, 4));
        const auto bins = static_cast<std::size_t>(*rc::gen::inRange(1, 12));
        const SmoothCurves curves = random_curves(grid, side, bins, *rc::gen::arbitrary<std::uint32_t>());
        const double alpha = *rc::gen::inRange(0, 101) / 100.0;
        std::vector<float> limits(grid.pixels());
        curves.thresholds({&alpha, 1}, {0, grid.pixels()}, limits);
        const auto pixel = static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(grid.pixels())));
        float score = static_cast<float>(*rc::gen::inRange(0, 1 << 24)) / (1 << 24);
        if (*rc::gen::arbitrary<bool>() && std::isfinite(limits[pixel])) {  // at the threshold itself
            score = limits[pixel];
            if (*rc::gen::arbitrary<bool>()) score = std::nextafter(score, kInf);
        }
        if (score <= 1) RC_ASSERT((score <= limits[pixel]) == (curves.p_value(pixel, score) > alpha));
    }));
}

TEST(SmoothCurves, ReadManyAlphasAsOneByOneAndAscendWithTheLevel) {
    const Grid grid{6, 7};
    const SmoothCurves curves = random_curves(grid, 2, 20, 3);
    std::vector<double> alphas;
    for (int m = 20; m >= 0; --m) alphas.push_back(m / 20.0);
    std::vector<float> all(alphas.size() * grid.pixels()), one(grid.pixels());
    curves.thresholds(alphas, {0, grid.pixels()}, all);
    for (std::size_t a = 0; a < alphas.size(); ++a) {
        for (std::size_t p = 0; p < grid.pixels(); ++p)
            curves.thresholds({&alphas[a], 1}, {p, p + 1}, std::span(one).subspan(p, 1));
        for (std::size_t p = 0; p < grid.pixels(); ++p) {
            EXPECT_EQ(all[a * grid.pixels() + p], one[p]);
            if (a > 0) {
                EXPECT_GE(one[p], all[(a - 1) * grid.pixels() + p]);
            }
        }
    }
    EXPECT_EQ(all.front(), -kInf) << "at alpha = 1 nothing is covered";
    EXPECT_EQ(all.back(), kInf) << "at alpha = 0 everything is";
}

TEST(SmoothCurves, WithoutDataPutTheClassIntoEverySet) {
    const Grid grid{4, 5};
    const SmoothCurves none = smooth_from(grid, Ladder::uniform(20), {});
    EXPECT_FALSE(none.empty());
    EXPECT_TRUE(none.without_data());
    EXPECT_TRUE(SmoothCurves().empty());
    EXPECT_EQ(none.p_value(3, 0.9f), 1.0);
    for (const double alpha : {0.0, 0.3, 0.999, 1.0}) {
        std::vector<float> limits(20);
        none.thresholds({&alpha, 1}, {0, 20}, limits);
        for (const float limit : limits) EXPECT_EQ(limit, alpha < 1 ? kInf : -kInf) << alpha;
    }
}

TEST(SmoothCurves, RefuseNumbersThatDoNotFitTogether) {
    const Grid grid{4, 4};
    const SmoothCurves good = random_curves(grid, 2, 5, 1);
    const auto refused = [&](auto&& damage) {
        SmoothStorage storage = storage_of(good);
        damage(storage);
        EXPECT_THROW((void)smooth_from(grid, good.ladder(), std::move(storage)), Error);
    };
    refused([](auto& s) { s.side = 0; });
    refused([](auto& s) { s.side = 65; });
    refused([](auto& s) { s.side = 1; });
    refused([](auto& s) { s.cumulative.pop_back(); });
    refused([](auto& s) { s.levels.pop_back(); });
    refused([](auto& s) { std::swap(s.edges[1], s.edges[2]); });
    refused([](auto& s) { s.origin = s.edges[0]; });
    refused([](auto& s) { s.levels[3] = SmoothCurves::kOne + 1; });
    refused([](auto& s) { s.levels[5] = 0; });
    refused([](auto& s) { s.cumulative[0] = 65535, s.cumulative[1] = 0; });
    refused([](auto& s) { s.largest = kInf; });
    // Keys of no finite score: a search for the score at such a key would not end.
    refused([](auto& s) { s.edges.back() = std::numeric_limits<std::int32_t>::max(); });
    refused([](auto& s) { s.edges.back() = scale_key(kInf); });
    refused([](auto& s) { s.origin = std::numeric_limits<std::int32_t>::min(); });
}

}  // namespace
}  // namespace kandinsky
