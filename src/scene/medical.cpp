#include <algorithm>
#include <cmath>
#include <numbers>

#include "scene/blob.hpp"
#include "scene/network.hpp"
#include "scene/preset.hpp"

namespace kandinsky::scene {

namespace {
enum Stream : std::uint64_t { kSlices = kMedicalStream, kAnatomy, kAnswer, kErrorField, kHeadFields };

constexpr std::uint32_t kFewestSlices = 8, kMostSlices = 16, kPairSlices = kFewestSlices + kMostSlices;

constexpr Habits kHabits{.empty = -7.0F, .fade = 0.28F, .noise = 0.9F, .noise_growth = 1.2F, .sharpen = 0.6F};
constexpr Octave kErrors[] = {{0.16F, 1.0F}, {0.06F, 0.5F}};
constexpr Octave kHeads[] = {{0.10F, 1.0F}};
constexpr float kHeadNoise = 0.4F;

// The usual position of the organ, which is not the middle, and the distance from it at which a position is
// unusual.
constexpr Point kUsualPlace{-0.12F, 0.07F};
constexpr float kReach = 0.27F;

/// The properties that the slices of one patient share.
struct Anatomy {
    Blob organ;              ///< its largest section
    Point drift;             ///< half of the centre's shift from the first slice to the last
    Blob lesion;             ///< relative to the organ, with the centre in radii of the organ
    float lesion_depth = 0;  ///< slice coordinate of its middle, in (-1, 1)
    float lesion_extent = 0.5F;
    float skill = 0;  ///< how easy this patient is for the network, as a shift of the logit
};

Anatomy anatomy_of(std::uint64_t seed, std::uint64_t patient) {
    Random random(seed, kAnatomy, patient);
    Anatomy anatomy;
    const Point centre{kUsualPlace.x + real(truncated_normal(random, 0.045, 0.08)),
                       kUsualPlace.y + real(truncated_normal(random, 0.045, 0.08))};
    const double radius = std::clamp(0.135 * std::exp(0.22 * random.normal()), 0.06, 0.3);
    const double aspect = std::exp(0.18 * random.normal());
    const float tilt = real(-0.5 + 0.25 * random.normal());
    anatomy.organ =
        random_blob(random, centre, real(radius * 1.15 * aspect), real(radius * 0.87 / aspect), tilt, 0.07F);
    anatomy.drift = {real(0.03 * random.normal()), real(0.03 * random.normal())};
    const double direction = random.uniform(-0.6, 2.2);
    const Point offset{real(0.75 * std::cos(direction)), real(0.75 * std::sin(direction))};
    const double share = random.uniform(0.3, 0.5);
    anatomy.lesion = random_blob(random, offset, real(share), real(share * random.uniform(0.7, 1.0)),
                                 real(direction), 0.08F);
    anatomy.lesion_depth = real(random.uniform(-0.4, 0.4));
    anatomy.lesion_extent = real(random.uniform(0.35, 0.7));
    anatomy.skill = real(0.5 * random.normal());
    return anatomy;
}

/// Breadth of an ellipsoid at slice coordinate z, relative to its largest breadth; 0 if the slice misses the
/// ellipsoid or barely touches it.
float breadth(float z) {
    const float squared = 1.0F - z * z;
    return squared > 0.03F ? std::sqrt(squared) : 0.0F;
}

Shape scaled(Blob blob, Point centre, float factor) {
    blob.centre = centre;
    blob.radius_x *= factor;
    blob.radius_y *= factor;
    return {centre, 2.0F * std::max(blob.radius_x, blob.radius_y), {blob}, {}};
}
}  // namespace

Slice slice_of(std::uint64_t seed, std::uint64_t scene) {
    const std::uint64_t pair = scene / kPairSlices;
    const auto within = static_cast<std::uint32_t>(scene % kPairSlices);
    Random random(seed, kSlices, pair);
    const auto count =
        kFewestSlices + static_cast<std::uint32_t>(random.below(kMostSlices - kFewestSlices + 1));
    if (within < count) return {2 * pair, within, count};
    return {2 * pair + 1, within - count, kPairSlices - count};
}

void make_medical(std::uint64_t seed, std::uint64_t scene, const Frame& frame, const ScenePlanes& out) {
    const Grid grid = frame.grid();
    const std::size_t pixels = grid.pixels();
    const Slice slice = slice_of(seed, scene);
    const Anatomy anatomy = anatomy_of(seed, slice.patient);
    // The middle of one of `count` equal parts of (-1.05, 1.05): the end slices show little of the organ.
    const float z =
        1.05F * (2.0F * (static_cast<float>(slice.index) + 0.5F) / static_cast<float>(slice.count) - 1.0F);
    const float organ_size = breadth(z);
    const float lesion_size =
        organ_size > 0 ? breadth((z - anatomy.lesion_depth) / anatomy.lesion_extent) : 0.0F;

    const Point centre{anatomy.organ.centre.x + z * anatomy.drift.x,
                       anatomy.organ.centre.y + z * anatomy.drift.y};
    std::vector<float> organ(pixels, -1.0F), lesion(pixels, -1.0F);
    if (organ_size > 0) signed_distance(scaled(anatomy.organ, centre, organ_size), frame, organ);
    if (lesion_size > 0) {
        const float rx = organ_size * anatomy.organ.radius_x, ry = organ_size * anatomy.organ.radius_y;
        Blob blob = anatomy.lesion;
        blob.radius_x *= std::sqrt(rx * ry);
        blob.radius_y *= std::sqrt(rx * ry);
        signed_distance(
            scaled(blob, {centre.x + rx * blob.centre.x, centre.y + ry * blob.centre.y}, lesion_size), frame,
            lesion);
    }
    for (std::size_t i = 0; i < pixels; ++i)
        out.labels[i] = static_cast<std::uint8_t>(lesion[i] > 0 ? 2 : organ[i] > 0 ? 1 : 0);

    Random random(seed, kAnswer, scene);
    const float softness = 0.018F;
    const float thinness = 1.0F - organ_size;  // slices at the ends are hard
    const float organ_confidence = 4.5F - 3.0F * thinness + real(0.7 * random.normal());
    const bool lesion_overlooked = random.uniform() < 0.08;
    const float lesion_confidence = (lesion_overlooked ? -2.0F : 3.0F) + real(0.9 * random.normal());
    const float difficulty = real(0.4 * random.normal()) - anatomy.skill;
    // Parts are missed along the outline rather than in the middle.
    const double towards = random.uniform(0.0, 2.0 * std::numbers::pi);
    const Point edge{centre.x + 0.9F * organ_size * anatomy.organ.radius_x * real(std::cos(towards)),
                     centre.y + 0.9F * organ_size * anatomy.organ.radius_y * real(std::sin(towards))};
    const float bite = real(random.uniform(0.3, 0.8)) * std::max(0.2F, organ_size) * anatomy.organ.radius_y;
    const Bump missed{patch(random, edge, bite), -real(random.uniform(3.0, 8.0))};
    const bool bitten = random.uniform() < 0.3;
    const Point elsewhere{real(random.uniform(-1, 1)) * frame.half_width(),
                          real(random.uniform(-1, 1)) * frame.half_height()};
    const float spot = real(random.uniform(0.03, 0.08));
    const Bump alarm{patch(random, elsewhere, spot), real(random.uniform(4.0, 9.0))};
    const bool alarmed = random.uniform() < 0.15;

    std::vector<float> place(pixels);
    for (std::size_t r = 0, i = 0; r < grid.height; ++r)
        for (std::size_t c = 0; c < grid.width; ++c, ++i) {
            const float u = (frame.x(c) - kUsualPlace.x) / kReach, v = (frame.y(r) - kUsualPlace.y) / kReach;
            place[i] = std::min(1.0F, u * u + v * v);
        }
    std::vector<float> errors(pixels), head(pixels), evidence(pixels), distance(pixels);
    fill_noise(Random(seed, kErrorField, scene), frame, kErrors, errors);
    for (std::size_t c = kMedicalClasses; c-- > 0;) {
        // Every class has its own sigmoid output, with common errors and own errors. The logit of the
        // background is the negated logit of an object of any class.
        for (std::size_t i = 0; i < pixels; ++i)
            distance[i] = c == 2   ? lesion[i]
                          : c == 1 ? std::min(organ[i], -lesion[i])
                                   : std::max(organ[i], lesion[i]);
        std::fill(evidence.begin(), evidence.end(), kHabits.empty);
        see_object(distance, softness, c == 2 ? lesion_confidence : organ_confidence, kHabits, evidence);
        if (bitten) add_bump(missed, frame, evidence);
        if (alarmed && c < 2) add_bump(alarm, frame, evidence);
        fill_noise(Random(seed, kHeadFields + c, scene), frame, kHeads, head);
        for (std::size_t i = 0; i < pixels; ++i) head[i] = errors[i] + kHeadNoise * head[i];
        react(kHabits, place, head, difficulty, evidence);
        if (c == 0)
            for (float& value : evidence) value = -value;
        write_sigmoid(evidence, out.probs.subspan(c * pixels, pixels));
    }
}

}  // namespace kandinsky::scene
