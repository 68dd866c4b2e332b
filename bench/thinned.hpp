#pragma once

#include <kandinsky/array.hpp>
#include <memory>

/// Every `stride`-th row and column of an array's images; a view that keeps the array alive.
inline kandinsky::Array thinned(const kandinsky::Array& array, std::size_t stride) {
    kandinsky::ArrayView view = array.view();
    for (std::size_t axis = view.rank() - 2; axis < view.rank(); ++axis) {
        view.shape[axis] = (view.shape[axis] + stride - 1) / stride;
        view.strides[axis] *= static_cast<std::ptrdiff_t>(stride);
    }
    return {view, std::make_shared<kandinsky::Array>(array)};
}
