#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "partition/fcc/objective.hpp"

namespace kandinsky::partition::fcc {

/// Initial curves of one descent.
struct Start {
    std::string origin;
    std::vector<double> unknowns;  ///< always feasible
};

/// Returns options.starts initial curves. Candidates are nested circles, ellipses or rounded rectangles about
/// one centre, whose sizes (levels) a one-dimensional solver finds. In this order: the best candidate; the
/// paper's evenly spaced circles with noise; the best candidate for the other kind of variance; the best of
/// another shape; then, alternately, noisy circles and noisy candidates. A noisy start replaces the third or
/// fourth if it does not exist; without any candidate all starts are noisy circles.
[[nodiscard]] std::vector<Start> make_starts(const BilinearField& field, const CurveObjective& objective,
                                             const FourierOptions& options, std::uint64_t seed);

}  // namespace kandinsky::partition::fcc
