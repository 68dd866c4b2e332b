#include <kandinsky/evaluate.hpp>
#include <kandinsky/kcal.hpp>

#include "cli/commands/command.hpp"
#include "cli/options/shared_flags.hpp"
#include "cli/process/ranks.hpp"
#include "core/base/fail.hpp"
#include "core/base/stopwatch.hpp"
#include "io/array/npy.hpp"
#include "io/file/input_watch.hpp"
#include "report/table/result_json.hpp"
#include "report/table/table.hpp"

namespace kandinsky::cli {

namespace {
struct Flags {
    CommonFlags common;
    InputFlags input;
    TeamFlags team;
    std::string calibrator, json, ce_map, ece_map;
    std::vector<int> classes;
    double alpha = 0.1;
    std::size_t bootstrap = 200;
    std::uint64_t seed = 0;
    bool more = false;
    EmptyFlags empty;

    [[nodiscard]] bool prints() const { return json != "-" && !(common.quiet && !json.empty()); }
};

void write_map(AtomicFile& file, const std::vector<const std::vector<double>*>& planes, const Grid& grid) {
    std::vector<double> all;
    for (const auto* plane : planes) all.insert(all.end(), plane->begin(), plane->end());
    write_npy(file, Array::copy_of(all, {planes.size(), grid.height, grid.width}).view());
}

void run(const Flags& flags) {
    const ThreadLimit limit(threads_for(flags.common.threads));
    check_alpha(flags.alpha);
    Outputs outputs{json_output(flags.json), {"--ce-map", flags.ce_map}, {"--ece-map", flags.ece_map}};
    TerminalProgress progress(flags.common.quiet);
    const InputWatch inputs;
    const Calibrator calibrator = load(flags.calibrator);
    if (!flags.classes.empty() && calibrator.options.condition == Condition::none)
        fail(ErrorKind::usage, "--classes has no effect: {} has one curve for all classes", flags.calibrator);
    check_classes(flags.classes, calibrator.classes, "the calibrator has");
    TeamWork work(flags.team);
    const Input input = flags.input.load(progress, &calibrator);
    say(progress, input, flags.common.quiet);
    const Dataset& data = input.data;
    const Stopwatch watch;
    const EvaluationReport report = evaluate(data, {&calibrator},
                                             {.alpha = flags.alpha,
                                              .maps = true,
                                              .ece_maps = !flags.ece_map.empty(),
                                              .empty = flags.empty.choice(),
                                              .bootstrap = flags.bootstrap,
                                              .seed = flags.seed},
                                             progress);
    progress.clear();
    inputs.check();
    const std::string traffic = work.traffic();
    if (!speaks()) return work.done();
    std::vector<const std::vector<double>*> planes;
    if (!flags.ce_map.empty()) {
        for (const StratumEvaluation& one : report.calibrators.front().strata) planes.push_back(&one.ce_map);
        write_map(outputs.file("--ce-map"), planes, calibrator.grid);
    }
    if (!flags.ece_map.empty()) {
        planes.clear();
        for (const std::vector<double>& one : report.probabilities.ece_map) planes.push_back(&one);
        write_map(outputs.file("--ece-map"), planes, calibrator.grid);
    }
    nlohmann::ordered_json json = evaluation_json(calibrator, report, flags.classes, watch.seconds());
    if (!input.provenance.is_null()) json["input"] = input.provenance;
    write_json(flags.json, outputs, json);
    outputs.commit();
    work.done();
    if (!flags.common.quiet && calibrator.options.risk == Risk::precision)
        warn(progress,
             "this calibrator's guarantee is about precision, which FDR measures; coverage and CE only "
             "describe its sets");
    if (flags.prints())
        print(evaluation_table(calibrator, report, flags.classes) +
              (flags.more ? evaluation_details(calibrator, report, flags.classes) : "") + traffic);
}
}  // namespace

Command add_evaluate(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    OptionSet& app =
        OptionSet::add_to(root, "evaluate", "Measure coverage of a calibrator on labelled images");
    app.input("calibrator", flags->calibrator, "FILE.kcal", "calibrator, a .kcal file")->required();
    declare_input(app, flags->input, "", true);
    declare_reading(app, flags->input);
    app.add_option("--alpha", flags->alpha, "error level alpha at which sets are measured");
    declare_classes(app, flags->classes, "classes to report (default: all)");
    flags->empty.declare(app, "rule for empty sets at --alpha: auto, fill or keep (see predict --help)");
    app.add_option("--bootstrap", flags->bootstrap,
                   "number of resamples of the groups (or images, if there are no groups) for the 90 % "
                   "intervals (0: no intervals)");
    app.add_option("--seed", flags->seed, "seed of the resamples");
    app.add_flag(
        "--more", flags->more,
        "print a second table: weighted CE, worst region, coverage by image and set size, smooth ECE");
    app.output("--json", flags->json, "FILE", "write the result as JSON ('-': standard output)");
    app.output("--ce-map", flags->ce_map, "FILE.npy",
               "write the coverage error of every pixel, float64 [C,H,W] ([1,H,W] for a calibrator made with "
               "--condition none), NaN without test sample");
    app.output("--ece-map", flags->ece_map, "FILE.npy",
               "write the expected calibration error of every pixel, float64 [C,H,W], NaN without label");
    declare_checkpoint(app, flags->team);
    app.counts_unless("--more", [flags = flags.get()] {
        return unless(flags->prints(), "no table is printed beside --json");
    });
    flags->common.declare(app);
    app.footer(
        "Example (after 'kandinsky demo -o demo'):\n"
        "  kandinsky evaluate demo/kmeans.kcal --probs demo/test_probs.npy --labels demo/test_labels.npy "
        "--json -");
    return {&app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
