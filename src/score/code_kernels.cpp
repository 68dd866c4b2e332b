#include "score/code_kernels.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "score/code_kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline std::uint16_t Code(std::uint16_t bits, std::uint16_t top) {
    const auto code = static_cast<std::uint16_t>(bits & 0x7FFF);
    return top == 0 ? code : static_cast<std::uint16_t>(top - code);
}

void CodesOfHalves(const std::byte* source, std::size_t n, std::uint16_t top, std::uint16_t* out) {
    std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<std::uint16_t> word;
    const hn::Repartition<std::uint8_t, decltype(word)> byte;
    const std::size_t lanes = hn::Lanes(word);
    const auto unsigned_bits = hn::Set(word, std::uint16_t{0x7FFF}), ceiling = hn::Set(word, top);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(source);
    for (; i + lanes <= n; i += lanes) {
        const auto code = hn::And(hn::BitCast(word, hn::LoadU(byte, bytes + 2 * i)), unsigned_bits);
        hn::StoreU(top == 0 ? code : hn::Sub(ceiling, code), word, out + i);
    }
#endif
    for (; i < n; ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, source + 2 * i, 2);
        out[i] = Code(bits, top);
    }
}

void CodesOfBytes(const std::byte* source, std::size_t n, std::uint16_t top, std::uint16_t* out) {
    const hn::ScalableTag<std::uint16_t> word;
    const hn::Rebind<std::uint8_t, decltype(word)> byte;
    const std::size_t lanes = hn::Lanes(word);
    const auto ceiling = hn::Set(word, top);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(source);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const auto code = hn::PromoteTo(word, hn::LoadU(byte, bytes + i));
        hn::StoreU(top == 0 ? code : hn::Sub(ceiling, code), word, out + i);
    }
    for (; i < n; ++i) out[i] = Code(bytes[i], top);
}

void MergeCodes(const std::uint16_t* HWY_RESTRICT codes, const std::uint8_t* HWY_RESTRICT member,
                std::size_t n, std::uint16_t base, std::uint16_t* HWY_RESTRICT words) {
    const hn::ScalableTag<std::uint16_t> word;
    const hn::Rebind<std::uint8_t, decltype(word)> byte;
    const std::size_t lanes = hn::Lanes(word);
    const auto above = hn::Set(word, base);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const auto has = hn::PromoteTo(word, hn::LoadU(byte, member + i));
        const auto code = hn::Add(hn::LoadU(word, codes + i), above);
        const auto old = hn::LoadU(word, words + i);
        hn::StoreU(hn::IfThenElse(hn::Ne(has, hn::Zero(word)), code, old), word, words + i);
    }
    for (; i < n; ++i)
        if (member[i] != 0) words[i] = static_cast<std::uint16_t>(codes[i] + base);
}

void CopyLines(const void* in, std::size_t step, std::size_t lines, std::byte* out) {
    constexpr std::size_t kLine = 64;
    const hn::CappedTag<std::uint8_t, kLine> byte;
    const std::size_t lanes = hn::Lanes(byte);
    const auto* from = static_cast<const std::uint8_t*>(in);
    auto* to = reinterpret_cast<std::uint8_t*>(out);
    for (std::size_t line = 0; line < lines; ++line, from += step, to += kLine)
        for (std::size_t at = 0; at < kLine; at += lanes)
            hn::Stream(hn::LoadU(byte, from + at), byte, to + at);
    hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {
HWY_EXPORT(CodesOfHalves);
HWY_EXPORT(CodesOfBytes);
HWY_EXPORT(MergeCodes);
HWY_EXPORT(CopyLines);

void codes_of_halves(const std::byte* source, std::size_t n, std::uint16_t top, std::uint16_t* out) {
    HWY_DYNAMIC_DISPATCH(CodesOfHalves)(source, n, top, out);
}
void codes_of_bytes(const std::byte* source, std::size_t n, std::uint16_t top, std::uint16_t* out) {
    HWY_DYNAMIC_DISPATCH(CodesOfBytes)(source, n, top, out);
}
void merge_codes(const std::uint16_t* codes, const std::uint8_t* member, std::size_t n, std::uint16_t base,
                 std::uint16_t* words) {
    HWY_DYNAMIC_DISPATCH(MergeCodes)(codes, member, n, base, words);
}
void copy_lines(const void* in, std::size_t step, std::size_t lines, std::byte* out) {
    HWY_DYNAMIC_DISPATCH(CopyLines)(in, step, lines, out);
}

}  // namespace kandinsky
#endif
