#include <cmath>
#include <kandinsky/kcal.hpp>
#include <kandinsky/outline.hpp>
#include <optional>

#include "cli/commands/command.hpp"
#include "cli/commands/outline_files.hpp"
#include "cli/options/case_flags.hpp"
#include "core/base/fail.hpp"
#include "io/file/input_watch.hpp"
#include "outline/remarks.hpp"

namespace kandinsky::cli {

namespace {
struct Flags {
    CommonFlags common;
    CaseFlags cases;
    std::string output, contours, json, calibrator, score = "auto", sides = "both", unit = "group",
                                                    connectivity = "corners";
    std::vector<int> classes;
    std::optional<double> share;
    double alpha = 0.1, confidence = 0, small = 0;
    std::uint64_t seed = 0;

    [[nodiscard]] bool objects() const { return unit != "group"; }
    /// If the input is a folder or a file of an image or volume, the output is a folder with one file per
    /// case, unless the output's name ends in .npy.
    [[nodiscard]] bool to_folder() const {
        return !output.empty() && cases.applies() && cases.folders() &&
               std::filesystem::path(output).extension() != ".npy";
    }
};

OutlineSides sides_of(const std::string& word) {
    if (word == "both") return OutlineSides::both;
    return says("--sides", word, "outer", "inner") ? OutlineSides::outer : OutlineSides::inner;
}

/// The threshold of a mask in words: "distance up to 2.3 mm".
std::string reach(const OutlineLevel& level, bool outer, const OutlineRule& rule) {
    if (std::isinf(level.threshold)) return outer ? "the whole image" : "nothing";
    const bool lengths = level.score.kind == OutlineScore::Kind::distance && level.score.weight == 0;
    const char* const unit = rule.unit == LengthUnit::millimetre ? " mm"
                             : rule.volumes                      ? " voxels"
                                                                 : " pixels";
    return fmt::format("{} {} {:.4g}{}", name_of(level.score), outer ? "up to" : "below", level.threshold,
                       lengths ? unit : "");
}

/// The share of the image that a mask covers, or "-" if it was not made.
std::string made(bool asked, double share) {
    return asked ? fmt::format("{:.4f}", share) : "-";
}

std::string table(const OutlineRule& rule) {
    std::string out = fmt::format("{:<7}{:>7}{:>10}{:>10}{:>10}   {}\n", "class", "groups", "object", "outer",
                                  "inner", "masks");
    for (const ClassOutline& one : rule.classes) {
        const std::string large = made(rule.sides != OutlineSides::inner, one.outer_share);
        const std::string small = made(rule.sides != OutlineSides::outer, one.inner_share);
        std::string masks;
        if (rule.sides != OutlineSides::inner) masks += "outer: " + reach(one.outer, true, rule);
        if (rule.sides != OutlineSides::outer)
            masks += (masks.empty() ? "" : "; ") + ("inner: " + reach(one.inner, false, rule));
        out += fmt::format("{:<7}{:>7}{:>10.4f}{:>10}{:>10}   {}\n", one.number, one.groups, one.object_share,
                           large, small, masks);
    }
    return out + "(shares of the image, means over the calibration groups that have the class)\n";
}

/// True objects by size.
std::string objects_table(const OutlineRule& rule, const std::vector<OutlineJudgement>& found, double small) {
    const std::string unit = size_unit(rule);
    std::string out = fmt::format("{:<7}{:<22}{:>9}{:>10}{}\n", "class", "size of objects", "objects",
                                  "touched", rule.share == 0 ? "" : "   covered");
    for (std::size_t c = 0; c < found.size(); ++c) {
        double last = small;
        for (const ObjectCounts& one : found[c].objects) {
            const auto n = static_cast<double>(one.objects);
            const std::string sizes = std::isinf(one.largest)
                                          ? fmt::format("above {:g} {}", last, unit)
                                          : fmt::format("up to {:g} {}", one.largest, unit);
            out += fmt::format("{:<7}{:<22}{:>9}{:>10.4f}", rule.classes[c].number, sizes, one.objects,
                               static_cast<double>(one.touched) / n);
            out += rule.share == 0 ? "\n" : fmt::format("{:>10.4f}\n", static_cast<double>(one.covered) / n);
            last = one.largest;
        }
    }
    return out + fmt::format(
                     "(objects: connected parts of the truth, each in the first row that fits; touched: "
                     "share of them that the outer mask touches{})\n",
                     rule.share == 0   ? std::string()
                     : rule.share == 1 ? std::string("; covered: share of them that it contains")
                                       : fmt::format("; covered: share of them with {:g} % or more inside it",
                                                     100 * rule.share));
}

std::string judged(const OutlineRule& rule, const std::vector<OutlineJudgement>& found, double small) {
    const bool objects = rule.per == OutlineUnit::object;
    std::string out = fmt::format("{:<7}{:>7}{:>10}{:>10}{:>10}{:>10}\n", "class", "groups",
                                  objects ? "found" : "held", "object", "outer", "inner");
    for (std::size_t c = 0; c < found.size(); ++c) {
        const OutlineJudgement& one = found[c];
        if (one.groups == 0) {
            out += fmt::format("{:<7}{:>7}{:>10}{:>10}{:>10}{:>10}\n", rule.classes[c].number, 0, "-", "-",
                               "-", "-");
            continue;
        }
        const double n = static_cast<double>(one.groups);
        out += fmt::format("{:<7}{:>7}{:>10.4f}{:>10.4f}{:>10}{:>10}\n", rule.classes[c].number, one.groups,
                           objects ? one.found : static_cast<double>(one.held) / n, one.object_share,
                           made(rule.sides != OutlineSides::inner, one.outer_share),
                           made(rule.sides != OutlineSides::outer, one.inner_share));
    }
    return out +
           fmt::format("({}; the others are shares of the image, means over groups that have the class)\n",
                       objects ? "found: share of a group's objects, mean over groups"
                               : "held: share of groups whose masks are as promised") +
           (rule.sides == OutlineSides::inner ? "" : objects_table(rule, found, small));
}

nlohmann::ordered_json json_of(const OutlineRule& rule, const std::vector<OutlineJudgement>& found) {
    nlohmann::ordered_json out{{"rule", nlohmann::ordered_json::parse(to_json(rule))}};
    if (found.empty()) return out;
    out["test"] = nlohmann::ordered_json::parse(to_json(rule, found));
    return out;
}

bool uses_field(const OutlineRule& rule) {
    return std::any_of(rule.classes.begin(), rule.classes.end(), [](const ClassOutline& one) {
        return one.outer.score.kind == OutlineScore::Kind::field ||
               one.inner.score.kind == OutlineScore::Kind::field;
    });
}

void run(const Flags& flags) {
    const ThreadLimit limit(flags.common.threads);
    flags.cases.check();
    (void)says("--unit", flags.unit, "group", "object");
    OutlineOptions options{.alpha = flags.alpha,
                           .confidence = flags.confidence,
                           .share = flags.share.value_or(flags.objects() ? 0.0 : 1.0),
                           .per = flags.objects() ? OutlineUnit::object : OutlineUnit::group,
                           .connectivity = says("--connectivity", flags.connectivity, "corners", "faces")
                                               ? Connectivity::corners
                                               : Connectivity::faces,
                           .sides = flags.objects() ? OutlineSides::outer : sides_of(flags.sides),
                           .hard = flags.cases.hard(),
                           .seed = flags.seed};
    if (flags.score != "auto") options.scores = {outline_score(flags.score)};
    for (const int cls : flags.classes) {
        if (cls < 0) fail(ErrorKind::usage, "--classes has {}, which is not a class", cls);
        options.classes.push_back(static_cast<std::uint32_t>(cls));
    }
    Outputs outputs{
        {"--save", flags.cases.save}, {"-o", flags.to_folder() ? "" : flags.output}, json_output(flags.json)};
    TerminalProgress progress(flags.common.quiet);
    const InputWatch inputs;
    if (!flags.calibrator.empty())
        options.calibrator = std::make_shared<const Calibrator>(load(flags.calibrator));
    const OutlineRule rule = flags.cases.calibrates()
                                 ? calibrate_outlines(*flags.cases.calibration(), options, progress)
                                 : outline_rule(flags.cases.rule_text(), flags.cases.rule);
    if (options.calibrator && !flags.cases.calibrates() && !uses_field(rule))
        fail(ErrorKind::usage, "--calibrator has no effect: the rule of {} does not use --score field",
             flags.cases.rule);
    if (outputs.has("--save")) outputs.file("--save").write(to_json(rule));
    std::vector<OutlineJudgement> found;
    std::size_t cases = 0;
    if (flags.cases.applies()) {
        const auto images = flags.cases.images(rule.class_count);
        flags.cases.check_fits(*images, rule.class_count, rule.unit, rule.volumes, rule.hard);
        cases = images->size();
        if (!flags.output.empty() || !flags.contours.empty())
            write_outlines({flags.to_folder() ? flags.output : "", flags.contours}, rule, *images,
                           options.calibrator.get(), outputs.has("-o") ? &outputs.file("-o") : nullptr,
                           progress);
        if (images->labelled())
            found = judge_outlines(rule, *images, options.calibrator.get(), flags.small, progress);
    }
    progress.clear();
    inputs.check();
    write_json(flags.json, outputs, json_of(rule, found));
    outputs.commit();
    if (flags.common.quiet || flags.json == "-") return;
    if (flags.cases.calibrates())
        for (const std::string& remark : outline::remarks(rule)) warn(progress, remark);
    print(fmt::format("{}\n{}", guarantee(rule), table(rule)));
    if (flags.cases.applies())
        print(fmt::format(
            "{} new {}{}\n{}", cases, rule.volumes ? "volumes" : "images",
            flags.output.empty() ? "" : fmt::format(": {} (0 outside, 1 between, 2 inside)", flags.output),
            found.empty() ? "" : judged(rule, found, flags.small)));
}
}  // namespace

Command add_outline(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    OptionSet& app =
        OptionSet::add_to(root, "outline", "Write masks that lie inside an object and masks that contain it");
    flags->cases.declare(app, "outline");
    const auto calibrates = [flags = flags.get()] {
        return unless(flags->cases.calibrates(), "the rule of --rule has it already");
    };
    app.counts_unless(calibrates, [&] {
        app.add_option("--alpha", flags->alpha,
                       "share of groups (or images, if there are no groups) whose masks may fail");
        declare_confidence(app, flags->confidence);
        app.add_option("--unit", flags->unit,
                       "unit of the guarantee: group (masks fail in at most a share alpha of the groups) or "
                       "object (the outer mask misses on average at most a share alpha of a new group's "
                       "objects, the connected parts of the class)");
        app.add_option("--share", flags->share,
                       "smallest share of the object (with --unit object: of each object) that the outer "
                       "mask contains; the inner mask exceeds the object by at most (1 - share) times the "
                       "object's size (default: 1; with --unit object 0: the mask touches the object)")
            ->default_str("");
        app.add_option(
            "--connectivity", flags->connectivity,
            "neighbours that belong to one object: corners (8 neighbours, 26 in volumes) or faces (4 and 6)");
        app.add_option("--sides", flags->sides,
                       "masks to write: both, outer or inner; a single mask is closer to the object");
        app.add_option(
            "--score", flags->score,
            "score that orders the pixels: distance (to the predicted mask), relative (distance divided by "
            "the mask's radius), doubt (mean distance to several masks, scaled by the radius and the model's "
            "uncertainty), probability, field (p-values of --calibrator), or auto (the score with the "
            "tightest masks); distance:10, relative:10 and doubt:10 add 10 (1 - p) pixels to the distance");
        declare_classes(app, flags->classes, "classes to outline (default: all except 0)");
        app.add_option("--seed", flags->seed, "seed for drawing the groups from which the score is chosen");
    });
    app.add_option(
           "--small", flags->small,
           "size up to which objects are counted as small in the results on --labels, in pixels or "
           "voxels, or in mm^2 or mm^3 where lengths are known (default: ranges of sizes by powers of ten)")
        ->default_str("");
    app.input("--calibrator", flags->calibrator, "FILE.kcal",
              "calibrator for --score field, made from other images");
    app.output("-o,--output", flags->output, "FILE",
               "masks to write, uint8 [N,K,H,W] for K outlined classes: 0 outside, 1 between, 2 inside; for "
               "a folder of files a folder with one file each");
    app.output(
        "--contours", flags->contours, "DIR",
        "folder for a PNG of each image and class: outer mask (orange), inner mask (blue), truth (green)");
    app.output("--json", flags->json, "FILE", "write the result as JSON ('-': standard output)");
    const Flags* const given = flags.get();
    app.counts_unless("--seed", [given] {
        return unless(given->score == "auto", "there is only one score, so nothing is chosen");
    });
    for (const char* const flag : {"--sides", "--confidence"})
        app.counts_unless(flag, [given] {
            return unless(!given->objects(), "--unit object has only an outer mask and no confidence");
        });
    app.counts_unless("--calibrator", [given] {
        return unless(!given->cases.calibrates() || given->score == "auto" || given->score == "field",
                      "--score is neither field nor auto");
    });
    app.counts_unless("--small", [given] {
        return unless(!given->cases.fresh.labels.empty(), "there are no --labels to find objects in");
    });
    for (const char* const flag : {"-o", "--contours"})
        app.counts_unless(
            flag, [given] { return unless(given->cases.applies(), "there are no --probs or --masks"); });
    flags->common.declare(app);
    app.footer(
        "Example (after 'kandinsky demo -o demo'):\n"
        "  kandinsky outline --cal-probs demo/cal_probs.npy --cal-labels demo/cal_labels.npy --share 0.95 "
        "\\\n"
        "      --probs demo/test_probs.npy --labels demo/test_labels.npy -o demo/outlines.npy");
    return {&app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
