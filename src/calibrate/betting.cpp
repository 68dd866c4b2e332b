#include "calibrate/betting.hpp"

#include <algorithm>
#include <cmath>

namespace kandinsky {

namespace {
// The prior mean and variance count as much as this number of groups.
constexpr double kPriorGroups = 2, kPriorMean = 0.5 /* of alpha */, kPriorVariance = 0.5 /* of the largest */;
// The largest bet, as a share of the bet with which a loss of 1 takes all capital. With few groups the test
// can hardly pass after a loss of 1 under any bet, so up to the whole capital is bet.
constexpr double kCautious = 0.9, kFewTimes = 2;
constexpr double kSlack = 1e-12;  // of the capital, for rounding: 29 factors of 1 / 0.9 must reach 0.9^-29
}  // namespace

std::uint64_t groups_needed(double alpha, double confidence) {
    if (!(alpha > 0)) return UINT64_MAX;
    if (alpha >= 1) return 1;
    const double exact = std::log1p(-confidence) / std::log1p(-alpha);
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(exact * (1 - kSlack))));
}

double least_alpha_of(std::uint64_t groups, double confidence) {
    return groups == 0 ? 1 : -std::expm1(std::log1p(-confidence) / static_cast<double>(groups));
}

BettingTest::BettingTest(double alpha, double delta, std::uint64_t groups)
    : alpha_(alpha),
      goal_((1 - kSlack) / delta),
      scale_(2 * std::log(1 / delta) / static_cast<double>(std::max<std::uint64_t>(1, groups))) {
    const bool few =
        static_cast<double>(groups) < kFewTimes * static_cast<double>(groups_needed(alpha, 1 - delta));
    most_ = (few ? 1 : kCautious) / (1 - alpha);
}

bool BettingTest::passes(std::span<const double> losses) const {
    double capital = 1, seen = kPriorGroups, sum = kPriorGroups * kPriorMean * alpha_,
           squares = kPriorGroups * kPriorVariance * alpha_ * (1 - alpha_);
    for (const double loss : losses) {
        const double bet = std::min(most_, std::sqrt(scale_ * seen / squares));
        capital *= 1 + bet * (alpha_ - loss);
        if (capital >= goal_) return true;
        if (!(capital > 0)) return false;
        seen += 1;
        sum += loss;
        const double distance = loss - sum / seen;
        squares += distance * distance;
    }
    return false;
}

}  // namespace kandinsky
