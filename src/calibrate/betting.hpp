#pragma once

#include <cstdint>
#include <span>

namespace kandinsky {

/// Tests by betting whether the mean loss of groups is below alpha; losses lie in [0, 1] (Waudby-Smith and
/// Ramdas). The capital is multiplied by 1 + b (alpha - loss) for each group in turn. The bet b depends on
/// earlier groups only, so if the mean is at least alpha, the capital reaches 1 / delta with probability at
/// most delta. docs/risk.md compares this bound with others.
class BettingTest {
  public:
    /// Prepares tests with the given number of groups. 0 < alpha < 1, 0 < delta < 1.
    BettingTest(double alpha, double delta, std::uint64_t groups);

    /// Whether the mean is below alpha with confidence 1 - delta. The order of the losses must not depend on
    /// them. No allocation; ends as soon as the capital suffices.
    [[nodiscard]] bool passes(std::span<const double> losses) const;

  private:
    double alpha_, goal_, most_, scale_;
};

/// The smallest number of groups with which a test can pass. For alpha <= 0.5, a test with this number passes
/// if all losses are 0.
[[nodiscard]] std::uint64_t groups_needed(double alpha, double confidence);
/// The smallest alpha for which a test with that many groups can pass; 1 without groups.
[[nodiscard]] double least_alpha_of(std::uint64_t groups, double confidence);

}  // namespace kandinsky
