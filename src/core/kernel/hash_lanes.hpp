#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/random.hpp"

namespace kandinsky {

/// The state of one hash: four lanes of multiply and rotate.
struct HashLanes {
    explicit HashLanes(std::uint64_t seed)
        : lane{seed ^ 0x243F6A8885A308D3u, seed ^ 0x13198A2E03707344u, seed ^ 0xA4093822299F31D0u,
               seed ^ 0x082EFA98EC4E6C89u} {}
    void take(const unsigned char* from) {  // kStep bytes
        std::uint64_t words[4];
        std::memcpy(words, from, sizeof(words));
        for (int k = 0; k < 4; ++k) lane[k] = std::rotl((lane[k] ^ words[k]) * kOdd, kTurn);
    }
    /// The hash of `bytes` bytes of which those from i on are not taken yet, fewer than kStep.
    [[nodiscard]] std::uint64_t finish(const unsigned char* from, std::size_t i, std::size_t bytes) {
        for (; i < bytes; ++i) lane[i % 4] = std::rotl((lane[i % 4] ^ from[i]) * kOdd, kTurn);
        return mix(lane[0] ^ mix(lane[1] ^ mix(lane[2] ^ mix(lane[3] ^ bytes))));
    }
    static constexpr std::size_t kStep = 32;
    static constexpr std::uint64_t kOdd = 0x9FB21C651E98DF25u;
    static constexpr int kTurn = 29;

    std::uint64_t lane[4];
};

/// Takes all whole steps of four byte strings; returns how many bytes that were of each.
std::size_t take_four(const std::array<const unsigned char*, 4>& from, std::size_t bytes,
                      std::array<HashLanes, 4>& lanes);

}  // namespace kandinsky
