#include "io/image/grid_fit.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <kandinsky/error.hpp>
#include <numeric>
#include <vector>

namespace kandinsky {
namespace {

Grid any_grid() {
    return {*rc::gen::inRange<std::uint32_t>(1, 12), *rc::gen::inRange<std::uint32_t>(1, 12)};
}

TEST(GridFit, ReadsWidthBeforeHeight) {
    EXPECT_EQ(parse_grid("384x256", "--grid"), (Grid{256, 384}));
    for (const char* const text :
         {"", "384", "x", "384x", "x256", "0x5", "5x0", "-3x5", "3x5x", "3 x 5", "9999999x1"})
        EXPECT_THROW((void)parse_grid(text, "--grid"), Error) << text;
}

TEST(GridFit, TheLargerHalfOfOddPaddingComesLastAndOfOddCroppingToo) {
    const CentredSpan padded = centred(5, 8), cropped = centred(8, 5);
    EXPECT_EQ(padded.target, 1u);
    EXPECT_EQ(padded.count, 5u);
    EXPECT_EQ(cropped.source, 1u);
    EXPECT_EQ(cropped.count, 5u);
}

TEST(GridFit, SetsComeBackFromPaddingUnchangedAndAreFullWhereTheGridCut) {
    EXPECT_TRUE(rc::check([] {
        const Grid own = any_grid(), grid = any_grid();
        const GridFit fit{GridFit::Kind::centre, grid};
        std::vector<std::int32_t> labels(own.pixels()), fitted(grid.pixels());
        for (std::int32_t& label : labels) label = *rc::gen::inRange(0, 2);
        fit_labels(labels.data(), own, fit, 7, fitted.data());
        const std::vector<std::uint8_t> sets(fitted.begin(), fitted.end());
        std::vector<std::uint8_t> back(own.pixels());
        const std::size_t outside = unfit_sets(sets.data(), fit, own, back.data());
        const CentredSpan rows = centred(own.height, grid.height), columns = centred(own.width, grid.width);
        RC_ASSERT(outside == own.pixels() - rows.count * columns.count);
        for (std::size_t y = 0; y < own.height; ++y)
            for (std::size_t x = 0; x < own.width; ++x) {
                const bool kept = y - rows.source < rows.count && x - columns.source < columns.count;
                const std::size_t p = y * own.width + x;
                RC_ASSERT(back[p] == (kept ? labels[p] : 1));
            }
    }));
}

TEST(GridFit, StretchingKeepsConstantsRangeAndRamps) {
    EXPECT_TRUE(rc::check([] {
        const Grid own = any_grid(), grid = any_grid();
        const GridFit fit{GridFit::Kind::resize, grid};
        std::vector<float> plane(own.pixels()), out(grid.pixels());
        float low = 1, high = 0;
        for (float& value : plane) {
            value = static_cast<float>(*rc::gen::inRange(0, 1001)) / 1000.0f;
            low = std::min(low, value);
            high = std::max(high, value);
        }
        fit_values(plane.data(), own, fit, 0, out.data());
        for (const float value : out) RC_ASSERT(value >= low && value <= high);
        std::vector<float> ones(own.pixels(), 1.0f);
        fit_values(ones.data(), own, fit, 0, out.data());
        for (const float value : out) RC_ASSERT(value == 1.0f);
    }));
    // Twice as wide: targets lie a quarter pixel off the sources' middles.
    const std::vector<float> ramp{0.0f, 0.4f, 0.8f};
    std::vector<float> out(6);
    fit_values(ramp.data(), {1, 3}, {GridFit::Kind::resize, {1, 6}}, 0, out.data());
    const std::vector<float> expected{0.0f, 0.1f, 0.3f, 0.5f, 0.7f, 0.8f};
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(out[i], expected[i], 1e-6);
}

TEST(GridFit, LabelsAreStretchedToTheNearestAndBackByWholeFactors) {
    EXPECT_TRUE(rc::check([] {
        const Grid own = any_grid();
        const auto factor = *rc::gen::inRange<std::uint32_t>(1, 5);
        const GridFit fit{GridFit::Kind::resize, {own.height * factor, own.width * factor}};
        std::vector<std::int32_t> labels(own.pixels()), fitted(fit.grid.pixels());
        std::iota(labels.begin(), labels.end(), 0);
        fit_labels(labels.data(), own, fit, 7, fitted.data());
        for (std::size_t y = 0; y < fit.grid.height; ++y)
            for (std::size_t x = 0; x < fit.grid.width; ++x)
                RC_ASSERT(fitted[y * fit.grid.width + x] == labels[y / factor * own.width + x / factor]);
        const std::vector<std::uint8_t> sets(fitted.begin(), fitted.end());
        std::vector<std::uint8_t> back(own.pixels());
        RC_ASSERT(unfit_sets(sets.data(), fit, own, back.data()) == 0u);
        for (std::size_t p = 0; p < own.pixels(); ++p) RC_ASSERT(back[p] == labels[p]);
    }));
}

}  // namespace
}  // namespace kandinsky
