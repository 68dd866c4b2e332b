#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "io/folder/coco_source.hpp"

namespace kandinsky::cli {

/// How labels are read from a COCO annotations file: --categories and the like. An empty text means "not
/// given".
struct CocoFlags {
    std::string categories, crowd, overlap, letterbox;

    void declare(CLI::App& app);
    [[nodiscard]] bool any() const;  ///< whether one was given
    /// `padding`: what --padding says; the padding of a letterbox is background unless it says 'ignore'.
    [[nodiscard]] CocoLabels labels(const std::string& padding) const;
};

}  // namespace kandinsky::cli
