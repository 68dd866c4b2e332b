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

/// options.starts initial curves, in this order: the best levels of a set of circles, ellipses and rounded
/// rectangles by the one-dimensional solver; the paper's evenly spaced noisy circles; the same as the first
/// for the other kind of variance; the best of another shape; then noisy copies by turns.
[[nodiscard]] std::vector<Start> make_starts(const BilinearField& field, const CurveObjective& objective,
                                             const FourierOptions& options, std::uint64_t seed);

}  // namespace kandinsky::partition::fcc
