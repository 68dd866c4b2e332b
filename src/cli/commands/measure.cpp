#include <cmath>
#include <kandinsky/measure.hpp>

#include "cli/commands/command.hpp"
#include "cli/options/case_flags.hpp"
#include "core/base/fail.hpp"
#include "io/file/input_watch.hpp"
#include "outline/remarks.hpp"

namespace kandinsky::cli {

namespace {
struct Flags {
    CommonFlags common;
    CaseFlags cases;
    std::string csv, json, by;
    std::vector<int> classes;
    double alpha = 0.1, confidence = 0;
    std::uint64_t seed = 0;
};

std::string number(double value) {
    return std::isnan(value) ? "" : std::isinf(value) ? "inf" : fmt::format("{:.6g}", value);
}

std::string csv_of(const std::vector<Measurement>& found, bool known) {
    std::string out = fmt::format("name,group,class,size,size_low,size_high{},dice,dice_low,dice_high{}\n",
                                  known ? ",size_true" : "", known ? ",dice_true" : "");
    for (const Measurement& one : found) {
        out += fmt::format("{},{},{}", csv_field(one.name), one.group, one.number);
        for (const MeasuredInterval& range : {one.size, one.dice}) {
            out += fmt::format(",{},{},{}", number(range.value), number(range.low), number(range.high));
            if (known) out += "," + number(range.truth);
        }
        out += "\n";
    }
    return out;
}

/// Counts over the intervals of one class: how many contain the truth, and their summed widths.
struct Held {
    double size = 0, dice = 0, groups = 0, width = 0, dice_width = 0;
};

Held held(const std::vector<Measurement>& found, std::uint32_t cls) {
    Held out;
    for (const Measurement& one : found) {
        if (one.number != cls) continue;
        out.groups += 1;
        out.size += one.size.low <= one.size.truth && one.size.truth <= one.size.high;
        out.dice += one.dice.low <= one.dice.truth && one.dice.truth <= one.dice.high;
        out.width += one.size.high - one.size.low;
        out.dice_width += one.dice.high - one.dice.low;
    }
    return out;
}

nlohmann::ordered_json json_number(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

nlohmann::ordered_json json_of(const MeasureRule& rule, const std::vector<Measurement>& found, bool known) {
    nlohmann::ordered_json out{{"rule", nlohmann::ordered_json::parse(to_json(rule))},
                               {"unit", size_unit(rule)}};
    if (found.empty()) return out;
    out["groups"] = nlohmann::ordered_json::array();
    for (const Measurement& one : found) {
        nlohmann::ordered_json item{{"name", one.name}, {"group", one.group}, {"class", one.number}};
        const auto put = [&](const char* name, const MeasuredInterval& range) {
            item[name] = {{"value", json_number(range.value)},
                          {"low", json_number(range.low)},
                          {"high", json_number(range.high)}};
            if (known) item[name]["truth"] = json_number(range.truth);
        };
        put("size", one.size);
        put("dice", one.dice);
        out["groups"].push_back(std::move(item));
    }
    return out;
}

std::string table(const MeasureRule& rule, const std::vector<Measurement>& found, bool known) {
    std::string out = fmt::format("{:<7}{:>14}{:>14}", "class", "width", "Dice width");
    if (known) out += fmt::format("{:>12}{:>12}", "size held", "Dice held");
    out += "\n";
    for (const ClassMeasure& one : rule.classes) {
        const Held all = held(found, one.number);
        const double n = all.groups > 0 ? all.groups : 1;
        out += fmt::format("{:<7}{:>14}{:>14}", one.number,
                           number(all.groups > 0 ? all.width / n : one.size_width),
                           number(all.groups > 0 ? all.dice_width / n : one.dice_width));
        if (known) out += fmt::format("{:>12.4f}{:>12.4f}", all.size / n, all.dice / n);
        out += "\n";
    }
    return out + fmt::format("(mean width of the intervals, in {}, {} {} groups{})\n", size_unit(rule),
                             found.empty() ? "over the" : "over", found.empty() ? "calibration" : "the new",
                             known ? "; held: share of the intervals that contain the truth" : "");
}

std::string rows(const std::vector<Measurement>& found) {
    constexpr std::size_t kMost = 12;
    std::string out = fmt::format("{:<16}{:>6}{:>12}  {:<26}{:>8}  {}\n", "name", "class", "size", "between",
                                  "Dice", "between");
    for (std::size_t i = 0; i < std::min(found.size(), kMost); ++i) {
        const Measurement& one = found[i];
        out += fmt::format("{:<16}{:>6}{:>12}  {:<26}{:>8.3f}  {:.3f} and {:.3f}\n", one.name, one.number,
                           number(one.size.value),
                           fmt::format("{} and {}", number(one.size.low), number(one.size.high)),
                           one.dice.value, one.dice.low, one.dice.high);
    }
    if (found.size() > kMost)
        out += fmt::format("... and {} more rows: --csv, --json\n", found.size() - kMost);
    return out;
}

void run(const Flags& flags) {
    const ThreadLimit limit(flags.common.threads);
    flags.cases.check();
    MeasureOptions options{.alpha = flags.alpha,
                           .confidence = flags.confidence,
                           .by = measure_by(!flags.by.empty()    ? flags.by
                                            : flags.cases.hard() ? "predicted"
                                                                 : "quantiles"),
                           .hard = flags.cases.hard(),
                           .seed = flags.seed};
    for (const int cls : flags.classes) {
        if (cls < 0) fail(ErrorKind::usage, "--classes has {}, which is not a class", cls);
        options.classes.push_back(static_cast<std::uint32_t>(cls));
    }
    Outputs outputs{
        {"--save", flags.cases.save}, {"--csv", flags.csv == "-" ? "" : flags.csv}, json_output(flags.json)};
    TerminalProgress progress(flags.common.quiet);
    const InputWatch inputs;
    const MeasureRule rule = flags.cases.calibrates()
                                 ? calibrate_measures(*flags.cases.calibration(), options, progress)
                                 : measure_rule(flags.cases.rule_text(), flags.cases.rule);
    if (outputs.has("--save")) outputs.file("--save").write(to_json(rule));
    std::vector<Measurement> found;
    bool known = false;
    if (flags.cases.applies()) {
        const auto images = flags.cases.images(rule.class_count);
        flags.cases.check_fits(*images, rule.class_count, rule.unit, rule.volumes, rule.hard);
        known = images->labelled();
        found = measure(rule, *images, progress);
    }
    progress.clear();
    inputs.check();
    if (outputs.has("--csv")) outputs.file("--csv").write(csv_of(found, known));
    write_json(flags.json, outputs, json_of(rule, found, known));
    outputs.commit();
    if (flags.csv == "-") print(csv_of(found, known));
    if (flags.common.quiet || flags.json == "-" || flags.csv == "-") return;
    for (const std::string& remark : outline::remarks(rule)) warn(progress, remark);
    print(fmt::format("{}\n{}{}", guarantee(rule), found.empty() ? "" : rows(found),
                      table(rule, found, known)));
}
}  // namespace

Command add_measure(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    OptionSet& app =
        OptionSet::add_to(root, "measure", "Print area, volume and Dice of each object with intervals");
    flags->cases.declare(app, "measure");
    const auto calibrates = [flags = flags.get()] {
        return unless(flags->cases.calibrates(), "the rule of --rule has it already");
    };
    app.counts_unless(calibrates, [&] {
        app.add_option(
            "--alpha", flags->alpha,
            "share of groups (or images, if there are no groups) whose interval may miss the truth");
        declare_confidence(app, flags->confidence);
        app.add_option(
               "--by", flags->by,
               "interval before calibration: quantiles (size of p > 0.9 to size of p > 0.1), "
               "predicted (size of the predicted mask; default of masks), soft (sum of the probabilities "
               "above "
               "0.1), relative (as predicted, but widened in proportion to the size) or auto (the narrowest)")
            ->default_str("quantiles");
        declare_classes(app, flags->classes, "classes to measure (default: all except 0)");
        app.add_option("--seed", flags->seed, "seed for drawing the groups from which --by auto chooses");
    });
    app.output("--csv", flags->csv, "FILE.csv",
               "write a CSV line for each group and class ('-': standard output)");
    app.output("--json", flags->json, "FILE", "write the result as JSON ('-': standard output)");
    const Flags* const given = flags.get();
    app.counts_unless("--seed", [given] {
        return unless(given->by == "auto", "there is only one interval to start from, so nothing is chosen");
    });
    app.counts_unless("--csv",
                      [given] { return unless(given->cases.applies(), "there are no --probs or --masks"); });
    flags->common.declare(app);
    app.footer(
        "Example (after 'kandinsky demo -o demo'):\n"
        "  kandinsky measure --cal-probs demo/cal_probs.npy --cal-labels demo/cal_labels.npy \\\n"
        "      --probs demo/test_probs.npy --csv demo/areas.csv");
    return {&app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
