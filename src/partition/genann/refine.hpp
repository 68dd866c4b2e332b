#pragma once

#include <cstdint>
#include <kandinsky/annuli.hpp>
#include <vector>

#include "partition/genann/fitness.hpp"
#include "partition/genann/parameters.hpp"

namespace kandinsky::partition::genann {

/// Moves radius number k of `annuli` to the place within `window` pixels (and between its neighbours, at most
/// `limit`) where the Euclidean fitness is least, exactly: every pixel in the window is moved over the edge
/// in turn, in order of distance. Returns the change of the fitness, at most 0. Cost O(moved pixels * pixels
/// of the two regions).
double sweep_radius(const Cloud& cloud, Origin origin, Annuli& annuli, std::size_t k, double window,
                    double limit);

struct RefineSettings {
    std::size_t batches = 100;
    std::size_t batch = 8;  ///< tries made from the same best, scored in parallel
    double scale = 1;       ///< of the steps: each try draws its own between this ...
    double finest = 0.03;   ///< ... and this part of it, evenly in the logarithm
    double window = 1;      ///< of the radius sweeps, pixels
    std::uint64_t seed = 0;
};

/// Local search for grids small enough to score exactly (Euclidean): random steps of the centre (and
/// ellipse), each followed by sweeps of all radii. Improves `values` and returns the number of tries;
/// `fitness` is in and out.
std::size_t refine(const Cloud& cloud, Origin origin, const Parameters& space, const Fitness& exact,
                   const RefineSettings& settings, std::vector<double>& values, double& fitness,
                   Progress& progress);

}  // namespace kandinsky::partition::genann
