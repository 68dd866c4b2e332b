#include "core/hash.hpp"

#include <bit>
#include <cstring>

#include "core/random.hpp"

namespace kandinsky {

std::uint64_t hash_bytes(const void* data, std::size_t bytes, std::uint64_t seed) {
    constexpr std::uint64_t kOdd = 0x9FB21C651E98DF25u;
    std::uint64_t lane[4] = {seed ^ 0x243F6A8885A308D3u, seed ^ 0x13198A2E03707344u,
                             seed ^ 0xA4093822299F31D0u, seed ^ 0x082EFA98EC4E6C89u};
    const auto* from = static_cast<const unsigned char*>(data);
    std::size_t i = 0;
    for (; i + 32 <= bytes; i += 32) {
        std::uint64_t words[4];
        std::memcpy(words, from + i, 32);
        for (int k = 0; k < 4; ++k) lane[k] = std::rotl((lane[k] ^ words[k]) * kOdd, 29);
    }
    for (; i < bytes; ++i) lane[i % 4] = std::rotl((lane[i % 4] ^ from[i]) * kOdd, 29);
    return mix(lane[0] ^ mix(lane[1] ^ mix(lane[2] ^ mix(lane[3] ^ bytes))));
}

std::uint64_t stretch_key(std::size_t cls, std::size_t stretch, const float* probs, std::size_t n) {
    return hash_bytes(probs, n * sizeof(float), mix(cls) ^ stretch);
}

}  // namespace kandinsky
