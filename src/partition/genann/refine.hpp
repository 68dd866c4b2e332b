#pragma once

#include <cstdint>
#include <kandinsky/annuli.hpp>
#include <vector>

#include "partition/genann/fitness.hpp"
#include "partition/genann/parameters.hpp"
#include "partition/genann/sweep.hpp"

namespace kandinsky::partition::genann {

struct RefineSettings {
    std::size_t batches = 100;
    std::size_t batch = 8;  ///< tries made from the same best, scored in parallel
    double scale = 1;       ///< of the steps: each try draws its own between this ...
    double finest = 0.03;   ///< ... and this part of it, evenly in the logarithm
    double window = 1;      ///< of the radius sweeps, pixels
    int rounds = 2;         ///< of sweeps after each step
    std::uint64_t seed = 0;
    const Team* team = nullptr;  ///< ranks that share the tries; null: alone
};

/// Local search on a fitness that is rough at the scale of a pixel, where single pixels change region: random
/// steps of the centre (and ellipse), each followed by sweeps of all radii; without a sweeper the radii take
/// random steps too. Improves `values` and returns the number of tries. Depends on the seed alone, not on
/// threads.
std::size_t refine(const Cloud& cloud, Origin origin, const Parameters& space, const Fitness& fitness,
                   const Sweeper* sweeper, const RefineSettings& settings, std::vector<double>& values,
                   Progress& progress);

}  // namespace kandinsky::partition::genann
