#include "report/table/table.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/table/details.hpp"
#include "report/table/rows.hpp"

namespace kandinsky {

namespace {
std::string range_cell(double low, double high) {
    return std::isfinite(low) ? fmt::format("[{:.3f}, {:.3f}]", low, high) : "-";
}

/// "2.35 % empty (filled)": both what the thresholds leave empty and what becomes of it.
std::string empty_text(const Evaluation& evaluation) {
    return percent(evaluation.plain_sets.empty, 2) +
           (evaluation.filled_share > 0 ? " empty (filled)" : " empty");
}

/// What the sets hold, as one line.
std::string sets_line(const Evaluation& evaluation) {
    const SetFigures& sets = evaluation.sets;
    return fmt::format("{} classes on average, {} of one class ({} of them right), {}, {} full",
                       cell(sets.size, 3), percent(sets.single), percent(sets.single_right),
                       empty_text(evaluation), percent(sets.full));
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
    const std::size_t width = name_width(comparison);
    int current = -2;
    for (const CompareRow& row : comparison.rows) {
        if (!is_wanted(row.cls, classes)) continue;
        if (row.cls != current) {
            current = row.cls;
            const std::string who = row.cls < 0 ? "all classes" : fmt::format("class {}", row.cls);
            out += fmt::format("\n{}: sampling floor {}, ECE {}, {} pixels with test samples, {} without\n",
                               who, cell(row.floor), cell(row.ece, 3), row.pixels, row.pixels_without_data);
            out += fmt::format("  {:<{}}{:>8}{:>10}  {:>8}{}  {:<16}{:>13}{:>10}{:>9}{:>9}\n", "method",
                               width, "regions", "coverage", "mean CE", spread ? "       sd" : "",
                               "[q05, q95]", "false share", "set size", "empty", "fit s");
        }
        double best = row.mean_ce;
        for (const CompareRow& other : comparison.rows)
            if (other.cls == row.cls && other.mean_ce < best) best = other.mean_ce;
        out += fmt::format("  {:<{}}{:>8}{:>10}  {:>7}{}{}  {:<16}{:>13}{:>10}{:>9}{:>9}\n", row.method,
                           width, row.regions, cell(row.coverage_at_alpha), cell(row.mean_ce),
                           row.mean_ce <= best ? "*" : " ",
                           spread ? fmt::format("  {:>6} ", cell(row.mean_ce_sd)) : "",
                           range_cell(row.q05, row.q95), cell(row.false_share), cell(row.sets.size, 3),
                           percent(row.empty_share, 2), cell(row.fit_seconds, 2));
    }
    out += fmt::format(
        "\nCE: mean coverage error over pixels (lower is better), * best. At alpha {}: coverage; false "
        "share: "
        "of the pixels with another label, those whose set holds the class; classes in a set; empty sets.\n",
        comparison.alpha);
    for (std::size_t m = 0; m < comparison.last.calibrators.size(); ++m) {
        const Evaluation& last = comparison.last.calibrators[m];
        out += fmt::format("{:<{}}{}\n", comparison.rows[m].method, width, sets_line(last));
    }
    return out;
}

std::string evaluation_table(const Calibrator& calibrator, const EvaluationReport& report,
                             const std::vector<int>& classes) {
    const Evaluation& evaluation = report.calibrators.front();
    std::string out =
        fmt::format("{} on {} test images, {} x {} pixels (width x height)\n", calibrator.options.method,
                    report.images, calibrator.grid.width, calibrator.grid.height);
    out +=
        fmt::format("  {:<7}{:>8}{:>10}  {:>8}  {:<16}{:>8}{:>13}{:>8}{:>10}{:>10}\n", "class", "regions",
                    "coverage", "mean CE", "[q05, q95]", "floor", "false share", "ECE", "pixels", "without");
    const bool pooled = calibrator.options.condition == Condition::none;
    for (std::size_t s = 0; s < evaluation.strata.size(); ++s) {
        const int cls = pooled ? -1 : static_cast<int>(s);
        if (!is_wanted(cls, classes)) continue;
        const StratumEvaluation& one = evaluation.strata[s];
        out += fmt::format(
            "  {:<7}{:>8}{:>10}  {:>8}  {:<16}{:>8}{:>13}{:>8}{:>10}{:>10}\n",
            pooled ? "all" : std::to_string(s), calibrator.partitions[s].regions, cell(one.coverage_at_alpha),
            cell(one.mean_ce), range_cell(one.q05, one.q95), cell(one.floor), cell(one.false_share),
            pooled ? "-" : cell(report.probabilities.classes[s].ece, 3), one.pixels, one.pixels_without_data);
    }
    out += fmt::format("at alpha {}: coverage {}, {} false classes in a set, infinite thresholds {}\n",
                       evaluation.alpha, cell(evaluation.coverage_at_alpha),
                       cell(evaluation.sets.false_classes, 3), evaluation.infinite);
    out += "sets: " + sets_line(evaluation) + "\n";
    if (evaluation.filled_share >= 0.00005)  // else every figure below is that above
        out += fmt::format(
            "coverage and CE are those before filling; filled, the sets cover {}. Unfilled, they have {} "
            "classes, {} of one class ({} of them right)\n",
            cell(evaluation.filled_coverage), cell(evaluation.plain_sets.size, 3),
            percent(evaluation.plain_sets.single), percent(evaluation.plain_sets.single_right));
    if (report.bootstrap > 0)
        out += fmt::format(
            "90 % intervals, {} resamples of {} {}: coverage {}, set size {}, false classes {}\n",
            report.bootstrap, report.groups, report.groups == report.images ? "images" : "groups",
            interval_text(evaluation.coverage_interval, 4), interval_text(evaluation.set_intervals.size, 3),
            interval_text(evaluation.set_intervals.false_classes, 3));
    return out;
}

}  // namespace kandinsky
