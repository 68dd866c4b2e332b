#include "evaluate/covering_level.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "evaluate/covering_level.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Counts, for each score, the thresholds that do not cover it: they are the lowest ones, since thresholds
/// ascend.
void FirstCoveringLevel(const float* HWY_RESTRICT scores, const float* HWY_RESTRICT thresholds,
                        std::size_t levels, std::size_t n, std::uint8_t* HWY_RESTRICT out) {
    const hn::ScalableTag<float> real;
    const hn::RebindToSigned<decltype(real)> whole;
    const hn::Rebind<std::uint8_t, decltype(real)> narrow;
    const std::size_t lanes = hn::Lanes(real);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const auto score = hn::LoadU(real, scores + i);
        auto covered = hn::Zero(whole);  // minus the number of covering thresholds
        for (std::size_t l = 0; l < levels; ++l) {
            const auto limit = hn::LoadU(real, thresholds + l * n + i);
            covered = hn::Add(covered, hn::BitCast(whole, hn::VecFromMask(real, hn::Le(score, limit))));
        }
        const auto first = hn::Add(hn::Set(whole, static_cast<std::int32_t>(levels)), covered);
        hn::StoreU(hn::DemoteTo(narrow, first), narrow, out + i);
    }
    for (; i < n; ++i) {
        std::size_t first = 0;
        for (std::size_t l = 0; l < levels; ++l) first += !(scores[i] <= thresholds[l * n + i]);
        out[i] = static_cast<std::uint8_t>(first);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {
HWY_EXPORT(FirstCoveringLevel);

void first_covering_level(const float* scores, const float* thresholds, std::size_t levels, std::size_t n,
                          std::uint8_t* out) {
    HWY_DYNAMIC_DISPATCH(FirstCoveringLevel)(scores, thresholds, levels, n, out);
}

void first_covering_level_scalar(const float* scores, const float* thresholds, std::size_t levels,
                                 std::size_t n, std::uint8_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t first = 0;
        for (std::size_t l = 0; l < levels; ++l) first += !(scores[i] <= thresholds[l * n + i]);
        out[i] = static_cast<std::uint8_t>(first);
    }
}
}  // namespace kandinsky
#endif
