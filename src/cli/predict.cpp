#include <algorithm>
#include <atomic>
#include <filesystem>
#include <kandinsky/kcal.hpp>
#include <kandinsky/npy.hpp>
#include <kandinsky/predictor.hpp>

#include "cli/command.hpp"
#include "cli/predict_folder.hpp"
#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "core/thread_buffer.hpp"
#include "io/input_watch.hpp"
#include "io/writers.hpp"

namespace kandinsky::cli {

namespace {
struct Flags {
    CommonFlags common;
    InputFlags input;
    std::string calibrator, output, thresholds, pvalues, coding = "planes";
    double alpha = 0.1;
    bool packed = false, no_empty = false;
};

/// Streams an array [N, ...] to a file: `fill(image, out)` makes the `bytes` of one image, in parallel within
/// blocks.
template <class Fill>
void write_images(AtomicFile& file, DType dtype, const std::vector<std::size_t>& shape, std::size_t bytes,
                  const Dataset& data, TerminalProgress& progress, std::string_view stage, Fill&& fill) {
    file.write(npy_header(dtype, shape));
    const std::size_t block = std::clamp<std::size_t>((std::size_t{32} << 20) / bytes, 1, data.images());
    std::vector<std::byte> buffer(block * bytes);
    for (std::size_t first = 0; first < data.images(); first += block) {
        progress.update(stage, first, data.images());
        const std::size_t count = std::min(block, data.images() - first);
        parallel_for(count, [&](std::size_t i) {
            if (progress.cancelled()) throw Interrupted();
            fill(first + i, buffer.data() + i * bytes);
        });
        data.release(first, first + count);
        file.write(buffer.data(), count * bytes);
    }
    if (progress.cancelled()) throw Interrupted();
    progress.clear();
}

SetCoding coding_of(const std::string& name) {
    if (name == "planes") return SetCoding::planes;
    if (name == "bits") return SetCoding::bits;
    fail(ErrorKind::usage, "--coding is '{}', but must be planes or bits", name);
}

/// The stored halves of an image when they are its probabilities, [class][pixel]; nothing otherwise.
std::span<const std::uint16_t> halves_of(const Dataset& data, std::size_t image) {
    const ArrayView& view = data.stored_probs().view();
    if (view.dtype != DType::float16 || !view.is_c_contiguous() || data.options().logits != Logits::none)
        return {};
    return {reinterpret_cast<const std::uint16_t*>(view.at(data.row_of(image))),
            view.shape[1] * view.shape[2] * view.shape[3]};
}

void run(const Flags& flags) {
    const ThreadLimit limit(flags.common.threads);
    check_alpha(flags.alpha);
    if (flags.output.empty() && flags.thresholds.empty() && flags.pvalues.empty())
        fail(ErrorKind::usage, "nothing to write: give -o SETS.npy, --pvalues P.npy or --thresholds T.npy");
    if (flags.input.probs.empty() && !(flags.output.empty() && flags.pvalues.empty()))
        fail(ErrorKind::usage, "--probs is needed for prediction sets and p-values");
    // Folders go into a folder, one file a case, unless the name asks for one array.
    const bool to_folder = !flags.output.empty() && is_images(flags.input.probs) &&
                           std::filesystem::path(flags.output).extension() != ".npy";
    const SetCoding coding = coding_of(flags.coding);
    if (flags.packed && (to_folder || coding == SetCoding::bits))
        fail(ErrorKind::usage, "--packed is for arrays; files take --coding bits");
    if (!to_folder && coding == SetCoding::bits)
        fail(ErrorKind::usage, "--coding bits is for folders; arrays take --packed");
    Outputs outputs{{"-o", to_folder ? "" : flags.output},
                    {"--thresholds", flags.thresholds},
                    {"--pvalues", flags.pvalues}};
    TerminalProgress progress(flags.common.quiet);
    const InputWatch inputs;
    const Calibrator calibrator = load(flags.calibrator);
    const Predictor predictor(calibrator, flags.alpha, flags.no_empty ? EmptySets::fill : EmptySets::keep);
    const std::size_t classes = calibrator.classes, height = calibrator.grid.height,
                      width = calibrator.grid.width;
    const std::size_t values = classes * calibrator.grid.pixels();

    if (!flags.thresholds.empty()) {
        const std::vector<float> table(predictor.thresholds().begin(), predictor.thresholds().end());
        write_npy(outputs.file("--thresholds"), Array::copy_of(table, {classes, height, width}).view());
    }
    if (flags.output.empty() && flags.pvalues.empty()) {
        inputs.check();
        outputs.commit();
        return;
    }
    if (to_folder) {
        const FolderPrediction done =
            predict_folder(calibrator, flags.alpha, flags.input, coding, flags.output, inputs, progress);
        progress.clear();
        if (!flags.common.quiet) {
            for (const std::string& remark : done.remarks) warn(progress, remark);
            print(fmt::format("{}: {} files, {} images at alpha {}\n{}\n", flags.output, done.cases,
                              done.images, flags.alpha, guarantee(calibrator)));
        }
        if (flags.pvalues.empty()) {
            outputs.commit();
            return;
        }
    }
    const Input input = flags.input.load(progress, calibrator.input);
    if (!to_folder) say(progress, input, flags.common.quiet);
    const Dataset& data = input.data;
    check_fits(calibrator, data);
    const PixelRange whole{0, calibrator.grid.pixels()};
    const auto probs_of = [&](std::size_t image) {
        std::vector<float>& probs = thread_buffer<float, struct ProbsOf>();
        probs.resize(values);
        data.read_probs(image, whole, probs.data());
        return std::span<const float>(probs);
    };
    std::string remark;
    if (outputs.has("-o")) {
        const std::size_t row = flags.packed ? predictor.packed_width() : width;
        const std::size_t bytes = classes * height * row;
        std::atomic<std::uint64_t> filled{0};
        write_images(outputs.file("-o"), DType::uint8, {data.images(), classes, height, row}, bytes, data,
                     progress, "predicting", [&](std::size_t image, std::byte* out) {
                         const std::span<std::uint8_t> sets(reinterpret_cast<std::uint8_t*>(out), bytes);
                         if (flags.packed)
                             filled += predictor.packed_sets(probs_of(image), sets);
                         else if (const auto halves = halves_of(data, image);
                                  halves.size() != values || !predictor.half_sets(halves, sets))
                             filled += predictor.sets(probs_of(image), sets);  // tells where a bad value is
                     });
        if (flags.no_empty)
            remark = fmt::format("{:.2f} % of the sets were empty and got the most probable class\n",
                                 100 * static_cast<double>(filled) /
                                     static_cast<double>(data.images() * calibrator.grid.pixels()));
    }
    if (!flags.pvalues.empty())
        write_images(outputs.file("--pvalues"), DType::float32, {data.images(), classes, height, width},
                     values * sizeof(float), data, progress, "p-values",
                     [&](std::size_t image, std::byte* out) {
                         p_values(calibrator, probs_of(image), {reinterpret_cast<float*>(out), values});
                     });
    inputs.check();
    outputs.commit();
    if (!flags.common.quiet && !to_folder)
        print(fmt::format("{} images at alpha {}\n{}{}\n", data.images(), flags.alpha, remark,
                          guarantee(calibrator)));
}
}  // namespace

Command add_predict(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    CLI::App* app = root.add_subcommand("predict", "Turn probabilities into prediction sets");
    app->add_option("calibrator", flags->calibrator, "a .kcal file")->required()->type_name("FILE.kcal");
    app->add_option("--probs", flags->input.probs,
                    "probabilities [N,C,H,W], .npy or .npz[:KEY]; or a folder of files")
        ->type_name("FILE");
    app->add_option("--alpha", flags->alpha, "allowed share of misses")->capture_default_str();
    app->add_option(
           "-o,--output", flags->output,
           "sets, uint8 [N,C,H,W]: 1 where the class is in the set; for a folder of files a folder, one file "
           "each")
        ->type_name("FILE.npy");
    app->add_option("--coding", flags->coding,
                    "sets in files: 'planes', one 0/1 plane per class, or 'bits', bit c for class c")
        ->capture_default_str();
    app->add_flag("--packed", flags->packed,
                  "write bits: uint8 [N,C,H,ceil(W/8)] (numpy.unpackbits(..., axis=-1, count=W))");
    app->add_flag("--no-empty", flags->no_empty, "the most probable class enters sets that would be empty");
    app->add_option("--thresholds", flags->thresholds,
                    "float32 [C,H,W]: a class is in the set if p >= threshold (scores other than lac: if its "
                    "score <= threshold)")
        ->type_name("FILE.npy");
    app->add_option("--pvalues", flags->pvalues, "conformal p-values, float32 [N,C,H,W]")
        ->type_name("FILE.npy");
    app->add_option("--logits", flags->input.logits,
                    "the inputs are logits: sigmoid or softmax (never guessed)")
        ->capture_default_str();
    flags->input.folder.declare(*app, false);
    flags->common.declare(*app);
    app->footer(
        "Example (after 'kandinsky demo -o demo'):\n"
        "  kandinsky predict demo/kmeans.kcal --probs demo/test_probs.npy --alpha 0.1 -o demo/sets.npy");
    return {app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
