#include "report/table/monitor_json.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/table/result_json.hpp"

namespace kandinsky {

using nlohmann::ordered_json;

namespace {
ordered_json feature_json(const WatchedFeature& one) {
    ordered_json region = nullptr;
    if (one.regional)
        region = {{"rows", {one.rows.begin, one.rows.end}},
                  {"columns", {one.columns.begin, one.columns.end}}};
    return {{"class", one.cls},
            {"feature", one.name},
            {"region", region},
            {"evidence", number(one.evidence)},
            {"direction", number(one.direction)},
            {"before", number(one.before)},
            {"now", number(one.now)}};
}
}  // namespace

ordered_json monitor_json(const MonitorVerdict& verdict, const MonitorUpdate& update,
                          const std::vector<std::string>& names) {
    ordered_json features = ordered_json::array(), coverage = ordered_json::array();
    for (const WatchedFeature& one : verdict.features) features.push_back(feature_json(one));
    for (const WatchedCoverage& one : verdict.coverage)
        coverage.push_back({{"class", one.cls},
                            {"units", one.units},
                            {"coverage", number(one.coverage)},
                            {"low", number(one.low)},
                            {"high", number(one.high)},
                            {"limit", number(one.limit)},
                            {"evidence", number(one.evidence)},
                            {"odds_evidence", number(one.odds_evidence)},
                            {"odds_share", number(one.odds_share)},
                            {"odds_before", number(one.odds_before)},
                            {"odds_now", number(one.odds_now)}});
    ordered_json outputs = nullptr, labels = nullptr, odds = nullptr;
    if (verdict.outputs) {
        outputs = feature_json(verdict.features.at(verdict.outputs->what));
        outputs["unit"] = verdict.outputs->unit;
    }
    if (verdict.labels)
        labels = {{"class", verdict.coverage.at(verdict.labels->what).cls}, {"unit", verdict.labels->unit}};
    if (verdict.odds)
        odds = {{"class", verdict.coverage.at(verdict.odds->what).cls}, {"unit", verdict.odds->unit}};
    return {{"schema", 1},
            {"delta", verdict.options.delta},
            {"alpha", verdict.options.alpha},
            {"unit", verdict.grouped ? "group" : "image"},
            {"reference_units", verdict.reference_units},
            {"images", verdict.images},
            {"units", verdict.units},
            {"labelled_units", verdict.labelled_units},
            {"update",
             {{"images", update.images},
              {"seen", update.seen},
              {"late", update.late},
              {"units", update.units},
              {"labelled_units", update.labelled}}},
            {"alarm", verdict.alarm()},
            {"outputs_alarm", outputs},
            {"labels_alarm", labels},
            {"odds_alarm", odds},
            {"evidence", number(verdict.features.at(verdict.leading).evidence)},
            {"leading", verdict.leading},
            {"set_size", number(verdict.set_size)},
            {"text", describe(verdict, names)},
            {"coverage", coverage},
            {"features", features}};
}

std::string prometheus_text(const MonitorVerdict& verdict) {
    std::string out;
    const auto metric = [&](const char* name, const char* type, const char* help) {
        out += fmt::format("# HELP kandinsky_monitor_{0} {2}\n# TYPE kandinsky_monitor_{0} {1}\n", name, type,
                           help);
    };
    const auto value = [&](const std::string& name, double number) {
        out += fmt::format("kandinsky_monitor_{} {}\n", name, number);
    };
    metric("images_total", "counter", "Images of the stream so far.");
    value("images_total", static_cast<double>(verdict.images));
    metric("alarm", "gauge",
           "1 after an alarm: outputs changed, labels show low coverage, or odds in a class's pixels fell.");
    value("alarm{kind=\"outputs\"}", verdict.outputs.has_value());
    value("alarm{kind=\"labels\"}", verdict.labels.has_value());
    value("alarm{kind=\"odds\"}", verdict.odds.has_value());
    metric("evidence", "gauge", "Evidence that the outputs have changed; the alarm is raised at 1 / delta.");
    value("evidence", verdict.features.at(verdict.leading).evidence);
    if (!std::isnan(verdict.set_size)) {
        metric("set_size", "gauge", "Recent mean number of classes in a set.");
        value("set_size", verdict.set_size);
    }
    if (verdict.coverage.empty()) return out;
    metric("coverage", "gauge", "Coverage of a class by the labels, and bounds of its true coverage.");
    for (const WatchedCoverage& one : verdict.coverage) {
        value(fmt::format("coverage{{class=\"{}\",bound=\"mean\"}}", one.cls), one.coverage);
        if (std::isnan(one.low)) continue;
        value(fmt::format("coverage{{class=\"{}\",bound=\"low\"}}", one.cls), one.low);
        value(fmt::format("coverage{{class=\"{}\",bound=\"high\"}}", one.cls), one.high);
    }
    return out;
}

}  // namespace kandinsky
