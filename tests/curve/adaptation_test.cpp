#include <gtest/gtest.h>

#include <cmath>
#include <kandinsky/adaptation.hpp>
#include <kandinsky/error.hpp>
#include <kandinsky/smooth_curves.hpp>

#include "core/base/random.hpp"

namespace kandinsky {
namespace {

constexpr std::size_t kCount = ImageFeatures::kCount;

Adaptation::Shift random_shift(Random& random) {
    Adaptation::Shift out;
    for (std::size_t k = 0; k < kCount; ++k) {
        out.slope[k] = random.uniform(-2, 2);
        out.low[k] = random.uniform(-3, 0);
        out.high[k] = out.low[k] + random.uniform(0, 2);
    }
    out.constant = random.uniform(-1, 1);
    return out;
}

TEST(Adaptation, ValuesAreLogitsAndLevelAtIsTheLargestLevelUpToAValue) {
    for (std::uint32_t level = 1; level < SmoothCurves::kOne; ++level) {
        const double u = static_cast<double>(level) / SmoothCurves::kOne;
        ASSERT_NEAR(Adaptation::value_of(level), Adaptation::kUnit * std::log(u / (1 - u)), 0.51);
        ASSERT_LE(Adaptation::value_of(level - 1), Adaptation::value_of(level));
    }
    for (std::int32_t value = -5000; value <= 5000; ++value) {
        const std::uint32_t level = Adaptation::level_at(value);
        if (level > 0) {
            EXPECT_LE(Adaptation::value_of(level), value);
        }
        if (level < SmoothCurves::kOne) {
            EXPECT_GT(Adaptation::value_of(level + 1), value);
        }
    }
    EXPECT_EQ(Adaptation::level_at(-100000), 0u);
    EXPECT_EQ(Adaptation::level_at(100000), SmoothCurves::kOne);
}

TEST(Adaptation, TheShiftIsTheLargestOfAllFitsAndLiesInItsRange) {
    Random random(1, 26);
    for (int round = 0; round < 200; ++round) {
        std::vector<Adaptation::Shift> shifts;
        for (std::size_t i = 0; i <= random.below(5); ++i) shifts.push_back(random_shift(random));
        const Adaptation adaptation(shifts, {});
        const auto [least, most] = adaptation.range();
        for (int image = 0; image < 20; ++image) {
            ImageFeatures features;
            for (double& value : features.values) value = random.uniform(-12, 12);
            double largest = -4;
            for (const Adaptation::Shift& one : shifts) {
                double own = one.constant;
                for (std::size_t k = 0; k < kCount; ++k)
                    own += one.slope[k] * std::min(one.high[k], std::max(one.low[k], features.values[k]));
                largest = std::max(largest, std::min(4.0, own));
            }
            const std::int32_t found = adaptation.shift(features);
            EXPECT_LT(found, Adaptation::kUnit * largest + Adaptation::kStep);
            EXPECT_EQ(found % Adaptation::kStep, 0);
            EXPECT_GE(found, Adaptation::kUnit * largest - 1e-9) << "rounded up";
            EXPECT_GE(found, least);
            EXPECT_LE(found, most);
        }
    }
}

TEST(Adaptation, ALevelWithTooLittleDataStaysUnreachableAtEveryShift) {
    const Adaptation adaptation({Adaptation::Shift{}}, {-100, 200, Adaptation::kNever});
    for (const std::int32_t shift : {-1000, 0, 1000}) {
        EXPECT_EQ(adaptation.level(0, shift), Adaptation::level_at(-100 + shift));
        EXPECT_LE(adaptation.level(0, shift), adaptation.level(1, shift));
        EXPECT_EQ(adaptation.level(2, shift), SmoothCurves::kNever);
    }
}

TEST(Adaptation, NumbersWhoseSumWouldNotBeFiniteAreRefused) {
    Adaptation::Shift edge;
    edge.slope[0] = 1e30, edge.low[0] = edge.high[0] = 1e30;
    edge.slope[1] = -1e30, edge.low[1] = edge.high[1] = 1e30;
    edge.constant = 1;
    const Adaptation allowed({edge}, {});
    EXPECT_EQ(allowed.shift({}), 0) << "1e60 - 1e60, which absorbs the constant";
    for (const double huge : {1e31, 1e308, -1e308, HUGE_VAL}) {
        Adaptation::Shift bad = edge;
        bad.slope[0] = huge;
        EXPECT_THROW(Adaptation({bad}, {}), Error);
        bad = edge, bad.constant = huge;
        EXPECT_THROW(Adaptation({bad}, {}), Error);
        bad = edge, bad.low[0] = bad.high[0] = huge;
        EXPECT_THROW(Adaptation({bad}, {}), Error);
    }
}

TEST(Adaptation, InconsistentNumbersAreRefused) {
    Adaptation::Shift bad;
    bad.slope[1] = std::nan("");
    EXPECT_THROW(Adaptation({bad}, {}), Error);
    Adaptation::Shift reversed;
    reversed.low[0] = 1;
    EXPECT_THROW(Adaptation({reversed}, {}), Error);
    EXPECT_THROW(Adaptation({Adaptation::Shift{}}, {5, 4}), Error);
    EXPECT_THROW(Adaptation({Adaptation::Shift{}}, {100000}), Error);
    EXPECT_THROW((void)adapt_of("images"), Error);
    EXPECT_EQ(adapt_of(name_of(Adapt::image)), Adapt::image);
}

}  // namespace
}  // namespace kandinsky
