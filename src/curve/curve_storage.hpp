#pragma once

#include <kandinsky/smooth_curves.hpp>

#include "curve/lattice.hpp"

namespace kandinsky {

/// Members of curves that only the library's own code uses, through the functions below.
struct [[gnu::visibility("hidden")]] CurveAccess {
    using OfSet = CurveSet::Storage;
    using OfSmooth = SmoothCurves::Storage;

    [[nodiscard]] static const OfSet& storage(const CurveSet& curves) {
        return curves.data_;
    }
    [[nodiscard]] static const OfSmooth& storage(const SmoothCurves& curves) {
        return curves.data_;
    }
    [[nodiscard]] static CurveSet make(Ladder ladder, bool interpolate, OfSet storage);
    [[nodiscard]] static SmoothCurves make(Grid grid, Ladder ladder, OfSmooth storage) {
        return {grid, std::move(ladder), std::move(storage)};
    }
    static void thresholds_at(const SmoothCurves& curves, std::span<const std::uint32_t> levels,
                              PixelRange range, std::span<float> out) {
        curves.thresholds_at(levels, range, out);
    }
    [[nodiscard]] static std::uint32_t level(const SmoothCurves& curves, const BetweenCells& row,
                                             const BetweenCells& column, std::size_t bin, std::int32_t key);
};
using CurveStorage = CurveAccess::OfSet;
using SmoothStorage = CurveAccess::OfSmooth;

[[nodiscard]] inline const CurveStorage& storage_of(const CurveSet& curves) {
    return CurveAccess::storage(curves);
}
[[nodiscard]] inline const SmoothStorage& storage_of(const SmoothCurves& curves) {
    return CurveAccess::storage(curves);
}
/// Curves from their numbers. Throws a data error if the arrays do not fit together or have invalid values
/// (such as NaN or values that do not ascend).
[[nodiscard]] inline CurveSet curves_from(Ladder ladder, bool interpolate, CurveStorage storage) {
    return CurveAccess::make(std::move(ladder), interpolate, std::move(storage));
}
[[nodiscard]] inline SmoothCurves smooth_from(Grid grid, Ladder ladder, SmoothStorage storage) {
    return CurveAccess::make(grid, std::move(ladder), std::move(storage));
}
/// SmoothCurves::thresholds() at levels of the distributions, in units of 1 / kOne; kNever: +inf, kNothing:
/// -inf. Curves that are without_data() allow only these two.
inline void thresholds_at(const SmoothCurves& curves, std::span<const std::uint32_t> levels, PixelRange range,
                          std::span<float> out) {
    CurveAccess::thresholds_at(curves, levels, range, out);
}
/// SmoothCurves::level() where the place between the cells, the score's bin and its scale_key() are known.
[[nodiscard]] inline std::uint32_t level_between(const SmoothCurves& curves, const BetweenCells& row,
                                                 const BetweenCells& column, std::size_t bin,
                                                 std::int32_t key) {
    return CurveAccess::level(curves, row, column, bin, key);
}

}  // namespace kandinsky
