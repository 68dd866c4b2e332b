#include <filesystem>
#include <kandinsky/kcal.hpp>
#include <kandinsky/monitor.hpp>
#include <optional>

#include "cli/commands/command.hpp"
#include "cli/options/shared_flags.hpp"
#include "core/base/fail.hpp"
#include "io/array/npy.hpp"
#include "io/file/file_lock.hpp"
#include "io/file/input_watch.hpp"
#include "monitor/state_file.hpp"
#include "report/page/monitor_page.hpp"
#include "report/page/page.hpp"
#include "report/page/report_data.hpp"
#include "report/table/monitor_json.hpp"

namespace kandinsky::cli {

namespace {
struct Flags {
    CommonFlags common;
    InputFlags input;
    std::string calibrator, state, json, page, prometheus, change_map, class_names;
    MonitorOptions options;
    bool complete = false, skip_seen = false, fail_on_alarm = false;
    const CLI::Option *delta = nullptr, *alpha = nullptr;

    [[nodiscard]] bool prints() const { return json != "-" && !common.quiet; }
};

Monitor read_state(const std::string& state, const Calibrator& calibrator, const Reference& reference) {
    try {
        return {calibrator, reference, std::filesystem::path(state)};
    } catch (const Error& problem) {
        if (problem.kind() != ErrorKind::data) throw;
        fail(ErrorKind::data, "{}; restore the state, or delete it to begin a new stream", problem.what());
    }
}

/// The stream so far, from the state if there is one.
Monitor begin(const Flags& flags, const Calibrator& calibrator) {
    const std::optional<Reference> reference = load_reference(flags.calibrator);
    if (!reference)
        fail(ErrorKind::usage,
             "{} has no reference to compare a stream with: earlier versions and --sketch store none; "
             "calibrate "
             "again without --sketch",
             flags.calibrator);
    std::error_code ignored;
    if (flags.state.empty() || !std::filesystem::exists(flags.state, ignored))
        return Monitor(calibrator, *reference, flags.options);
    Monitor monitor = read_state(flags.state, calibrator, *reference);
    const auto refuse_other = [&](const CLI::Option* option, double given, double kept) {
        if (option->count() > 0 && given != kept)
            fail(ErrorKind::usage, "{} {} contradicts {}, whose stream began with {}; leave it out",
                 option->get_name(), given, flags.state, kept);
    };
    refuse_other(flags.delta, flags.options.delta, monitor.options().delta);
    refuse_other(flags.alpha, flags.options.alpha, monitor.options().alpha);
    return monitor;
}

/// The lines about the images of this call.
std::string update_text(const MonitorVerdict& verdict, const MonitorUpdate& update) {
    std::string out =
        fmt::format("{} images, {} in all; compared with {} calibration {}\n", update.images, verdict.images,
                    verdict.reference_units, verdict.grouped ? "groups" : "images");
    if (verdict.grouped) out += fmt::format("{} groups judged, {} in all\n", update.units, verdict.units);
    for (const std::string& line : describe(verdict)) out += line + "\n";
    if (verdict.set_size == verdict.set_size)
        out += fmt::format("recent set size: {:.2f} classes at alpha {}\n", verdict.set_size,
                           verdict.options.alpha);
    return out;
}

void say_oddities(TerminalProgress& progress, const Flags& flags, const MonitorUpdate& update) {
    if (flags.common.quiet) return;
    if (update.seen > 0)
        warn(progress,
             fmt::format("{} of {} images have outputs that were seen before, {}", update.seen, update.images,
                         !flags.skip_seen ? "and count again; --skip-seen leaves them out"
                         : flags.input.labels.empty()
                             ? "and were left out"
                             : "and were left out; labels that are new for them were counted"));
    if (update.late > 0)
        warn(progress, fmt::format("{} images were left out: their groups had been tested already; give all "
                                   "images of a group one after the other",
                                   update.late));
}

void run(const Flags& flags) {
    const ThreadLimit limit(flags.common.threads);
    if (!flags.page.empty()) require_report_template();
    Outputs outputs{json_output(flags.json),
                    {"--report", flags.page},
                    {"--prometheus", flags.prometheus},
                    {"--change-map", flags.change_map},
                    {"--state", flags.state}};
    // The lock is held from reading the state to replacing it, so that no other call replaces it in between.
    std::error_code missing;
    std::optional<FileLock> lock;
    if (outputs.has("--state") && (!std::filesystem::exists(flags.state, missing) ||
                                   std::filesystem::is_regular_file(flags.state, missing)))
        lock.emplace(flags.state);
    TerminalProgress progress(flags.common.quiet);
    const InputWatch inputs;
    const Calibrator calibrator = load(flags.calibrator);
    Monitor monitor = begin(flags, calibrator);
    if (flags.complete && !calibrator.grouped)
        fail(ErrorKind::usage,
             "--complete has no effect: {} was made without groups, so every image is complete",
             flags.calibrator);
    const Input input = flags.input.load(progress, &calibrator);
    say(progress, input, flags.common.quiet);
    MonitorUpdate update = monitor.update(input.data, flags.skip_seen ? Seen::skip : Seen::count, progress);
    MonitorVerdict verdict = monitor.verdict();
    if (flags.complete) {
        const std::uint64_t units = verdict.units, labelled = verdict.labelled_units;
        monitor.complete();
        verdict = monitor.verdict();
        update.units += verdict.units - units;
        update.labelled += verdict.labelled_units - labelled;
    }
    progress.clear();
    inputs.check();
    const std::vector<std::string> given =
        flags.class_names.empty() ? std::vector<std::string>{} : split(flags.class_names, ',');
    const std::vector<std::string> names = class_labels(given, calibrator.classes);
    if (outputs.has("--state")) save(monitor, outputs.file("--state"));
    if (outputs.has("--report"))
        outputs.file("--report")
            .write(report_page(
                monitor_page(monitor, update, calibrator.grid, "The stream after calibration", names)));
    if (outputs.has("--prometheus")) outputs.file("--prometheus").write(prometheus_text(verdict));
    if (outputs.has("--change-map"))
        write_npy(outputs.file("--change-map"),
                  Array::copy_of(monitor.change_map(),
                                 {calibrator.classes, calibrator.grid.height, calibrator.grid.width})
                      .view());
    write_json(flags.json, outputs, monitor_json(verdict, update, names));
    outputs.commit();
    say_oddities(progress, flags, update);
    if (flags.prints()) print(update_text(verdict, update));
    if (flags.fail_on_alarm && verdict.alarm()) throw EndWith{kAlarmCode};
}
}  // namespace

Command add_monitor(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    OptionSet& app = OptionSet::add_to(
        root, "monitor",
        "Raise an alarm when outputs or coverage of new images no longer fit the calibrator");
    app.input("calibrator", flags->calibrator, "FILE.kcal", "calibrator, a .kcal file")->required();
    declare_input(app, flags->input, "", false);
    app.input("--labels", flags->input.labels, "FILE",
              "labels, if known, for the coverage alarm; fill images without labels with an ignored label");
    app.input("--groups", flags->input.groups, "FILE",
              "group of each image as for calibrate; needed if the calibration images had groups");
    declare_reading(app, flags->input);
    for (const char* const flag : {"--ignore", "--padding", "--only-annotated"})
        app.counts_unless(flag, [flags = flags.get()] {
            return unless(!flags->input.labels.empty(), "there are no --labels");
        });
    app.output("--state", flags->state, "FILE",
               "file with the state of the stream, read if it exists and then replaced; without it this call "
               "is the whole stream");
    flags->delta = app.add_option(
        "--delta", flags->options.delta,
        "largest probability of ever raising a false alarm, separately for outputs and for labels");
    flags->alpha = app.add_option("--alpha", flags->options.alpha,
                                  "error level alpha of the sets whose coverage is tested");
    app.add_flag("--complete", flags->complete,
                 "test the last group now, because it has all its images; otherwise it is tested when the "
                 "next group begins");
    app.add_flag(
        "--skip-seen", flags->skip_seen,
        "skip images whose outputs are among the last 4096 different ones of the stream; new labels of "
        "such images count");
    app.add_flag("--fail-on-alarm", flags->fail_on_alarm, "end with exit code 5 after an alarm");
    app.output("--json", flags->json, "FILE", "write the result as JSON ('-': standard output)");
    app.output("--report", flags->page, "FILE.html",
               "write a report of the stream over time, one self-contained HTML page");
    app.output("--prometheus", flags->prometheus, "FILE.prom",
               "write metrics for the text file collector of Prometheus' node exporter");
    app.output("--change-map", flags->change_map, "FILE.npy",
               "write the change of the outputs at each pixel, float32 [C,H,W] from -1 (less of the class) "
               "to 1 (more); NaN for classes that are not watched, and everywhere without regions");
    app.add_option("--class-names", flags->class_names, "names of the classes, separated by commas");
    app.counts_unless("--class-names", [flags = flags.get()] {
        return unless(!flags->page.empty() || !flags->json.empty(),
                      "only --report and --json show class names");
    });
    flags->common.declare(app);
    app.footer(
        "Example (after 'kandinsky demo -o demo'):\n"
        "  kandinsky monitor demo/kmeans.kcal --probs demo/test_probs.npy --labels demo/test_labels.npy \\\n"
        "      --state demo/stream.state");
    return {&app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
