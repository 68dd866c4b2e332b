#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kandinsky {

/// Two samples of rows of features. The rows of a sample have equal weight, and the samples have equal
/// weight.
struct TwoSamples {
    std::size_t features = 0;
    std::vector<double> first{}, second{};  ///< [row][feature]

    [[nodiscard]] std::size_t first_rows() const { return first.size() / features; }
    [[nodiscard]] std::size_t second_rows() const { return second.size() / features; }
};

/// The logarithm of the density ratio of the second sample to the first at a row: constant + slope . row.
struct LogRatio {
    double constant = 0;
    std::vector<double> slope{};  ///< [feature]

    [[nodiscard]] double at(std::span<const double> row) const;
};

/// Logistic regression: minimises the mean log-loss, each sample with weight 1/2, plus ridge / 2 times the
/// squared slopes. Strictly convex for ridge > 0. Newton's method with step halving ends at a gradient below
/// 1e-10, at the limit of rounding or after 100 steps. Neither sample may be empty. Cost: features^2 per row
/// and step.
[[nodiscard]] LogRatio logistic_regression(const TwoSamples& samples, double ridge);

/// The mean log-loss of a ratio, each sample with weight 1/2; log 2 for a ratio of 1.
[[nodiscard]] double log_loss(const TwoSamples& samples, const LogRatio& ratio);

}  // namespace kandinsky
