#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace kandinsky {

/// Inflates a raw deflate stream into exactly `out`. Throws Error of kind `data` (beginning "cannot read
/// NAME") when the stream is damaged, yields more or less than that, or leaves input over. Never writes past
/// `out`.
void inflate_raw(std::span<const std::byte> in, std::span<std::byte> out, const std::string& name);

}  // namespace kandinsky
