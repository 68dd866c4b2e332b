#include "report/table/risk_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "calibrate/betting.hpp"
#include "report/table/predicted_text.hpp"

namespace kandinsky {

namespace {
constexpr double kUsual = 0.1;          // the alpha of remarks
constexpr std::size_t kMostShown = 12;  // numbers that fit into a line

/// The number of groups that set the thresholds of a stratum.
std::uint64_t setting_groups(const Calibrator& calibrator, std::size_t s) {
    if (const SmoothCurves* const smooth = calibrator.smooth_of(s)) return smooth->groups();
    std::uint64_t most = 0;
    for (std::size_t k = 0; k < calibrator.curves[s].size(); ++k)
        most = std::max(most, calibrator.curves[s].groups(k));
    return most;
}

/// The confidence of one test. Two tests share the probability of failure.
double test_confidence(const CalibrateOptions& options) {
    return options.risk == Risk::both ? (1 + options.confidence) / 2 : options.confidence;
}

std::string named(const std::vector<std::size_t>& those) {
    const auto shown = static_cast<std::ptrdiff_t>(std::min(kMostShown, those.size()));
    return fmt::format(
        "{} {}{}", those.size() == 1 ? "class" : "classes",
        fmt::join(those.begin(), those.begin() + shown, ", "),
        those.size() > kMostShown ? fmt::format(" and {} more", those.size() - kMostShown) : "");
}

const char* units(const Calibrator& calibrator) {
    return calibrator.grouped ? "groups" : "images";
}

bool seen(const Calibrator& calibrator, std::size_t s) {
    const std::size_t pixels = calibrator.grid.pixels();
    const auto first = calibrator.counts.begin() + static_cast<std::ptrdiff_t>(s * pixels);
    return std::any_of(first, first + static_cast<std::ptrdiff_t>(pixels),
                       [](std::uint32_t n) { return n > 0; });
}

/// An alpha rounded up to three decimals, so that the printed alpha is possible.
double named_alpha(double alpha) {
    return std::ceil(alpha * 1000 - 1e-6) / 1000;
}

std::string least_of(const Calibrator& calibrator, std::size_t s) {
    const double least = calibrator.risks[s].least_alpha;
    return least > 1 ? fmt::format("class {} none", s)
                     : fmt::format("class {} {:.3f}", s, named_alpha(least));
}
}  // namespace

std::string confidence_rule(const Calibrator& calibrator) {
    const CalibrateOptions& options = calibrator.options;
    const std::uint64_t setting = level_groups(calibrator);
    return fmt::format("{}; with confidence {:g} this number allows no alpha below {:.3g}",
                       options.promise == Promise::split
                           ? fmt::format("split: {} {} learnt, {} set the thresholds",
                                         calibrator.groups - setting, units(calibrator), setting)
                           : fmt::format("none needed: nothing is learnt, all {} {} set the thresholds",
                                         setting, units(calibrator)),
                       options.confidence, least_alpha_of(setting, test_confidence(options)));
}

std::string risk_rule(const Calibrator& calibrator) {
    std::vector<std::string> each;
    for (std::size_t s = 0; s < std::min(kMostShown, calibrator.risks.size()); ++s)
        each.push_back(least_of(calibrator, s));
    return fmt::format("{}; the least alpha that can be kept: {}{}", name_of(calibrator.options.risk),
                       fmt::join(each, ", "),
                       calibrator.risks.size() > kMostShown ? ", ... (see risk_alphas)" : "");
}

std::string too_few(const Calibrator& calibrator, double alpha) {
    const double confidence = test_confidence(calibrator.options);
    const std::uint64_t needed = groups_needed(alpha, confidence);
    std::vector<std::size_t> few;
    std::uint64_t least = UINT64_MAX, most = 0;
    for (std::size_t s = 0; s < calibrator.strata(); ++s) {
        const std::uint64_t own = setting_groups(calibrator, s);
        if (!seen(calibrator, s) || own >= needed) continue;
        few.push_back(s);
        least = std::min(least, own);
        most = std::max(most, own);
    }
    if (few.empty()) return {};
    return fmt::format(
        "alpha {} with confidence {:g} needs at least {} {} that set thresholds{}, but {} {} {}{}; calibrate "
        "on more, use fewer for learning (`split`), or take alpha {:.3f} or larger",
        alpha, calibrator.options.confidence, needed, units(calibrator),
        calibrator.options.risk == Risk::precision || calibrator.strata() == 1 ? "" : " and have the class",
        calibrator.strata() == 1 ? "all classes together" : named(few),
        few.size() == 1 && calibrator.strata() > 1 ? "has" : "have", least,
        most > least ? fmt::format(" to {}", most) : "", named_alpha(least_alpha_of(least, confidence)));
}

std::vector<std::string> confidence_remarks(const Calibrator& calibrator) {
    std::vector<std::string> out;
    std::vector<std::size_t> unseen, imprecise;
    for (std::size_t s = 0; s < calibrator.strata(); ++s)
        if (!seen(calibrator, s)) unseen.push_back(s);
    if (!unseen.empty())
        out.push_back(fmt::format(
            "{} {} no pixel in the calibration labels{}", named(unseen), unseen.size() == 1 ? "has" : "have",
            calibrator.options.risk == Risk::recall
                ? ", so every prediction set holds " + std::string(unseen.size() == 1 ? "it" : "them")
                : ""));
    if (const std::string few = too_few(calibrator, kUsual); !few.empty()) out.push_back(few);
    for (std::size_t s = 0; s < calibrator.risks.size(); ++s)
        if (calibrator.risks[s].least_alpha > kUsual + 1e-9) imprecise.push_back(s);
    if (imprecise.empty()) return out;
    std::vector<std::string> each;
    for (const std::size_t s : imprecise)
        if (each.size() < kMostShown) each.push_back(least_of(calibrator, s));
    out.push_back(fmt::format(
        "alpha {} cannot be kept for {} with `risk {}` and confidence {:g}; the least alpha that can be "
        "kept: {}; a smaller alpha is refused",
        kUsual, named(imprecise), name_of(calibrator.options.risk), calibrator.options.confidence,
        fmt::join(each, ", ")));
    return out;
}

}  // namespace kandinsky
