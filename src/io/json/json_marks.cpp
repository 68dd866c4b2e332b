#include "io/json/json_marks.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "io/json/json_marks.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void FindJsonMarks(const char* text, std::size_t blocks, std::uint64_t* marks) {
    const hn::CappedTag<std::uint8_t, 64> d;
    const std::size_t lanes = hn::Lanes(d);
    std::memset(marks, 0, blocks * sizeof *marks);
#if HWY_TARGET == HWY_SCALAR
    for (std::size_t i = 0; i < blocks * 64; ++i) {
        const int folded = static_cast<unsigned char>(text[i]) & 0xDF;
        marks[i / 64] |= std::uint64_t{folded == '[' || folded == ']' || text[i] == '"'} << (i % 64);
    }
    (void)lanes;
#else
    // '[' and '{', like ']' and '}', differ in one bit alone.
    const auto fold = hn::Set(d, 0xDF), open = hn::Set(d, '['), close = hn::Set(d, ']'),
               quote = hn::Set(d, '"');
    auto* out = reinterpret_cast<std::uint8_t*>(marks);
    for (std::size_t i = 0; i < blocks * 64; i += lanes, out += lanes / 8) {
        const auto bytes = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(text) + i);
        const auto folded = hn::And(bytes, fold);
        const auto mask = hn::Or(hn::Or(hn::Eq(folded, open), hn::Eq(folded, close)), hn::Eq(bytes, quote));
        hn::StoreMaskBits(d, mask, out);
    }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {

HWY_EXPORT(FindJsonMarks);

void find_json_marks(const char* text, std::size_t blocks, std::uint64_t* marks) {
    HWY_DYNAMIC_DISPATCH(FindJsonMarks)(text, blocks, marks);
}

}  // namespace kandinsky
#endif
