#include "io/folder/pattern.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <kandinsky/error.hpp>
#include <thread>
#include <vector>

namespace kandinsky {
namespace {

// The thread sanitizer reports data races (make test-tsan); without it only the answers are checked.
TEST(Pattern, IsMadeByManyThreadsAtOnce) {
    std::atomic<int> right{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&right, i] {
            const std::regex pattern = make_pattern("case" + std::to_string(i) + "[_.-]([a-z]+)");
            std::smatch match;
            const std::string name = "case" + std::to_string(i) + "_left";
            if (std::regex_search(name, match, pattern) && match[1] == "left") ++right;
        });
    threads.clear();
    EXPECT_EQ(right, 8);
}

TEST(Pattern, ThatIsNoneIsRefused) {
    EXPECT_THROW((void)make_pattern("["), std::regex_error);
}

using Ids = std::vector<std::int64_t>;

TEST(CaseGroups, AreTheNumbersAtTheEndOfNamesThatDiffer) {
    EXPECT_EQ(group_ids({"p_003", "p_001", "q_12"}, ""), (Ids{3, 1, 12}));
}

TEST(CaseGroups, AreHashesOfTheNamesOtherwiseWhateverTheOrder) {
    const Ids clash = group_ids({"p_1", "q_1"}, ""), turned = group_ids({"q_1", "p_1"}, "");
    EXPECT_NE(clash[0], clash[1]);
    EXPECT_EQ(clash[0], turned[1]);
    EXPECT_EQ(group_ids({"p_1", "q_1", "none"}, "")[0], clash[0]);
    EXPECT_GE(clash[0], 0);
}

TEST(CaseGroups, AreWhatTheExpressionCapturesOrMatches) {
    EXPECT_EQ(group_ids({"pat7_a", "pat7_b", "pat9_a"}, "pat([0-9]+)"), (Ids{7, 7, 9}));
    EXPECT_EQ(group_ids({"pat7_a", "pat7_b", "pat9_a"}, "pat[0-9]+"), (Ids{7, 7, 9}));
    EXPECT_THROW((void)group_ids({"pat7", "x"}, "pat"), Error);
    EXPECT_THROW((void)group_ids({"pat7"}, "["), Error);
}

}  // namespace
}  // namespace kandinsky
