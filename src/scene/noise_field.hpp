#pragma once

#include <span>

#include "core/base/random.hpp"
#include "scene/frame.hpp"

namespace kandinsky::scene {

/// One scale of a noise field.
struct Octave {
    float cell = 0.1F;    ///< spacing of the lattice, in units of the frame
    float weight = 1.0F;  ///< relative standard deviation
};

/// Fills `out` (one value a pixel) with a smooth Gaussian field of mean 0 and variance 1: each octave is a
/// cubic B-spline through independent normals on a coarse lattice. The lattice is shifted at random, so no
/// pixel is special: without that its knots would show as a pattern in every statistic taken over many
/// scenes. A few multiplications a pixel.
void fill_noise(Random random, const Frame& frame, std::span<const Octave> octaves, std::span<float> out);

}  // namespace kandinsky::scene
