#include <cmath>

#include "cli/commands/command.hpp"
#include "cli/commands/model_flags.hpp"
#include "cli/options/shared_flags.hpp"
#include "core/base/fail.hpp"
#include "model/image_reading.hpp"
#include "model/model_file.hpp"
#include "model/plugin.hpp"
#include "model/train.hpp"

namespace kandinsky::cli {

namespace {
struct Flags {
    CommonFlags common;
    ImageFlags images, validation;
    DeviceFlags device;
    TrainOptions options;
    FolderFlags folder;
    std::string labels, groups, validation_labels, ignore = "255", output, log, checkpoint,
                                                   optimizer = "adamw";
    std::uint32_t classes = 0;
    bool plain = false, fresh = false;
};

std::string dice_text(const std::vector<double>& dice) {
    std::string text;
    for (std::size_t c = dice.size() > 1 ? 1 : 0; c < dice.size(); ++c)
        text += std::isfinite(dice[c]) ? fmt::format(" {:.3f}", dice[c]) : " -";
    return text;
}

/// The number of outputs: one sigmoid for each class, or a single sigmoid for two classes.
std::uint32_t outputs_of(std::uint32_t wanted, const Samples& samples) {
    if (wanted > 0) return wanted;
    const std::size_t found = samples.classes();
    if (found < 2) fail(ErrorKind::data, "the labels have no class except 0, so there is nothing to learn");
    return found == 2 ? 1 : static_cast<std::uint32_t>(found);
}

void run(Flags flags) {
    const ThreadLimit limit(flags.common.threads);
    TrainOptions& options = flags.options;
    if (options.batch == 0 || options.epochs == 0)
        fail(ErrorKind::usage, "--batch and --epochs must be at least 1");
    if (options.shape.depth == 0 || options.shape.depth > kDeepestUNet)
        fail(ErrorKind::usage, "--depth is {}, but must be 1 to {}", options.shape.depth, kDeepestUNet);
    if (flags.plain) options.augmentation = Augmentation::none();
    options.decoupled = says("--optimizer", flags.optimizer, "adamw", "adam");
    options.checkpoint = flags.checkpoint == "none" ? ""
                         : flags.checkpoint.empty() ? flags.output + ".checkpoint"
                                                    : flags.checkpoint;
    refuse_equal({{"-o", flags.output}, {"--log", flags.log}, {"--checkpoint", options.checkpoint.string()}});
    (void)engine(EngineKind::torch);
    Outputs outputs{{"-o", flags.output}, {"--log", flags.log}};
    TerminalProgress progress(flags.common.quiet);
    const ImageInput input =
        flags.images.load(flags.labels, flags.groups, flags.ignore, flags.folder, "", progress);
    const Samples& samples = input.samples;
    options.intensity = input.intensity;
    std::unique_ptr<ImageInput> validation;
    if (!flags.validation.images.empty()) {
        flags.validation.intensity = input.intensity;
        validation = std::make_unique<ImageInput>(flags.validation.load(
            flags.validation_labels, "", flags.ignore, flags.folder, input.intensity, progress));
        if (!(validation->samples.grid() == samples.grid()) || !validation->samples.labelled())
            fail(ErrorKind::data,
                 "--val-images and --val-labels must be given together and have the training images' grid");
    }
    options.shape.inputs = static_cast<std::uint32_t>(samples.channels());
    options.shape.outputs = outputs_of(flags.classes, samples);
    const std::uint32_t multiple = 1U << options.shape.depth;
    if (samples.grid().height % multiple != 0 || samples.grid().width % multiple != 0)
        fail(ErrorKind::data,
             "images are {} x {} pixels (height x width), but a U-Net of depth {} trains on multiples of {}: "
             "pad them, or use a smaller --depth",
             samples.grid().height, samples.grid().width, options.shape.depth, multiple);
    if (flags.fresh && !options.checkpoint.empty()) {
        std::error_code ignored;
        std::filesystem::remove(options.checkpoint, ignored);
    }
    auto network = make_unet(options.shape, flags.device.options(flags.common.threads));
    if (!flags.common.quiet)
        print(fmt::format("U-Net of {:.1f} M weights on {} ({}), {} images of {} x {} (height x width)\n",
                          static_cast<double>(count_parameters(*network)) / 1e6, network->device(),
                          engine(EngineKind::torch).library(), samples.size(), samples.grid().height,
                          samples.grid().width));
    const std::uint64_t every = std::max<std::uint64_t>(1, options.epochs / 20);
    const auto on_epoch = [&](const EpochRow& row) {
        if (flags.common.quiet || (row.epoch % every != 0 && row.epoch != 1 && row.epoch != options.epochs))
            return;
        progress.clear();
        print(fmt::format("epoch {:>4}  loss {:.4f}  Dice{}  {:.1f} images/s\n", row.epoch, row.loss,
                          dice_text(row.dice), row.images_per_second));
    };
    const TrainResult result = train(samples, validation ? &validation->samples : nullptr, options,
                                     std::move(network), on_epoch, progress);
    progress.clear();
    write_trained(outputs.file("-o"), samples, options, result);
    if (!flags.log.empty()) outputs.file("--log").write(result.log);
    outputs.commit();
    if (!flags.common.quiet)
        print(fmt::format("{}: trained for {} steps{}, {:.1f} images/s\n", flags.output, result.step,
                          result.resumed ? " (resumed)" : "", result.images_per_second));
}
}  // namespace

Command add_train(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    TrainOptions& options = flags->options;
    OptionSet& app = OptionSet::add_to(root, "train", "Train the paper's U-Net on labelled images");
    flags->images.declare(app, true);
    app.input("--labels", flags->labels, "PATH",
              "labels of the images: a folder, COCO annotations, or an array [N,H,W]")
        ->required();
    app.input("--groups", flags->groups, "FILE", "scan of each image, [N]");
    app.add_option("--ignore", flags->ignore, "labels to ignore, separated by commas, or 'none'");
    app.input("--val-images", flags->validation.images, "PATH",
              "validation images for the Dice coefficients of the log: a folder of photos or volumes, or an "
              "array [N,H,W] or [N,channels,H,W] (default: the first 64 training images)");
    app.input("--val-labels", flags->validation_labels, "PATH",
              "labels of the validation images: a folder, COCO annotations, or an array [N,H,W]");
    const Flags* const given = flags.get();
    app.counts_unless("--val-labels", [given] {
        return unless(!given->validation.images.empty(), "there are no --val-images");
    });
    flags->folder.declare(app, {.probabilities = false}, [given] {
        return unless(is_images(given->images.images) || has_photos(given->images.images),
                      "it is for folders of files, not for arrays");
    });
    flags->images.declare_volumes(app);
    for (const char* const flag : {"--groups", "--group-by"})
        app.counts_unless(flag, [given] {
            return unless(given->images.intensity == "percentile",
                          "only --intensity percentile uses the scan of an image");
        });
    app.counts_unless("--group-by", [given] { return unless(given->groups.empty(), "groups are given"); });
    for (const char* const flag : {"--categories", "--crowd", "--overlap", "--letterbox"})
        app.counts_unless(flag, [given] {
            return unless(is_coco(given->labels), "the labels are not a .json of COCO annotations");
        });
    app.output("-o,--output", flags->output, "FILE", "model file to write")->required();
    app.output("--log", flags->log, "FILE.csv", "write loss and Dice of every epoch as CSV");
    app.add_option(
           "--classes", flags->classes,
           "number of outputs, one sigmoid each; 1: everything except class 0 (default: from the labels)")
        ->default_str("");
    app.add_option("--width", options.shape.width, "number of channels at full size");
    app.add_option("--depth", options.shape.depth, "number of levels at which the image is halved");
    app.add_option("--epochs", options.epochs, "number of passes over the images");
    app.add_option("--batch", options.batch, "number of images in a batch");
    app.add_option("--rate", options.schedule.rate, "learning rate at the start");
    app.add_option("--last-rate", options.schedule.last_rate, "learning rate at the end of a cycle");
    app.add_option("--warm-up", options.schedule.warm_up,
                   "steps during which the learning rate rises linearly at the start");
    app.add_option("--cycle", options.schedule.cycle,
                   "steps until the first restart of the learning rate (0: no restart)");
    app.add_option("--growth", options.schedule.growth, "length of a cycle relative to the one before");
    app.add_option("--share", options.schedule.share,
                   "share of the pixels that enter the loss, those with the largest loss")
        ->check(CLI::Range(1e-6, 1.0));
    app.add_option("--anneal", options.schedule.anneal,
                   "part of the training during which --share falls from 1 to its value")
        ->check(CLI::Range(0.0, 1.0));
    app.add_option("--optimizer", flags->optimizer, "adamw or adam");
    app.add_option("--decay", options.decay, "weight decay");
    app.add_flag("--no-augment", flags->plain,
                 "turn off random mirror, shift, rotation, zoom, brightness and contrast");
    app.output("--checkpoint", flags->checkpoint, "FILE",
               "file for the state of the training, from which the same command continues ('none': no file; "
               "default: the model's name with .checkpoint)");
    app.add_option("--checkpoint-every", options.checkpoint_every, "epochs between two checkpoints");
    app.add_flag("--fresh", flags->fresh, "start again even if there is a checkpoint");
    app.add_option("--seed", options.seed, "seed of weights, order and augmentation");
    app.counts_unless("--growth",
                      [given] { return unless(given->options.schedule.cycle > 0, "there is no --cycle"); });
    app.counts_unless("--anneal", [given] {
        return unless(given->options.schedule.share < 1, "with --share 1 the share does not fall");
    });
    for (const char* const flag : {"--checkpoint-every", "--fresh"})
        app.counts_unless(flag,
                          [given] { return unless(given->checkpoint != "none", "there is no checkpoint"); });
    flags->device.declare(app);
    flags->common.declare(app);
    app.footer(
        "Examples:\n"
        "  kandinsky train --images photos.npy --labels masks.npy --epochs 50 --anneal 0.2 -o unet.pt\n"
        "  kandinsky train --images imagesTr --labels labelsTr --grid 64x64 --only-annotated \\\n"
        "      --intensity percentile -o unet.pt");
    return {&app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
