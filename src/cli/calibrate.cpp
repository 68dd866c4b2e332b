#include <kandinsky/kcal.hpp>
#include <kandinsky/npy.hpp>

#include "cli/command.hpp"
#include "cli/model_flags.hpp"
#include "core/fail.hpp"
#include "core/stopwatch.hpp"
#include "io/input_watch.hpp"
#include "io/writers.hpp"
#include "report/choice_table.hpp"

namespace kandinsky::cli {

namespace {
/// Score thresholds of every pixel at 1%, 2%, ..., 100% (released: the 100 curve points), [Q,C,H,W].
Array curves_of(const Calibrator& calibrator) {
    const std::size_t plane = calibrator.classes * calibrator.grid.pixels();
    Array out = Array::zeros(DType::float32,
                             {100, calibrator.classes, calibrator.grid.height, calibrator.grid.width});
    auto* const data = reinterpret_cast<float*>(out.mutable_data());
    for (std::size_t q = 0; q < 100; ++q) {
        const double level =
            calibrator.options.released ? static_cast<double>(q) / 99 : static_cast<double>(q + 1) / 100;
        const std::vector<float> values = score_thresholds(calibrator, 1 - level);
        std::copy(values.begin(), values.end(), data + q * plane);
    }
    return out;
}

/// Region numbers, [C,H,W], or [H,W] when all classes share them.
Array regions_of(const Calibrator& calibrator) {
    std::vector<std::uint32_t> all;
    for (const Partition& partition : calibrator.partitions)
        all.insert(all.end(), partition.region.begin(), partition.region.end());
    const std::size_t height = calibrator.grid.height, width = calibrator.grid.width;
    if (calibrator.strata() == 1) return Array::copy_of(all, {height, width});
    return Array::copy_of(all, {calibrator.strata(), height, width});
}

struct Flags {
    CommonFlags common;
    InputFlags input;
    CalibrateFlags calibrate;
    ModelFlags model;
    ImageFlags images;
    std::string output, curves, regions;
};

/// The probabilities that were given, or those that a network makes of images on the spot.
Input load(const Flags& flags, Progress& progress) {
    if (flags.model.model.empty() != flags.images.images.empty() ||
        flags.model.model.empty() == flags.input.probs.empty())
        fail(ErrorKind::usage, "give --probs, or --model and --images (see kandinsky calibrate --help)");
    if (flags.model.model.empty()) return flags.input.load(progress);
    OpenedModel model = flags.model.open(flags.common.threads);
    const ImageInput images = flags.images.load(flags.input.labels, flags.input.groups, flags.input.ignore,
                                                flags.input.folder, model.intensity, progress);
    Array probs = infer_all(model, images.samples, flags.model.batch, "float16", progress);
    DatasetOptions options;
    options.ignore = images.ignore;
    options.probs_name = flags.model.model + " on " + flags.images.images;
    options.labels_name = flags.input.labels;
    options.groups_name = flags.input.groups;
    return {Dataset(std::move(probs), images.labels, images.groups, options), {}, {}};
}

void run(const Flags& flags) {
    const ThreadLimit limit(flags.common.threads);
    const CalibrateOptions options = flags.calibrate.options();
    check_method(options.method);
    if (flags.output.empty()) fail(ErrorKind::usage, "-o is empty; name the calibrator to write");
    Outputs outputs{{"-o", flags.output}, {"--curves", flags.curves}, {"--regions", flags.regions}};
    TerminalProgress progress(flags.common.quiet);
    const InputWatch inputs;
    const Stopwatch watch;
    const Input input = load(flags, progress);
    say(progress, input, flags.common.quiet);
    Calibrator calibrator = calibrate(input.data, options, progress);
    if (!input.provenance.is_null()) calibrator.input = input.provenance.dump();
    if (!flags.common.quiet)
        for (const std::string& remark : remarks(calibrator)) warn(progress, remark);
    if (progress.cancelled()) throw Interrupted();
    if (outputs.has("--curves")) write_npy(outputs.file("--curves"), curves_of(calibrator).view());
    if (outputs.has("--regions")) write_npy(outputs.file("--regions"), regions_of(calibrator).view());
    save(calibrator, outputs.file("-o"));
    inputs.check();
    outputs.commit();
    progress.clear();
    if (flags.common.quiet) return;
    if (!calibrator.choices.empty()) print(choice_table(calibrator) + "\n");
    std::uint64_t regions = 0;
    for (const Partition& partition : calibrator.partitions) regions += partition.regions;
    print(fmt::format("{}: {} on {} images{}, {} classes, {} regions, {:.1f} s\n{}\n", flags.output,
                      options.method, calibrator.images,
                      calibrator.grouped ? fmt::format(" of {} groups", calibrator.groups) : "",
                      calibrator.classes, regions, watch.seconds(), guarantee(calibrator)));
}
}  // namespace

Command add_calibrate(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    CLI::App* app =
        root.add_subcommand("calibrate", "Derive thresholds for every pixel from labelled images");
    declare_input(*app, flags->input, "", true);
    declare_reading(*app, flags->input);
    app->get_option("--probs")->required(false);
    flags->model.declare(*app, false);
    flags->images.declare(*app, "", false);
    std::string names;
    for (const std::string& name : method_names()) names += (names.empty() ? "" : ", ") + name;
    app->add_option("-m,--method", flags->calibrate.method, "which pixels share their scores: " + names)
        ->capture_default_str();
    app->add_option("-o,--output", flags->output, "the calibrator to write")
        ->required()
        ->type_name("FILE.kcal");
    app->add_option("--curves", flags->curves, "also write every pixel's curve as used, [100,C,H,W]")
        ->type_name("FILE.npy");
    app->add_option("--regions", flags->regions, "also write the region map(s), [H,W] or [C,H,W]")
        ->type_name("FILE.npy");
    flags->calibrate.declare(*app, "groups");
    flags->common.declare(*app);
    app->footer(
        "Example (after 'kandinsky demo -o demo'):\n"
        "  kandinsky calibrate --probs demo/cal_probs.npy --labels demo/cal_labels.npy -o demo/cal.kcal");
    return {app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
