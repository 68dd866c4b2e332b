#include "outline/distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kandinsky::outline {

namespace {
constexpr double kFar = std::numeric_limits<double>::infinity();

/// Squared distances along a row of voxels, `step` apart, to the nearest voxel where mask == wanted.
void sweep(const std::uint8_t* mask, std::uint8_t wanted, std::size_t n, double step, float* out) {
    double last = kFar;  // number of voxels since the last wanted voxel
    for (std::size_t i = 0; i < n; ++i) {
        last = (mask[i] != 0) == (wanted != 0) ? 0 : last + 1;
        out[i] = static_cast<float>(last);
    }
    last = kFar;
    for (std::size_t i = n; i-- > 0;) {
        last = out[i] == 0 ? 0 : last + 1;
        const double least = std::min<double>(out[i], last) * step;
        out[i] = static_cast<float>(least * least);
    }
}

/// The lower envelope of parabolas f(q) + (step (p - q))^2 over a line.
class Envelope {
  public:
    Envelope(std::size_t n, double step) : step2_(step * step), f_(n), from_(n), top_(n) {}

    void run(float* line, std::size_t stride) {
        const std::size_t n = f_.size();
        for (std::size_t i = 0; i < n; ++i) f_[i] = line[i * stride];
        std::size_t count = 0;
        for (std::size_t q = 0; q < n; ++q) {
            if (f_[q] == kFar) continue;
            double cross = -kFar;
            while (count > 0) {
                const std::size_t v = top_[count - 1];
                const auto x = static_cast<double>(q), y = static_cast<double>(v);
                cross = ((f_[q] / step2_ + x * x) - (f_[v] / step2_ + y * y)) / (2 * (x - y));
                if (cross > from_[count - 1]) break;
                --count;
                cross = -kFar;
            }
            top_[count] = q;
            from_[count++] = cross;
        }
        if (count == 0) return;  // no voxel is wanted
        for (std::size_t p = 0, k = 0; p < n; ++p) {
            while (k + 1 < count && from_[k + 1] < static_cast<double>(p)) ++k;
            const double gap = static_cast<double>(p) - static_cast<double>(top_[k]);
            line[p * stride] = static_cast<float>(step2_ * gap * gap + f_[top_[k]]);
        }
    }

  private:
    double step2_;
    std::vector<double> f_, from_;
    std::vector<std::size_t> top_;
};

/// Squared distances to the nearest voxel where mask == wanted.
void squared(std::span<const std::uint8_t> mask, std::uint8_t wanted, const Extent& extent,
             const Spacing& spacing, float* out) {
    const std::size_t width = extent.width, height = extent.height, plane = width * height;
    for (std::size_t row = 0; row < extent.depth * height; ++row)
        sweep(mask.data() + row * width, wanted, width, spacing[2], out + row * width);
    if (height > 1) {
        Envelope lines(height, spacing[1]);
        for (std::size_t z = 0; z < extent.depth; ++z)
            for (std::size_t x = 0; x < width; ++x) lines.run(out + z * plane + x, width);
    }
    if (extent.depth > 1) {
        Envelope lines(extent.depth, spacing[0]);
        for (std::size_t p = 0; p < plane; ++p) lines.run(out + p, plane);
    }
}
}  // namespace

void signed_distances(std::span<const std::uint8_t> mask, const Extent& extent, const Spacing& spacing,
                      std::span<float> out) {
    double diagonal = 0;
    const std::array<std::size_t, 3> voxels{extent.depth, extent.height, extent.width};
    for (std::size_t a = 0; a < 3; ++a) {
        const double side = static_cast<double>(voxels[a]) * spacing[a];
        diagonal += side * side;
    }
    const auto most = static_cast<float>(std::sqrt(diagonal));
    squared(mask, 1, extent, spacing, out.data());
    std::vector<float> inside(mask.size());
    squared(mask, 0, extent, spacing, inside.data());
    for (std::size_t p = 0; p < mask.size(); ++p)
        out[p] = mask[p] != 0 ? -std::min(std::sqrt(inside[p]), most) : std::min(std::sqrt(out[p]), most);
}

}  // namespace kandinsky::outline
