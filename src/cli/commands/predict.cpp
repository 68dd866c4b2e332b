#include <atomic>
#include <kandinsky/kcal.hpp>
#include <kandinsky/predict.hpp>

#include "calibrate/set_tally.hpp"
#include "cli/commands/command.hpp"
#include "cli/options/shared_flags.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/base/thread_buffer.hpp"
#include "io/array/npy.hpp"
#include "io/file/input_watch.hpp"
#include "io/folder/folder.hpp"
#include "io/source/source.hpp"
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

    /// Folders go into a folder, one file a case, unless the name asks for one array.
    [[nodiscard]] bool to_folder() const {
        return !output.empty() && is_images(input.probs) &&
               std::filesystem::path(output).extension() != ".npy";
    }
};

/// Appends predictions to a file whose header is written.
PredictionSink into(AtomicFile& file) {
    return [&file](std::span<const std::byte> block) { file.write(block.data(), block.size()); };
}

/// Refuses names that would replace the input, or that look like a file.
void check_output(const std::string& input, const std::string& output) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const fs::path from =
        fs::is_directory(input, ignored) ? fs::path(input) : fs::absolute(input).parent_path();
    if (fs::exists(output, ignored) && fs::equivalent(from, output, ignored))
        fail(ErrorKind::usage, "-o {} is the folder of the probabilities; name another one", output);
    for (const FolderFormat& format : folder_formats())
        if (item_name(output, format) != fs::path(output).filename().string())
            fail(ErrorKind::usage,
                 "-o {} looks like a file, but must be a folder: it gets one file for each case", output);
}

/// The options with the calibrator's grid; refuses images that are not made for it.
FolderOptions options_for(const Calibrator& calibrator, const ImageSource& source,
                          const std::vector<Pair>& pairs, FolderOptions options) {
    if (options.fit.kind == GridFit::Kind::none) options.fit.grid = calibrator.grid;
    if (options.fit.grid != calibrator.grid)
        fail(ErrorKind::data, "the calibrator is made for {} x {} pixels (width x height), not {} x {}",
             calibrator.grid.width, calibrator.grid.height, options.fit.grid.width, options.fit.grid.height);
    for (const Pair& pair : pairs) {
        const ItemInfo& info = source.items()[pair.probs];
        const std::size_t classes = info.planes == 1 ? 2 : info.planes;
        if (classes != calibrator.classes)
            fail(ErrorKind::data, "{} has {} classes, but the calibrator has {}", info.path, classes,
                 calibrator.classes);
        if (options.fit.kind == GridFit::Kind::none &&
            (info.height != calibrator.grid.height || info.width != calibrator.grid.width))
            fail(ErrorKind::data,
                 "{} is {} x {} (width x height), but the calibrator is made for {} x {}; say --grid or "
                 "--resize {}x{}",
                 info.path, info.width, info.height, calibrator.grid.width, calibrator.grid.height,
                 calibrator.grid.width, calibrator.grid.height);
    }
    return options;
}
/// What predicting into a folder did.
struct FolderPrediction {
    std::size_t cases = 0;
    Predicted predicted;  ///< on the calibrator's grid
    std::vector<std::string> remarks;
};

/// Predicts every case's sets on the calibrator's grid and writes them on its own, a file each, all or none.
FolderPrediction predict_folder(const Calibrator& calibrator, const Predictor& predictor,
                                const InputFlags& input, SetCoding coding, const std::string& output,
                                const InputWatch& inputs, TerminalProgress& progress) {
    FolderPrediction out;
    check_output(input.probs, output);
    FolderOutput folder(output);
    FolderOptions options = input.folder_options(&calibrator);
    const auto source = open_images(input.probs, Role::probabilities, options);
    input.folder.check_volumes(*source);
    const Pairing pairing = pair_items(source.get(), nullptr);
    std::vector<BadFile> bad = pairing.bad;
    refuse_bad(bad, pairing.files, options.skip_bad);
    options = options_for(calibrator, *source, pairing.pairs, options);
    if (coding == SetCoding::bits) (void)bits_dtype(calibrator.classes);

    const std::size_t grid = calibrator.grid.pixels(), classes = calibrator.classes;
    std::vector<BadFile> problems(pairing.pairs.size());
    std::atomic<std::uint64_t> outside = 0;
    SetTally tally(classes);
    parallel_for(pairing.pairs.size(), progress, "predicting", [&](std::size_t i) {
        const Pair& pair = pairing.pairs[i];
        const ItemInfo& info = source->items()[pair.probs];
        const Grid own = info.grid();
        std::vector<std::uint8_t> sets(info.slices * classes * own.pixels());
        std::uint64_t outside_here = 0;
        SetTally here(classes);  // counts once the case is whole
        try {
            const SliceReader reader(info, source->read(pair.probs), options);
            for (std::size_t s = 0; s < info.slices; ++s) {
                if (progress.cancelled()) throw Interrupted();
                std::uint8_t* const to = sets.data() + s * classes * own.pixels();
                if (own == calibrator.grid) {
                    here.add(
                        to, grid,
                        predict_image(predictor, reader.data(), s, SetForm::bytes, {to, classes * grid}));
                    continue;
                }
                std::vector<float>& probs = thread_buffer<float, struct FittedProbs>();
                std::vector<std::uint8_t>& fitted = thread_buffer<std::uint8_t, struct FittedSets>();
                probs.resize(classes * grid);
                fitted.resize(classes * grid);
                reader.read(s, probs.data() + (info.planes == 1 ? grid : 0));
                if (info.planes == 1)
                    for (std::size_t p = 0; p < grid; ++p) probs[p] = 1.0f - probs[grid + p];
                const std::uint64_t filled = predictor.sets(probs, fitted);
                here.add(fitted.data(), grid, filled);
                for (std::size_t c = 0; c < classes; ++c)
                    outside_here +=
                        unfit_sets(fitted.data() + c * grid, options.fit, own, to + c * own.pixels());
            }
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::data && error.kind() != ErrorKind::file) throw;
            problems[i] = {info.path, problem_text(error.what(), info.path)};
            return;
        }
        source->write_sets(pair.probs, {pair.name, sets.data(), classes, coding}, folder.folder());
        tally.add(here.counts());
        outside += outside_here / classes;
    });
    for (const BadFile& one : problems)
        if (!one.path.empty()) bad.push_back(one);
    out.cases = pairing.files - bad.size();
    refuse_bad(bad, pairing.files, options.skip_bad);
    if (!bad.empty()) out.remarks.push_back("--skip-bad: " + list_of(bad, pairing.files));
    if (tally.counts().images == 0) fail(ErrorKind::data, "no image is left in {}", input.probs);
    if (outside > 0)
        out.remarks.push_back(
            fmt::format("{} pixels lie outside the calibrator's grid: nothing is known there, so every class "
                        "is in their sets",
                        outside.load()));
    out.predicted = tally.counts();
    inputs.check();
    folder.commit();
    return out;
}

void run(const Flags& flags) {
    const ThreadLimit limit(flags.common.threads);
    check_alpha(flags.alpha);
    if (flags.output.empty() && flags.thresholds.empty() && flags.pvalues.empty())
        fail(ErrorKind::usage, "nothing to write: give -o SETS.npy, --pvalues P.npy or --thresholds T.npy");
    if (flags.input.probs.empty() && !(flags.output.empty() && flags.pvalues.empty()))
        fail(ErrorKind::usage, "--probs is needed for prediction sets and p-values");
    const bool to_folder = flags.to_folder();
    const SetCoding coding =
        says("--coding", flags.coding, "planes", "bits") ? SetCoding::planes : SetCoding::bits;
    const bool to_pipe = flags.output == "-" && !is_terminal();
    Outputs outputs{{"-o", to_folder ? ""
                           : to_pipe ? "/dev/stdout"
                                     : flags.output},
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
        return outputs.commit();
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
        if (flags.pvalues.empty()) return outputs.commit();
    }
    const Input input = flags.input.load(progress, &calibrator);
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
    if (flags.common.quiet || to_folder || to_pipe) return;
    print(fmt::format("{} images at alpha {}\n{}\n{}", data.images(), flags.alpha, guarantee(calibrator),
                      predicted ? predicted_line(*predicted) + "\n" : ""));
    if (predicted) warn_of_full(*predicted);
}
}  // namespace

Command add_predict(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    OptionSet& app = OptionSet::add_to(root, "predict", "Turn probabilities into prediction sets");
    app.input("calibrator", flags->calibrator, "FILE.kcal", "a .kcal file")->required();
    app.input("--probs", flags->input.probs, "FILE",
              "probabilities [N,C,H,W], .npy or .npz[:KEY]; or a folder of files; '-': a .npy on "
              "standard input");
    app.add_option("--alpha", flags->alpha, "allowed share of misses");
    app.output("-o,--output", flags->output, "FILE.npy",
               "sets, uint8 [N,C,H,W]: 1 where the class is in the set ('-': into a pipe); for a folder "
               "of files a folder, one file each");
    app.add_option("--coding", flags->coding,
                   "sets in files: 'planes', one 0/1 plane per class, or 'bits', bit c for class c");
    app.add_flag("--packed", flags->packed,
                 "write bits: uint8 [N,C,H,ceil(W/8)] (numpy.unpackbits(..., axis=-1, count=W))");
    flags->empty.declare(app,
                         "sets that would be empty: fill (the most probable class enters), keep, or auto "
                         "(fill; keep where masks left calibration pixels without a class)");
    app.output("--thresholds", flags->thresholds, "FILE.npy",
               "float32 [C,H,W]: a class is in the set if p >= threshold (scores other than lac: if its "
               "score <= threshold)");
    app.output("--pvalues", flags->pvalues, "FILE.npy", "conformal p-values, float32 [N,C,H,W]");
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
        return unless(!given->output.empty() || !given->thresholds.empty(), "p-values hold for every level");
    });
    app.counts_unless("--coding", [given] {
        return unless(given->to_folder(), "it is for sets in a folder of files; arrays take --packed");
    });
    app.counts_unless("--packed", [given] {
        return unless(!given->output.empty() && !given->to_folder(),
                      "it is for sets in an array; files take --coding bits");
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
