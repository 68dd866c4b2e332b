#include <filesystem>
#include <kandinsky/npy.hpp>

#include "cli/commands/command.hpp"
#include "cli/commands/infer_folder.hpp"
#include "cli/commands/model_flags.hpp"
#include "cli/options/shared_flags.hpp"
#include "core/base/fail.hpp"
#include "core/kernel/half.hpp"
#include "io/array/npy_write.hpp"
#include "io/array/scratch_array.hpp"

namespace kandinsky::cli {

namespace {
struct Flags {
    CommonFlags common;
    ModelFlags model;
    ImageFlags images;
    FolderFlags folder;
    std::string groups, output, dtype = "float16";
};

void run(const Flags& flags) {
    const ThreadLimit limit(flags.common.threads);
    TerminalProgress progress(flags.common.quiet);
    const bool one_file = std::filesystem::path(flags.output).extension() == ".npy";
    Outputs outputs{{"-o", one_file ? flags.output : ""}};
    OpenedModel model = flags.model.open(flags.common.threads);
    if (!one_file) {
        const std::size_t files = infer_folder(model, flags.images, flags.folder, flags.model.batch,
                                               flags.dtype, flags.output, progress);
        progress.clear();
        if (!flags.common.quiet)
            print(fmt::format("{}: probabilities of {} photos or volumes, {}\n", flags.output, files,
                              flags.dtype));
        return;
    }
    const ImageInput input =
        flags.images.load("", flags.groups, "none", flags.folder, model.intensity, progress);
    const Samples& samples = input.samples;
    const Array probs = infer_all(model, samples, flags.model.batch, flags.dtype, progress);
    progress.clear();
    write_npy(outputs.file("-o"), probs.view());
    outputs.commit();
    if (!flags.common.quiet)
        print(fmt::format("{}: probabilities {} of {} images, {}\n", flags.output, probs.view().shape_text(),
                          samples.size(), name_of(probs.dtype())));
}
}  // namespace

Array infer_all(OpenedModel& model, const Samples& samples, std::size_t batch, const std::string& dtype,
                Progress& progress) {
    if (dtype != "float16" && dtype != "float32")
        fail(ErrorKind::usage, "--dtype is '{}', but must be float16 or float32", dtype);
    const bool half = dtype == "float16";
    std::unique_ptr<ScratchArray> scratch;
    std::size_t elements = 0;
    std::vector<Half> halves;
    infer(
        model, samples, batch,
        [&](std::size_t classes) {
            const Grid grid = samples.grid();
            scratch =
                std::make_unique<ScratchArray>(half ? DType::float16 : DType::float32,
                                               std::vector<std::size_t>{classes, grid.height, grid.width});
            elements = classes * grid.pixels();
            halves.resize(elements);
            scratch->extend(samples.size());
        },
        [&](std::size_t sample, const float* probabilities) {
            if (!half) return scratch->put(sample, probabilities);
            for (std::size_t i = 0; i < elements; ++i) halves[i] = static_cast<Half>(probabilities[i]);
            scratch->put(sample, halves.data());
        },
        progress);
    return scratch->array();
}

Command add_infer(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    CLI::App* app = root.add_subcommand("infer", "Probability maps of a network, for calibrate and predict");
    flags->model.declare(*app, true);
    flags->images.declare(*app, "", true);
    app->add_option("--groups", flags->groups, "which images belong to one scan, [N]")->type_name("FILE");
    app->add_option(
           "-o,--output", flags->output,
           "FILE.npy: one array [N,C,H,W]; else a folder of NAME.npy or, for volumes, NAME.npz files")
        ->required()
        ->type_name("PATH");
    flags->folder.declare(*app, false);
    app->add_option("--dtype", flags->dtype, "float16 or float32")->capture_default_str();
    flags->common.declare(*app);
    app->footer(
        "Examples:\n"
        "  kandinsky infer --model unet.pt --images photos.npy -o probs.npy\n"
        "  kandinsky infer --model unet.pt --images imagesTr -o probs\n"
        "  kandinsky infer --model net.onnx --outputs softmax --images photos.npy -o probs.npy");
    return {app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
