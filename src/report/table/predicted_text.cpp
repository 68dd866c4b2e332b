#include "report/table/predicted_text.hpp"
#include "partition/method.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "report/table/risk_text.hpp"

namespace kandinsky {

namespace {
constexpr double kMost = 0.5;          // share of full sets
constexpr double kNearlyAll = 0.9;     // share of sets that contain the class ...
constexpr double kMinority = 0.5;      // ... while a smaller share of the calibration labels has it
constexpr double kManyInfinite = 0.5;  // share of a class's thresholds

double share(std::uint64_t part, std::uint64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

double mean_size(const Predicted& predicted) {
    return share(std::accumulate(predicted.members.begin(), predicted.members.end(), std::uint64_t{0}),
                 predicted.sets);
}

/// Classes that are in nearly all sets although fewer than half of the labels have them. None if classes are
/// pooled, because there are no counts by class.
std::vector<std::size_t> crowding(const Calibrator& calibrator, const Predicted& predicted) {
    std::vector<std::size_t> out;
    if (calibrator.strata() == 1) return out;
    const std::size_t pixels = calibrator.grid.pixels();
    std::vector<std::uint64_t> labels;
    for (std::size_t c = 0; c < calibrator.classes; ++c)
        labels.push_back(std::accumulate(
            calibrator.counts.begin() + static_cast<std::ptrdiff_t>(c * pixels),
            calibrator.counts.begin() + static_cast<std::ptrdiff_t>((c + 1) * pixels), std::uint64_t{0}));
    const std::uint64_t all = std::accumulate(labels.begin(), labels.end(), std::uint64_t{0});
    for (std::size_t c = 0; c < calibrator.classes; ++c)
        if (share(predicted.members[c], predicted.sets) > kNearlyAll && share(labels[c], all) < kMinority)
            out.push_back(c);
    return out;
}

/// The share of a class's thresholds that are infinite.
double infinite_share(const Predictor& predictor, std::size_t c) {
    const std::size_t pixels = predictor.grid().pixels();
    const float all = predictor.on_probabilities() ? -std::numeric_limits<float>::infinity()
                                                   : std::numeric_limits<float>::infinity();
    const auto own = predictor.thresholds().subspan(c * pixels, pixels);
    return share(static_cast<std::uint64_t>(std::count(own.begin(), own.end(), all)), pixels);
}

std::string names(const std::vector<std::size_t>& classes) {
    return fmt::format("{} {}", classes.size() == 1 ? "class" : "classes", fmt::join(classes, ", "));
}

/// Whether every stratum has one curve for all pixels.
bool one_region(const Calibrator& calibrator) {
    return calibrator.smooth.empty() &&
           std::all_of(calibrator.partitions.begin(), calibrator.partitions.end(),
                       [](const Partition& one) { return one.regions == 1; });
}

/// The smallest alpha of a rung that is at least `alpha`; `alpha` itself if the curves have no rungs.
double finite_alpha(const Calibrator& calibrator, double alpha) {
    if (calibrator.smooth.empty()) return alpha;
    const std::vector<double>& levels = calibrator.smooth.front().ladder().levels;
    const auto above = std::upper_bound(levels.begin(), levels.end(), 1 - alpha + 1e-12);
    return above == levels.begin() ? alpha : 1 - *std::prev(above);
}
}  // namespace

std::string predicted_line(const Predicted& predicted) {
    const auto percent = [&](std::uint64_t part) { return 100 * share(part, predicted.sets); };
    return fmt::format(
        "sets: {:.2f} classes on average, {:.1f} % of one class, {:.2f} % empty{}, {:.1f} % full",
        mean_size(predicted), percent(predicted.single), percent(predicted.empty + predicted.filled),
        predicted.filled > 0 ? " (filled)" : "", percent(predicted.full));
}

std::string predicted_warning(const Calibrator& calibrator, const Predictor& predictor, double alpha,
                              const Predicted& predicted) {
    const double full = share(predicted.full, predicted.sets), size = mean_size(predicted);
    const bool large = calibrator.classes > 2 && size > (static_cast<double>(calibrator.classes) + 1) / 2;
    std::vector<std::size_t> classes = crowding(calibrator, predicted);
    if (full <= kMost && !large && classes.empty()) return {};
    std::string out;
    if (full > kMost || (large && classes.empty())) {
        out = full > kMost
                  ? fmt::format("{:.0f} % of the sets hold all {} classes", 100 * full, calibrator.classes)
                  : fmt::format("sets hold {:.1f} of {} classes on average", size, calibrator.classes);
        classes.resize(calibrator.classes);
        std::iota(classes.begin(), classes.end(), std::size_t{0});
    } else {
        out = fmt::format(
            "{} {} in more than {:.0f} % of the sets, but in fewer than half of the calibration labels",
            names(classes), classes.size() == 1 ? "is" : "are", 100 * kNearlyAll);
    }
    const char* const unit = calibrator.grouped ? "groups" : "images";
    const std::uint64_t setting = level_groups(calibrator);
    const bool weighted = !calibrator.weighting.none();
    if (calibrator.options.confidence > 0) {
        const std::string few = too_few(calibrator, alpha);
        if (!few.empty()) return out + ": " + few;
    }
    const double at_infinity =
        weighted ? calibrator.weighting.at_infinity : 1 / (static_cast<double>(setting) + 1);
    if (alpha < at_infinity)
        return out + fmt::format(
                         ": alpha {} is too small for {}{} calibration {}; calibrate on more, or take "
                         "`alpha {:.3f}` or larger",
                         alpha, setting, weighted ? " weighted" : "", unit,
                         std::ceil(1000 * finite_alpha(calibrator, at_infinity) - 1e-6) / 1000);
    std::vector<std::size_t> rare;
    for (const std::size_t c : classes)
        if (infinite_share(predictor, c) > kManyInfinite) rare.push_back(c);
    if (!rare.empty())
        return out + fmt::format(
                         ": for most pixels, too few calibration {} have {} to give a threshold at alpha {}; "
                         "calibrate on more such images{} or take a larger `alpha`",
                         unit, names(rare), alpha,
                         weighted || !calibrator.renewal.none() || one_region(calibrator)
                             ? ""
                             : ", use `fallback image` or `method image`,");
    const ScoreKind kind = calibrator.options.score.kind, standard = default_score().kind;
    const std::string cause =
        calibrator.logits == Logits::none
            ? "thresholds are finite, so the cause is"
            : fmt::format(
                  "the calibrator applies {} to its input, so the input must be logits, not probabilities; "
                  "if it is logits, the cause is",
                  calibrator.logits == Logits::sigmoid ? "sigmoid" : "softmax");
    return out + fmt::format(
                     ": {} the score {}, which hardly separates pixels with a class from those without; {}, "
                     "{}a larger `alpha` makes smaller sets; kandinsky compare measures the alternatives",
                     cause, name_of(kind),
                     kind == standard ? "another network" : fmt::format("`score {}`", name_of(standard)),
                     calibrator.smooth.empty() ? "or " : "`place 0` (one threshold for the image) or ");
}

std::uint64_t level_groups(const Calibrator& calibrator) {
    if (!calibrator.renewal.none()) return calibrator.renewal.groups;
    const auto all = static_cast<double>(calibrator.groups);
    return calibrator.groups - static_cast<std::uint64_t>(std::llround(calibrator.options.split * all));
}

std::string promise_rule(const Calibrator& calibrator) {
    const CalibrateOptions& options = calibrator.options;
    const std::string units = calibrator.grouped ? "groups" : "images";
    const std::uint64_t setting = level_groups(calibrator);
    if (options.confidence > 0) return confidence_rule(calibrator);
    bool learns = true;  // assumed for a method that this build does not know
    for (const Method* const known : methods())
        if (known->name == options.method.name) learns = known->uses_labels || options.adapt == Adapt::image;
    if (!calibrator.renewal.none())
        return fmt::format(
            "recalibrated: curves from {} {}, levels from {} new {}; 1/{} of the mass lies at infinity",
            calibrator.groups, units, setting, calibrator.renewal.grouped ? "groups" : "images", setting + 1);
    std::string out =
        options.promise == Promise::leave_one_out
            ? fmt::format("loo: learnt again without each of {} {}", setting, units)
        : options.promise == Promise::split ? fmt::format("split: {} {} learnt, {} set the thresholds",
                                                          calibrator.groups - setting, units, setting)
        : learns
            ? fmt::format("none: all {} {} learnt and set the thresholds", setting, units)
            : fmt::format("none needed: nothing is learnt, all {} {} set the thresholds", setting, units);
    if (options.pooling == Pooling::groups && calibrator.weighting.none())
        out += fmt::format("; 1/{} of the mass lies at infinity", setting + 1);
    return out;
}

std::string weights_rule(const Calibrator& calibrator) {
    const Weighting& own = calibrator.weighting;
    if (own.none()) return {};
    std::string from = "given";
    if (!own.learnt.empty()) {
        const auto learnt = nlohmann::json::parse(own.learnt);
        from = fmt::format("learnt from {} new {}", learnt.value("new_groups", std::uint64_t{0}),
                           calibrator.grouped ? "groups" : "images");
        if (learnt.contains("ridge") && learnt["ridge"].is_null())
            from += ", but cross-validation found no difference: all weights are equal";
    }
    return fmt::format(
        "{}; the {} {} that set the thresholds are worth {:.1f} of equal weight; {:.4f} of the mass lies at "
        "infinity",
        from, own.groups, calibrator.grouped ? "groups" : "images", own.effective, own.at_infinity);
}

std::string adapt_rule(const Calibrator& calibrator) {
    if (calibrator.options.adapt == Adapt::none) return "none: all images have the same thresholds";
    std::vector<std::size_t> those;
    for (std::size_t s = 0; s < calibrator.strata(); ++s)
        if (calibrator.adaptation_of(s) != nullptr) those.push_back(s);
    if (those.empty())
        return "image, but cross-validation found nothing to gain: all images have the same thresholds";
    return calibrator.strata() == 1
               ? std::string("image: thresholds depend on how hard an image looks")
               : fmt::format("image: thresholds of {} depend on how hard an image looks", names(those));
}

double least_alpha(const Calibrator& calibrator, std::size_t stratum) {
    const float beyond = std::numeric_limits<float>::infinity();
    if (const SmoothCurves* const smooth = calibrator.smooth_of(stratum)) return smooth->p_value(0, beyond);
    double least = 1;
    for (std::size_t k = 0; k < calibrator.curves[stratum].size(); ++k)
        least = std::min(least, calibrator.curves[stratum].p_value(k, beyond));
    return least;
}

}  // namespace kandinsky
