#include <algorithm>
#include <kandinsky/error.hpp>
#include <kandinsky/evaluate.hpp>
#include <kandinsky/threads.hpp>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>

#include "core/checkpoint.hpp"
#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "core/team.hpp"
#include "evaluate/coverage.hpp"
#include "evaluate/reliability.hpp"
#include "evaluate/tile_sums.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kTile = 512, kImages = 128;
constexpr std::size_t kGroupBytes = std::size_t{128} << 20;  // of tiles that are under way together
constexpr std::size_t kTallyBytes = 256;  // of a pixel and class: thresholds and counts of a calibrator, bins
constexpr std::size_t kBand = std::size_t{1} << 27;   // bytes of counts before they are summed over ranks
constexpr std::size_t kNotes = std::size_t{1} << 24;  // bytes that the bootstrap notes in a tile

/// What is counted in one tile.
struct TileTally {
    TileTally(const std::vector<std::unique_ptr<CoverageJudge>>& judges, PixelRange own, std::size_t classes,
              bool released, bool ece_maps)
        : range(own), reliability(classes, own.size(), released, ece_maps) {
        for (const auto& judge : judges)
            coverage.push_back(std::make_unique<CoverageJudge::Tile>(*judge, own));
    }
    void add(const ScoredTile& tile, std::size_t image, GroupBins* groups, std::uint32_t group) {
        reliability.add(tile, groups, group);
        for (const auto& one : coverage) one->add(tile, image);
    }

    /// All counts, of which the bootstrap's are there once tabulated.
    void list(TileSums& sums) {
        reliability.list(sums);
        for (const auto& one : coverage) one->list(sums);
    }
    void list_notes(TileSums& sums) {
        for (const auto& one : coverage) one->list_notes(sums);
    }
    /// Brings all that was counted to where list() says it is.
    void settle() {
        for (const auto& one : coverage) one->settle();
    }
    void tabulate() {
        for (const auto& one : coverage) one->tabulate();
    }

    PixelRange range;
    ReliabilityTile reliability;
    std::vector<std::unique_ptr<CoverageJudge::Tile>> coverage;
};
/// How many tiles ranks that work together hold at a time.
std::size_t band_tiles(const Calibrator& calibrator, std::size_t calibrators, std::size_t classes,
                       std::size_t length, std::size_t images, std::size_t stride) {
    constexpr std::size_t kLevels = 24, kBins = 24;  // and a little more
    const std::size_t strata = calibrator.strata();
    const std::size_t counts = calibrators * strata * kLevels * (8 + 4 * stride);
    const std::size_t notes = stride > 0 ? calibrators * classes * images : 0;
    return std::max<std::size_t>(1, kBand / (length * (counts + notes + classes * kBins * 8)));
}
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
    const Team& team = data.team();
    const std::size_t most_images = most(team.comm, data.images());
    const std::size_t length =
        options.bootstrap > 0
            ? std::min(kTile, ResampledErrors::tile_size(data, most_images, kNotes / calibrators.size()))
            : kTile;
    const std::size_t tiles = (pixels + length - 1) / length;
    const bool released = calibrators.front()->options.released;
    std::vector<std::unique_ptr<CoverageJudge>> judges;
    for (const Calibrator* calibrator : calibrators)
        judges.push_back(std::make_unique<CoverageJudge>(*calibrator, options, data, resamples));

    EvaluationReport report;
    report.images = total(team.comm, data.images());
    const bool ece_maps = options.maps && options.ece_maps;
    if (ece_maps) report.probabilities.ece_map.assign(data.classes(), std::vector<double>(pixels));
    report.groups = total(team.comm, data.groups());
    report.bootstrap = options.bootstrap;
    ReliabilityTile::Totals totals(data.classes());
    std::optional<GroupBins> groups;
    if (options.bootstrap > 0) groups.emplace(data.classes(), data.groups());
    std::mutex mutex;
    const auto tally_of = [&](std::size_t number) {
        const std::size_t from = number * length;
        return std::make_unique<TileTally>(judges, PixelRange{from, std::min(pixels, from + length)},
                                           data.classes(), released, ece_maps);
    };
    const auto add_images = [&](TileTally& tally, std::size_t begin, std::size_t end) {
        ScoredTile tile(data, calibrators.front()->options.score, tally.range.size(),
                        ScoredTile::Pages::keep);
        for (std::size_t image = begin; image < end; ++image) {
            tile.load(image, tally.range);
            tally.add(tile, image, groups ? &*groups : nullptr, data.group_of(image));
        }
    };
    const auto finish = [&](TileTally& tally) {
        for (const auto& one : tally.coverage) one->finish();
        if (ece_maps) tally.reliability.write_map(tally.range.begin, report.probabilities.ece_map);
        const std::lock_guard lock(mutex);
        totals.add(tally.reliability.totals());
    };
    // Tiles are narrow, so that a tile's thresholds and counts stay in the cache. As many as memory allows
    // are under way together: a block of images passes by all of them before it is let go, so every page is
    // read once for each such group.
    const std::size_t tile_bytes =
        length * data.classes() *
        (calibrators.size() * (kTallyBytes + (options.bootstrap > 0 ? data.images() : 0)) + kTallyBytes);
    const std::size_t together = team.counts()
                                     ? band_tiles(*calibrators.front(), calibrators.size(), data.classes(),
                                                  length, most_images, resamples.stride())
                                     : std::max(kGroupBytes / tile_bytes, 2 * threads_in_use());
    for (std::size_t first = 0; first < tiles; first += together) {
        std::vector<std::unique_ptr<TileTally>> tallies(std::min(together, tiles - first));
        const auto pass_by = [&](std::size_t from, std::size_t to) {
            for (std::size_t begin = from; begin < to; begin += kImages) {
                const std::size_t end = std::min(to, begin + kImages);
                progress.update("evaluating", first * data.images() + begin * tallies.size(),
                                tiles * data.images());
                data.prefetch(end, end + kImages);
                parallel_for(tallies.size(), [&](std::size_t t) {
                    if (progress.cancelled()) throw Interrupted();
                    if (!tallies[t]) tallies[t] = tally_of(first + t);
                    add_images(*tallies[t], begin, end);
                });
                data.release(begin, end);
            }
        };
        if (!team.counts()) {
            pass_by(0, data.images());
        } else {
            // Ranks sum the counts of a band of tiles before anything is made of them.
            for (std::size_t t = 0; t < tallies.size(); ++t) tallies[t] = tally_of(first + t);
            TileSums kept;
            for (const auto& tally : tallies) tally->list(kept), tally->list_notes(kept);
            for (const auto& judge : judges) judge->list_images(kept);
            if (groups) kept.keep(groups->state());
            accumulate(team, "evaluation", data.images(), kept.state(),
                       [&](std::size_t from, std::size_t to) {
                           pass_by(from, to);
                           for (const auto& tally : tallies) tally->settle();
                       });
            parallel_for(tallies.size(), [&](std::size_t t) { tallies[t]->tabulate(); });
            TileSums sums;
            for (const auto& tally : tallies) tally->list(sums);
            sums.sum(team.comm);
        }
        parallel_for(tallies.size(), [&](std::size_t t) {
            if (!tallies[t]) return;  // no image passed by
            finish(*tallies[t]);
            tallies[t].reset();
        });
    }
    progress.update("evaluating", tiles * data.images(), tiles * data.images());
    if (team.counts()) totals.sum(team.comm);
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
