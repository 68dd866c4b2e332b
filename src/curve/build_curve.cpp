#include "curve/build_curve.hpp"

#include <cmath>
#include <limits>

#include "curve/score_key.hpp"

namespace kandinsky {

namespace {
constexpr float kInf = std::numeric_limits<float>::infinity();
__extension__ using Wide = unsigned __int128;
}  // namespace

double interpolated_quantile(std::span<const std::uint32_t> keys, double level) {
    const double at = level * static_cast<double>(keys.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const double low = score_of(keys[below]);
    if (below + 1 >= keys.size()) return low;
    const double high = score_of(keys[below + 1]);
    return low + (high - low) * (at - static_cast<double>(below));
}

CurveSet::Curve build_curve(std::span<const std::uint32_t> keys, const CurveRule& rule) {
    CurveSet::Curve curve{.scores = keys.size(), .groups = 0, .complete = false, .values = {}};
    if (keys.empty()) return curve;
    if (rule.released) {
        for (const double level : rule.ladder.levels)
            curve.values.push_back(static_cast<float>(interpolated_quantile(keys, level)));
        return curve;
    }
    curve.complete = keys.size() <= rule.ladder.levels.size();
    if (curve.complete) {
        for (const std::uint32_t key : keys) curve.values.push_back(score_of(key));
        return curve;
    }
    for (const double level : rule.ladder.levels) {
        const std::uint64_t rank = conformal_rank(keys.size(), 1 - level);
        curve.values.push_back(rank <= keys.size() ? score_of(keys[rank - 1]) : kInf);
    }
    return curve;
}

CurveSet::Curve build_group_curve(std::span<const std::uint64_t> pairs, std::vector<std::uint32_t>& sizes,
                                  const CurveRule& rule) {
    CurveSet::Curve curve{.scores = pairs.size(), .groups = 0, .complete = false, .values = {}};
    for (const std::uint64_t pair : pairs) curve.groups += sizes[pair & 0xFFFFFFFFu]++ == 0;
    const auto clear = [&] {
        for (const std::uint64_t pair : pairs) sizes[pair & 0xFFFFFFFFu] = 0;
    };
    if (pairs.empty()) return curve;
    if (curve.groups == curve.scores && curve.scores <= rule.ladder.levels.size()) {
        // One score a group: all weights are equal and the curve is the plain one.
        curve.complete = true;
        for (const std::uint64_t pair : pairs)
            curve.values.push_back(score_of(static_cast<std::uint32_t>(pair >> 32)));
        clear();
        return curve;
    }
    // One group weighs 2^62 units. A group of m scores loses fewer than m of them to rounding, less than the
    // slack for any m below 4e7.
    constexpr double kSlack = 1e-11;
    constexpr std::uint64_t kUnit = std::uint64_t{1} << 62;
    const double whole = static_cast<double>(curve.groups + 1);
    Wide reached = 0;
    std::size_t next = 0;
    for (const double level : rule.ladder.levels) {
        const double wanted = level * whole * (1 - kSlack);  // in groups
        const double full = std::floor(wanted);
        const Wide target =
            static_cast<Wide>(full) * kUnit + static_cast<Wide>((wanted - full) * static_cast<double>(kUnit));
        while (next < pairs.size() && reached < target) {
            reached += kUnit / sizes[pairs[next] & 0xFFFFFFFFu];
            ++next;
        }
        curve.values.push_back(
            reached >= target ? score_of(static_cast<std::uint32_t>(pairs[next - (next > 0)] >> 32)) : kInf);
    }
    clear();
    return curve;
}

}  // namespace kandinsky
