#include "io/folder/pattern.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace kandinsky {
namespace {

// What races, the thread sanitizer sees (make test-tsan); without it this looks at the answers alone.
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

}  // namespace
}  // namespace kandinsky
