#pragma once

#include <filesystem>
#include <kandinsky/npy.hpp>
#include <memory>
#include <string>

/// Every `stride`-th row and column of an array's images; a view that keeps the array alive.
inline kandinsky::Array thinned(const kandinsky::Array& array, std::size_t stride) {
    kandinsky::ArrayView view = array.view();
    for (std::size_t axis = view.rank() - 2; axis < view.rank(); ++axis) {
        view.shape[axis] = (view.shape[axis] + stride - 1) / stride;
        view.strides[axis] *= static_cast<std::ptrdiff_t>(stride);
    }
    return {view, std::make_shared<kandinsky::Array>(array)};
}

/// Real outputs with their labels: FOLDER/SET_probs.npy, SET_labels.npy and, if it exists, SET_groups.npy.
struct RealOutputs {
    kandinsky::Array probs, labels, groups;
};
/// Every `stride`-th row and column of the images.
inline RealOutputs read_outputs(const std::string& folder, const std::string& set, std::size_t stride) {
    const auto file = [&](const char* what) {
        return std::filesystem::path(folder) / (set + "_" + what + ".npy");
    };
    return {.probs = thinned(kandinsky::read_npy(file("probs")), stride),
            .labels = thinned(kandinsky::read_npy(file("labels")), stride),
            .groups = std::filesystem::exists(file("groups")) ? kandinsky::read_npy(file("groups"))
                                                              : kandinsky::Array{}};
}
