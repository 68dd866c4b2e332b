#pragma once

#include <string_view>

namespace kandinsky::test {

/// Whether this build reads files of a format that needs a library: "png", "jpeg", "coco", "nifti".
inline bool has_format(std::string_view name) {
    constexpr std::string_view kMissing = KANDINSKY_MISSING_FORMATS;  // no name is part of another
    return kMissing.find(name) == std::string_view::npos;
}

}  // namespace kandinsky::test
