#include <algorithm>
#include <kandinsky/calibrator.hpp>
#include <nlohmann/json.hpp>

#include "core/base/fail.hpp"
#include "partition/method.hpp"

namespace kandinsky {

namespace {
/// The method's traits. For a method that this build does not know, the weakest guarantee is assumed.
struct Traits {
    bool finds_regions = true, soft = true;
};

Traits traits_of(const std::string& name) {
    for (const Method* candidate : methods())
        if (candidate->name == name) return {candidate->uses_labels, candidate->fit_curves != nullptr};
    return {};
}

/// The condition under which the promise holds.
std::string condition_of(const Calibrator& calibrator, const std::string& unit) {
    if (calibrator.weighting.none()) return fmt::format("if calibration and new {}s are exchangeable", unit);
    return fmt::format(
        "if new {}s differ from calibration {}s in their frequency alone, in proportion to the weights, and "
        "none weighs more than the bound",
        unit, unit);
}

/// The unit that is exchangeable.
std::string unit_of(const Calibrator& calibrator) {
    const Renewal& renewal = calibrator.renewal;
    return (renewal.none() ? calibrator.grouped : renewal.grouped) ? "group" : "image";
}

/// The promise with a confidence, which is the same for every stratum.
std::string confident(const Calibrator& calibrator) {
    const CalibrateOptions& options = calibrator.options;
    const bool by_class = options.condition == Condition::by_class;
    const std::string unit = unit_of(calibrator);
    const std::string missed =
        fmt::format("the sets of a new {} {} are expected to miss at most a share alpha of {}", unit,
                    by_class ? "that contains the class" : "with labels",
                    by_class ? "the pixels of the class" : "the labels");
    const std::string wrong = fmt::format(
        "of the pixels of a new {} whose set contains the class, at most a share alpha is expected to have "
        "another label (0 if no set contains the class)",
        unit);
    return fmt::format(
        "In at least {:g} % of all draws of calibration {}s, {}, if calibration and new {}s are drawn "
        "independently from one source. This holds for each {}alpha by itself: control of the {} with "
        "confidence {:g}.",
        100 * options.confidence, unit,
        options.risk == Risk::recall      ? missed
        : options.risk == Risk::precision ? wrong
                                          : missed + ", and " + wrong,
        unit, by_class ? "class and " : "",
        options.risk == Risk::recall      ? "false-negative rate"
        : options.risk == Risk::precision ? "false-discovery rate"
                                          : "false-negative and false-discovery rates",
        options.confidence);
}

/// The text about a random pixel of a new image or group, in a region or everywhere, under a condition.
std::string of_random_pixel(const Calibrator& calibrator, bool in_region, const std::string& condition) {
    const bool by_class = calibrator.options.condition == Condition::by_class;
    const std::string unit = unit_of(calibrator), there = in_region ? " in that region" : "";
    const std::string first =
        fmt::format("{}new {} {}{}, and a random {}{}", in_region ? "Take a region, a " : "Take a ", unit,
                    by_class ? "that contains the class" : "with labels", there,
                    by_class ? "pixel of the class" : "labelled pixel",
                    in_region ? fmt::format(" in that region of the {}", unit) : " in it");
    return fmt::format(
        "{}: the set of this pixel contains {} with probability at least 1 - alpha, {}. In other words, the "
        "sets of a new {} are expected to miss at most a share alpha of {}{}{}.",
        first, by_class ? "the class" : "its label", condition, unit,
        by_class ? "the pixels of the class" : "the labels", there,
        by_class && !in_region ? " (conformal risk control of the false-negative rate)" : "");
}

/// The promise for one stratum.
std::string promise(const Calibrator& calibrator, std::size_t stratum) {
    const CalibrateOptions& options = calibrator.options;
    if (options.confidence > 0) return confident(calibrator);
    if (options.released)
        return "No finite-sample guarantee: interpolated quantiles of the released code tend to cover too "
               "little.";
    const Traits traits = traits_of(calibrator.method_of(stratum));
    const bool finds_regions = traits.finds_regions;
    // If levels follow the image, they are set for all regions together, like the levels of smooth curves.
    const bool soft = traits.soft || options.adapt == Adapt::image;
    const bool relearnt = options.promise == Promise::leave_one_out;
    // If the method was chosen on the images that set the thresholds, its guarantee is lost.
    const bool judged_on_same = options.method.name == kAutoMethod && options.split == 0 && !relearnt;
    if (soft && options.pooling == Pooling::pixels)
        return "No finite-sample guarantee: each pixel's threshold is a quantile of a distribution smoothed "
               "over its surroundings, which is reliable only as far as the calibration images are typical.";
    // Whether every region is one pixel by the method's definition, and not by chance.
    const bool pixelwise = calibrator.partitions[stratum].regions == calibrator.grid.pixels() &&
                           (!finds_regions || options.split > 0);
    const Renewal& renewal = calibrator.renewal;
    const std::string unit = unit_of(calibrator);
    if (!renewal.none())
        return of_random_pixel(
            calibrator, false,
            fmt::format("if the {} {}s that set its levels and new ones are exchangeable; the {} "
                        "images that its curves come from need not be",
                        renewal.groups, unit, calibrator.images));
    if (relearnt || (soft && options.promise == Promise::split))
        return of_random_pixel(calibrator, false, condition_of(calibrator, unit));
    if (judged_on_same && options.pooling == Pooling::groups)
        return fmt::format(
            "No finite-sample guarantee: the method was chosen on the same {}s that set the thresholds; the "
            "hierarchical quantile keeps coverage close to 1 - alpha (promise loo gives a guarantee).",
            unit);
    if (soft)
        return fmt::format(
            "No general finite-sample guarantee: the level is the hierarchical quantile of cross-fitted "
            "smoothed distributions, which has been measured to cover a random pixel of a new {} with "
            "probability at least 1 - alpha on average (promise loo gives a guarantee).",
            unit);
    // Whether each image has one score at a pixel. Files of version 0.1 do not record masks, which may have
    // several.
    const bool one_label =
        options.condition == Condition::by_class || (!calibrator.masks && calibrator.reading_known);
    if (pixelwise && !judged_on_same && !calibrator.grouped && one_label)
        return fmt::format(
            "Take a pixel, and a new image {} at that pixel: the image's set at that pixel contains {} with "
            "probability at least 1 - alpha, {}.",
            options.condition == Condition::by_class ? "that has the class" : "with a label",
            options.condition == Condition::by_class ? "the class" : "the label",
            condition_of(calibrator, unit));
    if (options.pooling == Pooling::pixels)
        return "No finite-sample guarantee: pixels of one image are not independent, so pooled pixels are "
               "not a sample size; coverage is right on average only as far as the calibration images are "
               "typical.";
    if (finds_regions && options.split == 0)
        return fmt::format(
            "No finite-sample guarantee: the regions were found on the same {}s that set the thresholds; the "
            "hierarchical quantile keeps coverage close to 1 - alpha (promise loo gives a guarantee).",
            unit);
    return of_random_pixel(calibrator, calibrator.partitions[stratum].regions > 1,
                           condition_of(calibrator, unit));
}

/// The sentence about learnt weights; empty without them.
std::string about_weights(const Calibrator& calibrator) {
    if (calibrator.weighting.none() || calibrator.weighting.learnt.empty()) return {};
    return " The weights were estimated from images without labels, so the promise is only as good as "
           "the weights: coverage may fall short by the total variation distance between the new images and "
           "the calibration images as weighted.";
}

/// The sentences about the networks of a cross-validation; empty without folds.
std::string about_networks(const Calibrator& calibrator) {
    const auto input = nlohmann::ordered_json::parse(calibrator.input, nullptr, false);
    if (!input.is_object() || !input.contains("folds") || !input["folds"].is_array()) return {};
    std::vector<std::int64_t> folds;
    for (const auto& fold : input["folds"])
        if (fold.is_number_integer()) folds.push_back(fold.get<std::int64_t>());
    if (folds.empty()) return {};
    if (folds.size() == 1)
        return fmt::format(" This holds for outputs of the network of fold {} only (nnUNetv2_predict -f {}).",
                           folds.front(), folds.front());
    return fmt::format(
        " The calibration outputs come from {} networks (folds {}), each run on the cases it was not trained "
        "on: outputs of new cases, from one of the networks or from their mean, are exchangeable with these "
        "only as far as the networks are alike. Calibration on fold {} alone, for "
        "nnUNetv2_predict -f {}, has no such condition.",
        folds.size(), fmt::join(folds, ", "), folds.front(), folds.front());
}
}  // namespace

std::string guarantee(const Calibrator& calibrator) {
    // Strata of different methods may have different guarantees.
    std::vector<std::pair<std::string, std::vector<std::size_t>>> promises;
    for (std::size_t s = 0; s < calibrator.strata(); ++s) {
        const std::string own = promise(calibrator, s);
        auto known =
            std::find_if(promises.begin(), promises.end(), [&](const auto& p) { return p.first == own; });
        if (known == promises.end()) known = promises.insert(promises.end(), {own, {}});
        known->second.push_back(s);
    }
    std::string text;
    for (const auto& [own, strata] : promises)
        text += promises.size() == 1
                    ? own
                    : fmt::format("{}{} {}: {}", text.empty() ? "" : " ",
                                  strata.size() == 1 ? "Class" : "Classes", fmt::join(strata, ", "), own);
    if (calibrator.options.fallback == Fallback::image &&
        calibrator.options.promise != Promise::leave_one_out && calibrator.options.confidence == 0)
        text += fmt::format(
            " Regions with fewer than {} scores use the image-wide curve and have no guarantee of their "
            "own.",
            calibrator.options.min_count);
    return text + about_weights(calibrator) + about_networks(calibrator);
}

}  // namespace kandinsky
