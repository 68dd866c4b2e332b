#include "scene/blob.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kandinsky::scene {

namespace {

/// The maximum with its crease rounded over a width of k: parts grow together as bodies do.
inline float smooth_max(float a, float b, float k) {
    const float overlap = std::max(0.0F, k - std::abs(a - b));
    return std::max(a, b) + overlap * overlap / (4.0F * k);
}

void join(const Blob& blob, const Frame& frame, float blend, std::span<float> out) {
    const Grid grid = frame.grid();
    const float cos_tilt = std::cos(blob.tilt);
    const float sin_tilt = std::sin(blob.tilt);
    const float scale = std::min(blob.radius_x, blob.radius_y);
    const auto [a2, a3, a4] = blob.cosine;
    const auto [b2, b3, b4] = blob.sine;
    for (std::size_t r = 0; r < grid.height; ++r) {
        const float dy = frame.y(r) - blob.centre.y;
        float* target = out.data() + r * grid.width;
        for (std::size_t c = 0; c < grid.width; ++c) {
            const float dx = frame.x(c) - blob.centre.x;
            const float p = (dx * cos_tilt + dy * sin_tilt) / blob.radius_x;
            const float q = (dy * cos_tilt - dx * sin_tilt) / blob.radius_y;
            const float radius = std::sqrt(p * p + q * q + 1e-12F);
            // cos k theta and sin k theta as powers of (c1 + i s1): no angle is ever computed.
            const float inverse = 1.0F / radius;
            const float c1 = p * inverse;
            const float s1 = q * inverse;
            const float c2 = c1 * c1 - s1 * s1;
            const float s2 = 2.0F * c1 * s1;
            const float c3 = c2 * c1 - s2 * s1;
            const float s3 = s2 * c1 + c2 * s1;
            const float c4 = c2 * c2 - s2 * s2;
            const float s4 = 2.0F * c2 * s2;
            const float outline = 1.0F + a2 * c2 + b2 * s2 + a3 * c3 + b3 * s3 + a4 * c4 + b4 * s4;
            target[c] = smooth_max(target[c], (outline - radius) * scale, blend);
        }
    }
}

void join(const Limb& limb, const Frame& frame, float blend, std::span<float> out) {
    const Grid grid = frame.grid();
    const float ax = limb.to.x - limb.from.x;
    const float ay = limb.to.y - limb.from.y;
    const float inverse = 1.0F / std::max(ax * ax + ay * ay, 1e-12F);
    const float taper = limb.radius_to - limb.radius_from;
    for (std::size_t r = 0; r < grid.height; ++r) {
        const float dy = frame.y(r) - limb.from.y;
        float* target = out.data() + r * grid.width;
        for (std::size_t c = 0; c < grid.width; ++c) {
            const float dx = frame.x(c) - limb.from.x;
            const float along = std::clamp((dx * ax + dy * ay) * inverse, 0.0F, 1.0F);
            const float ex = dx - along * ax;
            const float ey = dy - along * ay;
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
        // Clipped, so that the radius stays positive whatever the draw.
        blob.cosine[k] = static_cast<float>(std::clamp(spread * random.normal(), -0.15, 0.15));
        blob.sine[k] = static_cast<float>(std::clamp(spread * random.normal(), -0.15, 0.15));
    }
    return blob;
}

void signed_distance(const Shape& shape, const Frame& frame, std::span<float> out) {
    std::fill(out.begin(), out.end(), -1e3F);
    const float blend = 0.04F * shape.size;
    for (const Blob& blob : shape.blobs) join(blob, frame, blend, out);
    for (const Limb& limb : shape.limbs) join(limb, frame, blend, out);
}

void add_bump(const Bump& bump, const Frame& frame, std::span<float> field) {
    const Grid grid = frame.grid();
    const auto index = [](float place, float offset, float pixel, std::uint32_t limit) {
        return static_cast<std::size_t>(
            std::clamp((place + offset) / pixel, 0.0F, static_cast<float>(limit)));
    };
    const std::size_t top =
        index(bump.centre.y - bump.radius, frame.half_height(), frame.pixel(), grid.height);
    const std::size_t bottom =
        index(bump.centre.y + bump.radius + frame.pixel(), frame.half_height(), frame.pixel(), grid.height);
    const std::size_t left =
        index(bump.centre.x - bump.radius, frame.half_width(), frame.pixel(), grid.width);
    const std::size_t right =
        index(bump.centre.x + bump.radius + frame.pixel(), frame.half_width(), frame.pixel(), grid.width);
    const float inverse = 1.0F / (bump.radius * bump.radius);
    for (std::size_t r = top; r < bottom; ++r) {
        const float dy = frame.y(r) - bump.centre.y;
        for (std::size_t c = left; c < right; ++c) {
            const float dx = frame.x(c) - bump.centre.x;
            const float rest = std::max(0.0F, 1.0F - (dx * dx + dy * dy) * inverse);
            field[r * grid.width + c] += bump.height * rest * rest;
        }
    }
}

}  // namespace kandinsky::scene
