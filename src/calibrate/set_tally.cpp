#include "calibrate/set_tally.hpp"

#include <algorithm>
#include <atomic>

#include "core/base/thread_buffer.hpp"
#include "core/kernel/count_kernels.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kRun = 4096;  // pixels whose sizes stay in the nearest cache

void add_atomically(std::uint64_t& to, std::uint64_t n) {
    if (n > 0) std::atomic_ref(to).fetch_add(n, std::memory_order_relaxed);
}

struct Sizes {
    std::uint64_t empty = 0, single = 0, full = 0;
};

/// Counts sets of at most 255 classes.
void count_few(const std::uint8_t* sets, std::size_t classes, std::size_t pixels, std::size_t n, Sizes& to) {
    std::vector<std::uint8_t>& size = thread_buffer<std::uint8_t, struct FewSizes>(kRun);
    std::fill_n(size.begin(), n, std::uint8_t{0});
    for (std::size_t c = 0; c < classes; ++c) add_bytes(sets + c * pixels, n, size.data());
    static const std::vector<std::uint8_t> all(kRun, 1);
    to.empty += count_equal(size.data(), 0, all.data(), all.data(), n);
    to.single += count_equal(size.data(), 1, all.data(), all.data(), n);
    to.full += count_equal(size.data(), static_cast<std::uint8_t>(classes), all.data(), all.data(), n);
}

void count_many(const std::uint8_t* sets, std::size_t classes, std::size_t pixels, std::size_t n, Sizes& to) {
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t size = 0;
        for (std::size_t c = 0; c < classes; ++c) size += sets[c * pixels + i];
        to.empty += size == 0;
        to.single += size == 1;
        to.full += size == classes;
    }
}
}  // namespace

void SetTally::add(const std::uint8_t* sets, std::size_t pixels, std::uint64_t filled) {
    const std::size_t classes = counts_.members.size();
    Sizes sizes;
    for (std::size_t begin = 0; begin < pixels; begin += kRun) {
        const std::size_t n = std::min(kRun, pixels - begin);
        (classes <= 255 ? count_few : count_many)(sets + begin, classes, pixels, n, sizes);
    }
    for (std::size_t c = 0; c < classes; ++c)
        add_atomically(counts_.members[c], sum_bytes(sets + c * pixels, pixels));
    add_all({.images = 1,
             .sets = pixels,
             .filled = filled,
             .empty = sizes.empty,
             .single = sizes.single,
             .full = sizes.full});
}

void SetTally::add(const Predicted& other) {
    for (std::size_t c = 0; c < other.members.size(); ++c)
        add_atomically(counts_.members[c], other.members[c]);
    add_all(other);
}

void SetTally::add_all(const Predicted& other) {
    for (auto count : {&Predicted::images, &Predicted::sets, &Predicted::filled, &Predicted::empty,
                       &Predicted::single, &Predicted::full})
        add_atomically(counts_.*count, other.*count);
}

}  // namespace kandinsky
