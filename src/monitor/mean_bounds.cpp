#include "monitor/mean_bounds.hpp"

#include <algorithm>
#include <cmath>

namespace kandinsky {

void MeanBounds::add(double loss, double delta) {
    // The bet depends on the past only.
    const double n = static_cast<double>(count + 1), variance = squares / n;
    const double needed = std::log(2 / delta);
    const double stake = std::sqrt(2 * needed / (variance * n * std::log(n + 1)));
    constexpr double kMostStake = 0.75;  // of the capital
    for (std::size_t i = 0; i < kCandidates; ++i) {
        const double m = static_cast<double>(i) / (kCandidates - 1);
        const double up = m > 0 ? std::min(stake, kMostStake / m) : stake,
                     down = m < 1 ? std::min(stake, kMostStake / (1 - m)) : stake;
        larger[i] += std::log1p(up * (loss - m));
        smaller[i] += std::log1p(-down * (loss - m));
    }
    // One capital decreases with the candidate and the other increases, so excluded candidates are at the
    // ends.
    for (std::size_t i = 0; i < kCandidates && larger[i] >= needed; ++i)
        low = std::max(low, static_cast<double>(i) / (kCandidates - 1));
    for (std::size_t i = kCandidates; i-- > 0 && smaller[i] >= needed;)
        high = std::min(high, static_cast<double>(i) / (kCandidates - 1));
    ++count;
    sum += loss;
    const double mean = (0.5 + sum) / (n + 1);
    squares += (loss - mean) * (loss - mean);
}

}  // namespace kandinsky
