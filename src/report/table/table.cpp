#include "report/table/table.hpp"
#include "calibrate/choice_label.hpp"
#include "evaluate/compare_row.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "report/table/result_json.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kNameWidth = 9;  ///< least width of the column of methods or classes

/// The width of the column of methods.
std::size_t name_width(const Comparison& comparison) {
    std::size_t width = kNameWidth;
    for (const CompareRow& row : comparison.rows) width = std::max(width, row.method.size() + 1);
    return width;
}

/// A number for a table, or as a percentage; "-" instead of NaN.
std::string cell(double value, int digits = 4) {
    return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "-";
}
std::string percent(double value, int digits = 1) {
    return std::isfinite(value) ? fmt::format("{:.{}f} %", 100 * value, digits) : "-";
}

/// "[0.123, 0.456]", or "-" without an interval.
std::string interval_text(const Interval& interval, int digits) {
    return std::isfinite(interval.low)
               ? fmt::format("[{:.{}f}, {:.{}f}]", interval.low, digits, interval.high, digits)
               : "-";
}

/// "2.35 % empty (filled)": the share that the thresholds leave empty, and whether it is filled.
std::string empty_text(const Evaluation& evaluation) {
    return percent(evaluation.plain_sets.empty, 2) +
           (evaluation.filled_share > 0 ? " empty (filled)" : " empty");
}

/// A summary of the sets in one line.
std::string sets_line(const Evaluation& evaluation) {
    const SetFigures& sets = evaluation.sets;
    return fmt::format("{} classes on average, {} of one class ({} of them right), {}, {} full",
                       cell(sets.size, 3), percent(sets.single), percent(sets.single_right),
                       empty_text(evaluation), percent(sets.full));
}

std::string heading(const char* first, std::size_t width = kNameWidth) {
    return fmt::format("  {:<{}}{:>9}{:>9}{:>9}{:>9}{:>10}{:>8}{:>8}{:>8}{:>9}{:>8}{:>8}{:>9}{:>9}\n", first,
                       width, "weighted", fmt::format("CE n>={}", StratumEvaluation::kEnoughSamples), "floor",
                       "pixels", "place", "region", "block", "images", "below", "spread", "far", "hardest",
                       "smECE");
}

/// A line of the second table.
std::string more_line(const std::string& name, const CompareRow& row, const ImageCoverage& images,
                      std::size_t width = kNameWidth) {
    return fmt::format("  {:<{}}{:>9}{:>9}{:>9}{:>9}{:>10}{:>8}{:>8}{:>8}{:>9}{:>8}{:>8}{:>9}{:>9}\n", name,
                       width, cell(row.weighted_ce), cell(row.ce_enough), cell(row.floor_enough),
                       row.pixels_enough, cell(row.place_error), cell(row.worst_region, 3),
                       cell(row.worst_block, 3), cell(images.quantiles[2], 3), percent(row.images_below),
                       cell(images.spread, 3), percent(images.far_below), cell(images.hardest, 3),
                       cell(row.smooth_ece));
}

std::string legend(double alpha) {
    return fmt::format(
        "weighted: mean CE with pixels weighted by their test samples; CE n>={0}: mean CE of the pixels with "
        "{0} or more test samples, with their floor and number. At alpha {1}: place: mean distance of a "
        "pixel's coverage from {3:.6g} (pixels with {4} or more samples); region, block: coverage of the "
        "worst region and of the worst of {2} x {2} blocks; images: coverage of the median image; below, "
        "far: shares of images below {3:.6g} and more than 0.1 below it; spread: mean distance of an image's "
        "coverage from {3:.6g}; hardest: coverage of the tenth of the images that look hardest. smECE: "
        "smooth ECE.\n",
        StratumEvaluation::kEnoughSamples, alpha, WorstPlace::kBlocks, 1 - alpha,
        StratumEvaluation::kSomeSamples);
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

constexpr std::string_view kShades = " -:=+*#%@";
constexpr std::size_t kColumns = 48, kRows = 18;

std::string drawn(const std::vector<double>& cells, std::size_t width, double top) {
    std::string out = "  +" + std::string(width, '-') + "+\n";
    for (std::size_t begin = 0; begin < cells.size(); begin += width) {
        out += "  |";
        for (std::size_t i = begin; i < begin + width; ++i) {
            const double share = top > 0 ? std::clamp(cells[i] / top, 0.0, 1.0) : 0;
            const auto last = static_cast<double>(kShades.size() - 1);
            out +=
                std::isfinite(cells[i]) ? kShades[static_cast<std::size_t>(std::lround(share * last))] : '.';
        }
        out += "|\n";
    }
    return out + "  +" + std::string(width, '-') + "+\n";
}

std::string class_name(const Calibrator& calibrator, std::size_t stratum) {
    return calibrator.strata() == 1 ? "all" : std::to_string(stratum);
}
}  // namespace

std::string comparison_table(const Comparison& comparison, const std::vector<int>& classes) {
    std::string out = fmt::format("{} calibration images", comparison.cal_images);
    if (comparison.grouped) out += fmt::format(" of {} groups", comparison.cal_groups);
    if (comparison.sample > 0)
        out += fmt::format(" ({} draw{} of {} {})", comparison.draws, comparison.draws == 1 ? "" : "s",
                           comparison.sample, comparison.grouped ? "groups" : "images");
    out += fmt::format(", {} test images, {} x {} pixels (height x width)\n", comparison.test_images,
                       comparison.grid.height, comparison.grid.width);
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
                           interval_text({row.q05, row.q95}, 3), cell(row.false_share),
                           cell(row.sets.size, 3), percent(row.empty_share, 2), cell(row.fit_seconds, 2));
    }
    out += fmt::format(
        "\nCE: mean coverage error over pixels (lower is better), * best. At alpha {}: coverage; false "
        "share: among the pixels with another label, the share whose set contains the class; set size: mean "
        "number of classes in a set; empty: share of empty sets.\n",
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
        fmt::format("{} on {} test images, {} x {} pixels (height x width)\n", calibrator.options.method.name,
                    report.images, calibrator.grid.height, calibrator.grid.width);
    out += fmt::format("  {:<7}{:>8}{:>10}  {:>8}  {:<16}{:>8}{:>13}{:>8}{:>8}{:>10}{:>10}\n", "class",
                       "regions", "coverage", "mean CE", "[q05, q95]", "floor", "false share", "FDR", "ECE",
                       "pixels", "without");
    const bool pooled = calibrator.options.condition == Condition::none;
    for (std::size_t s = 0; s < evaluation.strata.size(); ++s) {
        const int cls = pooled ? -1 : static_cast<int>(s);
        if (!is_wanted(cls, classes)) continue;
        const StratumEvaluation& one = evaluation.strata[s];
        out +=
            fmt::format("  {:<7}{:>8}{:>10}  {:>8}  {:<16}{:>8}{:>13}{:>8}{:>8}{:>10}{:>10}\n",
                        pooled ? "all" : std::to_string(s), calibrator.partitions[s].regions,
                        cell(one.coverage_at_alpha), cell(one.mean_ce), interval_text({one.q05, one.q95}, 3),
                        cell(one.floor), cell(one.false_share), cell(one.false_discovery, 3),
                        cell(compare_row(calibrator, evaluation, report.probabilities, s).ece, 3), one.pixels,
                        one.pixels_without_data);
    }
    out += fmt::format("at alpha {}: coverage {}, {} false classes in a set, infinite thresholds {}\n",
                       evaluation.alpha, cell(evaluation.coverage_at_alpha),
                       cell(evaluation.sets.false_classes, 3), evaluation.infinite);
    out += "sets: " + sets_line(evaluation) + "\n";
    if (evaluation.filled_share >= 0.00005)  // a smaller share would print the same numbers again
        out += fmt::format(
            "coverage and CE are measured before filling; after filling, sets cover {}. Before filling: {} "
            "classes on average, {} of one class ({} of them right)\n",
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

std::string evaluation_details(const Calibrator& calibrator, const EvaluationReport& report,
                               const std::vector<int>& classes) {
    const Evaluation& evaluation = report.calibrators.front();
    const bool pooled = calibrator.options.condition == Condition::none;
    std::string out = fmt::format("\n{}", heading("class"));
    for (std::size_t s = 0; s < evaluation.strata.size(); ++s) {
        if (!is_wanted(pooled ? -1 : static_cast<int>(s), classes)) continue;
        out += more_line(pooled ? "all" : std::to_string(s),
                         compare_row(calibrator, evaluation, report.probabilities, s),
                         evaluation.strata[s].image_coverage);
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
        out += more_line(row.method, row, last.image_coverage, width);
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

std::vector<double> shrunk(const std::vector<double>& map, const Grid& grid, std::size_t columns,
                           std::size_t rows, std::size_t& width) {
    // Pixels per letter, so that letters of shape 1 : 2 keep the picture's shape.
    const double step = std::max({static_cast<double>(grid.width) / static_cast<double>(columns),
                                  static_cast<double>(grid.height) / static_cast<double>(2 * rows), 1.0});
    width = std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(grid.width / step)), 1, columns);
    const std::size_t height =
        std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(grid.height / (2 * step))), 1, rows);
    std::vector<double> sums(width * height, 0), counts(width * height, 0);
    for (std::size_t p = 0; p < map.size(); ++p) {
        if (!std::isfinite(map[p])) continue;
        const std::size_t cell =
            p / grid.width * height / grid.height * width + p % grid.width * width / grid.width;
        sums[cell] += map[p];
        counts[cell] += 1;
    }
    for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] /= counts[i];  // 0 / 0 gives NaN, which means no value
    return sums;
}

std::string error_text_map(const Comparison& comparison, const std::vector<int>& classes) {
    std::string out;
    const std::size_t methods = comparison.calibrators.size();
    for (std::size_t s = 0; s * methods < comparison.rows.size(); ++s) {
        const auto first = comparison.rows.begin() + static_cast<std::ptrdiff_t>(s * methods);
        if (!is_wanted(first->cls, classes)) continue;
        const auto best =
            std::min_element(first, first + static_cast<std::ptrdiff_t>(methods),
                             [](const CompareRow& a, const CompareRow& b) { return a.mean_ce < b.mean_ce; });
        const auto m = static_cast<std::size_t>(best - first);
        if (!std::isfinite(best->mean_ce)) continue;
        std::size_t width = 0;
        const std::vector<double> cells =
            shrunk(comparison.last.calibrators[m].strata[s].ce_map, comparison.grid, kColumns, kRows, width);
        double top = 0;
        for (const double cell : cells)
            if (std::isfinite(cell)) top = std::max(top, cell);
        out +=
            fmt::format("\ncoverage error of {}, {}: from '{}' (0) to '{}' ({:.3f}); '.': no test sample\n",
                        best->method, first->cls < 0 ? "all classes" : fmt::format("class {}", first->cls),
                        kShades.front(), kShades.back(), top);
        out += drawn(cells, width, top);
    }
    return out;
}

std::string choice_sentence(const Calibrator& calibrator) {
    struct Verdict {
        std::string text;
        std::vector<std::string> classes;
    };
    std::vector<Verdict> verdicts;
    for (std::size_t s = 0; s < calibrator.strata(); ++s) {
        const Choice& one = calibrator.choices[s];
        const std::string name = label_of(one.method, one.tuned);
        auto known = std::find_if(verdicts.begin(), verdicts.end(), [&](const Verdict& verdict) {
            return verdict.text == name + "\n" + one.reason;
        });
        if (known == verdicts.end())
            known = verdicts.insert(verdicts.end(), Verdict{name + "\n" + one.reason, {}});
        known->classes.push_back(class_name(calibrator, s));
    }
    std::string out = "Chosen by cross-validation: ";
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        const std::size_t at = verdicts[i].text.find('\n');
        out += fmt::format("{}{}{} ({})", i > 0 ? "; " : "", verdicts[i].text.substr(0, at),
                           calibrator.strata() == 1 ? ""
                           : verdicts.size() == 1
                               ? " for every class"
                               : fmt::format(" for class{} {}", verdicts[i].classes.size() > 1 ? "es" : "",
                                             fmt::join(verdicts[i].classes, ", ")),
                           verdicts[i].text.substr(at + 1));
    }
    return out + ".";
}

std::string choice_table(const Calibrator& calibrator) {
    std::vector<std::string> names;
    for (const JudgedMethod& one : calibrator.choices.front().judged)
        names.push_back(label_of(one.method, one.tuned));
    std::string out = fmt::format("{:<8}", "class");
    for (const std::string& name : names)
        out += fmt::format("{:>{}}", name, std::max<std::size_t>(10, name.size() + 2));
    out += "\n";
    for (std::size_t s = 0; s < calibrator.strata(); ++s) {
        const Choice& choice = calibrator.choices[s];
        out += fmt::format("{:<8}", class_name(calibrator, s));
        for (std::size_t k = 0; k < choice.judged.size(); ++k) {
            const JudgedMethod& one = choice.judged[k];
            const bool taken = one.method == choice.method && one.tuned == choice.tuned;
            out += fmt::format(
                "{:>{}}", (choice.folds > 0 ? fmt::format("{:.5f}", one.loss) : "-") + (taken ? "*" : " "),
                std::max<std::size_t>(10, names[k].size() + 2));
        }
        out += "\n";
    }
    return out + "(cross-validated loss, lower is better; * chosen)\n" + choice_sentence(calibrator) + "\n";
}

}  // namespace kandinsky
