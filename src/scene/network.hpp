#pragma once

#include <span>

#include "core/base/random.hpp"
#include "scene/frame.hpp"

namespace kandinsky::scene {

/// The behaviour of the simulated network: how its output depends on the position of the pixel. e is the
/// squared normalised distance from the usual position of objects (0 there, 1 far away).
///   believed = empty + (1 - fade e) (evidence - empty)
///   logit = (1 + sharpen e) (believed + (noise + noise_growth e) field - difficulty)
struct Habits {
    float empty = -5;        ///< the evidence without an object
    float fade = 0;          ///< share of the evidence that is lost far from the usual position
    float noise = 1;         ///< standard deviation of the logit's error at the usual position
    float noise_growth = 0;  ///< increase of `noise` far from there
    float sharpen = 0;       ///< over-confidence: scales right and wrong logits
};

/// Raises the evidence to that of an object: habits.empty outside, `confidence` deep inside, the mean of both
/// on the outline. The transition has the width `softness`, in the unit of the distance.
void see_object(std::span<const float> distance, float softness, float confidence, const Habits& habits,
                std::span<float> evidence);

/// Replaces the evidence by the logit, by the formula above. `place` is e and `field` the noise, one value
/// per pixel.
void react(const Habits& habits, std::span<const float> place, std::span<const float> field, float difficulty,
           std::span<float> evidence);

/// Half-precision bits of 1 / (1 + exp(-logit)). As from a network in half precision, the result is exactly 1
/// from about 8.3 on and exactly 0 below about -17.3. Uses a table as fine as half precision. Logits must not
/// be NaN.
void write_sigmoid(std::span<const float> logit, std::span<std::uint16_t> out);

/// One scale of a noise field.
struct Octave {
    float cell = 0.1F;    ///< spacing of the lattice, in units of the frame
    float weight = 1.0F;  ///< relative standard deviation
};

/// Fills `out` (one value per pixel) with a smooth Gaussian field of mean 0 and variance 1: each octave is a
/// cubic B-spline whose coefficients are independent normals on a coarse lattice. The lattice is shifted at
/// random; otherwise its knots would show in statistics over many scenes. A few multiplications per pixel.
void fill_noise(Random random, const Frame& frame, std::span<const Octave> octaves, std::span<float> out);

}  // namespace kandinsky::scene
