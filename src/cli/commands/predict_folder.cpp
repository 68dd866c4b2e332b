#include "cli/commands/predict_folder.hpp"

#include <atomic>
#include <nlohmann/json.hpp>

#include "calibrate/set_tally.hpp"
#include "cli/commands/mask_files.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/base/thread_buffer.hpp"
#include "io/folder/folder.hpp"
#include "report/table/predicted_text.hpp"

namespace kandinsky::cli {

namespace {
/// Refuses output folders that are the input folder, or whose name looks like a file.
void check_output(const std::string& input, const std::string& flag, const std::string& output) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const fs::path from =
        fs::is_directory(input, ignored) ? fs::path(input) : fs::absolute(input).parent_path();
    if (fs::exists(output, ignored) && fs::equivalent(from, output, ignored))
        fail(ErrorKind::usage, "{} {} is the folder of the probabilities; name another one", flag, output);
    for (const FolderFormat& format : folder_formats())
        if (item_name(output, format) != fs::path(output).filename().string())
            fail(ErrorKind::usage,
                 "{} {} looks like a file, but must be a folder: it gets one file for each case", flag,
                 output);
}

/// The options with the calibrator's grid; refuses images that are not made for it.
FolderOptions options_for(const Calibrator& calibrator, const ImageSource& source,
                          const std::vector<Pair>& pairs, FolderOptions options) {
    if (options.fit.kind == GridFit::Kind::none) options.fit.grid = calibrator.grid;
    if (options.fit.grid != calibrator.grid)
        fail(ErrorKind::data, "the calibrator is made for {} x {} pixels (height x width), not {} x {}",
             calibrator.grid.height, calibrator.grid.width, options.fit.grid.height, options.fit.grid.width);
    for (const Pair& pair : pairs) {
        const ItemInfo& info = source.items()[pair.probs];
        const std::size_t classes = info.planes == 1 ? 2 : info.planes;
        if (classes != calibrator.classes)
            fail(ErrorKind::data, "{} has {} classes, but the calibrator has {}", info.path, classes,
                 calibrator.classes);
        if (options.fit.kind == GridFit::Kind::none &&
            (info.height != calibrator.grid.height || info.width != calibrator.grid.width))
            fail(ErrorKind::data,
                 "{} is {} x {} (height x width), but the calibrator is made for {} x {}; {} --grid or "
                 "--resize {}x{} (width x height)",
                 info.path, info.height, info.width, calibrator.grid.height, calibrator.grid.width,
                 calibrator.input.empty() ? "use" : "for files of several sizes calibrate again with",
                 calibrator.grid.width, calibrator.grid.height);
    }
    return options;
}

/// The result for one case on its own grid: [slices][classes][height][width].
struct CaseResult {
    std::vector<std::uint8_t> sets;
    std::vector<float> p_values;
    std::uint64_t outside = 0;  ///< number of pixels outside the calibrator's grid
    SetTally tally;
};

CaseResult predict_case(const Calibrator& calibrator, const Predictor& predictor, const SliceReader& reader,
                        const ItemInfo& info, const FolderOptions& options, const FolderTargets& targets,
                        const Progress& progress) {
    const std::size_t grid = calibrator.grid.pixels(), classes = calibrator.classes;
    const Grid own = info.grid();
    const std::size_t plane = own.pixels(), image = classes * plane;
    const bool wants_sets = !targets.sets.empty(), wants_p_values = !targets.p_values.empty();
    CaseResult out{{}, {}, 0, SetTally(classes)};
    if (wants_sets) out.sets.resize(info.slices * image);
    if (wants_p_values) out.p_values.resize(info.slices * image);
    std::vector<float>& probs = thread_buffer<float, struct FittedProbs>();
    std::vector<float>& p_values_here = thread_buffer<float, struct FittedPValues>();
    std::vector<std::uint8_t>& fitted = thread_buffer<std::uint8_t, struct FittedSets>();
    for (std::size_t s = 0; s < info.slices; ++s) {
        if (progress.cancelled()) throw Interrupted();
        std::uint8_t* const to = out.sets.data() + s * image;
        const bool as_it_is = wants_sets && own == calibrator.grid;
        if (as_it_is)
            out.tally.add(to, grid, predict_image(predictor, reader.data(), s, SetForm::bytes, {to, image}));
        if (as_it_is && !wants_p_values) continue;
        probs.resize(classes * grid);
        reader.read(s, probs.data() + (info.planes == 1 ? grid : 0));
        if (info.planes == 1)
            for (std::size_t p = 0; p < grid; ++p) probs[p] = 1.0f - probs[grid + p];
        if (wants_sets && !as_it_is) {
            fitted.resize(classes * grid);
            out.tally.add(fitted.data(), grid, predictor.sets(probs, fitted));
            for (std::size_t c = 0; c < classes; ++c)
                out.outside += unfit_sets(fitted.data() + c * grid, options.fit, own, to + c * plane);
        }
        if (!wants_p_values) continue;
        p_values_here.resize(classes * grid);
        p_values(calibrator, probs, p_values_here);
        for (std::size_t c = 0; c < classes; ++c) {
            const std::size_t beyond = unfit_values(p_values_here.data() + c * grid, options.fit, own,
                                                    out.p_values.data() + s * image + c * plane);
            if (!wants_sets) out.outside += beyond;
        }
    }
    out.outside /= std::max<std::size_t>(1, classes);
    return out;
}

/// The meaning of a file's planes, for its readers.
std::string note_of(const FolderTargets& targets, const char* what, bool at_alpha) {
    nlohmann::ordered_json note{{"kandinsky", KANDINSKY_VERSION}, {"content", what}};
    if (at_alpha) note["alpha"] = targets.alpha;
    note["classes"] = targets.class_names;
    return note.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}
}  // namespace

SetCoding coding_of(const std::string& word) {
    if (word == "masks") return SetCoding::masks;
    if (word == "planes" || word == "bits") return word == "bits" ? SetCoding::bits : SetCoding::planes;
    fail(ErrorKind::usage, "--coding is '{}', but must be planes, bits or masks", word);
}

FolderPrediction predict_folder(const Calibrator& calibrator, const Predictor& predictor,
                                const InputFlags& input, const FolderTargets& targets,
                                const InputWatch& inputs, TerminalProgress& progress) {
    FolderPrediction out;
    std::optional<FolderOutput> sets_folder, p_folder;
    const std::pair<const char*, const std::string&> outputs[] = {{"-o", targets.sets},
                                                                  {"--pvalues", targets.p_values}};
    for (const auto& [flag, folder] : outputs) {
        if (folder.empty()) continue;
        check_output(input.probs, flag, folder);
        (&folder == &targets.sets ? sets_folder : p_folder).emplace(folder);
    }
    FolderOptions options = input.folder_options(&calibrator);
    const auto source = open_images(input.probs, Role::probabilities, options);
    input.folder.check_volumes(*source);
    const Pairing pairing = pair_items(source.get(), nullptr);
    std::vector<BadFile> bad = pairing.bad;
    refuse_bad(bad, pairing.files, options.bad_files);
    options = options_for(calibrator, *source, pairing.pairs, options);
    if (targets.coding == SetCoding::bits) (void)bits_dtype(calibrator.classes);
    std::optional<MaskFiles> masks;
    if (targets.coding == SetCoding::masks) masks.emplace(targets.class_names);
    for (const Pair& pair : pairing.pairs)
        if (const ItemInfo& info = source->items()[pair.probs]; !info.volume && (masks || targets.named))
            fail(ErrorKind::usage, "{} has no effect: it is for volumes, but {} is an image",
                 masks ? "--coding masks" : "--class-names", info.path);

    const std::string sets_note = note_of(targets, masks ? "masks" : "prediction sets", true),
                      p_note = note_of(targets, "p-values", false);
    std::vector<BadFile> problems(pairing.pairs.size());
    std::atomic<std::uint64_t> outside = 0, images = 0;
    SetTally tally(calibrator.classes);
    parallel_for(pairing.pairs.size(), progress, "predicting", [&](std::size_t i) {
        const Pair& pair = pairing.pairs[i];
        const ItemInfo& info = source->items()[pair.probs];
        std::optional<CaseResult> made;  // counted after the case is complete
        try {
            made = predict_case(calibrator, predictor, {info, source->read(pair.probs), options}, info,
                                options, targets, progress);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::data && error.kind() != ErrorKind::file) throw;
            problems[i] = {info.path, problem_text(error.what(), info.path)};
            return;
        }
        const ItemSets sets{pair.name, made->sets.data(), calibrator.classes, targets.coding, sets_note};
        if (masks)
            masks->write(*source, pair.probs, sets, sets_folder->folder());
        else if (sets_folder)
            source->write_sets(pair.probs, sets, sets_folder->folder());
        if (p_folder)
            source->write_sets(pair.probs,
                               {pair.name, reinterpret_cast<const std::uint8_t*>(made->p_values.data()),
                                calibrator.classes, SetCoding::planes, p_note, DType::float32},
                               p_folder->folder());
        tally.add(made->tally.counts());
        outside += made->outside;
        images += info.slices;
    });
    for (const BadFile& one : problems)
        if (!one.path.empty()) bad.push_back(one);
    out.cases = pairing.files - bad.size();
    refuse_bad(bad, pairing.files, options.bad_files);
    if (!bad.empty()) out.remarks.push_back("--skip-bad: " + list_of(bad, pairing.files));
    if (images == 0) fail(ErrorKind::data, "no image is left in {}", input.probs);
    if (outside > 0)
        out.remarks.push_back(
            fmt::format("{} pixels lie outside the calibrator's grid: nothing is known there, so every class "
                        "is in their sets",
                        outside.load()));
    if (masks) masks->write_descriptions(sets_folder->folder());
    out.predicted = tally.counts();
    out.predicted.images = images;
    inputs.check();
    if (sets_folder) sets_folder->commit();
    if (p_folder) p_folder->commit();
    return out;
}

void say(const FolderPrediction& done, const std::string& promise, const Calibrator& calibrator,
         const Predictor& predictor, const FolderTargets& targets, bool quiet, TerminalProgress& progress) {
    progress.clear();
    if (quiet) return;
    for (const std::string& remark : done.remarks) warn(progress, remark);
    const std::string told = promise.empty() ? "" : promise + "\n";
    if (targets.sets.empty())
        return print(fmt::format("{}: p-values of {} files, {} images\n{}", targets.p_values, done.cases,
                                 done.predicted.images, told));
    print(fmt::format("{}: {} files, {} images at alpha {}\n{}{}\n", targets.sets, done.cases,
                      done.predicted.images, targets.alpha, told, predicted_line(done.predicted)));
    const std::string doubt = predicted_warning(calibrator, predictor, targets.alpha, done.predicted);
    if (!doubt.empty()) warn(progress, doubt);
}

}  // namespace kandinsky::cli
