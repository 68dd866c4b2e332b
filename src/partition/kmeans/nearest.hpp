#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kandinsky::partition::kmeans {

/// Points of a low-dimensional space, one array per coordinate, so that kernels read consecutive points.
/// Every array is padded with copies of the last point to a multiple of kPadding, so kernels need no
/// remainder loop.
class Points {
  public:
    static constexpr std::size_t kPadding = 16;

    /// From rows [point][coordinate]; every value must be finite.
    Points(std::span<const float> rows, std::size_t dimension)
        : Points(rows.size() / dimension, dimension,
                 [&](std::size_t i, std::size_t j) { return rows[i * dimension + j]; }) {}

    /// The chosen points of another set, in the order of `chosen`.
    Points(const Points& other, std::span<const std::size_t> chosen)
        : Points(chosen.size(), other.dimension_,
                 [&](std::size_t i, std::size_t j) { return other.at(chosen[i], j); }) {}

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t dimension() const { return dimension_; }
    [[nodiscard]] std::size_t stride() const { return stride_; }
    [[nodiscard]] float at(std::size_t point, std::size_t coordinate) const {
        return values_[coordinate * stride_ + point];
    }
    /// Coordinate j of point i is at [j * stride() + i].
    [[nodiscard]] const float* data() const { return values_.data(); }

    /// Squared Euclidean distance to a place given in double precision; coordinates are added in order, so
    /// every kernel that does the same gets the same bits.
    [[nodiscard]] double squared_distance(std::size_t point, const double* place) const {
        double sum = 0.0;
        for (std::size_t j = 0; j < dimension_; ++j) {
            const double gap = static_cast<double>(at(point, j)) - place[j];
            sum += gap * gap;
        }
        return sum;
    }

  private:
    /// value(i, j): coordinate j of point i.
    template <class Value>
    Points(std::size_t size, std::size_t dimension, Value&& value)
        : size_(size),
          dimension_(dimension),
          stride_((size + kPadding - 1) / kPadding * kPadding),
          values_(stride_ * dimension) {
        for (std::size_t j = 0; j < dimension; ++j)
            for (std::size_t i = 0; i < stride_; ++i)
                values_[j * stride_ + i] = value(std::min(i, size - 1), j);
    }

    std::size_t size_ = 0;
    std::size_t dimension_ = 1;
    std::size_t stride_ = 0;
    std::vector<float> values_;
};

/// The label of a point that belongs to no cluster yet.
inline constexpr std::uint32_t kUnassigned = 0xFFFFFFFFu;

/// A point that changed its cluster.
struct Move {
    std::uint32_t point = 0;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    friend bool operator==(const Move&, const Move&) = default;
};

/// Gives every point of [begin, end) the number of its nearest centre (ties: the lowest number), and writes
/// the points that changed to `moves` in ascending order; returns their number. `begin` is a multiple of
/// Points::kPadding, and so is `end` unless it is points.size(). `centres` is [cluster][coordinate], finite.
/// `labels` has points.stride() entries, `moves` room for end - begin. Distances are double and added
/// coordinate by coordinate without fused operations, so the bits are the same on every machine. No
/// allocation; O((end - begin) * clusters * dimension), less if `slack` lets points be skipped.
///
/// `slack` has an entry for each point, initially 0. Some entries are used, each for a few neighbouring
/// points: a lower bound on how much farther their second nearest centre is than their nearest. `moved` is
/// twice the largest distance that a centre has moved since the last call. If the slack is larger, the points
/// keep their labels without computation.
std::size_t assign_nearest(const Points& points, std::span<const double> centres, std::size_t begin,
                           std::size_t end, std::uint32_t* labels, Move* moves, double* slack, double moved);

}  // namespace kandinsky::partition::kmeans
