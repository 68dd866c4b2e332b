#include <algorithm>
#include <kandinsky/calibrator.hpp>

#include "calibrate/confidence.hpp"
#include "calibrate/empty_rule.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "score/scoring.hpp"

namespace kandinsky {

namespace {
/// The score threshold of every class at every pixel, [class][pixel], transformed by `value`.
template <class Value>
std::vector<float> thresholds_of(const Calibrator& calibrator, double alpha, Value&& value) {
    check_alpha(alpha);
    const std::size_t pixels = calibrator.grid.pixels(), width = calibrator.grid.width;
    std::vector<float> out(calibrator.classes * pixels);
    for (std::size_t c = 0; c < calibrator.classes; ++c) {
        const std::size_t s = calibrator.stratum_of(c);
        float* const own = out.data() + c * pixels;
        if (c > 0 && calibrator.strata() == 1) {
            std::copy_n(out.data(), pixels, own);
            continue;
        }
        const double read = curve_alpha(calibrator, s, alpha);
        if (const SmoothCurves* const smooth = calibrator.smooth_of(s)) {
            parallel_for(calibrator.grid.height, [&](std::size_t y) {
                smooth->thresholds({&read, 1}, {y * width, (y + 1) * width}, {own + y * width, width});
                for (std::size_t p = y * width; p < (y + 1) * width; ++p) own[p] = value(own[p]);
            });
            continue;
        }
        const CurveSet& curves = calibrator.curves[s];
        const std::size_t rung = curves.rung_of(read);
        std::vector<float> of_curve(curves.size());
        for (std::size_t k = 0; k < of_curve.size(); ++k)
            of_curve[k] = value(curves.threshold(k, read, rung));
        for (std::size_t p = 0; p < pixels; ++p) own[p] = of_curve[calibrator.curve_of(s, p)];
    }
    return out;
}
}  // namespace

bool Calibrator::adapts() const {
    return std::any_of(adaptations.begin(), adaptations.end(),
                       [](const Adaptation& one) { return !one.empty(); });
}

void check_alpha(double alpha) {
    if (!(alpha >= 0 && alpha <= 1)) fail(ErrorKind::usage, "alpha is {}, but must lie in [0, 1]", alpha);
}

std::vector<float> score_thresholds(const Calibrator& calibrator, double alpha) {
    return thresholds_of(calibrator, alpha, [](float threshold) { return threshold; });
}

std::vector<float> thresholds(const Calibrator& calibrator, double alpha) {
    check_alpha(alpha);
    if (calibrator.adapts())
        fail(ErrorKind::usage,
             "thresholds of this calibrator depend on the image; use sets or p-values, or calibrate with "
             "`adapt none`");
    if (!has_probability_thresholds(calibrator.options.score))
        fail(ErrorKind::usage,
             "thresholds on probabilities exist for the score lac only, and this calibrator uses {}; ask for "
             "score_thresholds()",
             name_of(calibrator.options.score.kind));
    return thresholds_of(calibrator, alpha, [&](float threshold) {
        return probability_threshold(calibrator.options.score, threshold);
    });
}

std::string_view name_of(EmptySets empty) {
    return empty == EmptySets::fill ? "fill" : empty == EmptySets::keep ? "keep" : "auto";
}

EmptySets empty_rule(EmptySets wanted, const Calibrator& calibrator) {
    if (wanted == EmptySets::fill && !calibrator.risks.empty())
        fail(ErrorKind::usage,
             "`empty fill` puts classes into sets without a test, so the calibrator's promise of precision "
             "would not hold; leave it out");
    if (wanted != EmptySets::automatic) return wanted;
    // A class that fills an empty set is a discovery that was not tested.
    return calibrator.classless || !calibrator.risks.empty() ? EmptySets::keep : EmptySets::fill;
}

EmptySets empty_sets_of(std::string_view name) {
    if (name == "fill") return EmptySets::fill;
    if (name == "keep") return EmptySets::keep;
    if (name == "auto") return EmptySets::automatic;
    fail(ErrorKind::usage, "empty is '{}', but must be auto, fill or keep", name);
}

namespace {
constexpr std::string_view kPromises[] = {"none", "split", "loo", "auto"};
}  // namespace

std::string_view name_of(Promise promise) {
    return kPromises[static_cast<std::size_t>(promise)];
}

Promise promise_of(std::string_view name) {
    for (std::size_t i = 0; i < std::size(kPromises); ++i)
        if (kPromises[i] == name) return static_cast<Promise>(i);
    fail(ErrorKind::usage, "there is no promise '{}'; choose auto, loo, split or none", name);
}

std::string_view name_of(Fallback fallback) {
    return fallback == Fallback::none ? "none" : fallback == Fallback::image ? "image" : "auto";
}

Fallback fallback_of(std::string_view name) {
    if (name == "none") return Fallback::none;
    if (name == "image") return Fallback::image;
    if (name == "auto") return Fallback::automatic;
    fail(ErrorKind::usage, "there is no fallback '{}'; choose none, image or auto", name);
}

}  // namespace kandinsky
