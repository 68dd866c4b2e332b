#include <kandinsky/reference.hpp>
#include <kandinsky/sketch.hpp>

#include "cli/commands/command.hpp"
#include "cli/commands/model_flags.hpp"
#include "cli/options/shared_flags.hpp"
#include "cli/options/weight_flags.hpp"
#include "cli/process/ranks.hpp"
#include "core/base/fail.hpp"
#include "core/base/stopwatch.hpp"
#include "io/array/npy.hpp"
#include "io/array/npy_stream.hpp"
#include "io/file/input_watch.hpp"
#include "io/kcal/kcal.hpp"
#include "partition/method.hpp"
#include "report/table/table.hpp"

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
    WeightFlags weights;
    ModelFlags model;
    ImageFlags images;
    TeamFlags team;
    std::string output, curves, regions;
    double sketch = 0;

    [[nodiscard]] bool from_pipe() const {
        return NpyStream::is_stream(input.probs) || NpyStream::is_stream(input.labels);
    }
};

/// The given probabilities, or those that a network computes from images.
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
    return {Dataset(std::move(probs), images.labels, images.groups, options), {}, {}, {}, {}, images.ignore};
}

/// Calibrates in one pass, because --probs or --labels can be read only once.
Calibrator calibrate_stream(const Flags& flags, const CalibrateOptions& options, Progress& progress) {
    if (options.sketch == 0)
        fail(ErrorKind::usage,
             "standard input can be read only once; use --sketch 0.005 (and --pooling pixels)");
    if (flags.input.probs == flags.input.labels)
        fail(ErrorKind::usage, "--probs and --labels both read '{}', which holds one array; give two sources",
             flags.input.probs);
    NpyStream probs(flags.input.probs), labels(flags.input.labels);
    const Array groups = load_groups(flags.input.groups);
    const auto ids = groups.empty() ? std::vector<std::int64_t>{} : groups.to_vector<std::int64_t>();
    if (probs.shape().size() != 4)
        fail(ErrorKind::data, "{}: probabilities must have four axes [images, classes, height, width]",
             probs.name());
    if (labels.shape().front() != probs.shape().front() ||
        (!groups.empty() && ids.size() != probs.shape().front()))
        fail(ErrorKind::data, "{} has {} images, {} has {}{}; all must have the same number of images",
             probs.name(), probs.shape().front(), labels.name(), labels.shape().front(),
             groups.empty() ? "" : fmt::format(", and there are {} groups", ids.size()));
    DatasetOptions how = flags.input.dataset_options();
    how.probs_name = probs.name();
    how.labels_name = labels.name();
    constexpr std::size_t kBlock = 64;
    std::optional<Sketch> sketch;
    for (std::size_t begin = 0; begin < probs.shape().front(); begin += kBlock) {
        progress.update("reading", begin, probs.shape().front());
        if (progress.cancelled()) throw Interrupted();
        how.first_image = begin;
        Array some = probs.next(kBlock), truth = labels.next(kBlock), whose;
        if (!ids.empty()) {
            const std::vector<std::int64_t> part(
                ids.begin() + static_cast<std::ptrdiff_t>(begin),
                ids.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kBlock, ids.size())));
            whose = Array::copy_of(part, {part.size()});
        }
        const Dataset block(std::move(some), std::move(truth), std::move(whose), how);
        if (!sketch) sketch.emplace(block.grid(), block.classes(), options);
        sketch->add(block);
    }
    if (!sketch) fail(ErrorKind::data, "{}: there are no images", probs.name());
    Calibrator calibrator = sketch->finish(progress);
    calibrator.logits = how.logits;
    calibrator.ignore = how.ignore;
    return calibrator;
}

/// Calibration in all other cases.
Calibrator calibrate_input(const Flags& flags, const CalibrateOptions& options, TerminalProgress& progress,
                           std::optional<Reference>& reference) {
    const Input input = load(flags, progress);
    say(progress, input, flags.common.quiet);
    CalibrateOptions weighted = options;
    weighted.weights = flags.weights.load(input, flags.input, progress);
    Calibrator calibrator = calibrate(input.data, weighted, progress);
    reference = make_reference(calibrator, input.data, progress, weighted.weights);
    calibrator.logits = input.logits;
    calibrator.ignore = input.ignore;
    if (!input.provenance.is_null()) calibrator.input = input.provenance.dump();
    return calibrator;
}

void run(const Flags& flags) {
    const ThreadLimit limit(threads_for(flags.common.threads));
    CalibrateOptions options = flags.calibrate.options();
    options.sketch = flags.sketch;
    check_method(options.method.name);
    Outputs outputs{{"-o", flags.output}, {"--curves", flags.curves}, {"--regions", flags.regions}};
    TerminalProgress progress(flags.common.quiet);
    const InputWatch inputs;
    const Stopwatch watch;
    if (!flags.model.model.empty()) refuse_ranks("calibrate --model");
    // A named pipe without --sketch is read into memory, like any file that cannot be mapped. Standard input
    // always needs --sketch.
    const bool stream =
        flags.input.probs == "-" || flags.input.labels == "-" || (options.sketch != 0 && flags.from_pipe());
    if (stream) refuse_ranks("calibrate from a pipe");
    if (flags.weights.given()) refuse_ranks("calibrate with weights");
    TeamWork work(flags.team);
    std::optional<Reference> reference;  // stays empty for images from a pipe
    const Calibrator calibrator = stream ? calibrate_stream(flags, options, progress)
                                         : calibrate_input(flags, options, progress, reference);
    if (!flags.common.quiet)
        for (const std::string& remark : remarks(calibrator)) warn(progress, remark);
    if (progress.cancelled()) throw Interrupted();
    const std::string traffic = work.traffic();
    if (!speaks()) return work.done();
    if (outputs.has("--curves")) write_npy(outputs.file("--curves"), curves_of(calibrator).view());
    if (outputs.has("--regions")) write_npy(outputs.file("--regions"), regions_of(calibrator).view());
    if (reference)
        save(calibrator, *reference, outputs.file("-o"));
    else
        save(calibrator, outputs.file("-o"));
    inputs.check();
    outputs.commit();
    work.done();
    progress.clear();
    if (flags.common.quiet) return;
    if (!calibrator.choices.empty()) print(choice_table(calibrator) + "\n");
    print(calibrated_text(calibrator, flags.output, watch.seconds()) + traffic);
}
}  // namespace

Command add_calibrate(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    OptionSet& app =
        OptionSet::add_to(root, "calibrate", "Derive thresholds for every pixel from labelled images");
    declare_input(app, flags->input, "", true);
    declare_reading(app, flags->input);
    app.get_option("--probs")->required(false);
    app.counts_unless("--logits", [flags = flags.get()] {
        return unless(flags->model.model.empty(), "--outputs states the outputs of the network");
    });
    flags->model.declare(app, false);
    flags->images.declare(app, false);
    flags->images.declare_volumes(app);
    for (const char* const flag : {"--class-files", "--skip-bad"})
        app.counts_unless(flag, [flags = flags.get()] {
            return unless(flags->model.model.empty(), "it is for files of probabilities, not for images");
        });
    std::string names;
    for (const std::string& name : method_names()) names += (names.empty() ? "" : ", ") + name;
    app.add_option("-m,--method", flags->calibrate.method,
                   "method that decides which pixels share their scores: " + names);
    app.output("-o,--output", flags->output, "FILE.kcal", "calibrator file to write")->required();
    app.output("--curves", flags->curves, "FILE.npy",
               "also write the score thresholds of every pixel at levels 1 %, 2 %, ..., 100 %, float32 "
               "[100,C,H,W]");
    app.output("--regions", flags->regions, "FILE.npy", "also write the region maps, [H,W] or [C,H,W]");
    flags->calibrate.declare(app);
    flags->weights.declare(app);
    for (const char* const flag : {"--weights", "--shift-to"}) {
        app.counts_unless(flag, [flags = flags.get()] {
            return unless(!flags->from_pipe(), "images from a pipe are read once and have equal weight");
        });
        app.counts_unless(flag, [flags = flags.get()] {
            return unless(flags->model.model.empty(),
                          "weights are for images from --probs; run kandinsky infer first");
        });
    }
    app.add_option("--sketch", flags->sketch,
                   "largest error of a threshold, such as 0.005, for images that are read once from a pipe "
                   "(--probs -); thresholds are never below the exact ones. Needs --pooling pixels unless "
                   "every pixel has its own curve");
    app.counts_unless("--sketch", [flags = flags.get()] {
        return unless(flags->from_pipe(),
                      "it is for images that are read once, from a pipe (--probs -); leave it out, since "
                      "files give exact thresholds");
    });
    declare_checkpoint(app, flags->team);
    app.counts_unless("--checkpoint", [flags = flags.get()] {
        return unless(flags->model.model.empty() && !flags->from_pipe(),
                      "only --probs from files can be read again after a stop");
    });
    app.counts_unless("--curves", [flags = flags.get()] {
        return unless(
            flags->calibrate.options().risk == Risk::recall,
            "with a guarantee of precision, small alphas have no thresholds; predict --thresholds writes "
            "the thresholds of one alpha");
    });
    app.counts_unless("--regions", [flags = flags.get()] {
        const std::string name = flags->calibrate.options().method.name;
        return unless(name == kAutoMethod || method(name).fit, "method " + name + " has no regions");
    });
    flags->common.declare(app);
    app.footer(
        "Example (after 'kandinsky demo -o demo'):\n"
        "  kandinsky calibrate --probs demo/cal_probs.npy --labels demo/cal_labels.npy -o demo/cal.kcal");
    return {&app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
