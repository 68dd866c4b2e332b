#include "evaluate/level_plan.hpp"

#include <algorithm>

#include "calibrate/adapted_values.hpp"
#include "calibrate/confidence.hpp"
#include "core/base/parallel.hpp"

namespace kandinsky {

namespace {
/// 1 - m / parts for m = 1, ..., parts - 1.
std::vector<double> evenly(std::size_t parts) {
    std::vector<double> alphas;
    for (std::size_t m = 1; m < parts; ++m)
        alphas.push_back(static_cast<double>(parts - m) / static_cast<double>(parts));
    return alphas;
}

LevelPlan released(int (*point)(int)) {
    LevelPlan plan;
    for (int i = 0; i < 20; ++i) {
        plan.levels.push_back(point(i) / 99.0);
        plan.alphas.push_back(1 - plan.levels.back());
        plan.targets.push_back((i + 0.5) / 20);
    }
    return plan;
}
}  // namespace

std::vector<double> slider_alphas() {
    return evenly(kSliderLevels + 1);
}

std::vector<double> curve_alphas() {
    return evenly(kCurveLevels + 1);
}

LevelPlan paper_levels() {
    LevelPlan plan{.alphas = curve_alphas(), .levels = {}, .targets = {}};
    for (std::size_t m = 1; m <= kCurveLevels; ++m) plan.levels.push_back(static_cast<double>(m) / 20);
    plan.targets = plan.levels;
    return plan;
}

LevelPlan released_levels() {
    return released([](int i) { return (i + 1) * 5 - 1; });
}

LevelPlan released_marginal_levels() {
    return released([](int i) { return static_cast<int>((i + 0.5) * 5) - 1; });
}

std::vector<double> read_alphas(const Calibrator& calibrator, std::size_t stratum,
                                const std::vector<double>& alphas) {
    std::vector<double> out;
    out.reserve(alphas.size());
    for (const double alpha : alphas)
        out.push_back(curve_alpha(calibrator, stratum, kept_alpha(calibrator, stratum, alpha)));
    return out;
}

ThresholdTable thresholds_by_curve(const Calibrator& calibrator, const std::vector<double>& alphas) {
    ThresholdTable out{alphas, std::vector<std::vector<float>>(calibrator.strata())};
    auto& table = out.by_curve;
    for (std::size_t s = 0; s < table.size(); ++s) {
        if (calibrator.smooth_of(s) != nullptr) continue;
        const CurveSet& curves = calibrator.curves[s];
        table[s].resize(curves.size() * alphas.size());
        std::vector<std::size_t> rungs;
        const std::vector<double> read = read_alphas(calibrator, s, alphas);
        rungs.reserve(read.size());
        for (const double alpha : read) rungs.push_back(curves.rung_of(alpha));
        constexpr std::size_t kTask = 1024;  // curves
        parallel_for((curves.size() + kTask - 1) / kTask, [&](std::size_t task) {
            for (std::size_t k = task * kTask; k < std::min(curves.size(), (task + 1) * kTask); ++k)
                for (std::size_t l = 0; l < alphas.size(); ++l)
                    table[s][k * alphas.size() + l] = curves.threshold(k, read[l], rungs[l]);
        });
    }
    return out;
}

void fill_thresholds(const Calibrator& calibrator, const ThresholdTable& table, PixelRange range,
                     float* out) {
    const std::size_t n = range.size(), levels = table.alphas.size();
    for (std::size_t s = 0; s < calibrator.strata(); ++s) {
        if (calibrator.adaptation_of(s) != nullptr) {
            for (std::size_t l = 0; l < levels; ++l)
                std::fill_n(out + (s * levels + l) * n, n,
                            value_threshold(calibrator, s, kept_alpha(calibrator, s, table.alphas[l])));
            continue;
        }
        if (const SmoothCurves* const smooth = calibrator.smooth_of(s)) {
            smooth->thresholds(read_alphas(calibrator, s, table.alphas), range,
                               {out + s * levels * n, levels * n});
            continue;
        }
        for (std::size_t i = 0; i < n; ++i) {
            const float* const own =
                table.by_curve[s].data() + calibrator.curve_of(s, range.begin + i) * levels;
            for (std::size_t l = 0; l < levels; ++l) out[(s * levels + l) * n + i] = own[l];
        }
    }
}

std::vector<float> values_of(const Calibrator& calibrator, const ScoredTile& tile, PixelRange range,
                             std::span<const std::int32_t> shifts) {
    std::vector<float> out(calibrator.classes * range.size());
    for (std::size_t c = 0; c < calibrator.classes; ++c) {
        float* const own = out.data() + c * range.size();
        std::copy_n(tile.scores(c), range.size(), own);
        const std::size_t s = calibrator.stratum_of(c);
        if (calibrator.adaptation_of(s) != nullptr) adapt_scores(calibrator, s, shifts[s], range, own);
    }
    return out;
}

}  // namespace kandinsky
