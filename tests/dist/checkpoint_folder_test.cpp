#include "dist/checkpoint_folder.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "io/support.hpp"

namespace kandinsky {
namespace {

using namespace test;

std::string recalled(CheckpointFolder& state, std::size_t step, std::string_view name) {
    const auto bytes = state.recall(step, name);
    return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : "nothing";
}

TEST(CheckpointFolder, RecallsWhatWasKeptAndNothingElse) {
    const Folder folder;
    CheckpointFolder state(folder / "state", "run", 0, 60);
    EXPECT_EQ(recalled(state, 3, "fit"), "nothing");
    state.keep(3, "fit", test::bytes_of("four"));
    EXPECT_EQ(recalled(state, 3, "fit"), "four");
    EXPECT_EQ(recalled(state, 4, "fit"), "nothing");
    EXPECT_EQ(recalled(state, 3, "other"), "nothing");
    state.clear();
    EXPECT_EQ(folder.entries(), 0u);
}

TEST(CheckpointFolder, AFileThatStatesAnotherSizeIsIgnoredWithoutAnAllocation) {
    const Folder folder;
    CheckpointFolder state(folder / "state", "run", 0, 60);
    state.keep(3, "fit", test::bytes_of("four"));
    const auto path = folder.path() / "state" / "rank00000-step00003.kckp";
    const std::string good = slurp(path);
    constexpr std::size_t kSize = 32;  // where the header states the size
    std::uint64_t stated = 0;
    std::memcpy(&stated, good.data() + kSize, sizeof stated);
    ASSERT_EQ(stated, 4u);
    // No machine could allocate the last two.
    for (const std::uint64_t wrong : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{5},
                                      std::uint64_t{1} << 62, std::numeric_limits<std::uint64_t>::max()}) {
        std::string bad = good;
        std::memcpy(bad.data() + kSize, &wrong, sizeof wrong);
        spill(path, bad);
        EXPECT_EQ(recalled(state, 3, "fit"), "nothing") << wrong;
    }
    for (const std::string& bad : {good.substr(0, good.size() - 1), good + "x"}) {
        spill(path, bad);
        EXPECT_EQ(recalled(state, 3, "fit"), "nothing");
    }
    spill(path, good);
    EXPECT_EQ(recalled(state, 3, "fit"), "four");
}

TEST(CheckpointFolder, AFileWithAWrongNumberOfItemsIsIgnored) {
    const Folder folder;
    CheckpointFolder state(folder / "state", "run", 0, 60);
    std::vector<std::uint64_t> counts{5, 6}, found{0, 0};
    state.save(3, "reading", 17, {std::as_writable_bytes(std::span(counts))});
    const State to{std::as_writable_bytes(std::span(found))};
    EXPECT_EQ(state.load(3, "reading", to), 17u);
    const auto path = folder.path() / "state" / "rank00000-step00003.kckp";
    const std::string good = slurp(path);
    constexpr std::size_t kDone = 24;  // where the header states the number of items
    ASSERT_EQ(good[kDone], 17);
    for (std::size_t i = kDone; i < kDone + 8; ++i) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ 1);
        spill(path, bad);
        EXPECT_FALSE(state.load(3, "reading", to)) << "byte " << i;
    }
    spill(path, good);
    EXPECT_EQ(state.load(3, "reading", to), 17u);
}

TEST(CheckpointFolder, AFileOfTheFormatBeforeStartsAgain) {
    const Folder folder;
    CheckpointFolder state(folder / "state", "run", 0, 60);
    state.keep(3, "fit", test::bytes_of("four"));
    const auto path = folder.path() / "state" / "rank00000-step00003.kckp";
    std::string old = slurp(path);
    ASSERT_EQ(old.substr(0, 8), "KANDCKP2");
    old[7] = '1';  // its hash left out the header
    spill(path, old);
    EXPECT_EQ(recalled(state, 3, "fit"), "nothing");
    state.keep(3, "fit", test::bytes_of("five"));
    EXPECT_EQ(recalled(state, 3, "fit"), "five");
}

}  // namespace
}  // namespace kandinsky
