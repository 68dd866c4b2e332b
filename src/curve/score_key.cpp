#include "curve/score_key.hpp"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>

namespace kandinsky {

namespace {
// Below this the vector sort's set-up costs more than it saves.
constexpr std::size_t kShort = 256;

template <class Key>
void sort_any(std::span<Key> keys) {
    if (keys.size() < kShort) {
        std::sort(keys.begin(), keys.end());
        return;
    }
    static thread_local hwy::Sorter sorter;
    sorter(keys.data(), keys.size(), hwy::SortAscending());
}
}  // namespace

void sort_keys(std::span<std::uint32_t> keys) {
    sort_any(keys);
}
void sort_keys(std::span<std::uint64_t> keys) {
    sort_any(keys);
}

}  // namespace kandinsky
