#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kandinsky {

/// A confidence sequence for the mean of losses in [0, 1] by betting. For every candidate mean it keeps the
/// capital of two bets: that the mean is larger, and that it is smaller. A candidate is excluded once either
/// capital reaches 2 / delta. If the mean, given the past, stays the same, then with probability at least
/// 1 - delta it is never excluded (Waudby-Smith and Ramdas 2024, predictable plug-in bets). If the mean
/// changes, `low` may exceed `high`: none() is then true, and the bounds are no interval.
struct MeanBounds {
    static constexpr std::size_t kCandidates = 201;  ///< 0, 0.005, ..., 1

    std::uint64_t count = 0;
    double sum = 0;         ///< of losses
    double squares = 0.25;  ///< 1/4 plus the squared distances of the losses from the running mean
    std::array<double, kCandidates> larger{}, smaller{};  ///< logarithms of capital
    double low = 0, high = 1;                             ///< bounds so far, which never widen

    /// 0 <= loss <= 1. All calls have the same `delta`. Linear in kCandidates, no allocation.
    void add(double loss, double delta);
    /// Every candidate is excluded: the mean has changed, with probability at least 1 - delta.
    [[nodiscard]] bool none() const { return low > high; }
    [[nodiscard]] double mean() const { return count > 0 ? sum / static_cast<double>(count) : 0.0; }

    friend bool operator==(const MeanBounds&, const MeanBounds&) = default;
};

}  // namespace kandinsky
