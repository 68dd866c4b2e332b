#include <kandinsky/evaluate.hpp>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "evaluate/coverage.hpp"
#include "evaluate/reliability.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kTile = 512;
constexpr std::size_t kNotes = std::size_t{1} << 24;  // bytes that the bootstrap notes in a tile
}  // namespace

EvaluationReport evaluate(const Dataset& data, const std::vector<const Calibrator*>& calibrators,
                          const EvaluateOptions& options, Progress& progress) {
    check_alpha(options.alpha);
    if (calibrators.empty()) fail(ErrorKind::usage, "there is no calibrator to evaluate");
    for (const Calibrator* calibrator : calibrators) {
        check_fits(*calibrator, data);
        if (calibrator->options.score != calibrators.front()->options.score)
            fail(ErrorKind::usage, "the calibrators to compare use different scores");
    }
    if (options.bootstrap > 10000)
        fail(ErrorKind::usage, "--bootstrap is {}, but must be at most 10000", options.bootstrap);
    Resamples resamples;
    if (options.bootstrap > 0) resamples = Resamples(data, options.bootstrap, options.seed, progress);
    const std::size_t pixels = data.grid().pixels();
    const std::size_t length =
        options.bootstrap > 0 ? std::min(kTile, ResampledErrors::tile_size(data, kNotes / calibrators.size()))
                              : kTile;
    const std::size_t tiles = (pixels + length - 1) / length;
    const bool released = calibrators.front()->options.released;
    std::vector<std::unique_ptr<CoverageJudge>> judges;
    for (const Calibrator* calibrator : calibrators)
        judges.push_back(std::make_unique<CoverageJudge>(*calibrator, options, data, resamples));

    EvaluationReport report;
    report.images = data.images();
    if (options.maps) report.probabilities.ece_map.assign(data.classes(), std::vector<double>(pixels));
    report.groups = data.groups();
    report.bootstrap = options.bootstrap;
    ReliabilityTile::Totals totals(data.classes());
    std::optional<GroupBins> groups;
    if (options.bootstrap > 0) groups.emplace(data.classes(), data.groups());
    std::mutex mutex;
    parallel_for(tiles, progress, "evaluating", [&](std::size_t number) {
        const PixelRange range{number * length, std::min(pixels, (number + 1) * length)};
        std::vector<std::unique_ptr<CoverageJudge::Tile>> tallies;
        for (const auto& judge : judges)
            tallies.push_back(std::make_unique<CoverageJudge::Tile>(*judge, range));
        ReliabilityTile reliability(data.classes(), range.size(), released);
        ScoredTile tile(data, calibrators.front()->options.score, range.size());
        for (std::size_t image = 0; image < data.images(); ++image) {
            if (progress.cancelled()) throw Interrupted();
            tile.load(image, range);
            if (groups)
                reliability.add(tile, *groups, data.group_of(image));
            else
                reliability.add(tile);
            for (const auto& tally : tallies) tally->add(tile, image);
        }
        for (const auto& tally : tallies) tally->finish();
        if (options.maps) reliability.write_map(range.begin, report.probabilities.ece_map);
        const std::lock_guard lock(mutex);
        totals.add(reliability.totals());
    });
    std::uint64_t samples = 0;
    for (const auto& judge : judges) {
        report.calibrators.push_back(judge->finish());
        for (const StratumEvaluation& one : report.calibrators.back().strata) samples += one.samples;
    }
    if (samples == 0)
        fail(ErrorKind::data, "{}: every pixel is ignored, so there is nothing to evaluate on",
             data.options().labels_name);
    report.probabilities.classes = totals.finish();
    if (groups) groups->finish(resamples, report.probabilities);
    return report;
}

}  // namespace kandinsky
