#pragma once

#include <algorithm>
#include <kandinsky/curve.hpp>

namespace kandinsky {

/// Slack for levels and alphas that are meant to be equal: 1 - 0.7 is not 0.3 in binary.
inline constexpr double kLevelSlack = 1e-12;

/// The first rung of a ladder whose level is at least 1 - alpha; the number of rungs if there is none.
[[nodiscard]] inline std::size_t rung_of(const Ladder& ladder, double alpha) {
    const std::vector<double>& levels = ladder.levels;
    return static_cast<std::size_t>(std::lower_bound(levels.begin(), levels.end(), 1 - alpha - kLevelSlack) -
                                    levels.begin());
}

/// The p-value of a score that exceeds the thresholds of exactly the first `above` rungs. It has the slack of
/// rung_of(), so that sets and p-values agree at the rungs.
[[nodiscard]] inline double p_value_above(const Ladder& ladder, std::size_t above) {
    return above == 0 ? 1.0 : std::max(0.0, 1.0 - ladder.levels[above - 1] - kLevelSlack);
}

}  // namespace kandinsky
