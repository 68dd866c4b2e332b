#include <cmath>
#include <kandinsky/calibrator.hpp>

#include "core/fail.hpp"

namespace kandinsky {

namespace {
/// Looks the value of every curve up once and spreads it over the pixels: [class][pixel].
template <class Value>
std::vector<float> spread(const Calibrator& calibrator, Value&& value) {
    const std::size_t pixels = calibrator.grid.pixels();
    std::vector<float> out(calibrator.classes * pixels);
    std::vector<float> of_curve;
    for (std::size_t c = 0; c < calibrator.classes; ++c) {
        const std::size_t s = calibrator.stratum_of(c);
        if (c == 0 || calibrator.strata() > 1) {
            of_curve.resize(calibrator.curves[s].size());
            for (std::size_t k = 0; k < of_curve.size(); ++k) of_curve[k] = value(calibrator.curves[s], k);
        }
        for (std::size_t p = 0; p < pixels; ++p) out[c * pixels + p] = of_curve[calibrator.curve_of(s, p)];
    }
    return out;
}
}  // namespace

void check_alpha(double alpha) {
    if (!(alpha >= 0 && alpha <= 1)) fail(ErrorKind::usage, "alpha is {}, but must lie in [0, 1]", alpha);
}

std::vector<float> score_thresholds(const Calibrator& calibrator, double alpha) {
    check_alpha(alpha);
    const std::size_t rung = calibrator.curves.front().rung_of(alpha);
    return spread(calibrator,
                  [&](const CurveSet& curves, std::size_t k) { return curves.threshold(k, alpha, rung); });
}

std::vector<float> thresholds(const Calibrator& calibrator, double alpha) {
    check_alpha(alpha);
    if (!has_probability_thresholds(calibrator.options.score))
        fail(ErrorKind::usage,
             "thresholds on probabilities exist for the score lac only, and this calibrator uses {}; ask for "
             "score_thresholds()",
             name_of(calibrator.options.score.kind));
    const std::size_t rung = calibrator.curves.front().rung_of(alpha);
    return spread(calibrator, [&](const CurveSet& curves, std::size_t k) {
        return probability_threshold(calibrator.options.score, curves.threshold(k, alpha, rung));
    });
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
