#pragma once

#include <cstdint>
#include <span>

namespace kandinsky {

/// Tests whether the mean loss of groups, each in [0, 1], lies below alpha: by betting against it
/// (Waudby-Smith and Ramdas). The capital is multiplied by 1 + b (alpha - loss) for each group in turn, where
/// the bet b depends on earlier groups only, so that a mean of alpha or more makes it grow past 1 / delta
/// with probability at most delta. docs/risk.md says why this bound and no other.
class BettingTest {
  public:
    /// For so many groups. 0 < alpha < 1, 0 < delta < 1.
    BettingTest(double alpha, double delta, std::uint64_t groups);

    /// Whether the mean is below alpha with confidence 1 - delta. The order of the losses must not depend on
    /// them. No allocation; ends as soon as the capital suffices.
    [[nodiscard]] bool passes(std::span<const double> losses) const;

  private:
    double alpha_, goal_, most_, scale_;
};

/// The fewest groups for which a test can pass: not one of them has a loss. Up to alpha 0.5 the test then
/// does.
[[nodiscard]] std::uint64_t groups_needed(double alpha, double confidence);
/// The least alpha that so many groups can support; 1 for none.
[[nodiscard]] double least_alpha_of(std::uint64_t groups, double confidence);

}  // namespace kandinsky
