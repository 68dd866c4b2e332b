#include "model/dice.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kandinsky {
namespace {

TEST(Dice, OneOutputBelongsFromOneHalfOn) {
    Dice dice(1);
    const float p[] = {0.9F, 0.5F, 0.4F, 0.1F};
    const std::uint8_t truth[] = {1, 0, 1, 0}, valid[] = {1, 1, 1, 1};
    dice.add(4, p, truth, valid);
    EXPECT_DOUBLE_EQ(dice.value(0), 0.5);
}

TEST(Dice, SeveralOutputsCompete) {
    Dice dice(3);
    //             pixel 0..2 of output 0, 1, 2
    const float p[] = {0.1F, 0.2F, 0.9F, 0.8F, 0.3F, 0.2F, 0.2F, 0.7F, 0.1F};
    const std::uint8_t truth[] = {0, 0, 1, 1, 1, 0, 0, 0, 0}, valid[] = {1, 1, 1};
    dice.add(3, p, truth, valid);
    EXPECT_DOUBLE_EQ(dice.value(0), 1);
    EXPECT_DOUBLE_EQ(dice.value(1), 2.0 / 3);
    EXPECT_DOUBLE_EQ(dice.value(2), 0);
}

TEST(Dice, PixelsThatDoNotCountAreLeftOut) {
    Dice dice(1);
    const float p[] = {0.9F, 0.9F};
    const std::uint8_t truth[] = {1, 0}, valid[] = {1, 0};
    dice.add(2, p, truth, valid);
    EXPECT_DOUBLE_EQ(dice.value(0), 1);
}

TEST(Dice, NothingOnEitherSideIsNoNumber) {
    EXPECT_TRUE(std::isnan(Dice(2).value(1)));
}

TEST(Dice, CountsAddUp) {
    Dice a(1), b(1), both(1);
    const float p[] = {0.9F}, q[] = {0.1F};
    const std::uint8_t truth[] = {1}, valid[] = {1};
    a.add(1, p, truth, valid);
    b.add(1, q, truth, valid);
    both.add(a);
    both.add(b);
    EXPECT_DOUBLE_EQ(both.value(0), 2.0 / 3);
}

}  // namespace
}  // namespace kandinsky
