#include <algorithm>
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
constexpr std::size_t kTile = 512, kTogether = 8;
constexpr std::size_t kBand = std::size_t{1} << 27;   // bytes of counts before they are summed over ranks
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

    /// All counts, of which the bootstrap's are there once tabulated.
    void list(TileSums& sums) {
        reliability.list(sums);
        for (const auto& one : coverage) one->list(sums);
    }
    void list_notes(TileSums& sums) {
        for (const auto& one : coverage) one->list_notes(sums);
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
    if (options.maps) report.probabilities.ece_map.assign(data.classes(), std::vector<double>(pixels));
    report.groups = total(team.comm, data.groups());
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
    using Tallies = std::vector<std::unique_ptr<TileTally>>;
    const auto tallies_of = [&](std::size_t first, std::size_t last) {
        Tallies tallies;
        for (std::size_t t = first; t < last; ++t)
            tallies.push_back(std::make_unique<TileTally>(
                judges, PixelRange{t * length, std::min(pixels, (t + 1) * length)}, data.classes(),
                released));
        return tallies;
    };
    const auto add_images = [&](std::span<const std::unique_ptr<TileTally>> tallies, std::size_t begin,
                                std::size_t end) {
        ScoredTile tile(data, calibrators.front()->options.score, std::min(pixels, length));
        for (std::size_t first = begin; first < end; first += ScoredTile::kBlock)
            for (const auto& tally : tallies)
                for (std::size_t image = first; image < std::min(end, first + ScoredTile::kBlock); ++image) {
                    if (progress.cancelled()) throw Interrupted();
                    tile.load(image, tally->range);
                    tally->add(tile, image, groups ? &*groups : nullptr, data.group_of(image));
                }
    };
    const auto finish = [&](TileTally& tally) {
        for (const auto& one : tally.coverage) one->finish();
        if (options.maps) tally.reliability.write_map(tally.range.begin, report.probabilities.ece_map);
        const std::lock_guard lock(mutex);
        totals.add(tally.reliability.totals());
    };
    if (!team.counts()) {
        parallel_for((tiles + several - 1) / several, progress, "evaluating", [&](std::size_t number) {
            const Tallies tallies = tallies_of(number * several, std::min(tiles, (number + 1) * several));
            add_images(tallies, 0, data.images());
            for (const auto& tally : tallies) finish(*tally);
        });
    } else {
        // Ranks sum the counts of a band of tiles before anything is made of them.
        const std::size_t band = band_tiles(*calibrators.front(), calibrators.size(), data.classes(), length,
                                            most_images, resamples.stride());
        for (std::size_t first = 0; first < tiles; first += band) {
            const Tallies tallies = tallies_of(first, std::min(tiles, first + band));
            TileSums kept;
            for (const auto& tally : tallies) tally->list(kept), tally->list_notes(kept);
            for (const auto& judge : judges) judge->list_images(kept);
            if (groups) kept.keep(groups->state());
            accumulate(team, "evaluation", data.images(), kept.state(),
                       [&](std::size_t from, std::size_t to) {
                           parallel_for(tallies.size(), progress, "evaluating", [&](std::size_t k) {
                               add_images(std::span(tallies).subspan(k, 1), from, to);
                           });
                       });
            parallel_for(tallies.size(), [&](std::size_t k) { tallies[k]->tabulate(); });
            TileSums sums;
            for (const auto& tally : tallies) tally->list(sums);
            sums.sum(team.comm);
            parallel_for(tallies.size(), [&](std::size_t k) { finish(*tallies[k]); });
        }
        totals.sum(team.comm);
    }
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
