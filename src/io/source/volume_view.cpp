#include "io/source/volume_view.hpp"

#include "core/base/fail.hpp"

namespace kandinsky {

SliceAxes slice_axes(Axis axis) {
    if (axis == Axis::coronal) return {1, 2, 0};
    if (axis == Axis::sagittal) return {0, 2, 1};
    return {2, 1, 0};
}

Axis axis_of(const std::string& name) {
    for (const Axis axis : {Axis::axial, Axis::coronal, Axis::sagittal})
        if (name == name_of(axis)) return axis;
    fail(ErrorKind::usage, "--axis is '{}', but must be axial, coronal or sagittal", name);
}

std::string_view name_of(Axis axis) {
    return axis == Axis::axial ? "axial" : axis == Axis::coronal ? "coronal" : "sagittal";
}

namespace {
/// Starts at the far end of an axis and walks back.
void reverse(ArrayView& view, std::size_t axis) {
    view.data += view.strides[axis] * static_cast<std::ptrdiff_t>(view.shape[axis] - 1);
    view.strides[axis] = -view.strides[axis];
}
}  // namespace

ArrayView as_slices(const ArrayView& stored, const Orientation& orientation, Axis axis) {
    ArrayView turned = stored;
    for (std::size_t canonical = 0; canonical < 3; ++canonical)
        if (orientation.flipped[canonical]) reverse(turned, orientation.stored[canonical]);
    const SliceAxes axes = slice_axes(axis);
    ArrayView out{turned.data, turned.dtype, {}, {}};
    const auto take = [&](std::size_t from) {
        out.shape.push_back(turned.shape[from]);
        out.strides.push_back(turned.strides[from]);
    };
    take(orientation.stored[axes.slice]);
    if (stored.rank() == 4) take(3);
    take(orientation.stored[axes.row]);
    take(orientation.stored[axes.column]);
    return out;
}

ArrayView as_stored(const ArrayView& slices, const Orientation& orientation, Axis axis) {
    const SliceAxes axes = slice_axes(axis);
    ArrayView out{slices.data, slices.dtype, std::vector<std::size_t>(4), std::vector<std::ptrdiff_t>(4)};
    const auto give = [&](std::size_t from, std::size_t to) {
        out.shape[to] = slices.shape[from];
        out.strides[to] = slices.strides[from];
    };
    give(0, orientation.stored[axes.slice]);
    give(1, 3);
    give(2, orientation.stored[axes.row]);
    give(3, orientation.stored[axes.column]);
    for (std::size_t canonical = 0; canonical < 3; ++canonical)
        if (orientation.flipped[canonical]) reverse(out, orientation.stored[canonical]);
    return out;
}

}  // namespace kandinsky
