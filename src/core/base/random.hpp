#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace kandinsky {

/// The finaliser of SplitMix64: a bijection of 64-bit words with good avalanche.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/// A random stream that is determined by (seed, purpose, index), so threads, ranks and batches have no effect
/// on it. The mapping from bits to numbers is our own, because standard distributions differ between
/// libraries.
class Random {
  public:
    explicit constexpr Random(std::uint64_t seed, std::uint64_t purpose = 0, std::uint64_t index = 0)
        : state_(mix(mix(mix(seed) ^ purpose) ^ index)) {}

    constexpr std::uint64_t bits() { return mix(state_ += 0x9E3779B97F4A7C15u); }
    /// Uniform in [0, 1), 53 bits.
    constexpr double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }
    constexpr double uniform(double low, double high) { return low + (high - low) * uniform(); }
    /// Uniform in {0, ..., n-1}; n > 0. The bias of 2^-64 n is far below anything observable.
    constexpr std::uint64_t below(std::uint64_t n) {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>((static_cast<Wide>(bits()) * n) >> 64);
    }
    /// Standard normal by Box-Muller; uses two uniforms per call and keeps no state.
    double normal() {
        const double u = 1.0 - uniform();  // in (0, 1]
        const double v = uniform();
        return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
    }

  private:
    std::uint64_t state_;
};

}  // namespace kandinsky
