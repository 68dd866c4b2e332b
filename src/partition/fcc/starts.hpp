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

/// Returns options.starts initial curves, in this order: the best levels among circles, ellipses and rounded
/// rectangles, found by the one-dimensional solver; the paper's evenly spaced noisy circles; the best levels
/// for the other kind of variance; the best levels of another shape; then, alternately, noisy circles and
/// noisy copies of further candidates. If the third or fourth of these does not exist, a noisy start replaces
/// it.
[[nodiscard]] std::vector<Start> make_starts(const BilinearField& field, const CurveObjective& objective,
                                             const FourierOptions& options, std::uint64_t seed);

}  // namespace kandinsky::partition::fcc
