#include "score/surroundings.hpp"
#include "score/scoring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <kandinsky/error.hpp>
#include <kandinsky/score.hpp>
#include <limits>
#include <vector>

#include "core/base/random.hpp"
#include "io/support.hpp"
#include "score/scored_tile.hpp"

namespace kandinsky {
namespace {

/// The definition in docs/scores.md, window by window.
std::vector<double> naive_near(Grid grid, const std::vector<float>& probs) {
    const int side = std::max(1, static_cast<int>(grid.height + grid.width) / 256);
    const int height = (static_cast<int>(grid.height) + side - 1) / side,
              width = (static_cast<int>(grid.width) + side - 1) / side;
    std::vector<double> seen(static_cast<std::size_t>(height * width));
    for (std::size_t p = 0; p < probs.size(); ++p) {
        const std::size_t cell =
            p / grid.width / static_cast<std::size_t>(side) * static_cast<std::size_t>(width) +
            p % grid.width / static_cast<std::size_t>(side);
        const double x = static_cast<double>(probs[p]);
        seen[cell] = std::max(seen[cell], 1.1 * x / (x + 0.1));
    }
    std::vector<double> out(probs.size());
    for (std::size_t p = 0; p < probs.size(); ++p) {
        const int y = static_cast<int>(p / grid.width) / side, x = static_cast<int>(p % grid.width) / side;
        double distance = 0, last = 0;
        for (int r = 1; r == 1 || r * 8 <= height + width; r *= 2) {
            double most = 0;
            for (int v = std::max(0, y - r); v <= std::min(height - 1, y + r); ++v)
                for (int u = std::max(0, x - r); u <= std::min(width - 1, x + r); ++u)
                    most = std::max(most, seen[static_cast<std::size_t>(v * width + u)]);
            distance += (r - last) * (1 - most);
            last = r;
        }
        out[p] = 1 - static_cast<double>(probs[p]) + 0.5 * distance / last;
    }
    return out;
}

std::vector<float> random_probs(std::size_t n, std::uint64_t seed) {
    Random random(seed);
    std::vector<float> probs(n);
    for (float& p : probs) {
        const double u = random.uniform();
        p = u < 0.9 ? 0.0f : u < 0.95 ? static_cast<float>(random.uniform()) : 1.0f;
    }
    return probs;
}

const std::vector<Grid> kGrids{{1, 1},   {1, 7},   {9, 1},     {1, 700},  {12, 17},
                               {40, 33}, {64, 64}, {300, 260}, {131, 645}};

TEST(Surroundings, AreTheirDefinition) {
    for (const Grid grid : kGrids) {
        const std::vector<float> probs = random_probs(grid.pixels(), grid.width);
        std::vector<float> scores(probs.size());
        score_image({.kind = ScoreKind::near}, 1, grid, probs.data(), scores.data());
        const std::vector<double> wanted = naive_near(grid, probs);
        for (std::size_t p = 0; p < probs.size(); ++p)
            ASSERT_NEAR(static_cast<double>(scores[p]), wanted[p], 2e-5)
                << grid.height << " x " << grid.width << " pixel " << p;
    }
}

TEST(Surroundings, TilesSeeTheWholeImage) {
    for (const Grid grid : kGrids) {
        const std::size_t pixels = grid.pixels(), classes = 3;
        const std::vector<float> probs = random_probs(2 * classes * pixels, 5);
        const Dataset data(
            Array::copy_of(probs, {2, classes, grid.height, grid.width}),
            Array::copy_of(std::vector<std::uint8_t>(2 * pixels), {2, grid.height, grid.width}), {});
        std::vector<float> whole(classes * pixels);
        for (const std::size_t length : {std::size_t{1}, std::size_t{5}, pixels / 2 + 1, pixels}) {
            if (pixels / length > 5000) continue;
            ScoredTile tile(data, {.kind = ScoreKind::near}, length);
            for (std::size_t image = 0; image < 2; ++image) {
                score_image({.kind = ScoreKind::near}, classes, grid, probs.data() + image * classes * pixels,
                            whole.data());
                for (std::size_t begin = 0; begin < pixels; begin += length) {
                    const PixelRange range{begin, std::min(pixels, begin + length)};
                    tile.load(image, range);
                    for (std::size_t c = 0; c < classes; ++c)
                        ASSERT_TRUE(std::equal(tile.scores(c), tile.scores(c) + range.size(),
                                               whole.data() + c * pixels + begin));
                }
            }
        }
    }
}

TEST(Surroundings, OfCertainModelsGiveTheEndsOfTheRange) {
    for (const Grid grid : kGrids) {
        std::vector<float> scores(grid.pixels());
        const auto expect_all = [&](float p, float wanted) {
            const std::vector<float> probs(grid.pixels(), p);
            score_image({.kind = ScoreKind::near}, 1, grid, probs.data(), scores.data());
            for (const float s : scores) ASSERT_EQ(s, wanted);
        };
        expect_all(0, score_range({.kind = ScoreKind::near}, 1).high);
        expect_all(1, 0);
    }
}

TEST(Surroundings, NanIsInNoSetAndChangesNoOtherPixel) {
    const Grid grid{20, 30};
    std::vector<float> probs = random_probs(grid.pixels(), 8);
    probs[77] = 0;
    std::vector<float> without(probs.size()), with(probs.size());
    score_image({.kind = ScoreKind::near}, 1, grid, probs.data(), without.data());
    probs[77] = std::numeric_limits<float>::quiet_NaN();
    score_image({.kind = ScoreKind::near}, 1, grid, probs.data(), with.data());
    EXPECT_TRUE(std::isnan(with[77]));
    with[77] = without[77];
    EXPECT_EQ(with, without);
}

TEST(Surroundings, FallWithTheProbabilities) {
    const Grid grid{33, 48};
    Random random(4);
    std::vector<float> probs = random_probs(grid.pixels(), 9), scores(probs.size()), later(probs.size());
    score_image({.kind = ScoreKind::near}, 1, grid, probs.data(), scores.data());
    for (float& p : probs) p = std::min(1.0f, p + static_cast<float>(random.uniform() * 0.1));
    score_image({.kind = ScoreKind::near}, 1, grid, probs.data(), later.data());
    for (std::size_t p = 0; p < probs.size(); ++p) ASSERT_LE(later[p], scores[p]);
}

TEST(Surroundings, PartsOfAnImageCannotBeScored) {
    const std::vector<float> probs(4, 0.5f);
    std::vector<float> scores(4);
    test::expect_error(ErrorKind::usage, {"whole images", "score_image()"},
                       [&] { score({.kind = ScoreKind::near}, 1, 4, probs.data(), scores.data()); });
}

}  // namespace
}  // namespace kandinsky
