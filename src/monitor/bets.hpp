#pragma once

#include <array>
#include <cstddef>

namespace kandinsky {

/// The capital won by betting against the hypothesis "these p-values are independent and uniform". It is a
/// mixture over betting functions; a part of the capital moves between them at each step, so that a change
/// that begins late is found too. Under the hypothesis the capital is a martingale that starts at 1, so P(it
/// ever reaches 1 / delta) <= delta (Ville).
struct Bets {
    static constexpr std::size_t kWays = 17;
    static constexpr double kJump = 0.005;  ///< share of the capital that moves at each step
    static constexpr double kAsleep = 0.2;  ///< share that does not bet at first

    double log_value = 0;                      ///< natural logarithm of the capital
    std::array<double, kWays> share = even();  ///< of the capital, by betting function
    double asleep = kAsleep;                   ///< share that waits

    /// 0 < p <= 1. Constant time, no allocation.
    void bet(double p);

    friend bool operator==(const Bets&, const Bets&) = default;

  private:
    static constexpr std::array<double, kWays> even() {
        std::array<double, kWays> out{};
        for (double& one : out) one = (1 - kAsleep) / kWays;
        return out;
    }
};

/// What the betting functions pay for a p-value, 0 < p <= 1; each integrates to 1.
[[nodiscard]] std::array<double, Bets::kWays> payments(double p);

/// As Bets, with functions that pay most for small p-values, to detect one direction of change.
struct RiseBets {
    static constexpr std::size_t kWays = 7;

    double log_value = 0;
    std::array<double, kWays> share = even();
    double asleep = Bets::kAsleep;

    /// 0 < p <= 1. Constant time, no allocation.
    void bet(double p);

    friend bool operator==(const RiseBets&, const RiseBets&) = default;

  private:
    static constexpr std::array<double, kWays> even() {
        std::array<double, kWays> out{};
        for (double& one : out) one = (1 - Bets::kAsleep) / kWays;
        return out;
    }
};

/// What the functions of RiseBets pay for a p-value; each integrates to 1 and does not increase.
[[nodiscard]] std::array<double, RiseBets::kWays> rise_payments(double p);

/// The capital won by betting against the hypothesis "the mean loss, given the past, is at most `limit`", for
/// losses in [0, 1]. The capital is a supermartingale under this hypothesis.
struct LossBets {
    static constexpr std::size_t kWays = 5;

    double log_value = 0;
    std::array<double, kWays> share{0.16, 0.16, 0.16, 0.16, 0.16};
    double asleep = Bets::kAsleep;

    /// 0 <= loss <= 1, limit > 0. Constant time, no allocation.
    void bet(double loss, double limit);

    friend bool operator==(const LossBets&, const LossBets&) = default;
};

}  // namespace kandinsky
