#include "report/table/details.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/table/result_json.hpp"
#include "report/table/rows.hpp"

namespace kandinsky {

using nlohmann::ordered_json;

namespace {
ordered_json place_json(const WorstPlace& worst, const char* name) {
    if (!std::isfinite(worst.coverage)) return nullptr;
    return {{"coverage", worst.coverage}, {"samples", worst.samples}, {name, worst.place}};
}

ordered_json block_json(const WorstPlace& worst) {
    if (!std::isfinite(worst.coverage)) return nullptr;
    return {{"coverage", worst.coverage},
            {"samples", worst.samples},
            {"row", worst.place / kBlocks},
            {"column", worst.place % kBlocks},
            {"blocks", {kBlocks, kBlocks}}};
}

ordered_json images_json(const ImageCoverage& images) {
    ordered_json quantiles = ordered_json::object();
    for (std::size_t k = 0; k < images.quantiles.size(); ++k)
        quantiles[fmt::format("{}", ImageCoverage::kLevels[k])] = number(images.quantiles[k]);
    return {{"images", images.images}, {"quantiles", quantiles}, {"below", number(images.below)}};
}

ordered_json pair_json(const Interval& interval) {
    return {number(interval.low), number(interval.high)};
}

std::string heading(const char* first, std::size_t width = kNameWidth) {
    return fmt::format("  {:<{}}{:>9}{:>9}{:>9}{:>9}{:>10}{:>8}{:>8}{:>8}{:>9}{:>9}\n", first, width,
                       "weighted", fmt::format("CE n>={}", kEnoughSamples), "floor", "pixels", "place",
                       "region", "block", "images", "below", "smECE");
}

/// The columns of the second table.
struct Line {
    std::string name;
    double weighted, enough, floor;
    std::uint64_t pixels;
    double place, region, block, median, below, smooth;
};

std::string text_of(const Line& line, std::size_t width = kNameWidth) {
    return fmt::format("  {:<{}}{:>9}{:>9}{:>9}{:>9}{:>10}{:>8}{:>8}{:>8}{:>9}{:>9}\n", line.name, width,
                       cell(line.weighted), cell(line.enough), cell(line.floor), line.pixels,
                       cell(line.place), cell(line.region, 3), cell(line.block, 3), cell(line.median, 3),
                       percent(line.below), cell(line.smooth));
}

std::string legend(double alpha) {
    return fmt::format(
        "weighted: mean CE with pixels weighed by their test samples; CE n>={0}: over pixels with {0} or "
        "more. At alpha {1}: place, the mean distance of a pixel's coverage (of {4} or more samples) from "
        "{3:.6g}; coverage of the worst region, of the worst of {2} x {2} blocks and of the median image; "
        "the share of images below {3:.6g}.\n",
        kEnoughSamples, alpha, kBlocks, 1 - alpha, kSomeSamples);
}

std::string sizes_text(const Evaluation& evaluation) {
    std::string out = "coverage by set size:";
    for (std::size_t k = 0; k < evaluation.size_samples.size(); ++k)
        if (evaluation.size_samples[k] > 0)
            out += fmt::format(" {}: {} of {}", k, cell(evaluation.size_coverage[k], 3),
                               evaluation.size_samples[k]) +
                   ";";
    if (std::isfinite(evaluation.worst_size.coverage))
        out += fmt::format(" worst {} at size {}", cell(evaluation.worst_size.coverage, 3),
                           evaluation.worst_size.place);
    return out + "\n";
}
}  // namespace

std::string interval_text(const Interval& interval, int digits) {
    return std::isfinite(interval.low)
               ? fmt::format("[{:.{}f}, {:.{}f}]", interval.low, digits, interval.high, digits)
               : "-";
}

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

std::string evaluation_details(const Calibrator& calibrator, const EvaluationReport& report,
                               const std::vector<int>& classes) {
    const Evaluation& evaluation = report.calibrators.front();
    const bool pooled = calibrator.options.condition == Condition::none;
    std::string out = fmt::format("\n{}", heading("class"));
    for (std::size_t s = 0; s < evaluation.strata.size(); ++s) {
        if (!is_wanted(pooled ? -1 : static_cast<int>(s), classes)) continue;
        const StratumEvaluation& one = evaluation.strata[s];
        double smooth = 0;
        for (const Reliability& of_class : report.probabilities.classes)
            smooth += of_class.smooth_ece / static_cast<double>(report.probabilities.classes.size());
        out += text_of({pooled ? "all" : std::to_string(s), one.weighted_ce, one.ce_enough, one.floor_enough,
                        one.pixels_enough, one.place_error, one.worst_region.coverage,
                        one.worst_block.coverage, one.image_coverage.quantiles[2], one.image_coverage.below,
                        pooled ? smooth : report.probabilities.classes[s].smooth_ece});
    }
    out += sizes_text(evaluation) + legend(evaluation.alpha);
    if (report.bootstrap == 0) return out;
    out += fmt::format("\n90 % intervals, {} resamples\n  {:<9}{:>18}{:>18}{:>18}{:>18}\n", report.bootstrap,
                       "class", "mean CE", "coverage", "false share", "ECE");
    for (std::size_t s = 0; s < evaluation.strata.size(); ++s) {
        if (!is_wanted(pooled ? -1 : static_cast<int>(s), classes)) continue;
        const StratumEvaluation& one = evaluation.strata[s];
        out += fmt::format("  {:<9}{:>18}{:>18}{:>18}{:>18}\n", pooled ? "all" : std::to_string(s),
                           interval_text(one.mean_ce_interval, 4), interval_text(one.coverage_interval, 4),
                           interval_text(one.false_interval, 4),
                           interval_text(pooled ? report.probabilities.mean_ece_interval
                                                : report.probabilities.classes[s].ece_interval,
                                         4));
    }
    return out;
}

std::string comparison_details(const Comparison& comparison, const std::vector<int>& classes) {
    std::string out;
    const std::size_t methods = comparison.calibrators.size(), width = name_width(comparison);
    int current = -2;
    for (std::size_t r = 0; r < comparison.rows.size(); ++r) {
        const CompareRow& row = comparison.rows[r];
        if (!is_wanted(row.cls, classes)) continue;
        if (row.cls != current) {
            current = row.cls;
            out += fmt::format("\n{}\n", row.cls < 0 ? "all classes" : fmt::format("class {}", row.cls)) +
                   heading("method", width);
        }
        const StratumEvaluation& last = comparison.last.calibrators[r % methods].strata[r / methods];
        out += text_of({row.method, row.weighted_ce, row.ce_enough, row.floor_enough, row.pixels_enough,
                        row.place_error, row.worst_region, row.worst_block, last.image_coverage.quantiles[2],
                        row.images_below, row.smooth_ece},
                       width);
    }
    out += "\n";
    for (std::size_t m = 0; m < methods; ++m)
        out += comparison.rows[m].method + ", " + sizes_text(comparison.last.calibrators[m]);
    out += legend(comparison.alpha);
    if (comparison.last.bootstrap == 0) return out;
    out += fmt::format("\n90 % intervals, {} resamples\n  {:<{}}{:<7}{:>18}{:>18}{:>18}{:>18}\n",
                       comparison.last.bootstrap, "method", width, "class", "mean CE", "coverage",
                       "false share", "set size");
    for (std::size_t r = 0; r < comparison.rows.size(); ++r) {
        const CompareRow& row = comparison.rows[r];
        if (!is_wanted(row.cls, classes)) continue;
        const Evaluation& last = comparison.last.calibrators[r % methods];
        const StratumEvaluation& own = last.strata[r / methods];
        out += fmt::format("  {:<{}}{:<7}{:>18}{:>18}{:>18}{:>18}\n", row.method, width,
                           row.cls < 0 ? "all" : std::to_string(row.cls),
                           interval_text(own.mean_ce_interval, 4), interval_text(own.coverage_interval, 4),
                           interval_text(own.false_interval, 4), interval_text(last.set_intervals.size, 3));
    }
    return out;
}

}  // namespace kandinsky
