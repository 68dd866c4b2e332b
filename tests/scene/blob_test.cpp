#include "scene/blob.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace kandinsky::scene {
namespace {

const Frame kFrame(Grid{60, 80});

TEST(Blob, TheDistanceToACircleAndToABarIsExact) {
    std::vector<float> field(kFrame.grid().pixels());
    signed_distance({{}, 0.3F, {{{0.1F, -0.05F}, 0.3F, 0.3F, 0.7F, {}, {}}}, {}}, kFrame, field);
    for (std::size_t i = 0; i < field.size(); ++i) {
        const float dx = kFrame.x(i % 80) - 0.1F;
        const float dy = kFrame.y(i / 80) + 0.05F;
        ASSERT_NEAR(field[i], 0.3F - std::hypot(dx, dy), 1e-5F) << i;
    }
    signed_distance({{}, 0.3F, {}, {{{-0.2F, 0}, {0.2F, 0}, 0.1F, 0.1F}}}, kFrame, field);
    for (std::size_t i = 0; i < field.size(); ++i) {
        const float dx = std::max(0.0F, std::abs(kFrame.x(i % 80)) - 0.2F);
        ASSERT_NEAR(field[i], 0.1F - std::hypot(dx, kFrame.y(i / 80)), 1e-5F) << i;
    }
}

TEST(Blob, TheAreaOfATiltedEllipseIsRight) {
    std::vector<float> field(kFrame.grid().pixels());
    signed_distance({{}, 0.5F, {{{}, 0.4F, 0.2F, 0.6F, {}, {}}}, {}}, kFrame, field);
    const auto inside = std::count_if(field.begin(), field.end(), [](float d) { return d > 0; });
    const double area = static_cast<double>(inside) / (60.0 * 60.0);
    EXPECT_NEAR(area, std::numbers::pi * 0.4 * 0.2, 0.01);
}

TEST(Blob, RandomOnesContainTheirCentreAndStayWithinTheirReach) {
    std::vector<float> field(kFrame.grid().pixels());
    for (std::uint64_t n = 0; n < 200; ++n) {
        Random random(3, 0, n);
        const Blob blob = random_blob(random, {0, 0}, 0.15F, 0.15F, 0, 0.5F);
        signed_distance({{}, 0.3F, {blob}, {}}, kFrame, field);
        for (std::size_t i = 0; i < field.size(); ++i) {
            const float r = std::hypot(kFrame.x(i % 80), kFrame.y(i / 80));
            if (r < 0.1F * 0.15F) {
                ASSERT_GT(field[i], 0);
            }
            if (r > 1.9F * 0.15F) {
                ASSERT_LT(field[i], 0);
            }
        }
    }
}

TEST(Blob, ABumpHasItsHeightInTheMiddleAndNothingOutside) {
    const Grid odd{31, 31};
    const Frame frame(odd);
    std::vector<float> field(odd.pixels());
    add_bump({{{}, 0.2F, 0.2F, 0, {}, {}}, 4.0F}, frame, field);
    EXPECT_NEAR(field[15 * 31 + 15], 4.0F, 1e-3F);
    for (std::size_t i = 0; i < field.size(); ++i) {
        const float t = std::hypot(frame.x(i % 31), frame.y(i / 31)) / 0.2F;
        const float rest = std::max(0.0F, 1.0F - t * t);
        ASSERT_NEAR(field[i], 4.0F * rest * rest, 1e-3F) << i;
    }
    const std::vector<float> before = field;
    add_bump({{{5, -7}, 0.2F, 0.2F, 0, {}, {}}, 4.0F}, frame, field);
    EXPECT_EQ(field, before);
}

}  // namespace
}  // namespace kandinsky::scene
