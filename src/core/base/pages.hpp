#pragma once

#include <cstddef>

namespace kandinsky {

/// Hints about mapped files; call them only for such memory. Released pages are read again from the file on
/// the next access. They do not change the contents and never fail.
void drop_pages(const std::byte* begin, std::size_t bytes);  ///< no longer counted as this process's memory
void fetch_pages(const std::byte* begin,
                 std::size_t bytes);  ///< will be needed: read ahead in the background

/// A hint about the process's own memory that will be written from end to end: use large pages, which cause
/// one fault per 2 MiB instead of per 4 KiB. Has no effect on small pieces.
void prefer_large_pages(void* memory, std::size_t bytes);

}  // namespace kandinsky
