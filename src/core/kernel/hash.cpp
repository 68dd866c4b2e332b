#include "core/kernel/hash.hpp"

#include "core/kernel/hash_lanes.hpp"

namespace kandinsky {

std::uint64_t hash_bytes(const void* data, std::size_t bytes, std::uint64_t seed) {
    HashLanes lanes(seed);
    const auto* const from = static_cast<const unsigned char*>(data);
    std::size_t i = 0;
    for (; i + HashLanes::kStep <= bytes; i += HashLanes::kStep) lanes.take(from + i);
    return lanes.finish(from, i, bytes);
}

std::uint64_t stretch_key(std::size_t cls, std::size_t stretch, const float* probs, std::size_t n) {
    return hash_bytes(probs, n * sizeof(float), mix(cls) ^ stretch);
}

}  // namespace kandinsky
