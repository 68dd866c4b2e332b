#include "model/augment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace kandinsky {
namespace {

std::vector<float> ramp(const Grid& grid) {
    std::vector<float> values(grid.pixels());
    std::iota(values.begin(), values.end(), 0.0F);
    return values;
}

TEST(Augment, WithoutLimitsNothingChanges) {
    const Grid grid{.height = 5, .width = 7};
    const std::vector<float> from = ramp(grid);
    std::vector<float> to(from.size());
    for (std::uint64_t sample = 0; sample < 20; ++sample) {
        Warp(Augmentation::none(), grid, 1, 0, sample).pixels(1, from.data(), to.data());
        EXPECT_EQ(to, from);
    }
}

TEST(Augment, AMirrorTurnsRowsAroundHalfOfTheTime) {
    const Grid grid{.height = 3, .width = 4};
    Augmentation mirror = Augmentation::none();
    mirror.mirror = true;
    const std::vector<float> from = ramp(grid);
    std::vector<float> to(from.size());
    int mirrored = 0;
    for (std::uint64_t sample = 0; sample < 1000; ++sample) {
        Warp(mirror, grid, 1, 0, sample).pixels(1, from.data(), to.data());
        if (to == from) continue;
        ++mirrored;
        EXPECT_FLOAT_EQ(to[0], 3);
        EXPECT_FLOAT_EQ(to[11], 8);
    }
    // Binomial(1000, 1/2) leaves [400, 600] with probability 2e-10.
    EXPECT_GE(mirrored, 400);
    EXPECT_LE(mirrored, 600);
}

TEST(Augment, PixelsAndMasksMoveTogether) {
    const Grid grid{.height = 32, .width = 32};
    std::vector<float> square(grid.pixels(), 0);
    std::vector<std::uint8_t> mask(grid.pixels(), 0);
    for (std::size_t row = 10; row < 20; ++row)
        for (std::size_t column = 4; column < 22; ++column) {
            square[row * 32 + column] = 1;
            mask[row * 32 + column] = 1;
        }
    Augmentation limits;
    limits.brightness = limits.contrast = 0;
    for (std::uint64_t sample = 0; sample < 50; ++sample) {
        const Warp warp(limits, grid, 3, 7, sample);
        std::vector<float> moved(grid.pixels());
        std::vector<std::uint8_t> moved_mask(grid.pixels());
        warp.pixels(1, square.data(), moved.data());
        warp.mask(1, mask.data(), moved_mask.data(), 0);
        for (std::size_t p = 0; p < moved.size(); ++p) {
            if (moved[p] > 0.8F) {
                EXPECT_EQ(moved_mask[p], 1) << sample << ' ' << p;
            } else if (moved[p] < 0.2F) {
                EXPECT_EQ(moved_mask[p], 0) << sample << ' ' << p;
            }
        }
    }
}

TEST(Augment, WhatComesFromOutsideIsMarked) {
    const Grid grid{.height = 16, .width = 16};
    Augmentation limits = Augmentation::none();
    limits.shift = 0.5;
    const std::vector<std::uint8_t> all(grid.pixels(), 1);
    std::size_t outside = 0;
    for (std::uint64_t sample = 0; sample < 10; ++sample) {
        std::vector<std::uint8_t> moved(grid.pixels());
        Warp(limits, grid, 5, 0, sample).mask(1, all.data(), moved.data(), 0);
        outside += static_cast<std::size_t>(std::count(moved.begin(), moved.end(), 0));
    }
    EXPECT_GT(outside, 0U);
}

TEST(Augment, TheSameNamesGiveTheSameChange) {
    const Grid grid{.height = 9, .width = 9};
    const std::vector<float> from = ramp(grid);
    std::vector<float> a(from.size()), b(from.size()), c(from.size());
    Warp(Augmentation{}, grid, 1, 2, 3).pixels(1, from.data(), a.data());
    Warp(Augmentation{}, grid, 1, 2, 3).pixels(1, from.data(), b.data());
    Warp(Augmentation{}, grid, 1, 3, 3).pixels(1, from.data(), c.data());
    EXPECT_EQ(a, b);
    EXPECT_NE(a, c);
}

}  // namespace
}  // namespace kandinsky
