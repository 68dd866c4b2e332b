#include <kandinsky/kcal.hpp>
#include <kandinsky/predict.hpp>
#include <kandinsky/reference.hpp>

#include "cli/commands/command.hpp"
#include "cli/commands/mask_files.hpp"
#include "cli/commands/predict_folder.hpp"
#include "core/base/fail.hpp"
#include "core/base/stopwatch.hpp"
#include "io/folder/nnunet.hpp"
#include "io/kcal/kcal.hpp"
#include "report/table/table.hpp"

namespace kandinsky::cli {

namespace fs = std::filesystem;

namespace {
struct Flags {
    CommonFlags common;
    InputFlags input;  ///< `probs` is the result folder
    CalibrateFlags calibrate;
    std::string folds, output, predict, sets, coding = "planes";
    double alpha = 0.1;
    EmptyFlags empty;

    [[nodiscard]] std::string calibrator_file() const {
        return output.empty() ? (fs::path(input.probs) / "kandinsky.kcal").string() : output;
    }
    [[nodiscard]] std::string sets_folder() const {
        return sets.empty() ? (fs::path(predict) / fmt::format("sets_{}", alpha)).string() : sets;
    }
};

/// The smallest grid that contains every slice; nothing if all slices have one size.
std::optional<GridFit> grid_of_all(const ImageSource& source) {
    Grid most;
    bool differ = false;
    for (const ItemInfo& info : source.items()) {
        if (!info.problem.empty()) continue;
        const Grid own = info.grid();
        differ = differ || (most.pixels() > 0 && own != most);
        most = {std::max(most.height, own.height), std::max(most.width, own.width)};
    }
    if (!differ) return std::nullopt;
    return GridFit{GridFit::Kind::centre, most};
}

/// The validation outputs of the folds with their labels.
Input load(const Flags& flags, const NnunetResult& result, TerminalProgress& progress) {
    InputFlags from = flags.input;
    if (from.labels.empty()) from.labels = result.find_labels().string();
    FolderOptions how = from.folder_options();
    const SourceOptions outputs{Role::probabilities, how.axis, how.reorient, {}},
        truth{Role::labels, how.axis, how.reorient, {}};
    const auto probs = result.open_outputs(outputs);
    const auto labels = result.open_labels(from.labels, truth);
    std::string remark;
    if (how.fit.kind == GridFit::Kind::none)
        if (const auto fit = grid_of_all(*probs)) {
            how.fit = *fit;
            remark = fmt::format(
                "slices have different sizes: all are centred on a grid of {} x {} pixels (height x width), "
                "the smallest that contains every slice; choose another with --grid or --resize",
                how.fit.grid.height, how.fit.grid.width);
        }
    Input out =
        folder_input(read_images(probs.get(), labels.get(), how, progress), how, from.dataset_options());
    if (!remark.empty()) out.remarks.insert(out.remarks.begin(), remark);
    if (out.data.classes() != result.class_names.size())
        fail(ErrorKind::data, "the outputs have {} classes, but {} names {}", out.data.classes(),
             (result.folder / "dataset.json").string(), result.class_names.size());
    out.provenance["dataset"] = result.dataset;
    out.provenance["configuration"] = fs::absolute(result.folder).lexically_normal().filename().string();
    out.provenance["folds"] = result.folds;
    out.provenance["class_names"] = result.class_names;
    return out;
}

/// Refuses predictions that cannot be read, or whose files name another dataset.
void check_predictions(const std::string& folder, const NnunetResult& result) {
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored)) fail(ErrorKind::file, "--predict: there is no folder {}", folder);
    for (const char* const file : {"dataset.json", "plans.json"}) {
        const fs::path there = fs::path(folder) / file, here = result.folder / file;
        if (!fs::is_regular_file(there, ignored)) continue;
        const char* const key = std::string_view(file) == "plans.json" ? "dataset_name" : "labels";
        const nlohmann::json theirs = read_json_file(there), ours = read_json_file(here);
        if (theirs.is_object() && ours.is_object() &&
            theirs.value(key, nlohmann::json()) != ours.value(key, nlohmann::json()))
            fail(ErrorKind::data, "{} and {} have different {}: these predictions come from another network",
                 there.string(), here.string(), std::string_view(key) == "labels" ? "labels" : "data");
    }
    (void)open_images(folder, Role::probabilities, InputFlags{}.folder_options());
}

/// Whether the predictions are outputs in the result folder, from which the calibrator is made.
bool predicts_itself(const Flags& flags) {
    const auto inside =
        fs::weakly_canonical(flags.predict).lexically_relative(fs::weakly_canonical(flags.input.probs));
    return !flags.predict.empty() && !inside.empty() && *inside.begin() != "..";
}

void run(const Flags& flags) {
    const ThreadLimit limit(flags.common.threads);
    check_alpha(flags.alpha);
    const CalibrateOptions options = flags.calibrate.options();
    check_method(options.method.name);
    std::vector<int> folds;
    if (!flags.folds.empty())
        for (const std::int64_t fold : parse_integers(flags.folds, "--folds"))
            folds.push_back(static_cast<int>(std::clamp<std::int64_t>(fold, -1, 1 << 20)));
    const NnunetResult result = find_nnunet(flags.input.probs, folds);
    if (!flags.predict.empty()) check_predictions(flags.predict, result);
    const SetCoding coding = coding_of(flags.coding);
    const EmptySets empty = flags.empty.choice();
    Outputs outputs{{"-o", flags.calibrator_file()}};
    TerminalProgress progress(flags.common.quiet);
    const InputWatch inputs;
    const Stopwatch watch;
    Calibrator calibrator;
    Reference reference;
    {
        const Input input = load(flags, result, progress);
        say(progress, input, flags.common.quiet);
        if (!flags.common.quiet && predicts_itself(flags))
            warn(progress,
                 "--predict names outputs that the calibrator was made from, so their sets look better than "
                 "sets of new cases; give the outputs of nnUNetv2_predict --save_probabilities");
        calibrator = calibrate(input.data, options, progress);
        reference = make_reference(calibrator, input.data, progress);
        calibrator.logits = input.logits;
        calibrator.ignore = input.ignore;
        calibrator.input = input.provenance.dump();
    }
    if (!flags.common.quiet)
        for (const std::string& remark : remarks(calibrator)) warn(progress, remark);
    save(calibrator, reference, outputs.file("-o"));
    inputs.check();
    outputs.commit();
    progress.clear();
    if (!flags.common.quiet) {
        if (!calibrator.choices.empty()) print(choice_table(calibrator) + "\n");
        print(calibrated_text(calibrator, flags.calibrator_file(), watch.seconds()));
    }
    if (flags.predict.empty()) return;
    InputFlags test;
    test.probs = flags.predict;
    test.folder.skip_bad = flags.input.folder.skip_bad;
    const Predictor predictor(calibrator, flags.alpha, empty);
    const FolderTargets targets{flags.sets_folder(),
                                {},
                                coding,
                                flags.alpha,
                                names_of_classes({}, calibrator.input, calibrator.classes)};
    say(predict_folder(calibrator, predictor, test, targets, inputs, progress), {}, calibrator, predictor,
        targets, flags.common.quiet, progress);
}
}  // namespace

Command add_nnunet(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    OptionSet& app =
        OptionSet::add_to(root, "nnunet", "Calibrate a trained nnU-Net v2 on its own cross-validation");
    app.input("folder", flags->input.probs, "FOLDER",
              "result folder nnUNet_results/DatasetNNN_NAME/TRAINER__PLANS__CONFIGURATION with "
              "fold_*/validation/*.npz")
        ->required();
    app.input("--labels", flags->input.labels, "FOLDER",
              "label maps of the cases (default: gt_segmentations of nnUNet_preprocessed or labelsTr of "
              "nnUNet_raw, found by nnU-Net's environment variables or beside nnUNet_results)");
    app.add_option("--folds", flags->folds, "folds to calibrate on, separated by commas (default: all)")
        ->type_name("LIST");
    app.output("-o,--output", flags->output, "FILE.kcal",
               "calibrator file to write (default: kandinsky.kcal in the result folder)");
    app.input(
        "--predict", flags->predict, "FOLDER",
        "folder with outputs of nnUNetv2_predict --save_probabilities for new cases, whose sets are written");
    OptionSet* const all = &app;
    const Flags* const given = flags.get();
    app.counts_unless(
        [given] { return unless(!given->predict.empty(), "there is no --predict"); },
        [&] {
            all->output("--sets", flags->sets, "FOLDER",
                        "folder for the sets (default: sets_ALPHA in the folder of --predict)");
            all->add_option("--alpha", flags->alpha, "error level alpha: the allowed share of misses");
            all->add_option("--coding", flags->coding,
                            "coding of the sets: planes, bits or masks (see predict --help)");
            flags->empty.declare(*all, "rule for empty sets: auto, fill or keep (see predict --help)");
        });
    app.add_option("--ignore", flags->input.ignore,
                   "labels to ignore, separated by commas, or 'none'; the label that dataset.json calls "
                   "ignore is always ignored")
        ->default_str("255");
    flags->input.folder.declare_volumes(app, {.truth = true});
    app.counts_unless(
        "--padding", [given] { return unless(given->input.folder.resize.empty(), "--resize pads nothing"); });
    std::string names;
    for (const std::string& name : method_names()) names += (names.empty() ? "" : ", ") + name;
    app.add_option("-m,--method", flags->calibrate.method,
                   "method that decides which pixels share their scores: " + names);
    flags->calibrate.declare(app);
    flags->common.declare(app);
    app.footer(
        "Example (folds trained with --npz; 'test' holds what nnUNetv2_predict --save_probabilities wrote):\n"
        "  kandinsky nnunet nnUNet_results/Dataset004_Hippocampus/nnUNetTrainer__nnUNetPlans__3d_fullres "
        "--predict test");
    return {&app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
