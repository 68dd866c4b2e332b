#pragma once

#include <cstdint>
#include <kandinsky/image_features.hpp>
#include <span>
#include <vector>

namespace kandinsky::partition {

/// The cumulative distribution of the values of one image, linear between points at distance 1/8 from -12 to
/// 12; values beyond count as -12 or 12. Each value is divided between the two points around it, so that
/// losses have a continuous gradient. at() and below() take a value in units of 1.
class ValueTable {
  public:
    /// Values in units of 1 / Adaptation::kUnit; at least one.
    explicit ValueTable(std::span<const std::int32_t> values);

    struct Place {
        double share;    ///< share of the values below
        double density;  ///< density of the values there
    };
    [[nodiscard]] Place at(double value) const;
    /// The integral of the share from -12 to a value; negative below -12.
    [[nodiscard]] double below(double value) const;

  private:
    static constexpr double kLow = -12, kStep = 0.125;
    static constexpr std::size_t kPoints = 193;
    std::vector<double> share_, below_;
};

using FeatureRow = std::array<double, ImageFeatures::kCount>;

/// One image of a regression.
struct RegressionRow {
    FeatureRow features{};  ///< standardised
    const ValueTable* values = nullptr;
    double weight = 0;
};

/// Conditional quantiles of the values at several levels, which share the slopes: the quantile at levels[k]
/// is intercepts[k] + slopes . features.
struct QuantileFit {
    FeatureRow slopes{};
    std::vector<double> intercepts;
};

/// The mean pinball loss over the levels and the weighted rows, up to a constant that no fit can change.
[[nodiscard]] double pinball_loss(std::span<const RegressionRow> rows, std::span<const double> levels,
                                  const QuantileFit& fit);

/// The fit that minimises pinball_loss() + ridge |slopes|^2, which is convex with a continuous gradient. Uses
/// Newton's method with a line search, from `start` until the gradient vanishes, at most 200 steps. `start`
/// has an intercept for each level. Sums run in the order of the rows. Cost: steps x rows x features x
/// (levels + features).
[[nodiscard]] QuantileFit quantile_regression(std::span<const RegressionRow> rows,
                                              std::span<const double> levels, double ridge,
                                              QuantileFit start);
/// The fit with all slopes 0.
[[nodiscard]] QuantileFit quantiles_alone(std::span<const RegressionRow> rows,
                                          std::span<const double> levels);

}  // namespace kandinsky::partition
