#include "io/mask/run_lengths.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "core/base/random.hpp"
#include "io/mask/golden_masks.hpp"
#include "io/mask/pack_run_lengths.hpp"
#include "io/support.hpp"

namespace kandinsky {
namespace {

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
    expect_error(ErrorKind::data, {"ann 3", "cut short"}, [&] { unpack("P"); });
    expect_error(ErrorKind::data, {"ann 3", "too long"}, [&] { unpack(std::string(50, 'o')); });
    expect_error(ErrorKind::data, {"ann 3", "no digit"}, [&] { unpack("1\n"); });
    expect_error(ErrorKind::data, {"ann 3", "no digit"}, [&] { unpack(std::string(1, '\0')); });
    expect_error(ErrorKind::data, {"ann 3", "more than"}, [&] { unpack(std::string(200, '0')); });
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
