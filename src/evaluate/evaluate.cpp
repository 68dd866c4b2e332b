#include <algorithm>
#include <kandinsky/evaluate.hpp>
#include <kandinsky/threads.hpp>
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
constexpr std::size_t kTile = 512, kTogether = 8;
constexpr std::size_t kNotes = std::size_t{1} << 24;  // bytes that the bootstrap notes in a tile

/// What is counted in one tile.
struct TileTally {
    TileTally(const std::vector<std::unique_ptr<CoverageJudge>>& judges, PixelRange own, std::size_t classes,
              bool released)
        : range(own), reliability(classes, own.size(), released) {
        for (const auto& judge : judges)
            coverage.push_back(std::make_unique<CoverageJudge::Tile>(*judge, own));
    }
    void add(const ScoredTile& tile, std::size_t image, GroupBins* groups, std::uint32_t group) {
        if (groups != nullptr)
            reliability.add(tile, *groups, group);
        else
            reliability.add(tile);
        for (const auto& one : coverage) one->add(tile, image);
    }

    PixelRange range;
    ReliabilityTile reliability;
    std::vector<std::unique_ptr<CoverageJudge::Tile>> coverage;
};
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
    // Tiles are narrow, so that a tile's thresholds and counts stay in the cache, and taken several at a
    // time, so that what is read of an image is long. A block of images passes by all tiles before the next
    // does.
    const std::size_t several =
        options.bootstrap > 0 ? 1 : std::clamp<std::size_t>(tiles / (4 * threads_in_use()), 1, kTogether);
    parallel_for((tiles + several - 1) / several, progress, "evaluating", [&](std::size_t number) {
        std::vector<std::unique_ptr<TileTally>> tallies;
        for (std::size_t t = number * several; t < std::min(tiles, (number + 1) * several); ++t)
            tallies.push_back(std::make_unique<TileTally>(
                judges, PixelRange{t * length, std::min(pixels, (t + 1) * length)}, data.classes(),
                released));
        ScoredTile tile(data, calibrators.front()->options.score, std::min(pixels, length));
        for (std::size_t first = 0; first < data.images(); first += ScoredTile::kBlock)
            for (const auto& tally : tallies)
                for (std::size_t image = first; image < std::min(data.images(), first + ScoredTile::kBlock);
                     ++image) {
                    if (progress.cancelled()) throw Interrupted();
                    tile.load(image, tally->range);
                    tally->add(tile, image, groups ? &*groups : nullptr, data.group_of(image));
                }
        for (const auto& tally : tallies) {
            for (const auto& one : tally->coverage) one->finish();
            if (options.maps) tally->reliability.write_map(tally->range.begin, report.probabilities.ece_map);
            const std::lock_guard lock(mutex);
            totals.add(tally->reliability.totals());
        }
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
