#include "io/zip/crc32.hpp"

#include <algorithm>
#include <vector>

#include "core/base/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "io/zip/crc32.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef KANDINSKY_IO_CRC32
#define KANDINSKY_IO_CRC32
namespace kandinsky::crc32_fold {

/// x^power modulo the polynomial of CRC-32. Its bits are reversed, as in the checksum, and shifted by one, as
/// carry-less products of such numbers require.
constexpr std::uint64_t power_of_x(unsigned power) {
    std::uint32_t rest = 0x80000000u;
    for (; power > 0; --power) rest = rest >> 1 ^ ((rest & 1) != 0 ? 0xEDB88320u : 0u);
    return std::uint64_t{rest} << 1;
}
/// The factors that shift 16 bytes by 128 or 512 bits: one for the first 8 bytes, one for the others.
constexpr std::uint64_t kOn128[2] = {power_of_x(128 + 32), power_of_x(128 - 32)};
constexpr std::uint64_t kOn512[2] = {power_of_x(512 + 32), power_of_x(512 - 32)};

}  // namespace kandinsky::crc32_fold
#endif

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

std::uint32_t FoldedCrc32(const std::uint8_t* data, std::size_t bytes, std::uint32_t crc) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
    // 16 bytes represent the checksum of all bytes so far. They are multiplied by x^128 modulo the polynomial
    // and combined with the next 16 bytes. Four such values are computed in parallel: each takes 16 of every
    // 64 bytes and is multiplied by x^512. At the end they are combined.
    constexpr std::size_t kStep = 64;
    if (bytes >= 2 * kStep) {
        const hn::FixedTag<std::uint64_t, 2> word;
        const hn::FixedTag<std::uint8_t, 16> byte;
        const auto load = [&](std::size_t k) { return hn::BitCast(word, hn::LoadU(byte, data + 16 * k)); };
        const auto moved = [](auto x, auto by) {
            return hn::Xor(hn::CLMulLower(x, by), hn::CLMulUpper(x, by));
        };
        HWY_ALIGN const std::uint64_t so_far[2] = {static_cast<std::uint32_t>(~crc), 0};
        auto a = hn::Xor(load(0), hn::Load(word, so_far)), b = load(1), c = load(2), d = load(3);
        data += kStep;
        bytes -= kStep;
        const auto on512 = hn::LoadU(word, crc32_fold::kOn512);
        for (; bytes >= kStep; data += kStep, bytes -= kStep) {
            a = hn::Xor(moved(a, on512), load(0));
            b = hn::Xor(moved(b, on512), load(1));
            c = hn::Xor(moved(c, on512), load(2));
            d = hn::Xor(moved(d, on512), load(3));
        }
        const auto on128 = hn::LoadU(word, crc32_fold::kOn128);
        b = hn::Xor(moved(a, on128), b);
        c = hn::Xor(moved(b, on128), c);
        d = hn::Xor(moved(c, on128), d);
        HWY_ALIGN std::uint8_t message[16];
        hn::Store(hn::BitCast(byte, d), byte, message);
        constexpr std::uint32_t kFromNothing = 0xFFFFFFFFu;  // zlib inverts the checksum at both ends
        crc = crc32_scalar(message, sizeof message, kFromNothing);
    }
#endif
    return crc32_scalar(data, bytes, crc);
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {
HWY_EXPORT(FoldedCrc32);

std::uint32_t crc32_of(const void* data, std::size_t bytes, std::uint32_t crc) {
    return HWY_DYNAMIC_DISPATCH(FoldedCrc32)(static_cast<const std::uint8_t*>(data), bytes, crc);
}

std::uint32_t crc32_joined(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes) {
    return static_cast<std::uint32_t>(::crc32_combine(first, second, static_cast<z_off_t>(second_bytes)));
}

std::uint32_t crc32_of_large(const void* data, std::size_t bytes, std::uint32_t crc) {
    constexpr std::size_t kPiece = std::size_t{4} << 20;
    if (bytes < 2 * kPiece) return crc32_of(data, bytes, crc);
    const auto* const from = static_cast<const std::byte*>(data);
    const auto length = [&](std::size_t i) { return std::min(kPiece, bytes - i * kPiece); };
    std::vector<std::uint32_t> pieces((bytes + kPiece - 1) / kPiece);
    parallel_for(pieces.size(), [&](std::size_t i) { pieces[i] = crc32_of(from + i * kPiece, length(i)); });
    for (std::size_t i = 0; i < pieces.size(); ++i) crc = crc32_joined(crc, pieces[i], length(i));
    return crc;
}
}  // namespace kandinsky
#endif
