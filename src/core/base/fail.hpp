#pragma once

#include <fmt/format.h>

#include <kandinsky/error.hpp>
#include <utility>

namespace kandinsky {

/// Throws Error with a formatted one-line message.
template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> text, Args&&... args) {
    throw Error(kind, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace kandinsky
