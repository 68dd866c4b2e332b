#include "calibrate/adapted_values.hpp"
#include "curve/curve_storage.hpp"
#include "curve/rung.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "calibrate/confidence.hpp"
#include "core/base/parallel.hpp"
#include "core/kernel/compare_kernels.hpp"
#include "score/image_features.hpp"

namespace kandinsky {

namespace {
// The values of scores outside the range; all other values are far smaller in magnitude. With a score above
// all possible scores, the class is only in sets with infinite thresholds. With a score below all seen
// scores, it is in every set except at alpha = 1.
constexpr float kAbove = 1e30f, kBelow = -1e30f;

float value_of(const SmoothCurves& curves, std::size_t pixel, float score, std::int32_t shift) {
    if (!(score <= storage_of(curves).largest)) return std::isnan(score) ? score : kAbove;
    const std::uint32_t level = curves.level(pixel, score);
    return level == 0 ? kBelow : static_cast<float>(Adaptation::value_of(level) - shift);
}
}  // namespace

void shifts_of(const Calibrator& calibrator, std::span<const ImageFeatures> classes,
               std::span<std::int32_t> out) {
    for (std::size_t s = 0; s < calibrator.strata(); ++s) {
        const Adaptation* const own = calibrator.adaptation_of(s);
        out[s] = own != nullptr ? own->shift(stratum_features(classes, calibrator.strata(), s)) : 0;
    }
}

void adapt_scores(const Calibrator& calibrator, std::size_t stratum, std::int32_t shift, PixelRange range,
                  float* scores) {
    const SmoothCurves& curves = *calibrator.smooth_of(stratum);
    for (std::size_t i = 0; i < range.size(); ++i)
        scores[i] = value_of(curves, range.begin + i, scores[i], shift);
}

float value_threshold(const Calibrator& calibrator, std::size_t stratum, double alpha) {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    const std::vector<std::int32_t>& levels = calibrator.adaptation_of(stratum)->levels();
    const std::size_t rung = calibrator.smooth_of(stratum)->rung_of(curve_alpha(calibrator, stratum, alpha));
    if (alpha >= 1) return -kInf;
    if (!(alpha > 0) || rung == levels.size() || levels[rung] == Adaptation::kNever) return kInf;
    return static_cast<float>(levels[rung]);
}

double value_p(const Calibrator& calibrator, std::size_t stratum, float value) {
    const std::vector<std::int32_t>& levels = calibrator.adaptation_of(stratum)->levels();
    const auto above = static_cast<std::size_t>(std::lower_bound(levels.begin(), levels.end(), value,
                                                                 [](std::int32_t level, float own) {
                                                                     return level != Adaptation::kNever &&
                                                                            static_cast<float>(level) < own;
                                                                 }) -
                                                levels.begin());
    return p_value_above(calibrator.smooth_of(stratum)->ladder(), above);
}

AdaptedSets::AdaptedSets(const Calibrator& calibrator, std::size_t stratum, double alpha,
                         std::size_t most_bytes)
    : adaptation_(*calibrator.adaptation_of(stratum)),
      curves_(*calibrator.smooth_of(stratum)),
      grid_(calibrator.grid),
      rung_(curves_.rung_of(curve_alpha(calibrator, stratum, alpha))) {
    std::vector<std::uint32_t> levels;
    const float one = value_threshold(calibrator, stratum, alpha);
    if (std::isinf(one)) {  // every image has the same sets
        kept_.push_back(0);
        levels.push_back(one > 0 ? SmoothCurves::kNever : SmoothCurves::kNothing);
    } else {
        const std::size_t map = calibrator.strata() * calibrator.grid.pixels() * sizeof(float);
        const auto room = static_cast<std::int32_t>(std::max<std::size_t>(most_bytes / map, 5));
        const auto [least, most] = adaptation_.range();
        const std::int32_t step = adaptation_.step(), steps = (most - least) / step,
                           kept = std::min(steps + 1, room);
        for (std::int32_t k = 0; k < kept; ++k) {
            kept_.push_back(kept > 1 ? least + steps * k / (kept - 1) * step : least);
            levels.push_back(adaptation_.level(rung_, kept_.back()));
        }
    }
    const std::size_t pixels = grid_.pixels(), width = grid_.width;
    limits_.resize(levels.size() * pixels);
    parallel_for(grid_.height, [&](std::size_t y) {
        std::vector<float> row(levels.size() * width);
        thresholds_at(curves_, levels, {y * width, (y + 1) * width}, row);
        for (std::size_t k = 0; k < levels.size(); ++k)
            std::copy_n(row.data() + k * width, width, limits_.data() + k * pixels + y * width);
    });
}

void AdaptedSets::sets(std::int32_t shift, const float* scores, std::uint8_t* out) const {
    const std::size_t pixels = grid_.pixels();
    const auto above =
        static_cast<std::size_t>(std::lower_bound(kept_.begin(), kept_.end(), shift) - kept_.begin());
    if (kept_.size() == 1 || (above < kept_.size() && kept_[above] == shift)) {
        const std::size_t own = kept_.size() == 1 ? 0 : above;
        at_least(limits_.data() + own * pixels, scores, pixels, out);
        return;
    }
    const std::uint32_t level = adaptation_.level(rung_, shift);
    const float* const low = limits_.data() + (above > 0 ? above - 1 : 0) * pixels;
    const float* const high = limits_.data() + std::min(above, kept_.size() - 1) * pixels;
    constexpr std::size_t kRun = 1024, kWord = sizeof(std::uint64_t);
    std::array<std::uint8_t, kRun> perhaps;
    for (std::size_t begin = 0; begin < pixels; begin += kRun) {
        const std::size_t n = std::min(kRun, pixels - begin);
        at_least(low + begin, scores + begin, n, out + begin);
        at_least(high + begin, scores + begin, n, perhaps.data());
        for (std::size_t i = 0; i < n;) {
            if (i + kWord <= n && std::memcmp(perhaps.data() + i, out + begin + i, kWord) == 0) {
                i += kWord;
                continue;
            }
            const std::size_t p = begin + i;
            if (perhaps[i] != out[p]) out[p] = curves_.level(p, scores[p]) <= level;
            ++i;
        }
    }
}

}  // namespace kandinsky
