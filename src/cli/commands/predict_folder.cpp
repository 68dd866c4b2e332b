#include "cli/commands/predict_folder.hpp"

#include <atomic>
#include <filesystem>

#include "calibrate/set_tally.hpp"
#include "cli/process/folder_output.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/base/thread_buffer.hpp"
#include "io/folder/folder.hpp"
#include "io/source/items.hpp"

namespace kandinsky::cli {

namespace {
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
}  // namespace

FolderPrediction predict_folder(const Calibrator& calibrator, const Predictor& predictor,
                                const InputFlags& input, SetCoding coding, const std::string& output,
                                const InputWatch& inputs, TerminalProgress& progress) {
    FolderPrediction out;
    check_output(input.probs, output);
    FolderOutput folder(output);
    FolderOptions options = input.folder_options(calibrator.input);
    const auto source = open_images(input.probs, Role::probabilities, options);
    const Pairing pairing = pair_items(source.get(), nullptr);
    std::vector<BadFile> bad = pairing.bad;
    if (!bad.empty() && !options.skip_bad)
        fail(ErrorKind::data, "{}; mend them, or go on without them: --skip-bad",
             list_of(bad, pairing.files));
    options = options_for(calibrator, *source, pairing.pairs, options);
    if (coding == SetCoding::bits) (void)bits_dtype(calibrator.classes);

    const std::size_t grid = calibrator.grid.pixels(), classes = calibrator.classes;
    std::vector<BadFile> problems(pairing.pairs.size());
    std::atomic<std::uint64_t> outside = 0;
    SetTally tally(classes);
    parallel_for(pairing.pairs.size(), progress, "predicting", [&](std::size_t i) {
        const Pair& pair = pairing.pairs[i];
        const ItemInfo& info = source->items()[pair.probs];
        const Grid own{static_cast<std::uint32_t>(info.height), static_cast<std::uint32_t>(info.width)};
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
    if (!bad.empty()) {
        const std::string list = list_of(bad, pairing.files);
        if (!options.skip_bad)
            fail(ErrorKind::data, "{}; mend them, or go on without them: --skip-bad", list);
        out.remarks.push_back("--skip-bad: " + list);
    }
    if (tally.counts().images == 0) fail(ErrorKind::data, "no image is left in {}", input.probs);
    if (outside > 0)
        out.remarks.push_back(fmt::format(
            "{} pixels lie outside the calibrator's grid: nothing is known there, so every class is in "
            "their sets",
            outside.load()));
    out.predicted = tally.counts();
    inputs.check();
    folder.commit();
    return out;
}

}  // namespace kandinsky::cli
