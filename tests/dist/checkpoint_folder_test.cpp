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

}  // namespace
}  // namespace kandinsky
