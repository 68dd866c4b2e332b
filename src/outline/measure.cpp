#include <cmath>
#include <kandinsky/measure.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/fail.hpp"
#include "outline/features.hpp"
#include "outline/shared_rule.hpp"
#include "outline/words.hpp"

namespace kandinsky {

namespace {
constexpr const char* kMeasures = "kandinsky measures";
constexpr const char* kBy[] = {"auto", "quantiles", "predicted", "soft",
                               "relative"};  // in the order of MeasureBy
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

double mean_width(outline::Quantity what, const MeasureLevel& level,
                  const std::vector<const outline::GroupFeatures*>& groups) {
    double sum = 0;
    for (const outline::GroupFeatures* const one : groups) {
        const auto [low, high] = interval_of(what, level, *one);
        sum += high - low;
    }
    return sum / static_cast<double>(groups.size());
}

nlohmann::ordered_json json_of(const MeasureLevel& one) {
    return {{"start", one.start}, {"threshold", outline::threshold_json(one.threshold)}};
}

MeasureLevel level_of(outline::Quantity what, const nlohmann::ordered_json& json) {
    MeasureLevel out{json.at("start").get<std::string>(), outline::read_threshold(json.at("threshold"))};
    outline::check_field("threshold", out.threshold, out.threshold > -kUnlimited, "be a number or 'inf'");
    (void)start_of(what, out.start, {});  // throws for unknown names
    return out;
}
}  // namespace

std::string_view name_of(MeasureBy by) {
    return kBy[static_cast<std::size_t>(by)];
}

MeasureBy measure_by(const std::string& name) {
    for (std::size_t i = 0; i < std::size(kBy); ++i)
        if (name == kBy[i]) return static_cast<MeasureBy>(i);
    fail(ErrorKind::usage, "`by` is '{}', but must be auto, quantiles, predicted, soft or relative", name);
}

MeasureRule calibrate_measures(const CaseSource& cases, const MeasureOptions& options, Progress& progress) {
    if (!cases.labelled())
        fail(ErrorKind::usage, "intervals are calibrated on labelled images; there are no labels");
    const outline::Assurance wanted{options.alpha, options.confidence};
    outline::check(wanted);
    MeasureRule out = outline::begun_rule<MeasureRule>(options, cases);
    const std::vector<std::uint32_t> classes = outline::chosen_classes(options.classes, cases.classes());
    const auto features = outline::collect_features(cases, classes, progress);
    out.groups = features.front().size();
    out.grouped = out.groups < cases.size();
    for (std::size_t c = 0; c < classes.size(); ++c) {
        std::vector<const outline::GroupFeatures*> groups;
        for (const outline::GroupFeatures& one : features[c]) groups.push_back(&one);
        using outline::Quantity;
        ClassMeasure one;
        one.number = classes[c];
        one.size = measure_level(Quantity::size, groups, starts(Quantity::size, options.by, options.hard),
                                 wanted, options.seed);
        one.dice = measure_level(Quantity::dice, groups, starts(Quantity::dice, options.by, options.hard),
                                 wanted, options.seed);
        one.size_width = mean_width(Quantity::size, one.size, groups);
        one.dice_width = mean_width(Quantity::dice, one.dice, groups);
        out.classes.push_back(std::move(one));
    }
    return out;
}

std::vector<Measurement> measure(const MeasureRule& rule, const CaseSource& cases, Progress& progress) {
    if (cases.classes() != rule.class_count)
        fail(ErrorKind::data, "the images have {} classes, but the intervals are made for {}",
             cases.classes(), rule.class_count);
    std::vector<std::uint32_t> classes;
    for (const ClassMeasure& one : rule.classes) classes.push_back(one.number);
    const auto features = outline::collect_features(cases, classes, progress);
    const std::vector<std::vector<std::size_t>> groups = cases.by_group();
    const bool known = cases.labelled(), grouped = groups.size() < cases.size();
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    std::vector<Measurement> out;
    for (std::size_t g = 0; g < groups.size(); ++g)
        for (std::size_t c = 0; c < classes.size(); ++c) {
            const outline::GroupFeatures& of = features[c][g];
            const auto size = interval_of(outline::Quantity::size, rule.classes[c].size, of);
            const auto dice = interval_of(outline::Quantity::dice, rule.classes[c].dice, of);
            Measurement one;
            one.group = cases.group(groups[g].front());
            // A group of several images in an array has its id as name; a group of files has the name of the
            // first file.
            one.name = grouped && !cases.images(groups[g].front()).empty() ? std::to_string(one.group)
                                                                           : cases.name(groups[g].front());
            one.number = classes[c];
            one.size = {of.predicted, size.first, size.second, known ? of.truth : unknown};
            one.dice = {rule.hard ? (dice.first + dice.second) / 2 : of.expected_dice(), dice.first,
                        dice.second, known ? of.dice() : unknown};
            out.push_back(std::move(one));
        }
    return out;
}

std::string size_unit(const MeasureRule& rule) {
    return outline::size_unit(rule.unit, rule.volumes);
}

std::string guarantee(const MeasureRule& rule) {
    return fmt::format(
        "guaranteed for a new {0}, for each class, with probability at least {1:g}{2}: the true {3} lies in "
        "its interval; likewise the true Dice (if {0}s are {4})",
        outline::unit_word(rule.grouped, rule.volumes), 1 - rule.alpha, outline::assured(rule.confidence),
        rule.volumes ? "volume" : "area", outline::exchangeable(rule.confidence));
}

std::string to_json(const MeasureRule& rule) {
    nlohmann::ordered_json out = outline::rule_json(rule, kMeasures);
    out["classes"] = nlohmann::ordered_json::array();
    for (const ClassMeasure& one : rule.classes) {
        nlohmann::ordered_json item{
            {"class", one.number}, {"size", json_of(one.size)}, {"dice", json_of(one.dice)}};
        if (std::isfinite(one.size_width)) item["size_width"] = one.size_width;
        item["dice_width"] = one.dice_width;
        out["classes"].push_back(std::move(item));
    }
    return out.dump(2) + "\n";
}

MeasureRule measure_rule(const std::string& json, const std::string& name) {
    return outline::rule_of<MeasureRule>(
        json, name, kMeasures, "measure", [](const auto&, MeasureRule&) {},
        [](const nlohmann::ordered_json& item) {
            ClassMeasure one;
            one.size = level_of(outline::Quantity::size, item.at("size"));
            one.dice = level_of(outline::Quantity::dice, item.at("dice"));
            one.size_width = item.contains("size_width") ? item.at("size_width").get<double>() : kUnlimited;
            one.dice_width = item.at("dice_width").get<double>();
            return one;
        });
}

}  // namespace kandinsky
