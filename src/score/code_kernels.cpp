#include "score/code_kernels.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "score/code_kernels.cpp"
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

void TransposeWords(const std::uint16_t* HWY_RESTRICT in, std::size_t rows, std::size_t columns,
                    std::uint16_t* HWY_RESTRICT out, std::size_t stride) {
    std::size_t row = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::Full128<std::uint16_t> words;
    const hn::Full128<std::uint32_t> pairs;
    const hn::Full128<std::uint64_t> fours;
    for (; row + 8 <= rows; row += 8) {
        std::size_t column = 0;
        for (; column + 8 <= columns; column += 8) {
            const std::uint16_t* const from = in + row * columns + column;
            std::uint16_t* const to = out + column * stride + row;
            const auto r0 = hn::LoadU(words, from), r1 = hn::LoadU(words, from + columns);
            const auto r2 = hn::LoadU(words, from + 2 * columns), r3 = hn::LoadU(words, from + 3 * columns);
            const auto r4 = hn::LoadU(words, from + 4 * columns), r5 = hn::LoadU(words, from + 5 * columns);
            const auto r6 = hn::LoadU(words, from + 6 * columns), r7 = hn::LoadU(words, from + 7 * columns);
            // a: columns 0-3 of two rows, b: columns 4-7; then of four rows, then of all eight.
            const auto a0 = hn::BitCast(pairs, hn::InterleaveLower(words, r0, r1));
            const auto a1 = hn::BitCast(pairs, hn::InterleaveLower(words, r2, r3));
            const auto a2 = hn::BitCast(pairs, hn::InterleaveLower(words, r4, r5));
            const auto a3 = hn::BitCast(pairs, hn::InterleaveLower(words, r6, r7));
            const auto b0 = hn::BitCast(pairs, hn::InterleaveUpper(words, r0, r1));
            const auto b1 = hn::BitCast(pairs, hn::InterleaveUpper(words, r2, r3));
            const auto b2 = hn::BitCast(pairs, hn::InterleaveUpper(words, r4, r5));
            const auto b3 = hn::BitCast(pairs, hn::InterleaveUpper(words, r6, r7));
            const auto put = [&](std::size_t at, auto low, auto high) {
                hn::StoreU(hn::BitCast(words, hn::InterleaveLower(fours, low, high)), words,
                           to + at * stride);
                hn::StoreU(hn::BitCast(words, hn::InterleaveUpper(fours, low, high)), words,
                           to + (at + 1) * stride);
            };
            put(0, hn::BitCast(fours, hn::InterleaveLower(pairs, a0, a1)),
                hn::BitCast(fours, hn::InterleaveLower(pairs, a2, a3)));
            put(2, hn::BitCast(fours, hn::InterleaveUpper(pairs, a0, a1)),
                hn::BitCast(fours, hn::InterleaveUpper(pairs, a2, a3)));
            put(4, hn::BitCast(fours, hn::InterleaveLower(pairs, b0, b1)),
                hn::BitCast(fours, hn::InterleaveLower(pairs, b2, b3)));
            put(6, hn::BitCast(fours, hn::InterleaveUpper(pairs, b0, b1)),
                hn::BitCast(fours, hn::InterleaveUpper(pairs, b2, b3)));
        }
        for (; column < columns; ++column)
            for (std::size_t k = row; k < row + 8; ++k) out[column * stride + k] = in[k * columns + column];
    }
#endif
    for (; row < rows; ++row)
        for (std::size_t column = 0; column < columns; ++column)
            out[column * stride + row] = in[row * columns + column];
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {
HWY_EXPORT(CodesOfHalves);
HWY_EXPORT(CodesOfBytes);
HWY_EXPORT(MergeCodes);
HWY_EXPORT(TransposeWords);

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
void transpose_words(const std::uint16_t* in, std::size_t rows, std::size_t columns, std::uint16_t* out,
                     std::size_t stride) {
    HWY_DYNAMIC_DISPATCH(TransposeWords)(in, rows, columns, out, stride);
}

namespace {
std::uint16_t code_of(std::uint16_t bits, std::uint16_t top) {
    const auto code = static_cast<std::uint16_t>(bits & 0x7FFF);
    return top == 0 ? code : static_cast<std::uint16_t>(top - code);
}
}  // namespace

void codes_of_halves_scalar(const std::byte* source, std::size_t n, std::uint16_t top, std::uint16_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, source + 2 * i, 2);
        out[i] = code_of(bits, top);
    }
}
void codes_of_bytes_scalar(const std::byte* source, std::size_t n, std::uint16_t top, std::uint16_t* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = code_of(static_cast<std::uint16_t>(source[i]), top);
}
void merge_codes_scalar(const std::uint16_t* codes, const std::uint8_t* member, std::size_t n,
                        std::uint16_t base, std::uint16_t* words) {
    for (std::size_t i = 0; i < n; ++i)
        if (member[i] != 0) words[i] = static_cast<std::uint16_t>(codes[i] + base);
}
void transpose_words_scalar(const std::uint16_t* in, std::size_t rows, std::size_t columns,
                            std::uint16_t* out, std::size_t stride) {
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < columns; ++column)
            out[column * stride + row] = in[row * columns + column];
}
}  // namespace kandinsky
#endif
