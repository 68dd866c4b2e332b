#include "core/base/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace kandinsky {

namespace {
void advise(const std::byte* begin, std::size_t bytes, int advice) {
    static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    if (bytes == 0) return;
    const auto from = reinterpret_cast<std::uintptr_t>(begin) / page * page;
    const auto to = (reinterpret_cast<std::uintptr_t>(begin) + bytes + page - 1) / page * page;
    // A refused hint costs speed or memory, never correctness.
    (void)::madvise(reinterpret_cast<void*>(from), to - from, advice);
}
}  // namespace

void drop_pages(const std::byte* begin, std::size_t bytes) {
    advise(begin, bytes, MADV_DONTNEED);
}

void fetch_pages(const std::byte* begin, std::size_t bytes) {
    advise(begin, bytes, MADV_WILLNEED);
}

void prefer_large_pages(void* memory, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
    constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
    const auto first = reinterpret_cast<std::uintptr_t>(memory);
    const auto begin = (first + kPage - 1) / kPage * kPage, end = (first + bytes) / kPage * kPage;
    if (end > begin + 4 * kPage) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
}

}  // namespace kandinsky
