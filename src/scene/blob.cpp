#include "scene/blob.hpp"

#include <algorithm>
#include <numbers>

namespace kandinsky::scene {

namespace {
// The sum of six ripples, each at most this large, stays below 1, so the radius stays positive.
constexpr float kRippleLimit = 0.15F;

/// A maximum that is smoothed over a width of k, so that the parts of a body merge smoothly.
inline float smooth_max(float a, float b, float k) {
    const float overlap = std::max(0.0F, k - std::abs(a - b));
    return std::max(a, b) + overlap * overlap / (4.0F * k);
}

/// Maps pixels to the tilted and stretched frame about the centre of a blob.
class Gaze {
  public:
    explicit Gaze(const Blob& blob)
        : blob_(blob), cos_tilt_(std::cos(blob.tilt)), sin_tilt_(std::sin(blob.tilt)) {}

    struct Sight {
        float radius;   ///< distance of the point
        float outline;  ///< distance of the outline in that direction
    };

    [[nodiscard]] Sight at(float dx, float dy) const {
        const float p = (dx * cos_tilt_ + dy * sin_tilt_) / blob_.radius_x;
        const float q = (dy * cos_tilt_ - dx * sin_tilt_) / blob_.radius_y;
        const float radius = std::sqrt(p * p + q * q + 1e-12F);
        // cos k theta and sin k theta as powers of (c1 + i s1): no angle is ever computed.
        const float inverse = 1.0F / radius;
        const float c1 = p * inverse, s1 = q * inverse;
        const float c2 = c1 * c1 - s1 * s1, s2 = 2.0F * c1 * s1;
        const float c3 = c2 * c1 - s2 * s1, s3 = s2 * c1 + c2 * s1;
        const float c4 = c2 * c2 - s2 * s2, s4 = 2.0F * c2 * s2;
        const auto& [a2, a3, a4] = blob_.cosine;
        const auto& [b2, b3, b4] = blob_.sine;
        return {radius, 1.0F + a2 * c2 + b2 * s2 + a3 * c3 + b3 * s3 + a4 * c4 + b4 * s4};
    }

  private:
    Blob blob_;
    float cos_tilt_, sin_tilt_;
};

/// The positions of the columns as floats, computed once, so that loops over pixels are vectorised.
std::vector<float> columns(const Frame& frame, float origin) {
    std::vector<float> out(frame.grid().width);
    for (std::size_t c = 0; c < out.size(); ++c) out[c] = frame.x(c) - origin;
    return out;
}

void join(const Blob& blob, const Frame& frame, float blend, std::span<float> out) {
    const Grid grid = frame.grid();
    const std::vector<float> dx = columns(frame, blob.centre.x);
    const Gaze gaze(blob);
    const float scale = std::min(blob.radius_x, blob.radius_y);
    for (std::size_t r = 0; r < grid.height; ++r) {
        const float dy = frame.y(r) - blob.centre.y;
        float* target = out.data() + r * grid.width;
        for (std::size_t c = 0; c < grid.width; ++c) {
            const auto [radius, outline] = gaze.at(dx[c], dy);
            target[c] = smooth_max(target[c], (outline - radius) * scale, blend);
        }
    }
}

void join(const Limb& limb, const Frame& frame, float blend, std::span<float> out) {
    const Grid grid = frame.grid();
    const std::vector<float> x = columns(frame, limb.from.x);
    const float ax = limb.to.x - limb.from.x, ay = limb.to.y - limb.from.y;
    const float inverse = 1.0F / std::max(ax * ax + ay * ay, 1e-12F);
    const float taper = limb.radius_to - limb.radius_from;
    for (std::size_t r = 0; r < grid.height; ++r) {
        const float dy = frame.y(r) - limb.from.y;
        float* target = out.data() + r * grid.width;
        for (std::size_t c = 0; c < grid.width; ++c) {
            const float dx = x[c];
            const float along = std::clamp((dx * ax + dy * ay) * inverse, 0.0F, 1.0F);
            const float ex = dx - along * ax, ey = dy - along * ay;
            const float distance = limb.radius_from + along * taper - std::sqrt(ex * ex + ey * ey);
            target[c] = smooth_max(target[c], distance, blend);
        }
    }
}
}  // namespace

Blob random_blob(Random& random, Point centre, float radius_x, float radius_y, float tilt, float wobble) {
    Blob blob{centre, radius_x, radius_y, tilt, {}, {}};
    for (std::size_t k = 0; k < blob.cosine.size(); ++k) {
        const double spread = static_cast<double>(wobble) / static_cast<double>(k + 1);
        blob.cosine[k] =
            std::clamp(static_cast<float>(spread * random.normal()), -kRippleLimit, kRippleLimit);
        blob.sine[k] = std::clamp(static_cast<float>(spread * random.normal()), -kRippleLimit, kRippleLimit);
    }
    return blob;
}

Blob patch(Random& random, Point centre, float radius) {
    const auto stretch = static_cast<float>(std::exp(0.3 * random.normal()));
    const auto tilt = static_cast<float>(random.uniform(0.0, std::numbers::pi));
    return random_blob(random, centre, radius * stretch, radius / stretch, tilt, 0.10F);
}

void signed_distance(const Shape& shape, const Frame& frame, std::span<float> out) {
    std::fill(out.begin(), out.end(), -1e3F);
    const float blend = 0.04F * shape.size;
    for (const Blob& blob : shape.blobs) join(blob, frame, blend, out);
    for (const Limb& limb : shape.limbs) join(limb, frame, blend, out);
}

void add_bump(const Bump& bump, const Frame& frame, std::span<float> field) {
    const Grid grid = frame.grid();
    const Gaze gaze(bump.extent);
    const Point centre = bump.extent.centre;
    // The clipped ripples add at most 6 * kRippleLimit to the radius, so this square holds the whole bump.
    const float reach = (1.0F + 6.0F * kRippleLimit) * std::max(bump.extent.radius_x, bump.extent.radius_y);
    const auto index = [&](float place, float half, std::uint32_t limit) {
        return static_cast<std::size_t>(
            std::clamp((place + half) / frame.pixel(), 0.0F, static_cast<float>(limit)));
    };
    const std::size_t top = index(centre.y - reach, frame.half_height(), grid.height);
    const std::size_t bottom = index(centre.y + reach + frame.pixel(), frame.half_height(), grid.height);
    const std::size_t left = index(centre.x - reach, frame.half_width(), grid.width);
    const std::size_t right = index(centre.x + reach + frame.pixel(), frame.half_width(), grid.width);
    for (std::size_t r = top; r < bottom; ++r) {
        for (std::size_t c = left; c < right; ++c) {
            const auto [radius, outline] = gaze.at(frame.x(c) - centre.x, frame.y(r) - centre.y);
            const float t = radius / outline;
            const float rest = std::max(0.0F, 1.0F - t * t);
            field[r * grid.width + c] += bump.height * rest * rest;
        }
    }
}

}  // namespace kandinsky::scene
