#include "score/shortfall.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/base/thread_buffer.hpp"
#include "score/feature_kernels.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kMostLabelClasses = 32, kMostShortfalls = 2048,
                      kMostShortfallBytes = std::size_t{128} << 10;

/// log2(p / (1 - p)) in units of 2^-23, linear between powers of two.
std::int32_t odds_of(float p) {
    constexpr std::int32_t kMost = kMostOdds << 23;
    // Adding 0 turns -0 into +0, so that both differences of bits fit into 32.
    return std::clamp(std::bit_cast<std::int32_t>(p + 0.0f) - std::bit_cast<std::int32_t>(1.0f - p), -kMost,
                      kMost);
}
}  // namespace

bool shortfalls(const float* plane, std::span<const std::uint8_t> has, std::span<std::int64_t> out) {
    std::vector<std::int32_t>& odds = thread_buffer<std::int32_t, struct OwnOdds>();
    odds.resize(has.size());
    std::size_t count = 0;
    for (std::size_t p = 0; p < has.size(); ++p) {
        odds[count] = odds_of(plane[p]);
        count += has[p];
    }
    if (count == 0) return false;
    // Shares descend, so places ascend and each search starts where the last one ended.
    auto from = odds.begin();
    for (std::size_t k = 0; k < Reference::kShares.size(); ++k) {
        const auto place = odds.begin() + static_cast<std::ptrdiff_t>((1 - Reference::kShares[k]) *
                                                                      static_cast<double>(count));
        std::nth_element(from, place, odds.begin() + static_cast<std::ptrdiff_t>(count));
        out[k] = -std::int64_t{*place} / 128;  // in units of 2^-16
        from = place;
    }
    return true;
}

std::vector<std::uint32_t> labelled_classes(const Reference& layout, std::size_t classes) {
    if (classes > kMostLabelClasses)
        return {layout.classes.begin(),
                layout.classes.begin() +
                    static_cast<std::ptrdiff_t>(std::min(kMostLabelClasses, layout.classes.size()))};
    std::vector<std::uint32_t> all(classes);
    std::iota(all.begin(), all.end(), 0u);
    return all;
}

std::size_t most_shortfalls(std::size_t classes) {
    return std::min(kMostShortfalls,
                    kMostShortfallBytes / (sizeof(float) * Reference::kShares.size() * classes));
}

}  // namespace kandinsky
