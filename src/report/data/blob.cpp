#include "report/data/blob.hpp"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/fail.hpp"

namespace kandinsky {

namespace {
// The fast compression level nearly always finds the same best lag as the strong level, in much less time.
constexpr int kQuickLevel = 1, kStrongLevel = 7;

std::vector<std::uint8_t> deflated(std::span<const std::uint8_t> bytes, int level) {
    uLongf size = compressBound(static_cast<uLong>(bytes.size()));
    std::vector<std::uint8_t> out(size);
    if (compress2(out.data(), &size, bytes.data(), static_cast<uLong>(bytes.size()), level) != Z_OK)
        fail(ErrorKind::internal, "zlib could not deflate {} bytes", bytes.size());
    out.resize(size);
    return out;
}

std::vector<std::uint8_t> lagged(std::span<const std::uint8_t> bytes, std::size_t lag) {
    std::vector<std::uint8_t> out(bytes.begin(), bytes.end());
    for (std::size_t i = bytes.size(); lag > 0 && i-- > lag;)
        out[i] = static_cast<std::uint8_t>(bytes[i] - bytes[i - lag]);
    return out;
}

nlohmann::ordered_json described(const char* type, std::span<const std::uint8_t> bytes,
                                 const std::vector<std::size_t>& shape, std::vector<std::size_t> lags) {
    lags.insert(lags.begin(), {0, 1});
    std::size_t chosen = 0, least = std::numeric_limits<std::size_t>::max();
    for (const std::size_t lag : lags) {
        if (lag > 0 && lag >= bytes.size()) continue;
        const std::size_t size = deflated(lagged(bytes, lag), kQuickLevel).size();
        if (size < least) least = size, chosen = lag;
    }
    return {{"type", type},
            {"shape", shape},
            {"lag", chosen},
            {"data", base64(deflated(lagged(bytes, chosen), kStrongLevel))}};
}
}  // namespace

nlohmann::ordered_json blob(std::span<const std::uint8_t> bytes, std::vector<std::size_t> shape,
                            const std::vector<std::size_t>& lags) {
    return described("u8", bytes, shape, lags);
}

nlohmann::ordered_json blob(std::span<const std::uint16_t> values, std::vector<std::size_t> shape) {
    std::vector<std::uint8_t> bytes(values.size() * 2);
    for (std::size_t i = 0; i < values.size(); ++i) {
        bytes[i] = static_cast<std::uint8_t>(values[i] & 0xff);
        bytes[values.size() + i] = static_cast<std::uint8_t>(values[i] >> 8);
    }
    return described("u16", bytes, shape, {shape.back()});
}

std::vector<std::uint8_t> deflated(std::span<const std::uint8_t> bytes) {
    return deflated(bytes, kStrongLevel);
}

std::string base64(std::span<const std::uint8_t> bytes) {
    static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t left = bytes.size() - i;
        const unsigned word = (static_cast<unsigned>(bytes[i]) << 16) |
                              (left > 1 ? static_cast<unsigned>(bytes[i + 1]) << 8 : 0) |
                              (left > 2 ? static_cast<unsigned>(bytes[i + 2]) : 0);
        out += kDigits[word >> 18];
        out += kDigits[(word >> 12) & 63];
        out += left > 1 ? kDigits[(word >> 6) & 63] : '=';
        out += left > 2 ? kDigits[word & 63] : '=';
    }
    return out;
}

std::uint8_t quantised(double value, double top, unsigned steps) {
    if (!std::isfinite(value)) return 255;
    const double share = top > 0 ? std::clamp(value / top, 0.0, 1.0) : 0.0;
    return static_cast<std::uint8_t>(std::lround(share * steps));
}

double round_up(double value) {
    if (!(value > 0)) return 1;
    const double power = std::pow(10.0, std::floor(std::log10(value)));
    for (const double step : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0})
        if (step * power >= value * (1 - 1e-12)) return step * power;
    return 10 * power;
}

}  // namespace kandinsky
