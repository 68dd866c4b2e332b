#pragma once

#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "core/base/random.hpp"
#include "scene/frame.hpp"

namespace kandinsky::scene {

/// A smooth star-shaped region: an ellipse whose radius is multiplied by a short Fourier series in the angle.
struct Blob {
    Point centre;
    float radius_x = 0.1F, radius_y = 0.1F;
    float tilt = 0;                 ///< radians, turns x towards y
    std::array<float, 3> cosine{};  ///< orders 2, 3, 4, relative to the radius
    std::array<float, 3> sine{};
};

/// A tapered, round-ended bar: arms, legs, tails.
struct Limb {
    Point from, to;
    float radius_from = 0.02F, radius_to = 0.02F;
};

/// An object: the smooth union of its parts.
struct Shape {
    Point centre;
    float size = 0;  ///< its height or length
    std::vector<Blob> blobs;
    std::vector<Limb> limbs;
};

/// A blob with random ripples; `wobble` is the typical relative departure from the ellipse.
[[nodiscard]] Blob random_blob(Random& random, Point centre, float radius_x, float radius_y, float tilt,
                               float wobble);

/// A blob of about the given size, turned, stretched and rippled at random: the extent of an error.
[[nodiscard]] Blob patch(Random& random, Point centre, float radius);

/// Approximate signed distance to the outline for every pixel, positive inside. Exact for a single circle or
/// a single limb without taper. For another single blob the sign is exact, and the magnitude is wrong by at
/// most a factor of about the aspect ratio, which is accurate enough for the simulated network.
void signed_distance(const Shape& shape, const Frame& frame, std::span<float> out);

/// A local increase or decrease of the evidence: a false alarm or a missed part.
struct Bump {
    Blob extent;
    float height = 0;
};

/// Adds height * (1 - t^2)^2 where t < 1; t is the distance from the centre relative to the outline.
void add_bump(const Bump& bump, const Frame& frame, std::span<float> field);

/// Rounds a random number, which is drawn in double, to float, in which pixels are computed.
[[nodiscard]] inline float real(double value) {
    return static_cast<float>(value);
}

/// A normal value within (-limit, limit); values outside are drawn again. Needs limit >= sigma / 2, otherwise
/// it takes long.
[[nodiscard]] inline double truncated_normal(Random& random, double sigma, double limit) {
    for (;;) {
        const double value = sigma * random.normal();
        if (std::abs(value) < limit) return value;
    }
}

}  // namespace kandinsky::scene
