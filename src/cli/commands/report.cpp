#include <algorithm>
#include <kandinsky/kcal.hpp>
#include <optional>

#include "cli/commands/command.hpp"
#include "cli/commands/model_flags.hpp"
#include "cli/options/case_flags.hpp"
#include "cli/options/report_flags.hpp"
#include "cli/options/shared_flags.hpp"
#include "core/base/fail.hpp"
#include "io/file/input_watch.hpp"
#include "report/data/outline_data.hpp"
#include "report/page/page.hpp"
#include "score/census.hpp"

namespace kandinsky::cli {

namespace {
struct Flags {
    CommonFlags common;
    InputFlags input, cal;
    ReportFlags report;
    PhotoFlags photos;
    std::vector<std::string> calibrators;
    std::string outline;
    std::vector<int> classes;
    double alpha = 0.1;
};

/// The method's name, or the file's name if two files have the same method.
std::vector<std::string> names_of(const std::vector<std::string>& files,
                                  const std::vector<Calibrator>& calibrators) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (std::count(files.begin(), files.end(), files[i]) > 1)
            fail(ErrorKind::usage, "{} is given twice", files[i]);
        const auto same = [&](const Calibrator& other) {
            return other.options.method.name == calibrators[i].options.method.name;
        };
        const bool alone = std::count_if(calibrators.begin(), calibrators.end(), same) == 1;
        std::string name =
            alone ? calibrators[i].options.method.name : std::filesystem::path(files[i]).stem().string();
        if (std::find(names.begin(), names.end(), name) != names.end()) name = files[i];
        names.push_back(std::move(name));
    }
    return names;
}

/// The calibration images, if given: exactly those that every calibrator was made from.
std::optional<Dataset> calibration_images(const Flags& flags, const std::vector<Calibrator>& calibrators,
                                          Progress& progress) {
    InputFlags input = flags.cal;
    if (input.probs.empty() && input.labels.empty() && input.groups.empty()) return {};
    if (input.probs.empty() || input.labels.empty())
        fail(ErrorKind::usage, "--cal-probs and --cal-labels go together: give both or neither{}",
             input.groups.empty() ? "" : ", and --cal-groups only with them");
    input.ignore = flags.input.ignore;
    input.logits = flags.input.logits;
    for (std::size_t i = 1; i < calibrators.size(); ++i)
        if (calibrators[i].fingerprint != calibrators.front().fingerprint)
            fail(ErrorKind::data,
                 "{} and {} were made from different images, so that --cal-probs cannot belong to both; "
                 "leave --cal-probs and --cal-labels out",
                 flags.calibrators.front(), flags.calibrators[i]);
    input.folder = flags.input.folder;
    Dataset data = input.load(progress, &calibrators.front()).data;
    check_fits(calibrators.front(), data);
    const Calibrator& first = calibrators.front();
    if (take_census(data, first.options.condition, progress).fingerprint != first.fingerprint)
        fail(ErrorKind::data,
             "{} and {} are not the images that {} was made from ({} images{}); give the same files, groups, "
             "--ignore and --logits as to calibrate, or leave --cal-probs and --cal-labels out",
             input.probs, input.labels, flags.calibrators.front(), first.images,
             first.grouped ? fmt::format(" of {} groups, see --cal-groups", first.groups) : "");
    return data;
}

/// The curves of every pixel alone and of the whole image, unless a calibrator has them.
std::vector<Calibrator> references(const Dataset& data, const ReportInput& input, Progress& progress) {
    const CalibrateOptions& like = input.calibrators.front()->options;
    std::vector<CalibrateOptions> wanted;
    for (const std::string& name : missing_references(input.calibrators)) {
        CalibrateOptions& one = wanted.emplace_back();
        one.method.name = name;
        one.condition = like.condition;
        one.pooling = like.pooling;
        one.score = like.score;
        one.rungs = like.rungs;
        one.released = like.released;
        one.seed = like.seed;
    }
    std::vector<Calibrator> out;
    if (wanted.empty()) return out;
    for (TimedCalibrator& one : calibrate_all(data, wanted, progress))
        out.push_back(std::move(one.calibrator));
    return out;
}

void run(const Flags& flags) {
    const ThreadLimit limit(flags.common.threads);
    check_alpha(flags.alpha);
    if (!flags.report.wanted())
        fail(ErrorKind::usage, "there is nothing to write: give -o R.html, --figures DIR or both");
    if (!flags.report.page.empty()) require_report_template();
    Outputs outputs{{"-o", flags.report.page}};
    TerminalProgress progress(flags.common.quiet);
    const InputWatch inputs;
    std::vector<Calibrator> calibrators;
    for (const std::string& file : flags.calibrators) calibrators.push_back(load(file));
    for (std::size_t i = 0; i < calibrators.size(); ++i)
        if (FolderFlags{}.options(calibrators[i].input).fit !=
            FolderFlags{}.options(calibrators[0].input).fit)
            fail(ErrorKind::usage, "{} and {} cannot be in one report: they are made for different grids",
                 flags.calibrators[0], flags.calibrators[i]);
    const Input read = flags.input.load(progress, &calibrators.front());
    say(progress, read, flags.common.quiet);
    const Dataset& data = read.data;
    flags.report.check(data.classes());
    const auto photo =
        flags.photos.reader(read, flags.input.folder.options(calibrators.front().input).coco.letterbox);
    check_classes(flags.classes, data.classes(), "there are");
    std::optional<OutlineRule> outlines;
    if (!flags.outline.empty()) {
        outlines = outline_rule(read_rule(flags.outline), flags.outline);
        check_outlines(*outlines, flags.outline, data);
    }
    ReportInput input;
    if (outlines) input.outlines = &*outlines;
    input.title = "Coverage of prediction sets";
    input.names = names_of(flags.calibrators, calibrators);
    for (const Calibrator& calibrator : calibrators) {
        if (calibrator.options.condition != calibrators.front().options.condition ||
            calibrator.options.released != calibrators.front().options.released)
            fail(ErrorKind::usage,
                 "{} and {} cannot be in one report: they differ in --condition or --compat",
                 flags.calibrators.front(),
                 flags.calibrators[static_cast<std::size_t>(&calibrator - calibrators.data())]);
        input.calibrators.push_back(&calibrator);
    }
    input.provenance["inputs"] = {input_json("test", data)};
    std::vector<Calibrator> beside;
    if (const auto images = calibration_images(flags, calibrators, progress)) {
        beside = references(*images, input, progress);
        for (const Calibrator& one : beside) input.references.push_back(&one);
        input.provenance["inputs"] = {input_json("calibration", *images), input_json("test", data)};
    }
    const auto [evaluation, tally] =
        examine(data, input.calibrators, {.alpha = flags.alpha, .ece_maps = false}, progress);
    input.evaluation = &evaluation;
    input.test = &data;
    input.photo = photo;
    input.classes = flags.classes;
    input.alpha = flags.alpha;
    input.provenance["calibrators"] = flags.calibrators;
    flags.report.write(std::move(input), tally, outputs, "-o");
    progress.clear();
    inputs.check();
    outputs.commit();
    if (flags.common.quiet) return;
    if (!flags.report.figures.empty()) print(fmt::format("{}: figures\n", flags.report.figures));
    if (!flags.report.page.empty())
        print(fmt::format("{}: report of {} calibrator{} on {} test images; open it in any browser\n",
                          flags.report.page, calibrators.size(), calibrators.size() == 1 ? "" : "s",
                          data.images()));
}
}  // namespace

Command add_report(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    OptionSet& app =
        OptionSet::add_to(root, "report", "Write an HTML report about calibrators on labelled images");
    app.mark_input(app.add_option("calibrators", flags->calibrators, "calibrators, .kcal files")
                       ->default_str("")
                       ->required()
                       ->type_name("FILE.kcal"));
    declare_input(app, flags->input, "", true);
    declare_reading(app, flags->input);
    app.input("--cal-probs", flags->cal.probs, "FILE",
              "probabilities of the calibration images; with them the page shows the curve of each pixel "
              "alone and that of the image");
    app.input("--cal-labels", flags->cal.labels, "FILE", "labels of these images");
    app.input("--cal-groups", flags->cal.groups, "FILE",
              "groups of the calibration images, if any were given to calibrate");
    for (const char* const flag : {"--cal-probs", "--cal-labels", "--cal-groups"})
        app.counts_unless(flag, [flags = flags.get()] {
            return unless(!flags->report.page.empty(),
                          "only the page shows the curves, and no page is written");
        });
    app.output("-o,--output", flags->report.page, "FILE.html",
               "report to write, one self-contained HTML page");
    app.input("--outline", flags->outline, "FILE.json",
              "rule that 'kandinsky outline --save' wrote: show its outlines over the test images, and how "
              "often they held");
    app.counts_unless("--outline", [flags = flags.get()] {
        return unless(!flags->report.page.empty(), "only the page shows outlines, and no page is written");
    });
    flags->report.declare(app);
    flags->photos.declare(app, flags->report);
    app.add_option("--alpha", flags->alpha,
                   "error level alpha at which set sizes are measured and the page's slider starts");
    declare_classes(app, flags->classes, "classes to show first (default: in order)");
    flags->common.declare(app);
    app.footer(
        "Example (after 'kandinsky demo -o demo'):\n"
        "  kandinsky report demo/kmeans.kcal demo/image.kcal --probs demo/test_probs.npy \\\n"
        "      --labels demo/test_labels.npy --cal-probs demo/cal_probs.npy --cal-labels demo/cal_labels.npy "
        "\\\n"
        "      --class-names background,foreground -o report.html");
    return {&app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
