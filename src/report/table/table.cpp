#include "report/table/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/table/details.hpp"
#include "report/table/rows.hpp"

namespace kandinsky {

namespace {
std::string cell(double value, int digits = 4) {
    return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "-";
}

std::string range_cell(double low, double high) {
    return std::isfinite(low) ? fmt::format("[{:.3f}, {:.3f}]", low, high) : "-";
}
}  // namespace

std::string comparison_table(const Comparison& comparison, const std::vector<int>& classes) {
    std::string out = fmt::format("{} calibration images", comparison.cal_images);
    if (comparison.grouped) out += fmt::format(" of {} groups", comparison.cal_groups);
    if (comparison.sample > 0)
        out += fmt::format(" ({} draw{} of {} {})", comparison.draws, comparison.draws == 1 ? "" : "s",
                           comparison.sample, comparison.grouped ? "groups" : "images");
    out += fmt::format(", {} test images, {} x {} pixels (width x height)\n", comparison.test_images,
                       comparison.grid.width, comparison.grid.height);
    const bool spread = comparison.draws > 1;
    int current = -2;
    for (const CompareRow& row : comparison.rows) {
        if (!is_wanted(row.cls, classes)) continue;
        if (row.cls != current) {
            current = row.cls;
            const std::string who = row.cls < 0 ? "all classes" : fmt::format("class {}", row.cls);
            out += fmt::format("\n{}: sampling floor {}, ECE {}, {} pixels with test samples, {} without\n",
                               who, cell(row.floor), cell(row.ece, 3), row.pixels, row.pixels_without_data);
            out +=
                fmt::format("  {:<9}{:>8}  {:>8}{}  {:<16}{:>9}{:>9}{:>9}\n", "method", "regions", "mean CE",
                            spread ? "       sd" : "", "[q05, q95]", "set size", "empty", "fit s");
        }
        double best = row.mean_ce;
        for (const CompareRow& other : comparison.rows)
            if (other.cls == row.cls && other.mean_ce < best) best = other.mean_ce;
        out += fmt::format("  {:<9}{:>8}  {:>7}{}{}  {:<16}{:>9}{:>9}{:>9}\n", row.method, row.regions,
                           cell(row.mean_ce), row.mean_ce <= best ? "*" : " ",
                           spread ? fmt::format("  {:>6} ", cell(row.mean_ce_sd)) : "",
                           range_cell(row.q05, row.q95), cell(row.set_size, 3),
                           fmt::format("{:.2f} %", 100 * row.empty_share), cell(row.fit_seconds, 2));
    }
    out += fmt::format(
        "\nCE: mean coverage error over pixels (lower is better), * best. Set size and empty sets at alpha "
        "{}.\n",
        comparison.alpha);
    for (std::size_t m = 0; m < comparison.last.calibrators.size(); ++m) {
        const Evaluation& last = comparison.last.calibrators[m];
        if (!(last.filled_share > 0)) continue;
        out += fmt::format(
            "{}: {:.2f} % of the sets were filled; coverage at alpha {} (left empty {}), set size {} ({})\n",
            comparison.calibrators[m].options.method, 100 * last.filled_share, cell(last.coverage_at_alpha),
            cell(last.plain_coverage), cell(last.set_size, 3), cell(last.plain_set_size, 3));
    }
    return out;
}

std::string evaluation_table(const Calibrator& calibrator, const EvaluationReport& report,
                             const std::vector<int>& classes) {
    const Evaluation& evaluation = report.calibrators.front();
    std::string out =
        fmt::format("{} on {} test images, {} x {} pixels (width x height)\n", calibrator.options.method,
                    report.images, calibrator.grid.width, calibrator.grid.height);
    out += fmt::format("  {:<7}{:>8}  {:>8}  {:<16}{:>8}{:>8}{:>10}{:>10}\n", "class", "regions", "mean CE",
                       "[q05, q95]", "floor", "ECE", "pixels", "without");
    const bool pooled = calibrator.options.condition == Condition::none;
    for (std::size_t s = 0; s < evaluation.strata.size(); ++s) {
        const int cls = pooled ? -1 : static_cast<int>(s);
        if (!is_wanted(cls, classes)) continue;
        const StratumEvaluation& one = evaluation.strata[s];
        out += fmt::format("  {:<7}{:>8}  {:>8}  {:<16}{:>8}{:>8}{:>10}{:>10}\n",
                           pooled ? "all" : std::to_string(s), calibrator.partitions[s].regions,
                           cell(one.mean_ce), range_cell(one.q05, one.q95), cell(one.floor),
                           pooled ? "-" : cell(report.probabilities.classes[s].ece, 3), one.pixels,
                           one.pixels_without_data);
    }
    out += fmt::format(
        "at alpha {}: coverage {}, mean set size {}, empty sets {:.2f} %, infinite thresholds {}\n",
        evaluation.alpha, cell(evaluation.coverage_at_alpha), cell(evaluation.set_size, 3),
        100 * evaluation.empty_share, evaluation.infinite);
    if (evaluation.filled_share > 0)
        out += fmt::format(
            "no empty sets: {:.2f} % were filled; left empty, coverage would be {}, mean set size {}\n",
            100 * evaluation.filled_share, cell(evaluation.plain_coverage),
            cell(evaluation.plain_set_size, 3));
    if (report.bootstrap > 0)
        out += fmt::format(
            "90 % intervals, {} resamples of {} {}: coverage {}, mean set size {}\n", report.bootstrap,
            report.groups, report.groups == report.images ? "images" : "groups",
            interval_text(evaluation.coverage_interval, 4), interval_text(evaluation.set_size_interval, 3));
    return out;
}

}  // namespace kandinsky
