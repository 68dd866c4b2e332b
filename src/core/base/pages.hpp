#pragma once

#include <cstddef>

namespace kandinsky {

/// Hints about memory that is a mapping of a file, and only such memory: dropped pages are read again from
/// the file on the next look, whoever looks. Neither changes what is read, nor fails.
void drop_pages(const std::byte* begin, std::size_t bytes);  ///< no longer counted as this process's memory
void fetch_pages(const std::byte* begin,
                 std::size_t bytes);  ///< will be needed: read ahead in the background

/// A hint about the process's own memory that is about to be written from end to end: in large pages, that
/// takes a fault for every 2 MiB instead of every 4 KiB. Nothing happens to small pieces.
void prefer_large_pages(void* memory, std::size_t bytes);

}  // namespace kandinsky
