#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cli/options/input.hpp"

namespace kandinsky::cli {

/// --photos: what the test images show, to lie under their sets in the report.
struct PhotoFlags {
    std::string photos;

    void declare(CLI::App& app);
    /// Reads the photo of one test image onto the grid: from an array uint8 [N,3,H,W] or [N,H,W,3], or from
    /// a folder by the name of the image's file; scaled to the grid, with proportions kept where a letterbox
    /// was asked for. Nothing when the flag was not given. Throws when a photo cannot be had.
    [[nodiscard]] std::function<Array(std::size_t)> reader(const Input& test, Grid letterbox) const;
};

}  // namespace kandinsky::cli
