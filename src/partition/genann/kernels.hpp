#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kandinsky::partition::genann {

/// Points stored value by value: value q of point i is values[q * stride + i]. At least kPairSlack floats
/// must be readable behind the last point of every value row (and behind the weights).
struct PointBlock {
    const float* values = nullptr;
    std::size_t stride = 0;
    std::size_t count = 0;
    std::size_t dimensions = 0;
    const float* weights = nullptr;  ///< null: all 1
};
inline constexpr std::size_t kPairSlack = 16;

/// Sum over all i of `a` and j of `b` of w_i w_j |a_i - b_j| (Euclidean). Pairs in float32, summed in 16
/// lanes over 512 points at most, then in float64. No fused operations, IEEE square root, fixed lanes: the
/// same bits on every instruction set. O(a.count * b.count * dimensions), no allocation; values are finite.
/// Both blocks have weights, or neither.
[[nodiscard]] double pair_sum(const PointBlock& a, const PointBlock& b);
/// The same sums point by point: sums[i] += sum over j of w_j |a_i - b_j|, without a's own weights.
void row_sums(const PointBlock& a, const PointBlock& b, double* sums);

/// For each of `count` histograms h, [r][size], adds the sum over a and b of h_a table[a][b] h_b to
/// totals[r]. `table` has `size` rows of `size` floats and is upper triangular: entries left of the diagonal
/// are 0. `size` is a multiple of kTableLanes. Zero h_a cost nothing. One thread, no allocation.
void quadratic_forms(const float* table, const float* histograms, std::size_t size, std::size_t count,
                     double* totals);
inline constexpr std::size_t kTableLanes = 32;
/// sums[c] += factor * row[c] for `size` floats, a multiple of kTableLanes.
void add_scaled(const float* row, float factor, std::size_t size, float* sums);

/// What all discs of a candidate have in common in each row. The squared distance of column x from the centre
/// is a (x - middle)^2 + across, with an error below `tolerance`; `inverse` is 1 / a.
struct DiscRows {
    static constexpr std::size_t kLanes = 8;  ///< rows at a time

    double a = 1, inverse = 1, tolerance = 0;
    double right = 0;                             ///< the last column
    std::size_t stride = 0;                       ///< rows, rounded up to whole lanes
    std::vector<double> middle, across, nearest;  ///< [row]; nearest: the column nearest to `middle`
};
/// The first and last column of the disc of that radius in every row, `rows.stride` numbers each. The first
/// column is kNoRun if the disc does not meet the row, kUnclear if rounding may decide about a pixel.
inline constexpr std::int32_t kUnclear = -1, kNoRun = -2;
void find_runs(const DiscRows& rows, double squared_radius, std::int32_t* first, std::int32_t* last);

}  // namespace kandinsky::partition::genann
