#include "core/kernel/label_kernels.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernel/label_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

bool SplitBytes(const std::uint8_t* HWY_RESTRICT labels, std::size_t n, std::span<const std::uint8_t> ignored,
                std::size_t classes, std::uint8_t* HWY_RESTRICT member, std::size_t plane,
                std::uint8_t* HWY_RESTRICT valid) {
    const hn::ScalableTag<std::uint8_t> byte;
    const std::size_t lanes = hn::Lanes(byte);
    const auto one = hn::Set(byte, std::uint8_t{1}), none = hn::Zero(byte);
    auto unknown = none;
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const auto label = hn::LoadU(byte, labels + i);
        auto usable = one;
        for (const std::uint8_t value : ignored)
            usable = hn::IfThenElse(hn::Eq(label, hn::Set(byte, value)), none, usable);
        hn::StoreU(usable, byte, valid + i);
        auto without = usable;  // those that are still without a class
        for (std::size_t c = 0; c < classes; ++c) {
            const auto same = hn::Eq(label, hn::Set(byte, static_cast<std::uint8_t>(c)));
            hn::StoreU(hn::IfThenElseZero(same, usable), byte, member + c * plane + i);
            without = hn::IfThenElse(same, none, without);
        }
        unknown = hn::Or(unknown, without);
    }
    bool known = hn::AllTrue(byte, hn::Eq(unknown, none));
    for (; i < n; ++i) {
        valid[i] = std::find(ignored.begin(), ignored.end(), labels[i]) == ignored.end();
        known = known && (valid[i] == 0 || labels[i] < classes);
        for (std::size_t c = 0; c < classes; ++c) member[c * plane + i] = valid[i] != 0 && labels[i] == c;
    }
    return known;
}

void AddBytes(const std::uint8_t* HWY_RESTRICT more, std::size_t n, std::uint8_t* HWY_RESTRICT sums) {
    const hn::ScalableTag<std::uint8_t> byte;
    const std::size_t lanes = hn::Lanes(byte);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        hn::StoreU(hn::Add(hn::LoadU(byte, sums + i), hn::LoadU(byte, more + i)), byte, sums + i);
    for (; i < n; ++i) sums[i] = static_cast<std::uint8_t>(sums[i] + more[i]);
}

std::uint64_t SumBytes(const std::uint8_t* bytes, std::size_t n) {
    std::size_t i = 0;
    std::uint64_t total = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<std::uint8_t> byte;
    const hn::Repartition<std::uint64_t, decltype(byte)> large;
    const std::size_t lanes = hn::Lanes(byte);
    auto sums = hn::Zero(large);
    for (; i + lanes <= n; i += lanes) sums = hn::Add(sums, hn::SumsOf8(hn::LoadU(byte, bytes + i)));
    total = hn::GetLane(hn::SumOfLanes(large, sums));
#endif
    for (; i < n; ++i) total += bytes[i];
    return total;
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {
HWY_EXPORT(SplitBytes);
HWY_EXPORT(AddBytes);
HWY_EXPORT(SumBytes);

bool split_bytes(const std::uint8_t* labels, std::size_t n, std::span<const std::uint8_t> ignored,
                 std::size_t classes, std::uint8_t* member, std::size_t plane, std::uint8_t* valid) {
    return HWY_DYNAMIC_DISPATCH(SplitBytes)(labels, n, ignored, classes, member, plane, valid);
}
void add_bytes(const std::uint8_t* more, std::size_t n, std::uint8_t* sums) {
    HWY_DYNAMIC_DISPATCH(AddBytes)(more, n, sums);
}
std::uint64_t sum_bytes(const std::uint8_t* bytes, std::size_t n) {
    return HWY_DYNAMIC_DISPATCH(SumBytes)(bytes, n);
}
}  // namespace kandinsky
#endif
