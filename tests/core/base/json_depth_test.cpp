#include "core/base/json_depth.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace kandinsky {
namespace {

std::string nested(std::size_t depth, char open = '[', char close = ']') {
    return std::string(depth, open) + std::string(depth, close);
}

TEST(JsonDepth, CountsOpenBracketsOutsideTexts) {
    EXPECT_FALSE(nests_deeper(""));
    EXPECT_FALSE(nests_deeper(nested(kJsonDepth)));
    EXPECT_TRUE(nests_deeper(nested(kJsonDepth + 1)));
    EXPECT_TRUE(nests_deeper(nested(kJsonDepth / 2) + nested(kJsonDepth + 1, '{', '}')));
    EXPECT_TRUE(nests_deeper(std::string(kJsonDepth + 1, '['))) << "never closed";
    EXPECT_FALSE(nests_deeper(fmt::format("\"{}\"", nested(200)))) << "a text";
    EXPECT_FALSE(nests_deeper(fmt::format("\"\\\"{}\"", nested(200)))) << "a text with a quote";
    EXPECT_TRUE(nests_deeper(fmt::format("\"\\\\\"{}", nested(200))))
        << "behind a text that ends with a backslash";
    EXPECT_FALSE(nests_deeper(std::string(500, ']') + nested(kJsonDepth))) << "closed too often";
}

}  // namespace
}  // namespace kandinsky
