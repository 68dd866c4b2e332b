#include "core/kernel/hash.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernel/hash.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/base/random.hpp"
#include "core/kernel/half.hpp"

#ifndef KANDINSKY_CORE_HASH_LANES
#define KANDINSKY_CORE_HASH_LANES
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
    /// Completes the hash of `bytes` bytes. The bytes from i on, fewer than kStep, are still to be added.
    [[nodiscard]] std::uint64_t finish(const unsigned char* from, std::size_t i, std::size_t bytes) {
        for (; i < bytes; ++i) lane[i % 4] = std::rotl((lane[i % 4] ^ from[i]) * kOdd, kTurn);
        return mix(lane[0] ^ mix(lane[1] ^ mix(lane[2] ^ mix(lane[3] ^ bytes))));
    }
    static constexpr std::size_t kStep = 32;
    static constexpr std::uint64_t kOdd = 0x9FB21C651E98DF25u;
    static constexpr int kTurn = 29;

    std::uint64_t lane[4];
};
}  // namespace kandinsky
#endif

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Adds all whole steps of four byte strings; returns the number of bytes added from each string.
std::size_t TakeFour(const std::array<const unsigned char*, 4>& from, std::size_t bytes,
                     std::array<HashLanes, 4>& lanes) {
    std::size_t i = 0;
#if HWY_TARGET <= HWY_AVX3
    // A vector holds two strings. Products of 64 bits have a long latency, so two vectors are computed at
    // once.
    const hn::FixedTag<std::uint64_t, 8> two;
    const hn::FixedTag<std::uint64_t, 4> one;
    const hn::FixedTag<std::uint8_t, 32> byte;
    const auto odd = hn::Set(two, HashLanes::kOdd);
    const auto state = [&](std::size_t low) {
        return hn::Combine(two, hn::LoadU(one, lanes[low + 1].lane), hn::LoadU(one, lanes[low].lane));
    };
    const auto words = [&](const unsigned char* low, const unsigned char* high) {
        return hn::Combine(two, hn::BitCast(one, hn::LoadU(byte, high)),
                           hn::BitCast(one, hn::LoadU(byte, low)));
    };
    auto first = state(0), second = state(2);
    for (; i + HashLanes::kStep <= bytes; i += HashLanes::kStep) {
        first = hn::RotateRight<64 - HashLanes::kTurn>(
            hn::Mul(hn::Xor(first, words(from[0] + i, from[1] + i)), odd));
        second = hn::RotateRight<64 - HashLanes::kTurn>(
            hn::Mul(hn::Xor(second, words(from[2] + i, from[3] + i)), odd));
    }
    hn::StoreU(hn::LowerHalf(one, first), one, lanes[0].lane);
    hn::StoreU(hn::UpperHalf(one, first), one, lanes[1].lane);
    hn::StoreU(hn::LowerHalf(one, second), one, lanes[2].lane);
    hn::StoreU(hn::UpperHalf(one, second), one, lanes[3].lane);
#else
    // Two strings at a time keep the multiplier busy, and their eight lanes stay in registers.
    const auto take = [&](std::size_t low) {
        HashLanes first = lanes[low], second = lanes[low + 1];
        for (i = 0; i + HashLanes::kStep <= bytes; i += HashLanes::kStep) {
            first.take(from[low] + i);
            second.take(from[low + 1] + i);
        }
        lanes[low] = first;
        lanes[low + 1] = second;
    };
    take(0);
    take(2);
#endif
    return i;
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {
HWY_EXPORT(TakeFour);

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

void hash_four(const std::array<const void*, 4>& from, std::size_t bytes,
               std::array<std::uint64_t, 4>& hashes) {
    std::array<const unsigned char*, 4> data{};
    for (std::size_t k = 0; k < 4; ++k) data[k] = static_cast<const unsigned char*>(from[k]);
    std::array<HashLanes, 4> lanes{HashLanes(hashes[0]), HashLanes(hashes[1]), HashLanes(hashes[2]),
                                   HashLanes(hashes[3])};
    const std::size_t taken = HWY_DYNAMIC_DISPATCH(TakeFour)(data, bytes, lanes);
    for (std::size_t k = 0; k < 4; ++k) hashes[k] = lanes[k].finish(data[k], taken, bytes);
}

bool hash_halves(std::span<const std::array<const std::byte*, 4>> planes, std::size_t n,
                 std::array<std::uint64_t, 4>& hashes) {
    constexpr std::size_t kPiece = 512;  // few enough that the floats stay in the nearest cache
    float floats[4][kPiece];
    std::array<const unsigned char*, 4> from{};
    std::array<HashLanes, 4> lanes{HashLanes(hashes[0]), HashLanes(hashes[1]), HashLanes(hashes[2]),
                                   HashLanes(hashes[3])};
    bool fine = true;
    for (const std::array<const std::byte*, 4>& plane : planes)
        for (std::size_t begin = 0; begin < n; begin += kPiece) {
            const std::size_t count = std::min(kPiece, n - begin);
            for (std::size_t k = 0; k < 4; ++k) {
                fine = unit_half_to_float(plane[k] + 2 * begin, count, floats[k]) && fine;
                from[k] = reinterpret_cast<const unsigned char*>(floats[k]);
            }
            (void)HWY_DYNAMIC_DISPATCH(TakeFour)(from, count * sizeof(float), lanes);
        }
    const std::size_t bytes = planes.size() * n * sizeof(float);
    for (std::size_t k = 0; k < 4; ++k) hashes[k] = lanes[k].finish(nullptr, bytes, bytes);
    return fine;
}

}  // namespace kandinsky
#endif
