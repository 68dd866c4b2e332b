#include <filesystem>
#include <kandinsky/kcal.hpp>
#include <kandinsky/npy.hpp>
#include <kandinsky/predict.hpp>
#include <optional>

#include "cli/commands/command.hpp"
#include "cli/commands/predict_folder.hpp"
#include "cli/options/shared_flags.hpp"
#include "core/base/fail.hpp"
#include "io/array/npy_write.hpp"
#include "io/file/input_watch.hpp"
#include "report/table/predicted_text.hpp"

namespace kandinsky::cli {

namespace {
struct Flags {
    CommonFlags common;
    InputFlags input;
    std::string calibrator, output, thresholds, pvalues, coding = "planes";
    double alpha = 0.1;
    bool packed = false;
    EmptyFlags empty;
};

/// Appends predictions to a file whose header is written.
PredictionSink into(AtomicFile& file) {
    return [&file](std::span<const std::byte> block) { file.write(block.data(), block.size()); };
}

SetCoding coding_of(const std::string& name) {
    if (name == "planes") return SetCoding::planes;
    if (name == "bits") return SetCoding::bits;
    fail(ErrorKind::usage, "--coding is '{}', but must be planes or bits", name);
}

void run(const Flags& flags) {
    const ThreadLimit limit(flags.common.threads);
    check_alpha(flags.alpha);
    if (flags.output.empty() && flags.thresholds.empty() && flags.pvalues.empty())
        fail(ErrorKind::usage, "nothing to write: give -o SETS.npy, --pvalues P.npy or --thresholds T.npy");
    if (flags.input.probs.empty() && !(flags.output.empty() && flags.pvalues.empty()))
        fail(ErrorKind::usage, "--probs is needed for prediction sets and p-values");
    if (flags.output.empty()) flags.empty.refuse("it is about sets, and -o is not given");
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
    const Predictor predictor(calibrator, flags.alpha, flags.empty.choice());
    const std::size_t classes = calibrator.classes, height = calibrator.grid.height,
                      width = calibrator.grid.width;

    const auto warn_of_full = [&](const Predicted& predicted) {
        const std::string text = predicted_warning(calibrator, predictor, flags.alpha, predicted);
        if (!text.empty()) warn(progress, text);
    };

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
            predict_folder(calibrator, predictor, flags.input, coding, flags.output, inputs, progress);
        progress.clear();
        if (!flags.common.quiet) {
            for (const std::string& remark : done.remarks) warn(progress, remark);
            print(fmt::format("{}: {} files, {} images at alpha {}\n{}\n{}\n", flags.output, done.cases,
                              done.predicted.images, flags.alpha, guarantee(calibrator),
                              predicted_line(done.predicted)));
            warn_of_full(done.predicted);
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
    std::optional<Predicted> predicted;
    if (outputs.has("-o")) {
        const std::size_t row = flags.packed ? predictor.packed_width() : width;
        outputs.file("-o").write(npy_header(DType::uint8, {data.images(), classes, height, row}));
        predicted = predict_sets(predictor, data, into(outputs.file("-o")),
                                 {.form = flags.packed ? SetForm::bits : SetForm::bytes}, progress);
    }
    if (outputs.has("--pvalues")) {
        outputs.file("--pvalues").write(npy_header(DType::float32, {data.images(), classes, height, width}));
        predict_p_values(calibrator, data, into(outputs.file("--pvalues")), {}, progress);
    }
    progress.clear();
    inputs.check();
    outputs.commit();
    if (flags.common.quiet || to_folder) return;
    print(fmt::format("{} images at alpha {}\n{}\n{}", data.images(), flags.alpha, guarantee(calibrator),
                      predicted ? predicted_line(*predicted) + "\n" : ""));
    if (predicted) warn_of_full(*predicted);
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
    flags->empty.declare(
        *app,
        "sets that would be empty: fill (the most probable class enters), keep, or auto (fill; "
        "keep where masks left calibration pixels without a class)");
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
