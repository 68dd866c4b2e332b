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
#include "core/team.hpp"
#include "evaluate/coverage.hpp"
#include "evaluate/reliability.hpp"
#include "evaluate/tally.hpp"
#include "evaluate/truth_counts.hpp"
#include "score/visit.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kTile = 512;
constexpr std::size_t kCloseTile = 128;  // the thresholds of the slider's levels stay in the nearest cache
constexpr std::size_t kGroupBytes = std::size_t{128} << 20;  // of tiles that are under way together
constexpr std::size_t kTallyBytes = 256;  // of a pixel and class: thresholds and counts of a calibrator, bins
constexpr std::size_t kCloseBytes = 512;  // the same for a tally, in addition
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
    void list(VisitSums& sums) {
        reliability.list(sums);
        for (const auto& one : coverage) one->list(sums);
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
                       std::size_t length, std::size_t images, std::size_t stride, bool closely) {
    constexpr std::size_t kLevels = 24, kBins = 24;  // and a little more
    const std::size_t strata = calibrator.strata();
    const std::size_t counts =
        calibrators * strata * (kLevels * (8 + 4 * stride) + (closely ? kCloseBytes : 0));
    const std::size_t notes = stride > 0 ? calibrators * classes * images : 0;
    return std::max<std::size_t>(1, kBand / (length * (counts + notes + classes * kBins * 8)));
}
/// evaluate(), and the tally unless it is null.
EvaluationReport run(const Dataset& data, const std::vector<const Calibrator*>& calibrators,
                     const EvaluateOptions& options, Progress& progress, Tally* tally) {
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
    const bool closely = tally != nullptr;
    std::size_t length = closely ? kCloseTile : kTile;
    if (options.bootstrap > 0)
        length = std::min(length, ResampledErrors::tile_size(data, most_images, kNotes / calibrators.size()));
    const Tiles tiles{pixels, length};
    const bool released = calibrators.front()->options.released;
    std::vector<std::unique_ptr<CoverageJudge>> judges;
    for (const Calibrator* calibrator : calibrators)
        judges.push_back(std::make_unique<CoverageJudge>(*calibrator, options, data, resamples, closely));
    std::optional<TruthCounts> truth;
    if (closely) truth.emplace(data);

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
    const auto add_images = [&](TileTally& counts, std::size_t first, std::size_t last) {
        ScoredTile tile(data, calibrators.front()->options.score, counts.range.size(),
                        ScoredTile::Pages::keep);
        for (std::size_t image = first; image < last; ++image) {
            tile.load(image, counts.range);
            counts.add(tile, image, groups ? &*groups : nullptr, data.group_of(image));
            if (truth) truth->add(tile, counts.range, image);
        }
    };
    const auto finish = [&](TileTally& counts) {
        for (const auto& one : counts.coverage) one->finish();
        if (ece_maps) counts.reliability.write_map(counts.range.begin, report.probabilities.ece_map);
        const std::lock_guard lock(mutex);
        totals.add(counts.reliability.totals());
    };
    // Tiles are narrow, so that a tile's thresholds and counts stay in the cache. As many as memory allows
    // are under way together; each such group of tiles needs a visit of the images.
    const std::size_t own_bytes =
        kTallyBytes + (closely ? kCloseBytes : 0) + (options.bootstrap > 0 ? data.images() : 0);
    const std::size_t tile_bytes = length * data.classes() * (calibrators.size() * own_bytes + kTallyBytes);
    const std::size_t together = team.counts()
                                     ? band_tiles(*calibrators.front(), calibrators.size(), data.classes(),
                                                  length, most_images, resamples.stride(), closely)
                                     : std::max(kGroupBytes / tile_bytes, 2 * threads_in_use());
    for (std::size_t first = 0; first < tiles.count(); first += together) {
        std::vector<std::unique_ptr<TileTally>> open(std::min(together, tiles.count() - first));
        const auto at = [&](std::size_t t) -> TileTally& {
            if (!open[t])
                open[t] =
                    std::make_unique<TileTally>(judges, tiles[first + t], data.classes(), released, ece_maps);
            return *open[t];
        };
        const auto for_all = [&](void (TileTally::*step)()) {
            parallel_for(open.size(), [&](std::size_t t) { (at(t).*step)(); });
        };
        const Visit visit{.data = data,
                          .progress = progress,
                          .stage = "evaluating",
                          .pass = first / together,
                          .passes = (tiles.count() + together - 1) / together,
                          .sums =
                              [&] {
                                  VisitSums sums;
                                  for (std::size_t t = 0; t < open.size(); ++t) {
                                      at(t).list(sums);
                                      if (truth) truth->list(at(t).range, sums);
                                  }
                                  for (const auto& judge : judges) judge->list_images(sums);
                                  if (truth) truth->list_images(sums);
                                  if (groups) sums.keep(groups->state());
                                  return sums;
                              },
                          .settle = [&] { for_all(&TileTally::settle); },
                          .complete =
                              [&] {
                                  if (team.counts()) for_all(&TileTally::tabulate);
                              }};
        visit_tiles(visit, open.size(),
                    [&](std::size_t t, std::size_t from, std::size_t to) { add_images(at(t), from, to); });
        parallel_for(open.size(), [&](std::size_t t) {
            finish(at(t));
            open[t].reset();
        });
    }
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
    if (!closely) return report;
    truth->finish(*tally);
    tally->undecided = judges.front()->undecided();
    for (const auto& judge : judges) tally->methods.push_back(judge->tally());
    return report;
}
}  // namespace

EvaluationReport evaluate(const Dataset& data, const std::vector<const Calibrator*>& calibrators,
                          const EvaluateOptions& options, Progress& progress) {
    return run(data, calibrators, options, progress, nullptr);
}

Examination examine(const Dataset& data, const std::vector<const Calibrator*>& calibrators,
                    const EvaluateOptions& options, Progress& progress) {
    Examination out;
    out.evaluation = run(data, calibrators, options, progress, &out.tally);
    return out;
}

}  // namespace kandinsky
