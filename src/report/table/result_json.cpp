#include "report/table/result_json.hpp"
#include "evaluate/compare_row.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kandinsky {

using nlohmann::ordered_json;

ordered_json number(double value) {
    return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

ordered_json numbers(const std::vector<double>& values) {
    ordered_json out = ordered_json::array();
    for (const double value : values) out.push_back(number(value));
    return out;
}

ordered_json reliability_json(const Reliability& bins) {
    return {{"count", bins.count},
            {"confidence", numbers(bins.confidence)},
            {"accuracy", numbers(bins.accuracy)}};
}

namespace {
/// One figure of the sets, at each level, before filling.
ordered_json level_numbers(const Evaluation& evaluation, double SetFigures::*figure) {
    ordered_json out = ordered_json::array();
    for (const SetFigures& level : evaluation.level_sets) out.push_back(number(level.*figure));
    return out;
}

ordered_json class_name(int cls) {
    return cls < 0 ? ordered_json("all") : ordered_json(cls);
}

ordered_json regions_json(const std::vector<std::vector<double>>& coverage,
                          const std::vector<std::uint64_t>& samples) {
    ordered_json out = ordered_json::array();
    for (std::size_t r = 0; r < coverage.size(); ++r)
        out.push_back({{"samples", samples[r]}, {"coverage", numbers(coverage[r])}});
    return out;
}

ordered_json interval_json(const Interval& interval) {
    return std::isfinite(interval.low) ? ordered_json{interval.low, interval.high} : ordered_json(nullptr);
}

ordered_json place_json(const WorstPlace& worst, const char* name) {
    if (!std::isfinite(worst.coverage)) return nullptr;
    return {{"coverage", worst.coverage}, {"samples", worst.samples}, {name, worst.place}};
}

ordered_json block_json(const WorstPlace& worst) {
    constexpr std::size_t kBlocks = WorstPlace::kBlocks;
    if (!std::isfinite(worst.coverage)) return nullptr;
    return {{"coverage", worst.coverage},
            {"samples", worst.samples},
            {"row", worst.place / kBlocks},
            {"column", worst.place % kBlocks},
            {"blocks", {kBlocks, kBlocks}}};
}

}  // namespace

ordered_json features_json(const ImageCoverage& images) {
    ordered_json out = ordered_json::object();
    for (std::size_t k = 0; k < ImageFeatures::kCount; ++k) {
        ordered_json& one = out[std::string(ImageFeatures::kNames[k])];
        for (const char* const key : {"images", "value", "coverage"}) one[key] = ordered_json::array();
        for (const FeatureTenth& tenth : images.tenths[k]) {
            one["images"].push_back(tenth.images);
            one["value"].push_back(number(tenth.value));
            one["coverage"].push_back(number(tenth.coverage));
        }
    }
    return out;
}

namespace {
ordered_json images_json(const ImageCoverage& images) {
    ordered_json quantiles = ordered_json::object();
    for (std::size_t k = 0; k < images.quantiles.size(); ++k)
        quantiles[fmt::format("{}", ImageCoverage::kLevels[k])] = number(images.quantiles[k]);
    return {{"images", images.images},
            {"quantiles", quantiles},
            {"below", number(images.below)},
            {"spread", number(images.spread)},
            {"far_below", number(images.far_below)},
            {"hardest", number(images.hardest)},
            {"by_feature", features_json(images)}};
}

ordered_json pair_json(const Interval& interval) {
    return {number(interval.low), number(interval.high)};
}

/// The details of one row: worst places, coverage by image and by set size, intervals.
ordered_json details_json(const EvaluationReport& report, std::size_t calibrator, std::size_t stratum) {
    const Evaluation& evaluation = report.calibrators[calibrator];
    const StratumEvaluation& own = evaluation.strata[stratum];
    const bool pooled = evaluation.strata.size() == 1;
    const auto at_levels = [&](double SetFigures::*figure) { return level_numbers(evaluation, figure); };
    ordered_json out{{"worst_region", place_json(own.worst_region, "region")},
                     {"worst_block", block_json(own.worst_block)},
                     {"image_coverage", images_json(own.image_coverage)},
                     {"size_stratified",
                      {{"samples", evaluation.size_samples},
                       {"coverage", numbers(evaluation.size_coverage)},
                       {"worst", place_json(evaluation.worst_size, "size")}}},
                     {"false_shares", numbers(own.false_shares)},
                     {"level_sets",
                      {{"set_size", at_levels(&SetFigures::size)},
                       {"false_classes", at_levels(&SetFigures::false_classes)},
                       {"empty_share", at_levels(&SetFigures::empty)},
                       {"single_share", at_levels(&SetFigures::single)},
                       {"single_right", at_levels(&SetFigures::single_right)},
                       {"full_share", at_levels(&SetFigures::full)}}},
                     {"filled_coverage", number(evaluation.filled_coverage)},
                     {"without_filling",
                      {{"coverage_at_alpha", number(evaluation.coverage_at_alpha)},
                       {"set_size", number(evaluation.plain_sets.size)},
                       {"false_classes", number(evaluation.plain_sets.false_classes)},
                       {"single_share", number(evaluation.plain_sets.single)},
                       {"single_right", number(evaluation.plain_sets.single_right)}}}};
    if (pooled) out["class_false_share"] = numbers(evaluation.class_false_share);
    if (report.bootstrap == 0) return out;
    const ProbabilityEvaluation& probabilities = report.probabilities;
    out["bootstrap"] = {
        {"resamples", report.bootstrap},
        {"level", 0.9},
        {"mean_ce", pair_json(own.mean_ce_interval)},
        {"mean_ce_bias", number(own.mean_ce_bias)},
        {"coverage_at_alpha", pair_json(own.coverage_interval)},
        {"false_share", pair_json(own.false_interval)},
        {"set_size", pair_json(evaluation.set_intervals.size)},
        {"false_classes", pair_json(evaluation.set_intervals.false_classes)},
        {"empty_share", pair_json(evaluation.set_intervals.empty)},
        {"single_share", pair_json(evaluation.set_intervals.single)},
        {"single_right", pair_json(evaluation.set_intervals.single_right)},
        {"full_share", pair_json(evaluation.set_intervals.full)},
        {"ece",
         pair_json(pooled ? probabilities.mean_ece_interval : probabilities.classes[stratum].ece_interval)},
    };
    return out;
}

/// The paper's figures for a row, and the figures about test samples that the caller adds.
ordered_json row_json(const CompareRow& row, const ordered_json& samples = ordered_json::object()) {
    ordered_json out{{"method", row.method},
                     {"class", class_name(row.cls)},
                     {"regions", row.regions},
                     {"mean_ce", number(row.mean_ce)},
                     {"q05", number(row.q05)},
                     {"q95", number(row.q95)},
                     {"floor", number(row.floor)},
                     {"pixels", row.pixels},
                     {"pixels_without_data", row.pixels_without_data}};
    out.update(samples);
    out.update({{"set_size", number(row.sets.size)},
                {"false_share", number(row.false_share)},
                {"false_discovery", number(row.false_discovery)},
                {"false_classes", number(row.sets.false_classes)},
                {"empty_share", number(row.empty_share)},
                {"coverage", numbers(row.coverage)},
                {"region_coverage", regions_json(row.region_coverage, row.region_samples)}});
    return out;
}

/// The measures that the paper does not have; details_json() has their details.
ordered_json figures_json(const CompareRow& row) {
    constexpr std::uint64_t kEnoughSamples = StratumEvaluation::kEnoughSamples;
    return {{"weighted_ce", number(row.weighted_ce)},
            {fmt::format("ce_{}", kEnoughSamples), number(row.ce_enough)},
            {fmt::format("floor_{}", kEnoughSamples), number(row.floor_enough)},
            {fmt::format("pixels_{}", kEnoughSamples), row.pixels_enough},
            {"coverage_at_alpha", number(row.coverage_at_alpha)},
            {"place_error", number(row.place_error)},
            {"worst_region_coverage", number(row.worst_region)},
            {"worst_block_coverage", number(row.worst_block)},
            {"worst_size_coverage", number(row.worst_size)},
            {"images_below", number(row.images_below)},
            {"filled_share", number(row.filled_share)},
            {"single_share", number(row.sets.single)},
            {"single_right", number(row.sets.single_right)},
            {"full_share", number(row.sets.full)},
            {"smooth_ece", number(row.smooth_ece)}};
}
}  // namespace

ordered_json comparison_json(const Comparison& comparison, const std::vector<int>& classes) {
    ordered_json results = ordered_json::array();
    const std::size_t methods = comparison.calibrators.size();
    for (std::size_t r = 0; r < comparison.rows.size(); ++r) {
        const CompareRow& row = comparison.rows[r];
        if (!is_wanted(row.cls, classes)) continue;
        ordered_json one = row_json(row);
        one["ece"] = number(row.ece);
        one["seconds"] = {{"fit", row.fit_seconds}, {"evaluate", row.evaluate_seconds}};
        one.update(figures_json(row));
        if (!comparison.last.calibrators.empty())
            one.update(details_json(comparison.last, r % methods, r / methods));
        if (comparison.draws > 1) {
            one["mean_ce_sd"] = number(row.mean_ce_sd);
            one["draws"] = numbers(row.draws);
        }
        results.push_back(std::move(one));
    }
    ordered_json out{{"schema", 2},
                     {"grid", {comparison.grid.height, comparison.grid.width}},
                     {"images", {{"cal", comparison.cal_images}, {"test", comparison.test_images}}},
                     {"groups", {{"cal", comparison.cal_groups}}},
                     {"alpha", comparison.alpha},
                     {"score", comparison.calibrators.empty()
                                   ? ordered_json(nullptr)
                                   : ordered_json(describe(comparison.calibrators.front().options.score))},
                     {"levels", comparison.targets}};
    if (comparison.sample > 0) out["sample"] = {{"size", comparison.sample}, {"draws", comparison.draws}};
    out["results"] = std::move(results);
    return out;
}

ordered_json evaluation_json(const Calibrator& calibrator, const EvaluationReport& report,
                             const std::vector<int>& classes, double seconds) {
    const Evaluation& evaluation = report.calibrators.front();
    const bool pooled = calibrator.options.condition == Condition::none;
    ordered_json results = ordered_json::array();
    for (std::size_t s = 0; s < evaluation.strata.size(); ++s) {
        const int cls = pooled ? -1 : static_cast<int>(s);
        if (!is_wanted(cls, classes)) continue;
        const CompareRow row = compare_row(calibrator, evaluation, report.probabilities, s);
        ordered_json one = row_json(row, {{"samples", evaluation.strata[s].samples}});
        if (!calibrator.choices.empty()) one["chosen"] = calibrator.method_of(s);
        one["ece"] = number(row.ece);
        ordered_json bins = ordered_json::array();
        for (std::size_t c = 0; pooled && c < report.probabilities.classes.size(); ++c)
            bins.push_back(reliability_json(report.probabilities.classes[c]));
        one["reliability"] = pooled ? std::move(bins) : reliability_json(report.probabilities.classes[s]);
        one.update(figures_json(row));
        one.update(details_json(report, 0, s));
        if (!evaluation.released_marginal.empty()) {
            const std::vector<double>& marginal = evaluation.released_marginal[s];
            double error = 0;
            for (std::size_t i = 0; i < marginal.size(); ++i)
                error += std::abs(marginal[i] - evaluation.targets[i]) / static_cast<double>(marginal.size());
            one["released"] = {{"marginal_coverages", numbers(marginal)}, {"marginal_ce20", number(error)}};
        }
        one["seconds"] = {{"evaluate", seconds}};
        results.push_back(std::move(one));
    }
    return {{"schema", 2},
            {"grid", {calibrator.grid.height, calibrator.grid.width}},
            {"images", {{"cal", calibrator.images}, {"test", report.images}}},
            {"alpha", evaluation.alpha},
            {"levels", evaluation.targets},
            {"coverage_at_alpha", number(evaluation.coverage_at_alpha)},
            {"coverage_interval", interval_json(evaluation.coverage_interval)},
            {"score", describe(calibrator.options.score)},
            {"set_sizes", level_numbers(evaluation, &SetFigures::size)},
            {"empty_shares", level_numbers(evaluation, &SetFigures::empty)},
            {"infinite_thresholds", evaluation.infinite},
            {"guarantee", guarantee(calibrator)},
            {"results", std::move(results)}};
}

}  // namespace kandinsky
