#include <algorithm>
#include <kandinsky/compare.hpp>

#include "cli/commands/command.hpp"
#include "cli/commands/model_flags.hpp"
#include "cli/options/report_flags.hpp"
#include "cli/options/shared_flags.hpp"
#include "cli/process/ranks.hpp"
#include "core/base/fail.hpp"
#include "io/file/input_watch.hpp"
#include "report/page/page.hpp"
#include "report/table/result_json.hpp"
#include "report/table/table.hpp"

namespace kandinsky::cli {

namespace {
struct Flags {
    CommonFlags common;
    InputFlags cal, test;
    CalibrateFlags calibrate;
    ReportFlags report;
    PhotoFlags photos;
    TeamFlags team;
    std::string methods, json;
    std::vector<int> classes;
    double alpha = 0.1;
    std::size_t sample = 0, draws = 1;
    std::size_t bootstrap = 0;
    bool map = false, more = false;
    EmptyFlags empty;

    [[nodiscard]] std::vector<std::string> asked() const {
        if (!methods.empty()) return split(methods, ',');
        if (calibrate.paper()) return {"pixel", "image", "kmeans", "genann", "fcc"};
        return default_methods();
    }
    [[nodiscard]] bool samples() const { return sample > 0; }
    [[nodiscard]] bool prints() const { return json != "-" && !(common.quiet && !json.empty()); }
    [[nodiscard]] bool shows_intervals() const { return (more && prints()) || !json.empty(); }
    [[nodiscard]] bool by_class() const { return calibrate.condition != "none"; }
    [[nodiscard]] bool without_report() const { return !report.wanted(); }
};

void run(Flags flags) {
    const ThreadLimit limit(threads_for(flags.common.threads));
    check_alpha(flags.alpha);
    CompareOptions options;
    options.methods = flags.asked();
    options.calibrate = flags.calibrate.options();
    options.alpha = flags.alpha;
    options.sample = flags.sample;
    options.draws = flags.draws;
    if (!flags.report.page.empty()) options.references = reference_methods();
    options.empty = flags.empty.choice();
    options.bootstrap = flags.bootstrap;
    if (!flags.report.page.empty()) require_report_template();
    Outputs outputs{json_output(flags.json), {"--report", flags.report.page}};
    flags.test.ignore = flags.cal.ignore;
    flags.test.logits = flags.cal.logits;
    flags.test.folder = flags.cal.folder;
    TerminalProgress progress(flags.common.quiet);
    const InputWatch inputs;
    // The report shows images that may be on other ranks.
    if (flags.report.wanted()) refuse_ranks("compare --report");
    TeamWork work(flags.team);
    const Input cal_input = flags.cal.load(progress), test_input = flags.test.load(progress);
    for (const Input* input : {&cal_input, &test_input}) say(progress, *input, flags.common.quiet);
    const Dataset &calibration = cal_input.data, &test = test_input.data;
    check_classes(flags.classes, calibration.classes(), "there are");
    flags.report.check(calibration.classes());
    const auto photo = flags.photos.reader(test_input, flags.test.folder.options().coco.letterbox);
    const auto [comparison, tally] =
        flags.report.wanted() ? compare_closely(calibration, test, options, progress)
                              : ExaminedComparison{compare(calibration, test, options, progress), {}};
    if (flags.report.wanted()) {
        ReportInput input = report_input(comparison, calibration, test, flags.classes);
        input.photo = photo;
        input.empty = options.empty;
        flags.report.write(std::move(input), tally, outputs, "--report");
    }
    progress.clear();
    const std::string traffic = work.traffic();
    if (!speaks()) return work.done();
    if (!flags.common.quiet)
        for (const std::string& remark : remarks(comparison.calibrators.front())) warn(progress, remark);
    nlohmann::ordered_json json = comparison_json(comparison, flags.classes);
    if (!cal_input.provenance.is_null())
        json["input"] = {{"cal", cal_input.provenance}, {"test", test_input.provenance}};
    inputs.check();
    write_json(flags.json, outputs, json);
    outputs.commit();
    work.done();
    if (flags.prints())
        print(comparison_table(comparison, flags.classes) +
              (flags.more ? comparison_details(comparison, flags.classes) : "") +
              (flags.map || is_terminal() ? error_text_map(comparison, flags.classes) : "") + traffic);
}
}  // namespace

Command add_compare(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    OptionSet& app = OptionSet::add_to(
        root, "compare", "Compare the coverage error of several methods, as the paper's table does");
    declare_input(app, flags->cal, "cal-", true);
    declare_input(app, flags->test, "test-", true);
    declare_reading(app, flags->cal);
    app.add_option(
        "--methods", flags->methods,
        "methods to compare, separated by commas; METHOD:SCORE sets the score of a method (default: "
        "all methods except auto and those that need a file)");
    declare_classes(app, flags->classes, "classes to report (default: all)");
    app.add_option("--alpha", flags->alpha, "error level alpha at which sets are measured");
    app.add_option("--sample", flags->sample,
                   "calibrate on a random subset of this many groups (or images, if there are no groups)")
        ->default_str("");
    app.add_option("--draws", flags->draws,
                   "number of random subsets; mean and standard deviation are reported");
    flags->empty.declare(app, "rule for empty sets at --alpha: auto, fill or keep (see predict --help)");
    app.add_option(
        "--bootstrap", flags->bootstrap,
        "number of resamples of the test groups (or images, if there are no groups) for 90 % intervals, such "
        "as 200 (0: no intervals)");
    app.add_flag(
        "--more", flags->more,
        "print a second table: weighted CE, worst region, coverage by image and set size, smooth ECE");
    app.output("--json", flags->json, "FILE", "write the results as JSON ('-': standard output)");
    app.add_flag("--map", flags->map, "draw the errors as letters below the table (default on a terminal)");
    app.output("--report", flags->report.page, "FILE.html", "write the report, one self-contained HTML page");
    flags->report.declare(app);
    flags->photos.declare(app, flags->report);
    flags->calibrate.declare(app, [flags = flags.get()] { return flags->asked(); });
    declare_checkpoint(app, flags->team);
    const auto counts = [&app, flags = flags.get()](const char* flag, bool (Flags::*when)() const,
                                                    const char* why) {
        app.counts_unless(flag, [=] { return unless((flags->*when)(), why); });
    };
    counts("--draws", &Flags::samples, "there is no --sample, the number of groups or images in each draw");
    counts("--bootstrap", &Flags::shows_intervals, "only --more and --json show intervals");
    for (const char* const flag : {"--more", "--map"})
        counts(flag, &Flags::prints, "no table is printed beside --json");
    counts("--classes", &Flags::by_class, "with --condition none all classes share one row");
    counts("--checkpoint", &Flags::without_report,
           "with --report or --figures no state is saved; write the page with kandinsky report");
    flags->common.declare(app);
    app.footer(
        "Example (after 'kandinsky demo -o demo'):\n"
        "  kandinsky compare --cal-probs demo/cal_probs.npy --cal-labels demo/cal_labels.npy \\\n"
        "      --test-probs demo/test_probs.npy --test-labels demo/test_labels.npy --classes 1");
    return {&app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
