#include <algorithm>
#include <kandinsky/evaluate.hpp>
#include <kandinsky/threads.hpp>
#include <limits>
#include <memory>
#include <mutex>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "evaluate/coverage.hpp"
#include "evaluate/reliability.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kTile = 512, kTogether = 8;

/// What is counted in one tile.
struct TileTally {
    TileTally(const std::vector<std::unique_ptr<CoverageJudge>>& judges, PixelRange own, std::size_t classes,
              bool released)
        : range(own), reliability(classes, own.size(), released) {
        for (const auto& judge : judges) coverage.emplace_back(*judge, own);
    }
    void add(const ScoredTile& tile) {
        reliability.add(tile);
        for (CoverageJudge::Tile& one : coverage) one.add(tile);
    }

    PixelRange range;
    ReliabilityTile reliability;
    std::vector<CoverageJudge::Tile> coverage;
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
    const std::size_t pixels = data.grid().pixels(), tiles = (pixels + kTile - 1) / kTile;
    const bool released = calibrators.front()->options.released;
    std::vector<std::unique_ptr<CoverageJudge>> judges;
    for (const Calibrator* calibrator : calibrators)
        judges.push_back(std::make_unique<CoverageJudge>(*calibrator, options));

    EvaluationReport report;
    report.images = data.images();
    if (options.maps) report.probabilities.ece_map.assign(data.classes(), std::vector<double>(pixels));
    ReliabilityTile::Totals totals(data.classes());
    std::mutex mutex;
    // Tiles are narrow, so that a tile's thresholds and counts stay in the cache, and taken several at a
    // time, so that what is read of an image is long. A block of images passes by all tiles before the next
    // does.
    const std::size_t several = std::clamp<std::size_t>(tiles / (4 * threads_in_use()), 1, kTogether);
    parallel_for((tiles + several - 1) / several, progress, "evaluating", [&](std::size_t number) {
        std::vector<std::unique_ptr<TileTally>> tallies;
        for (std::size_t t = number * several; t < std::min(tiles, (number + 1) * several); ++t)
            tallies.push_back(std::make_unique<TileTally>(
                judges, PixelRange{t * kTile, std::min(pixels, (t + 1) * kTile)}, data.classes(), released));
        ScoredTile tile(data, calibrators.front()->options.score, std::min(pixels, kTile));
        for (std::size_t first = 0; first < data.images(); first += ScoredTile::kBlock)
            for (const auto& tally : tallies)
                for (std::size_t image = first; image < std::min(data.images(), first + ScoredTile::kBlock);
                     ++image) {
                    if (progress.cancelled()) throw Interrupted();
                    tile.load(image, tally->range);
                    tally->add(tile);
                }
        for (const auto& tally : tallies) {
            for (CoverageJudge::Tile& one : tally->coverage) one.finish();
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
    return report;
}

}  // namespace kandinsky
