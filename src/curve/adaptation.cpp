#include <algorithm>
#include <cmath>
#include <kandinsky/adaptation.hpp>
#include <kandinsky/smooth_curves.hpp>
#include <memory>

#include "core/base/fail.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kLevels = SmoothCurves::kOne + 1;
// The largest absolute value of a shift's numbers: far beyond any fit, yet sums of products stay finite.
constexpr double kMostNumber = 1e30;

const std::int16_t* values() {
    static const std::unique_ptr<std::int16_t[]> table = [] {
        auto made = std::make_unique<std::int16_t[]>(kLevels);
        for (std::size_t level = 0; level < kLevels; ++level) {
            const double u = std::clamp(static_cast<double>(level), 0.5, SmoothCurves::kOne - 0.5);
            made[level] = static_cast<std::int16_t>(
                std::lround(Adaptation::kUnit * std::log(u / (SmoothCurves::kOne - u))));
        }
        return made;
    }();
    return table.get();
}
}  // namespace

std::string_view name_of(Adapt adapt) {
    return adapt == Adapt::image ? "image" : "none";
}

Adapt adapt_of(std::string_view name) {
    if (name == "none") return Adapt::none;
    if (name == "image") return Adapt::image;
    fail(ErrorKind::usage, "adapt is '{}', but must be image or none", name);
}

bool Adaptation::Shift::none() const {
    return constant == 0 && std::all_of(slope.begin(), slope.end(), [](double one) { return one == 0; });
}

std::int32_t Adaptation::Shift::at(const ImageFeatures& features) const {
    double sum = constant;
    for (std::size_t k = 0; k < ImageFeatures::kCount; ++k)
        sum += slope[k] * std::clamp(features.values[k], low[k], high[k]);
    constexpr double kLargest = kLargestShift;
    const double steps = static_cast<double>(kUnit) / step;
    return step * static_cast<std::int32_t>(std::ceil(steps * std::clamp(sum, -kLargest, kLargest)));
}

Adaptation::Adaptation(std::vector<Shift> shifts, std::vector<std::int32_t> levels)
    : shifts_(std::move(shifts)), levels_(std::move(levels)) {
    const auto bounded = [](double number) { return std::abs(number) <= kMostNumber; };  // false for NaN
    for (const Shift& one : shifts_) {
        bool sane = bounded(one.constant) && one.step == step() && (one.step == 1 || one.step == kStep);
        for (std::size_t k = 0; k < ImageFeatures::kCount; ++k)
            sane = sane && bounded(one.slope[k]) && bounded(one.low[k]) && bounded(one.high[k]) &&
                   one.low[k] <= one.high[k];
        if (!sane)
            fail(ErrorKind::data,
                 "a shift of the levels is invalid: its numbers must lie between {:g} and {:g}, no lower "
                 "limit may exceed its upper limit, and the step of every shift must be {} (1 in old files)",
                 -kMostNumber, kMostNumber, kStep);
    }
    if (!std::is_sorted(levels_.begin(), levels_.end()))
        fail(ErrorKind::data, "the levels of the adaptation do not ascend");
    constexpr std::int32_t kMost = 16 * kUnit;
    for (const std::int32_t level : levels_)
        if (level != kNever && (level < -kMost || level > kMost))
            fail(ErrorKind::data, "a level of the adaptation lies outside its range");
}

std::int32_t Adaptation::shift(const ImageFeatures& features) const {
    std::int32_t most = -kLargestShift * kUnit;
    for (const Shift& one : shifts_) most = std::max(most, one.at(features));
    return most;
}

std::pair<std::int32_t, std::int32_t> Adaptation::range() const {
    std::int32_t least = -kLargestShift * kUnit, most = least;
    for (const Shift& one : shifts_) {
        ImageFeatures easy, hard;
        for (std::size_t k = 0; k < ImageFeatures::kCount; ++k) {
            const bool up = one.slope[k] > 0;
            easy.values[k] = up ? one.low[k] : one.high[k];
            hard.values[k] = up ? one.high[k] : one.low[k];
        }
        // shift() is the maximum over all fits, so it is never below the largest minimum of a fit.
        least = std::max(least, one.at(easy));
        most = std::max(most, one.at(hard));
    }
    return {least, most};
}

std::int32_t Adaptation::value_of(std::uint32_t level) {
    return values()[level];
}

std::uint32_t Adaptation::level_at(std::int32_t value) {
    const std::int16_t* const table = values();
    const auto above = std::upper_bound(table, table + kLevels, value) - table;
    return above == 0 ? 0 : static_cast<std::uint32_t>(above - 1);
}

std::uint32_t Adaptation::level(std::size_t rung, std::int32_t shift) const {
    return levels_[rung] == kNever ? SmoothCurves::kNever : level_at(levels_[rung] + shift);
}

}  // namespace kandinsky
