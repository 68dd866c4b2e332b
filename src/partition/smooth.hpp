#pragma once

#include <cstdint>
#include <kandinsky/grid.hpp>
#include <vector>

namespace kandinsky::partition {

/// Values [cell][bin] on a grid.
struct Plane {
    Grid grid;
    std::size_t bins = 0;
    std::vector<float> values;

    Plane() = default;
    Plane(Grid on, std::size_t depth) : grid(on), bins(depth), values(on.pixels() * depth) {}
    [[nodiscard]] float* at(std::size_t cell) { return values.data() + cell * bins; }
    [[nodiscard]] const float* at(std::size_t cell) const { return values.data() + cell * bins; }
};

/// Sums of cell x cell blocks; those at the lower and right border may be smaller.
[[nodiscard]] Plane coarsened(const Plane& plane, std::uint32_t cell);

/// Convolution with exp(-d^2 / (2 sd^2)) in both directions, truncated at 4 sd, with zeros beyond the border.
/// Not normalised: the caller smooths a divisor in the same way. Cost: 2 (8 sd + 1) operations per value.
[[nodiscard]] Plane gaussian(const Plane& plane, double sd);

/// A plane and its block sums of 2 x 2, 4 x 4, ... pixels. Each is computed from the previous one when first
/// requested.
class Pyramid {
  public:
    explicit Pyramid(Plane base) { levels_.push_back(std::move(base)); }
    [[nodiscard]] const Plane& base() const { return levels_.front(); }
    /// `cell` is a power of two. The reference holds until the next call. Not thread-safe.
    [[nodiscard]] const Plane& level(std::uint32_t cell);

  private:
    std::vector<Plane> levels_;
};

/// A Gaussian smooth of a plane, stored on a grid as coarse as its bandwidth allows and read by bilinear
/// interpolation, so that wide kernels cost less than narrow ones. Blocks have c x c pixels, where c is the
/// largest power of two up to bandwidth / 2.5, from 1 to 64. If c > 1, blocks add the variance (c^2 - 1) / 12
/// and interpolation adds c^2 / 6. These are subtracted from the kernel's variance, and so is `added`, the
/// variance that the plane already has.
class Smooth {
  public:
    Smooth(Pyramid& pyramid, double bandwidth, double added = 0);

    /// out[bin] at a pixel of the original grid. Ascending in the bin if the plane is.
    void at(std::uint32_t row, std::uint32_t column, float* out) const;
    [[nodiscard]] std::uint32_t cell() const { return cell_; }
    [[nodiscard]] static std::uint32_t cell_for(double bandwidth);

  private:
    std::uint32_t cell_;
    Plane plane_;
};

}  // namespace kandinsky::partition
