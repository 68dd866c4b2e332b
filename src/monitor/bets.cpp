#include "monitor/bets.hpp"

#include <algorithm>
#include <cmath>

namespace kandinsky {

namespace {
/// One step: each share is multiplied by its payoff. Then a part kJump of the active capital moves, half to
/// the waiting capital and half evenly to all functions. A part kJump of the waiting capital becomes active.
template <std::size_t N>
void play(const std::array<double, N>& paid, double& log_value, std::array<double, N>& share,
          double& asleep) {
    double betting = 0;
    for (std::size_t i = 0; i < N; ++i) betting += share[i] *= paid[i];
    const double all = betting + asleep;
    log_value += std::log(all);
    const double arrives = (Bets::kJump * asleep + 0.5 * Bets::kJump * betting) / static_cast<double>(N);
    for (double& one : share) one = ((1 - Bets::kJump) * one + arrives) / all;
    asleep = ((1 - Bets::kJump) * asleep + 0.5 * Bets::kJump * betting) / all;
}
}  // namespace

std::array<double, Bets::kWays> payments(double p) {
    // Square roots are the only functions, because every machine rounds them in the same way. The limits
    // avoid divisions by 0 and can only lower the quotients.
    const double q = 1 - p, away = std::max(std::fabs(2 * p - 1), 0x1.0p-60), root_p = std::sqrt(p),
                 root_q = std::sqrt(std::max(q, 0x1.0p-60)), middle = p - 0.5;
    return {0.25 / (root_p * std::sqrt(root_p)),  // large values: p is small
            0.25 / (root_q * std::sqrt(root_q)),  // small values
            0.5 / root_p,
            0.5 / root_q,
            2 * p,
            2 * q,
            4 * p * p * p,
            4 * q * q * q,
            1 + 0.5 * middle,
            1 - 0.5 * middle,
            1 + middle,
            1 - middle,
            1 + 1.9 * middle,
            1 - 1.9 * middle,
            0.5 / std::sqrt(away),  // values at both ends
            3 * away * away,
            1.5 * (1 - away * away)};  // values in the middle
}

void Bets::bet(double p) {
    play(payments(p), log_value, share, asleep);
}

std::array<double, RiseBets::kWays> rise_payments(double p) {
    const double q = 1 - p, root = std::sqrt(p);
    return {0.25 / (root * std::sqrt(root)),
            0.5 / root,
            2 * q,
            4 * q * q * q,
            1 + 0.5 * (0.5 - p),
            1 + (0.5 - p),
            1 + 1.9 * (0.5 - p)};
}

void RiseBets::bet(double p) {
    play(rise_payments(p), log_value, share, asleep);
}

void LossBets::bet(double loss, double limit) {
    constexpr std::array<double, kWays> kStakes{0.1, 0.25, 0.5, 0.75, 0.95};
    std::array<double, kWays> paid;
    for (std::size_t i = 0; i < kWays; ++i) paid[i] = 1 + kStakes[i] * (loss / limit - 1);
    play(paid, log_value, share, asleep);
}

}  // namespace kandinsky
