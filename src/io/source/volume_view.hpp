#pragma once

#include <kandinsky/array.hpp>

#include "io/source/source.hpp"

namespace kandinsky {

/// Which canonical axis (0: x, left to right; 1: y, back to front; 2: z, up) gives slices, rows and columns:
/// axial z, y, x; coronal y, z, x; sagittal x, z, y. Rows and columns ascend along their axis.
struct SliceAxes {
    std::uint8_t slice = 2, row = 1, column = 0;
};
[[nodiscard]] SliceAxes slice_axes(Axis axis);
[[nodiscard]] Axis axis_of(const std::string& name);  ///< "axial", ...; throws Error of kind `usage`
[[nodiscard]] std::string_view name_of(Axis axis);

/// A stored volume [x, y, z] or [x, y, z, class] seen as images [slice, row, column] or
/// [slice, class, row, column]. Nothing is copied.
[[nodiscard]] ArrayView as_slices(const ArrayView& stored, const Orientation& orientation, Axis axis);

/// The way back: images [slice, class, row, column] seen as a stored volume [x, y, z, class].
[[nodiscard]] ArrayView as_stored(const ArrayView& slices, const Orientation& orientation, Axis axis);

}  // namespace kandinsky
