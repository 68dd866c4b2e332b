#include "io/mask/mask.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>

#include "core/base/random.hpp"
#include "io/mask/golden_masks.hpp"
#include "io/mask/pack_run_lengths.hpp"
#include "io/support.hpp"

namespace kandinsky {
namespace {

std::vector<std::uint8_t> filled(std::vector<double> points, Grid grid) {
    std::vector<std::uint8_t> mask(grid.pixels());
    fill_polygon(points, grid, mask.data());
    return mask;
}

std::string drawn(const std::vector<std::uint8_t>& mask, Grid grid) {
    std::string out;
    for (std::size_t i = 0; i < mask.size(); ++i) {
        out += mask[i] != 0 ? '#' : '.';
        if ((i + 1) % grid.width == 0) out += '\n';
    }
    return out;
}

TEST(Polygon, ARectangleOfWholePixelsFillsExactlyThem) {
    const Grid grid{.height = 4, .width = 5};
    EXPECT_EQ(drawn(filled({1, 1, 4, 1, 4, 3, 1, 3}, grid), grid),
              ".....\n"
              ".###.\n"
              ".###.\n"
              ".....\n");
}

TEST(Polygon, ThePixelsAreThoseOfTheReferenceMasks) {
    ASSERT_GE(test::golden_masks().size(), 40u);
    for (const test::GoldenMask& golden : test::golden_masks()) {
        std::vector<std::uint8_t> mask(golden.grid.pixels());
        for (const std::vector<double>& part : golden.parts) fill_polygon(part, golden.grid, mask.data());
        EXPECT_EQ(drawn(mask, golden.grid), drawn(golden.mask(), golden.grid)) << golden.name;
    }
}

TEST(Polygon, DirectionAndFirstCornerDoNotMatterForWholeNumbers) {
    const Grid grid{.height = 20, .width = 20};
    const std::vector<double> points{2, 3, 17, 5, 12, 18};
    EXPECT_EQ(filled(points, grid), filled({17, 5, 12, 18, 2, 3}, grid));
}

TEST(Polygon, PartsAddUpAndNeverErase) {
    const Grid grid{.height = 6, .width = 6};
    std::vector<std::uint8_t> mask(grid.pixels());
    fill_polygon(std::vector<double>{0, 0, 4, 0, 4, 4, 0, 4}, grid, mask.data());
    fill_polygon(std::vector<double>{2, 2, 6, 2, 6, 6, 2, 6}, grid, mask.data());
    EXPECT_EQ(std::count(mask.begin(), mask.end(), 1), 16 + 16 - 4);
}

TEST(Polygon, FarAwayCornersCostNothingAndStayExact) {
    const Grid grid{.height = 30, .width = 40};
    const double far = kLargestCoordinate;
    const auto mask = filled({-far, -far, far, -far, far, far, -far, far}, grid);
    EXPECT_EQ(std::count(mask.begin(), mask.end(), 1), 1200);
    const auto left = filled({-far, -far, 20, -far, 20, far, -far, far}, grid);
    EXPECT_EQ(std::count(left.begin(), left.end(), 1), 600);
}

TEST(Polygon, NothingAndLessThanAnAreaFillNothing) {
    const Grid grid{.height = 5, .width = 5};
    for (const std::vector<double>& points :
         {std::vector<double>{}, {1, 1}, {1, 1, 4, 4}, {1, 1, 1, 1, 1, 1}, {1, 4, 1, 1, 1, 2}}) {
        const auto mask = filled(points, grid);
        EXPECT_EQ(std::count(mask.begin(), mask.end(), 1), 0);
    }
    fill_polygon(std::vector<double>{0, 0, 1, 0, 1, 1}, Grid{}, nullptr);
}

TEST(Polygon, CoordinatesThatAreNoPlacesAreRefused) {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(), 2 * kLargestCoordinate})
        test::expect_error(ErrorKind::internal, {"polygon"}, [&] {
            (void)filled({0, 0, bad, 0, 3, 3}, Grid{.height = 5, .width = 5});
        });
}

using test::expect_error;
using Runs = std::vector<std::int64_t>;

TEST(RunLengths, RunDownTheColumnsAndBeginWithZeros) {
    const Grid grid{.height = 2, .width = 3};
    std::vector<std::uint8_t> mask(6);
    fill_run_lengths(Runs{1, 2, 2, 1}, grid, mask.data(), "a");
    EXPECT_EQ(mask, (std::vector<std::uint8_t>{0, 1, 0, 1, 0, 1}));
}

TEST(RunLengths, TheTextOfTheReferenceMasksUnpacksToTheirPixels) {
    for (const test::GoldenMask& golden : test::golden_masks()) {
        const Runs runs = unpack_run_lengths(golden.text, golden.grid.pixels(), golden.name);
        std::vector<std::uint8_t> mask(golden.grid.pixels());
        fill_run_lengths(runs, golden.grid, mask.data(), golden.name);
        EXPECT_EQ(mask, golden.mask()) << golden.name;
        EXPECT_EQ(pack_run_lengths(runs), golden.text) << golden.name;
    }
}

TEST(RunLengths, TextAndNumbersAreTheSame) {
    EXPECT_TRUE(rc::check([](const std::vector<std::uint16_t>& lengths) {
        const Runs runs(lengths.begin(), lengths.end());
        RC_ASSERT(unpack_run_lengths(pack_run_lengths(runs), 70000, "a") == runs);
    }));
}

TEST(RunLengths, EveryTextIsUnpackedOrRefused) {
    Random random(11, 2);
    std::size_t refused = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string text(random.below(12), ' ');
        const bool near = round % 2 == 0;
        for (char& letter : text)
            letter = static_cast<char>(near ? 48 + random.below(64) : random.below(256));
        const Grid grid{.height = 7, .width = 9};
        std::vector<std::uint8_t> mask(grid.pixels());
        try {
            fill_run_lengths(unpack_run_lengths(text, grid.pixels(), "a"), grid, mask.data(), "a");
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::data);
            ++refused;
        }
    }
    EXPECT_GT(refused, 19000u);
}

TEST(RunLengths, HostileTextsAreRefusedInWords) {
    const auto unpack = [](const std::string& text) { (void)unpack_run_lengths(text, 100, "ann 3"); };
    expect_error(ErrorKind::data, {"ann 3", "truncated"}, [&] { unpack("P"); });
    expect_error(ErrorKind::data, {"ann 3", "too long"}, [&] { unpack(std::string(50, 'o')); });
    expect_error(ErrorKind::data, {"ann 3", "not a digit"}, [&] { unpack("1\n"); });
    expect_error(ErrorKind::data, {"ann 3", "not a digit"}, [&] { unpack(std::string(1, '\0')); });
    expect_error(ErrorKind::data, {"ann 3", "more run lengths than pixels"},
                 [&] { unpack(std::string(200, '0')); });
    expect_error(ErrorKind::data, {"ann 3", "run 0 is -1"}, [&] { unpack("O"); });
    expect_error(ErrorKind::data, {"ann 3", "run 0 is"}, [&] { unpack("PPPPP1"); });
}

TEST(RunLengths, RunsThatDoNotFillTheImageExactlyAreRefused) {
    const Grid grid{.height = 2, .width = 3};
    std::vector<std::uint8_t> mask(6);
    for (const Runs& runs :
         {Runs{}, {5}, {7}, {3, 4}, {-1, 7}, {3, -3, 6}, {INT64_MAX, INT64_MAX}, {6, 0, 1}})
        expect_error(ErrorKind::data, {"ann 3"}, [&] { fill_run_lengths(runs, grid, mask.data(), "ann 3"); });
    EXPECT_EQ(std::count(mask.begin(), mask.end(), 0), 6);
}

}  // namespace
}  // namespace kandinsky
