#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace kandinsky {

/// IEEE binary16. Conversions round to nearest even, as numpy does.
#if defined(__FLT16_MANT_DIG__)
using Half = _Float16;
#else
/// The same for compilers without the type (clang 14 on x86): slower, but with the same results, except that
/// a NaN may have other bits.
class Half {
  public:
    Half() = default;
    template <std::same_as<double> Number>
    explicit Half(Number value) = delete;  // by way of float it would be rounded twice
    explicit Half(float value) {
        const auto word = std::bit_cast<std::uint32_t>(value);
        const auto sign = static_cast<std::uint16_t>(word >> 16 & 0x8000);
        const std::uint32_t size = word & 0x7FFFFFFF;
        if (size > 0x7F800000)
            bits_ = sign | 0x7E00 | static_cast<std::uint16_t>(size >> 13 & 0x3FF);  // NaN
        else if (size >= 0x477FF000)
            bits_ = sign | 0x7C00;  // 65520 and more: infinity
        else if (size < 0x38800000)
            // Subnormal: multiples of 2^-24, rounded by the addition itself.
            bits_ = sign | static_cast<std::uint16_t>(
                               std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5f) - 0x3F000000);
        else
            bits_ = sign | static_cast<std::uint16_t>((size - 0x38000000 + 0xFFF + (size >> 13 & 1)) >> 13);
    }
    operator float() const {
        const std::uint32_t sign = std::uint32_t{bits_} << 16 & 0x80000000;
        const std::uint32_t size = bits_ & 0x7FFF;
        if (size < 0x400) {
            const auto magnitude = std::bit_cast<std::uint32_t>(static_cast<float>(size) * 0x1p-24f);
            return std::bit_cast<float>(sign | magnitude);
        }
        const std::uint32_t exponent = size >= 0x7C00 ? 0x70000000 : 0x38000000;
        return std::bit_cast<float>(sign | ((size << 13) + exponent));
    }

  private:
    std::uint16_t bits_ = 0;
};
#endif

[[nodiscard]] inline float half_to_float(std::uint16_t bits) {
    return static_cast<float>(std::bit_cast<Half>(bits));
}
[[nodiscard]] inline std::uint16_t float_to_half(float value) {
    return std::bit_cast<std::uint16_t>(static_cast<Half>(value));
}
/// The float nearest to `value` that half precision can hold.
[[nodiscard]] inline float round_to_half(float value) {
    return static_cast<float>(static_cast<Half>(value));
}

/// Widens `count` IEEE binary16 values. Exact, also for subnormals and infinity; NaN stays NaN. Any alignment
/// of the source. Uses the widest vector unit of the machine; no allocation.
void half_to_float(const std::byte* source, std::size_t count, float* out);

/// The same if all values are in [0, 1]; otherwise returns false, and `out` is undefined. -0 becomes +0.
[[nodiscard]] bool unit_half_to_float(const std::byte* source, std::size_t count, float* out);

}  // namespace kandinsky
