#include <kandinsky/kcal.hpp>

#include "cli/commands/command.hpp"
#include "cli/commands/mask_files.hpp"
#include "cli/commands/predict_folder.hpp"
#include "core/base/fail.hpp"
#include "io/array/npy.hpp"
#include "report/table/predicted_text.hpp"

namespace kandinsky::cli {

namespace {
struct Flags {
    CommonFlags common;
    InputFlags input;
    std::string calibrator, output, thresholds, pvalues, coding = "planes", class_names;
    double alpha = 0.1;
    bool packed = false;
    EmptyFlags empty;

    /// If the input is a folder or a file of an image or volume, the output is a folder with one file per
    /// case, unless the output's name ends in .npy.
    [[nodiscard]] bool to_folder(const std::string& name) const {
        return !name.empty() && is_images(input.probs) && std::filesystem::path(name).extension() != ".npy";
    }
    [[nodiscard]] FolderTargets targets() const {
        return {to_folder(output) ? output : "",
                to_folder(pvalues) ? pvalues : "",
                coding_of(coding),
                alpha,
                {},
                !class_names.empty()};
    }
    [[nodiscard]] bool to_folders() const { return to_folder(output) || to_folder(pvalues); }
};

/// Appends predictions to a file after its header.
PredictionSink into(AtomicFile& file) {
    return [&file](std::span<const std::byte> block) { file.write(block.data(), block.size()); };
}

void run(const Flags& flags) {
    const ThreadLimit limit(flags.common.threads);
    check_alpha(flags.alpha);
    if (flags.output.empty() && flags.thresholds.empty() && flags.pvalues.empty())
        fail(ErrorKind::usage, "nothing to write: give -o SETS.npy, --pvalues P.npy or --thresholds T.npy");
    if (flags.input.probs.empty() && !(flags.output.empty() && flags.pvalues.empty()))
        fail(ErrorKind::usage, "--probs is needed for prediction sets and p-values");
    if (flags.to_folder(flags.output) && flags.output == "-")
        fail(ErrorKind::usage,
             "-o - cannot be a folder of files; give a folder, or a file name that ends in .npy");
    FolderTargets targets = flags.targets();
    const bool to_folders = flags.to_folders();
    const bool to_pipe = flags.output == "-" && !is_terminal();
    Outputs outputs{{"-o", !targets.sets.empty() ? ""
                           : to_pipe             ? "/dev/stdout"
                                                 : flags.output},
                    {"--thresholds", flags.thresholds},
                    {"--pvalues", targets.p_values.empty() ? flags.pvalues : ""}};
    TerminalProgress progress(flags.common.quiet);
    const InputWatch inputs;
    const Calibrator calibrator = load(flags.calibrator);
    if (calibrator.adapts() && !flags.thresholds.empty())
        fail(ErrorKind::usage,
             "--thresholds: the thresholds of {} depend on the image; use the sets (-o) or p-values "
             "(--pvalues), or "
             "calibrate "
             "with --adapt none",
             flags.calibrator);
    const Predictor predictor(calibrator, flags.alpha, flags.empty.choice());
    const std::size_t classes = calibrator.classes, height = calibrator.grid.height,
                      width = calibrator.grid.width;

    if (!flags.thresholds.empty()) {
        const std::vector<float> table(predictor.thresholds().begin(), predictor.thresholds().end());
        write_npy(outputs.file("--thresholds"), Array::copy_of(table, {classes, height, width}).view());
    }
    if (flags.output.empty() && flags.pvalues.empty()) {
        inputs.check();
        return outputs.commit();
    }
    if (to_folders) {
        targets.class_names = names_of_classes(flags.class_names, calibrator.input, classes);
        say(predict_folder(calibrator, predictor, flags.input, targets, inputs, progress),
            guarantee(calibrator), calibrator, predictor, targets, flags.common.quiet, progress);
        if (!outputs.has("-o") && !outputs.has("--pvalues")) return outputs.commit();
    }
    const Input input = flags.input.load(progress, &calibrator);
    if (!to_folders) say(progress, input, flags.common.quiet);
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
    if (flags.common.quiet || to_folders || to_pipe) return;
    print(fmt::format("{} images at alpha {}\n{}\n{}", data.images(), flags.alpha, guarantee(calibrator),
                      predicted ? predicted_line(*predicted) + "\n" : ""));
    const std::string doubt =
        predicted ? predicted_warning(calibrator, predictor, flags.alpha, *predicted) : std::string();
    if (!doubt.empty()) warn(progress, doubt);
}
}  // namespace

Command add_predict(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    OptionSet& app = OptionSet::add_to(root, "predict", "Turn probabilities into prediction sets");
    app.input("calibrator", flags->calibrator, "FILE.kcal", "calibrator, a .kcal file")->required();
    app.input("--probs", flags->input.probs, "FILE",
              "probabilities [N,C,H,W], .npy or .npz[:KEY]; or a folder of files; '-': a .npy on "
              "standard input");
    app.add_option("--alpha", flags->alpha, "error level alpha: the allowed share of misses");
    app.output("-o,--output", flags->output, "FILE.npy",
               "sets to write, uint8 [N,C,H,W], 1 where the class is in the set ('-': standard output); for "
               "a folder of files a folder with one file each");
    app.add_option("--coding", flags->coding,
                   "coding of sets in files: 'planes' (one 0/1 plane per class), 'bits' (bit c for class c) "
                   "or 'masks' (label maps of the certain and the possible classes, for viewers of volumes)");
    app.add_option(
        "--class-names", flags->class_names,
        "names of the classes in files, separated by commas (default: those of the calibration labels)");
    app.add_flag(
        "--packed", flags->packed,
        "write the sets as bits, uint8 [N,C,H,ceil(W/8)] (read by numpy.unpackbits(..., axis=-1, count=W))");
    flags->empty.declare(app);
    app.output("--thresholds", flags->thresholds, "FILE.npy",
               "thresholds to write, float32 [C,H,W]: a class is in the set if p >= threshold (with other "
               "scores than lac: if its score <= threshold)");
    app.output(
        "--pvalues", flags->pvalues, "FILE.npy",
        "conformal p-values to write, float32 [N,C,H,W]; for a folder of files a folder with one file each");
    declare_logits(app, flags->input);
    flags->input.folder.declare(app, {.truth = false}, [flags = flags.get()] {
        return unless(is_images(flags->input.probs), "it is for folders of files, not for arrays");
    });
    const Flags* const given = flags.get();
    app.counts_unless("--probs", [given] {
        return unless(!(given->output + given->pvalues).empty() || given->thresholds.empty(),
                      "thresholds need no probabilities");
    });
    app.counts_unless("--logits",
                      [given] { return unless(!given->input.probs.empty(), "there are no --probs"); });
    app.counts_unless("--alpha", [given] {
        return unless(!given->output.empty() || !given->thresholds.empty(),
                      "p-values do not depend on alpha");
    });
    app.counts_unless("--class-names", [given] {
        return unless(given->to_folders(), "it is for sets and p-values in a folder of files");
    });
    app.counts_unless("--coding", [given] {
        return unless(given->to_folder(given->output),
                      given->output.empty() ? "no sets are written; -o names their folder"
                                            : "it is for sets in a folder of files; for arrays use --packed");
    });
    app.counts_unless("--packed", [given] {
        return unless(!given->output.empty() && !given->to_folder(given->output),
                      "it is for sets in an array; for files use --coding bits");
    });
    for (const char* const flag : {"--empty", "--no-empty"})
        app.counts_unless(flag, [given] { return unless(!given->output.empty(), "no sets are written"); });
    flags->common.declare(app);
    app.footer(
        "Example (after 'kandinsky demo -o demo'):\n"
        "  kandinsky predict demo/kmeans.kcal --probs demo/test_probs.npy --alpha 0.1 -o demo/sets.npy");
    return {&app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
