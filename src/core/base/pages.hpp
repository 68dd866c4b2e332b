#pragma once

#include <cstddef>

namespace kandinsky {

// Hints about memory. They never change the contents and never fail.

/// Frees pages of a mapped file; the next access reads them from the file again.
void drop_pages(const std::byte* begin, std::size_t bytes);
/// Reads pages of a mapped file ahead in the background.
void fetch_pages(const std::byte* begin, std::size_t bytes);

/// A hint about the process's own memory that will be written from end to end: use large pages, which cause
/// one fault per 2 MiB instead of per 4 KiB. Has no effect on small pieces.
void prefer_large_pages(void* memory, std::size_t bytes);

}  // namespace kandinsky
