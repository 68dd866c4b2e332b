#include "core/hash.hpp"

#include <bit>
#include <cstring>

#include "core/random.hpp"

namespace kandinsky {

namespace {
/// The state of one hash: four lanes.
class Lanes {
  public:
    explicit Lanes(std::uint64_t seed)
        : lane_{seed ^ 0x243F6A8885A308D3u, seed ^ 0x13198A2E03707344u, seed ^ 0xA4093822299F31D0u,
                seed ^ 0x082EFA98EC4E6C89u} {}
    void take(const unsigned char* from) {  // kStep bytes
        std::uint64_t words[4];
        std::memcpy(words, from, sizeof(words));
        for (int k = 0; k < 4; ++k) lane_[k] = std::rotl((lane_[k] ^ words[k]) * kOdd, 29);
    }
    [[nodiscard]] std::uint64_t finish(const unsigned char* from, std::size_t i, std::size_t bytes) {
        for (; i < bytes; ++i) lane_[i % 4] = std::rotl((lane_[i % 4] ^ from[i]) * kOdd, 29);
        return mix(lane_[0] ^ mix(lane_[1] ^ mix(lane_[2] ^ mix(lane_[3] ^ bytes))));
    }
    static constexpr std::size_t kStep = 32;

  private:
    static constexpr std::uint64_t kOdd = 0x9FB21C651E98DF25u;
    std::uint64_t lane_[4];
};
}  // namespace

std::uint64_t hash_bytes(const void* data, std::size_t bytes, std::uint64_t seed) {
    Lanes lanes(seed);
    const auto* const from = static_cast<const unsigned char*>(data);
    std::size_t i = 0;
    for (; i + Lanes::kStep <= bytes; i += Lanes::kStep) lanes.take(from + i);
    return lanes.finish(from, i, bytes);
}

void hash_two(const void* one, const void* other, std::size_t bytes, std::array<std::uint64_t, 2>& hashes) {
    Lanes first(hashes[0]), second(hashes[1]);
    const auto *const a = static_cast<const unsigned char*>(one), *const b =
                                                                      static_cast<const unsigned char*>(
                                                                          other);
    std::size_t i = 0;
    for (; i + Lanes::kStep <= bytes; i += Lanes::kStep) {
        first.take(a + i);
        second.take(b + i);
    }
    hashes = {first.finish(a, i, bytes), second.finish(b, i, bytes)};
}

std::uint64_t stretch_key(std::size_t cls, std::size_t stretch, const float* probs, std::size_t n) {
    return hash_bytes(probs, n * sizeof(float), mix(cls) ^ stretch);
}

}  // namespace kandinsky
