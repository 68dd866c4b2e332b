#include <algorithm>
#include <kandinsky/error.hpp>
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
constexpr std::size_t kTile = 512, kImages = 128;
constexpr std::size_t kGroupBytes = std::size_t{128} << 20;  // of tiles that are under way together
constexpr std::size_t kTallyBytes = 256;  // of a pixel and class: thresholds and counts of a calibrator, bins
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
    // Tiles are narrow, so that a tile's thresholds and counts stay in the cache. As many as memory allows
    // are under way together: a block of images passes by all of them before it is let go, so every page is
    // read once for each such group.
    const std::size_t tile_bytes =
        length * data.classes() *
        (calibrators.size() * (kTallyBytes + (options.bootstrap > 0 ? data.images() : 0)) + kTallyBytes);
    const std::size_t together = std::max(kGroupBytes / tile_bytes, 2 * threads_in_use());
    const std::size_t blocks = (data.images() + kImages - 1) / kImages;
    std::size_t done = 0;
    for (std::size_t first = 0; first < tiles; first += together) {
        std::vector<std::unique_ptr<TileTally>> tallies(std::min(together, tiles - first));
        for (std::size_t block = 0; block < blocks; ++block) {
            const std::size_t begin = block * kImages, end = std::min(data.images(), begin + kImages);
            progress.update("evaluating", done, tiles * blocks);
            data.prefetch(end, end + kImages);
            parallel_for(tallies.size(), [&](std::size_t t) {
                if (progress.cancelled()) throw Interrupted();
                if (!tallies[t]) {
                    const std::size_t from = (first + t) * length;
                    tallies[t] = std::make_unique<TileTally>(
                        judges, PixelRange{from, std::min(pixels, from + length)}, data.classes(), released);
                }
                ScoredTile tile(data, calibrators.front()->options.score, tallies[t]->range.size(),
                                ScoredTile::Pages::keep);
                for (std::size_t image = begin; image < end; ++image) {
                    tile.load(image, tallies[t]->range);
                    tallies[t]->add(tile, image, groups ? &*groups : nullptr, data.group_of(image));
                }
            });
            data.release(begin, end);
            done += tallies.size();
        }
        parallel_for(tallies.size(), [&](std::size_t t) {
            for (const auto& one : tallies[t]->coverage) one->finish();
            if (options.maps)
                tallies[t]->reliability.write_map(tallies[t]->range.begin, report.probabilities.ece_map);
            const std::lock_guard lock(mutex);
            totals.add(tallies[t]->reliability.totals());
            tallies[t].reset();
        });
    }
    progress.update("evaluating", tiles * blocks, tiles * blocks);
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
