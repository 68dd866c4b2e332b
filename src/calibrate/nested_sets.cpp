#include "calibrate/nested_sets.hpp"
#include "curve/curve_storage.hpp"
#include "score/scoring.hpp"

#include <algorithm>
#include <limits>

#include "calibrate/calibration_run.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "score/score_scale.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kMostTable =
    std::size_t{1} << 22;     // largest number of thresholds of a stratum that are stored as a table
constexpr int kKeyBits = 18;  // bits of a key per fixed step: 32 steps for every halving of s or 1 - s
constexpr float kInf = std::numeric_limits<float>::infinity();
}  // namespace

NestedSets::NestedSets(const Calibrator& base)
    : base_(base), ladder_(base.curves.front().ladder()), table_(base.strata()), smooth_(base.strata()) {
    if (steps() >= 0xFFFF) fail(ErrorKind::internal, "[nested sets] there are {} steps", steps());
    for (std::size_t s = 0; s < base.strata(); ++s) {
        if (const SmoothCurves* const smooth = base.smooth_of(s)) {
            if (base.adaptation_of(s) != nullptr || smooth->without_data()) continue;
            const std::vector<std::uint32_t>& levels = storage_of(*smooth).levels;
            smooth_[s].resize(SmoothCurves::kOne + 1);
            for (std::uint32_t level = 0; level <= SmoothCurves::kOne; ++level)
                smooth_[s][level] = static_cast<std::uint16_t>(
                    std::lower_bound(levels.begin(), levels.end(), level) - levels.begin());
            continue;
        }
        const std::size_t curves = base.curves[s].size();
        if (curves * steps() > kMostTable) continue;
        table_[s].resize(curves * steps());
        parallel_for(curves, [&](std::size_t k) {
            for (std::size_t step = 0; step < steps(); ++step)
                table_[s][k * steps() + step] = threshold(s, k, step);
        });
    }
}

void NestedSets::enter_at(std::size_t stratum, std::int32_t shift, PixelRange range, const float* scores,
                          std::uint16_t* out) const {
    const std::size_t all = steps(), n = range.size();
    if (const SmoothCurves* const smooth = base_.smooth_of(stratum)) {
        if (smooth->without_data()) {
            std::fill_n(out, n, std::uint16_t{0});
            return;
        }
        const Adaptation* const adaptation = base_.adaptation_of(stratum);
        for (std::size_t i = 0; i < n; ++i) {
            if (!(scores[i] <= storage_of(*smooth).largest)) {
                out[i] = static_cast<std::uint16_t>(all);
                continue;
            }
            const std::uint32_t level = smooth->level(range.begin + i, scores[i]);
            if (adaptation == nullptr) {
                out[i] = smooth_[stratum][level];
                continue;
            }
            const std::vector<std::int32_t>& levels = adaptation->levels();
            const auto at = level == 0 ? levels.begin()
                                       : std::lower_bound(levels.begin(), levels.end(),
                                                          Adaptation::value_of(level) - shift);
            out[i] = static_cast<std::uint16_t>(at - levels.begin());
        }
        return;
    }
    const std::vector<float>& table = table_[stratum];
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t curve = base_.curve_of(stratum, range.begin + i);
        if (!table.empty()) {
            const float* const own = table.data() + curve * all;
            out[i] = static_cast<std::uint16_t>(std::lower_bound(own, own + all, scores[i]) - own);
            continue;
        }
        std::size_t low = 0, high = all;
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (threshold(stratum, curve, middle) < scores[i])
                low = middle + 1;
            else
                high = middle;
        }
        out[i] = static_cast<std::uint16_t>(low);
    }
}

void read_at_steps(const NestedSets& sets, std::size_t stratum, std::span<const std::uint32_t> steps,
                   const Ladder& ladder, std::uint64_t groups, Calibrator& out) {
    const Calibrator& base = sets.base();
    if (const SmoothCurves* const smooth = base.smooth_of(stratum)) {
        SmoothStorage storage = storage_of(*smooth);
        storage.groups = groups;
        storage.levels.clear();
        if (const Adaptation* const own = base.adaptation_of(stratum)) {
            std::vector<std::int32_t> levels;
            for (const std::uint32_t step : steps)
                levels.push_back(step == kEveryClass ? Adaptation::kNever : own->levels()[step]);
            out.adaptations[stratum] = Adaptation(own->shifts(), std::move(levels));
            for (std::size_t k = 0; k < steps.size(); ++k)
                storage.levels.push_back(out.adaptations[stratum].level(k, 0));
        } else {
            for (const std::uint32_t step : steps)
                storage.levels.push_back(step == kEveryClass || smooth->without_data()
                                             ? SmoothCurves::kNever
                                             : storage_of(*smooth).levels[step]);
        }
        out.smooth[stratum] = smooth_from(base.grid, ladder, std::move(storage));
        out.curves[stratum] = CurveSet(ladder);
        return;
    }
    const CurveSet& from = base.curves[stratum];
    CurveSet made(ladder);
    made.reserve(from.size(), from.size() * steps.size());
    for (std::size_t k = 0; k < from.size(); ++k) {
        CurveSet::Curve curve{.scores = from.scores(k), .groups = groups, .complete = false, .values = {}};
        for (std::size_t rung = 0; rung < steps.size() && curve.scores > 0; ++rung)
            curve.values.push_back(steps[rung] == kEveryClass ? kInf
                                                              : sets.threshold(stratum, k, steps[rung]));
        made.append(curve);
    }
    out.curves[stratum] = std::move(made);
}

Calibrator fixed_steps(const CalibrateOptions& options, const Grid& grid, std::size_t classes,
                       std::size_t strata) {
    const float largest = largest_score(options.score, classes);
    CurveSet::Curve curve{.scores = 1, .groups = 0, .complete = false, .values = {}};
    const std::int32_t last = scale_key(largest);
    for (std::int32_t key = scale_key(score_range(options.score, classes).low); key < last;
         key += 1 << kKeyBits)
        curve.values.push_back(largest_score_at(key));
    curve.values.push_back(largest);
    Ladder ladder;
    for (std::size_t k = 0; k < curve.values.size(); ++k)
        ladder.levels.push_back(static_cast<double>(k + 1) / static_cast<double>(curve.values.size() + 1));
    CurveSet one(ladder);
    one.append(curve);
    Calibrator out;
    out.options = options;
    out.grid = grid;
    out.classes = classes;
    out.partitions.assign(strata, whole_image(grid));
    out.curves.assign(strata, one);
    out.levels.assign(strata * grid.pixels(), CurveLevel::region);
    return out;
}

}  // namespace kandinsky
