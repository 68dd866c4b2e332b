#include <algorithm>
#include <cmath>

#include "scene/blob.hpp"
#include "scene/network.hpp"
#include "scene/preset.hpp"

namespace kandinsky::scene {

namespace {
enum Stream : std::uint64_t {
    kCast = kPhotoStream,
    kAnswer,
    kErrorField,
    kHeadField,
    kBody = kPhotoStream + 0x100
};

constexpr Habits kHabits{.empty = -5.5F, .fade = 0.40F, .noise = 1.1F, .noise_growth = 1.8F, .sharpen = 0.8F};
constexpr Octave kErrors[] = {{0.25F, 1.0F}, {0.10F, 0.7F}, {0.035F, 0.35F}};
constexpr Octave kHeads[] = {{0.12F, 1.0F}};
constexpr float kHeadNoise = 0.35F;
constexpr int kPartsAtRisk = 3;

/// A standing person: head, torso, two arms, two legs.
Shape person(Random& random, Point centre, float height) {
    Shape shape{centre, height, {}, {}};
    const auto at = [&](double x, double y) {
        return Point{centre.x + height * real(x), centre.y + height * real(y)};
    };
    const double build = std::exp(0.15 * random.normal());
    const double lean = 0.05 * random.normal();
    shape.blobs.push_back(random_blob(random, at(lean, -0.17), height * real(0.125 * build), height * 0.20F,
                                      real(0.5 * lean), 0.05F));
    shape.blobs.push_back(
        random_blob(random, at(1.6 * lean, -0.41), height * 0.068F, height * 0.088F, 0, 0.03F));
    for (const double side : {-1.0, 1.0}) {
        const double hand_x = lean + side * build * random.uniform(0.10, 0.26);
        const double hand_y = random.uniform(-0.22, 0.06);
        shape.limbs.push_back(
            {at(lean + side * 0.09 * build, -0.29), at(hand_x, hand_y), height * 0.042F, height * 0.03F});
        shape.limbs.push_back({at(side * 0.055 * build, 0.0), at(side * random.uniform(0.04, 0.15), 0.48),
                               height * real(0.068 * build), height * 0.04F});
    }
    return shape;
}

/// A four-legged animal seen from the side.
Shape animal(Random& random, Point centre, float length) {
    Shape shape{centre, length, {}, {}};
    const double facing = random.uniform() < 0.5 ? -1.0 : 1.0;
    const auto at = [&](double x, double y) {
        return Point{centre.x + length * real(facing * x), centre.y + length * real(y)};
    };
    const double build = std::exp(0.15 * random.normal());
    const double neck = random.uniform(-0.28, -0.10);
    shape.blobs.push_back(
        random_blob(random, at(0, -0.03), length * 0.29F, length * real(0.16 * build), 0, 0.06F));
    shape.blobs.push_back(random_blob(random, at(0.36, neck), length * 0.12F, length * 0.10F, 0, 0.05F));
    shape.limbs.push_back({at(0.20, -0.05), at(0.34, neck), length * 0.10F, length * 0.07F});
    shape.limbs.push_back(
        {at(-0.27, -0.08), at(-0.45, random.uniform(-0.28, 0.1)), length * 0.03F, length * 0.015F});
    for (const double hip : {-0.20, 0.18})
        shape.limbs.push_back(
            {at(hip, 0.05), at(hip + random.uniform(-0.08, 0.08), 0.36), length * 0.065F, length * 0.035F});
    return shape;
}

Shape body(std::uint64_t seed, std::uint64_t scene, std::uint64_t which, bool upright, Point centre,
           float size) {
    Random random(seed, kBody + which, scene);
    return upright ? person(random, centre, size) : animal(random, centre, size);
}

/// The main figure is near the middle. A second may be beside it, and a third anywhere; the border may cut
/// them.
std::vector<Shape> cast(std::uint64_t seed, std::uint64_t scene, const Frame& frame) {
    Random random(seed, kCast, scene);
    std::vector<Shape> shapes;
    const double right = static_cast<double>(frame.half_width());
    const double bottom = static_cast<double>(frame.half_height());
    const bool upright = random.uniform() < 0.65;
    const double size = std::clamp((upright ? 1.05 : 0.95) * std::exp(0.38 * random.normal()), 0.3, 2.2);
    const Point centre{real(truncated_normal(random, 0.33 * right, right)),
                       real(truncated_normal(random, 0.30 * bottom, bottom))};
    shapes.push_back(body(seed, scene, 0, upright, centre, real(size)));
    if (random.uniform() < 0.3) {
        const double side = random.uniform() < 0.5 ? -1.0 : 1.0;
        const Point beside{centre.x + real(side * size * random.uniform(0.3, 0.6)),
                           centre.y + real(0.08 * size * random.normal())};
        shapes.push_back(body(seed, scene, 1, upright, beside, real(size * std::exp(0.2 * random.normal()))));
    }
    if (random.uniform() < 0.25) {
        const Point anywhere{real(random.uniform(-right, right)), real(random.uniform(-bottom, bottom))};
        const double small = 0.6 * std::exp(0.35 * random.normal());
        shapes.push_back(body(seed, scene, 2, random.uniform() < 0.65, anywhere, real(small)));
    }
    return shapes;
}

/// A patch on a random part of the shape, about as wide as the part, that the network may miss.
Blob part_of(const Shape& shape, Random& random) {
    const std::size_t part = random.below(shape.blobs.size() + shape.limbs.size());
    Point centre;
    float girth = 0;
    if (part < shape.blobs.size()) {
        const Blob& blob = shape.blobs[part];
        centre = {blob.centre.x + real(0.5 * random.normal()) * blob.radius_x,
                  blob.centre.y + real(0.5 * random.normal()) * blob.radius_y};
        girth = std::min(blob.radius_x, blob.radius_y);
    } else {
        const Limb& limb = shape.limbs[part - shape.blobs.size()];
        const float along = real(random.uniform(0.2, 1.0));
        centre = {limb.from.x + along * (limb.to.x - limb.from.x),
                  limb.from.y + along * (limb.to.y - limb.from.y)};
        girth = 2.0F * limb.radius_from;
    }
    return patch(random, centre, girth * real(random.uniform(0.8, 2.0)));
}
}  // namespace

void make_photo(std::uint64_t seed, std::uint64_t scene, const Frame& frame, const ScenePlanes& out) {
    const Grid grid = frame.grid();
    const std::size_t pixels = grid.pixels();
    const std::vector<Shape> shapes = cast(seed, scene, frame);
    Random random(seed, kAnswer, scene);

    std::vector<float> distance(pixels), evidence(pixels, kHabits.empty);
    std::vector<Bump> bumps;
    std::fill(out.labels.begin(), out.labels.end(), std::uint8_t{0});
    for (const Shape& shape : shapes) {
        signed_distance(shape, frame, distance);
        for (std::size_t i = 0; i < pixels; ++i)
            out.labels[i] |= static_cast<std::uint8_t>(distance[i] > 0.0F);
        const float out_of_place = std::min(1.0F, eccentricity(frame, shape.centre));
        const bool overlooked = random.uniform() < 0.02 + 0.25 * static_cast<double>(out_of_place);
        const float confidence =
            (overlooked ? -2.0F : 5.0F - 1.5F * out_of_place) + real(1.1 * random.normal());
        see_object(distance, 0.035F * shape.size, confidence, kHabits, evidence);
        for (int chance = 0; chance < kPartsAtRisk; ++chance) {
            const Bump missed{part_of(shape, random), -real(random.uniform(3.0, 9.0))};
            const double strangeness =
                std::min(1.0, static_cast<double>(eccentricity(frame, missed.extent.centre)));
            if (random.uniform() < 0.08 + 0.3 * strangeness) bumps.push_back(missed);
        }
    }
    if (random.uniform() < 0.25) {
        const Point anywhere{real(random.uniform(-1, 1)) * frame.half_width(),
                             real(random.uniform(-1, 1)) * frame.half_height()};
        const float radius = real(random.uniform(0.06, 0.2));
        bumps.push_back({patch(random, anywhere, radius), real(random.uniform(4.0, 10.0))});
    }
    for (const Bump& bump : bumps) add_bump(bump, frame, evidence);

    std::vector<float> place(pixels);
    for (std::size_t r = 0, i = 0; r < grid.height; ++r)
        for (std::size_t c = 0; c < grid.width; ++c, ++i)
            place[i] = eccentricity(frame, {frame.x(c), frame.y(r)});
    const float difficulty = real(0.7 * random.normal());
    fill_noise(Random(seed, kErrorField, scene), frame, kErrors, distance);
    react(kHabits, place, distance, difficulty, evidence);
    write_sigmoid(evidence, out.probs.subspan(pixels, pixels));

    // The background has its own sigmoid output, which nearly mirrors that of the foreground.
    fill_noise(Random(seed, kHeadField, scene), frame, kHeads, distance);
    for (std::size_t i = 0; i < pixels; ++i) evidence[i] = kHeadNoise * distance[i] - evidence[i];
    write_sigmoid(evidence, out.probs.first(pixels));
}

}  // namespace kandinsky::scene
