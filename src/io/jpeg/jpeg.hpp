#pragma once

#include <kandinsky/array.hpp>
#include <span>

namespace kandinsky {

/// A JPEG picture as uint8 [H,W,3], red first. `bytes` is the file's content; `name` is used in messages.
/// Refuses files that are damaged or truncated, CMYK, and headers with more pixels than the bytes can hold.
[[nodiscard]] Array decode_jpeg(std::span<const std::byte> bytes, const std::string& name);

}  // namespace kandinsky
