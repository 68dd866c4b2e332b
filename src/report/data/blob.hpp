#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace kandinsky {

/// Bytes in the report's form: {"type": "u8" | "u16", "shape": [...], "lag": n, "data": "..."}. From each
/// byte, the byte `lag` places earlier is subtracted (lag 0: none). The result is deflated (zlib format) and
/// coded in base64. u16 has all low bytes first, then all high bytes. The lag is chosen among 0, 1 and
/// `lags` (u16: the last extent): the one that compresses best at a fast level.
[[nodiscard]] nlohmann::ordered_json blob(std::span<const std::uint8_t> bytes, std::vector<std::size_t> shape,
                                          const std::vector<std::size_t>& lags = {});
[[nodiscard]] nlohmann::ordered_json blob(std::span<const std::uint16_t> values,
                                          std::vector<std::size_t> shape);

/// Compresses in zlib format at a strong level.
[[nodiscard]] std::vector<std::uint8_t> deflated(std::span<const std::uint8_t> bytes);
[[nodiscard]] std::string base64(std::span<const std::uint8_t> bytes);

/// 0 .. `steps` for value / top in [0, 1] (clamped, rounded); 255 for a value that is not finite.
/// 0 for a finite value if `top` is at most 0.
[[nodiscard]] std::uint8_t quantised(double value, double top, unsigned steps = 254);
/// The smallest round number that is not below the value; 1 for NaN and values up to 0.
[[nodiscard]] double round_up(double value);

}  // namespace kandinsky
