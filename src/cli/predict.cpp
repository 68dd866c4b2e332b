#include <algorithm>
#include <kandinsky/kcal.hpp>
#include <kandinsky/npy.hpp>
#include <kandinsky/predictor.hpp>

#include "cli/command.hpp"
#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "io/writers.hpp"

namespace kandinsky::cli {

namespace {
struct Flags {
    CommonFlags common;
    InputFlags input;
    std::string calibrator, output, thresholds, pvalues;
    double alpha = 0.1;
    bool packed = false;
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
    Outputs outputs{{"-o", flags.output}, {"--thresholds", flags.thresholds}, {"--pvalues", flags.pvalues}};
    TerminalProgress progress(flags.common.quiet);
    const Calibrator calibrator = load(flags.calibrator);
    const Predictor predictor(calibrator, flags.alpha);
    const std::size_t classes = calibrator.classes, height = calibrator.grid.height,
                      width = calibrator.grid.width;
    const std::size_t values = classes * calibrator.grid.pixels();

    if (!flags.thresholds.empty()) {
        const std::vector<float> table(predictor.thresholds().begin(), predictor.thresholds().end());
        write_npy(outputs.file("--thresholds"), Array::copy_of(table, {classes, height, width}).view());
    }
    if (flags.output.empty() && flags.pvalues.empty()) {
        outputs.commit();
        return;
    }
    const Dataset data = flags.input.load_unlabelled();
    check_fits(calibrator, data);
    const PixelRange whole{0, calibrator.grid.pixels()};
    const auto probs_of = [&](std::size_t image) {
        thread_local std::vector<float> probs;
        probs.resize(values);
        data.read_probs(image, whole, probs.data());
        return std::span<const float>(probs);
    };
    if (!flags.output.empty()) {
        const std::size_t row = flags.packed ? predictor.packed_width() : width;
        const std::size_t bytes = classes * height * row;
        write_images(outputs.file("-o"), DType::uint8, {data.images(), classes, height, row}, bytes, data,
                     progress, "predicting", [&](std::size_t image, std::byte* out) {
                         const std::span<std::uint8_t> sets(reinterpret_cast<std::uint8_t*>(out), bytes);
                         if (flags.packed)
                             predictor.packed_sets(probs_of(image), sets);
                         else if (const auto halves = halves_of(data, image);
                                  halves.size() != values || !predictor.half_sets(halves, sets))
                             predictor.sets(probs_of(image), sets);  // tells where a bad value is
                     });
    }
    if (!flags.pvalues.empty())
        write_images(outputs.file("--pvalues"), DType::float32, {data.images(), classes, height, width},
                     values * sizeof(float), data, progress, "p-values",
                     [&](std::size_t image, std::byte* out) {
                         p_values(calibrator, probs_of(image), {reinterpret_cast<float*>(out), values});
                     });
    outputs.commit();
    if (!flags.common.quiet)
        print(fmt::format("{} images at alpha {}\n{}\n", data.images(), flags.alpha, guarantee(calibrator)));
}
}  // namespace

Command add_predict(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    CLI::App* app = root.add_subcommand("predict", "Turn probabilities into prediction sets");
    app->add_option("calibrator", flags->calibrator, "a .kcal file")->required()->type_name("FILE.kcal");
    app->add_option("--probs", flags->input.probs, "probabilities [N,C,H,W], .npy or .npz[:KEY]")
        ->type_name("FILE");
    app->add_option("--alpha", flags->alpha, "allowed share of misses")->capture_default_str();
    app->add_option("-o,--output", flags->output, "sets, uint8 [N,C,H,W]: 1 where the class is in the set")
        ->type_name("FILE.npy");
    app->add_flag("--packed", flags->packed,
                  "write bits: uint8 [N,C,H,ceil(W/8)] (numpy.unpackbits(..., axis=-1, count=W))");
    app->add_option("--thresholds", flags->thresholds,
                    "float32 [C,H,W]: a class is in the set if p >= threshold")
        ->type_name("FILE.npy");
    app->add_option("--pvalues", flags->pvalues, "conformal p-values, float32 [N,C,H,W]")
        ->type_name("FILE.npy");
    app->add_option("--logits", flags->input.logits,
                    "the inputs are logits: sigmoid or softmax (never guessed)")
        ->capture_default_str();
    flags->common.declare(*app);
    app->footer(
        "Example (after 'kandinsky demo -o demo'):\n"
        "  kandinsky predict demo/kmeans.kcal --probs demo/test_probs.npy --alpha 0.1 -o demo/sets.npy");
    return {app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
