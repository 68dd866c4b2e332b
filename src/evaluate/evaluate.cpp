#include <algorithm>
#include <atomic>
#include <kandinsky/error.hpp>
#include <kandinsky/evaluate.hpp>
#include <kandinsky/threads.hpp>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>

#include "calibrate/adapted_values.hpp"
#include "calibrate/confidence.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/data/dataset_access.hpp"
#include "core/team/team.hpp"
#include "evaluate/coverage.hpp"
#include "evaluate/reliability.hpp"
#include "evaluate/tally.hpp"
#include "score/image_features.hpp"
#include "score/visit.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kTile = 512;
constexpr std::size_t kCloseTile = 128;  // pixels; few, so that the slider's thresholds stay in the cache
constexpr std::size_t kGroupBytes = std::size_t{128} << 20;  // memory of the tiles that share a pass
constexpr std::size_t kTallyBytes = 256;  // bytes per pixel and class, for each calibrator and for the bins
constexpr std::size_t kCloseBytes = 512;  // additional bytes per pixel and class for a tally
constexpr std::size_t kBand = std::size_t{1} << 27;   // bytes of counts that are summed over ranks at a time
constexpr std::size_t kNotes = std::size_t{1} << 24;  // bytes of the bootstrap's records in a tile

/// Which labels the test images have, at each pixel and in each image.
class TruthCounts {
  public:
    explicit TruthCounts(const Dataset& data)
        : classes_(data.classes()),
          pixels_(data.grid().pixels()),
          labelled_(pixels_),
          samples_(classes_ * pixels_),
          shown_(data.images() * classes_) {}
    /// Safe from several threads whose ranges are disjoint.
    void add(const ScoredTile& tile, PixelRange range, std::size_t image) {
        // Flags are 0 or 1; returns whether one of them is 1.
        const auto count = [&](const std::uint8_t* flags, std::uint32_t* counts) {
            std::uint8_t any = 0;
            for (std::size_t i = 0; i < range.size(); ++i) {
                counts[i] += flags[i];
                any |= flags[i];
            }
            return any != 0;
        };
        count(tile.valid(), labelled_.data() + range.begin);
        for (std::size_t c = 0; c < classes_; ++c)
            if (count(tile.member(c), samples_.data() + c * pixels_ + range.begin))
                std::atomic_ref(shown_[image * classes_ + c]).store(1, std::memory_order_relaxed);
    }
    /// The counts of these pixels.
    void list(PixelRange range, VisitSums& sums) {
        sums.add(std::span(labelled_).subspan(range.begin, range.size()));
        for (std::size_t c = 0; c < classes_; ++c)
            sums.add(std::span(samples_).subspan(c * pixels_ + range.begin, range.size()));
    }
    /// The counts of images.
    void list_images(VisitSums& sums) { sums.keep(bytes_of(shown_)); }
    /// Writes labels, labelled, samples and kinds.
    void finish(Tally& out) const {
        out.labelled = labelled_;
        out.samples = samples_;
        out.labels = std::accumulate(labelled_.begin(), labelled_.end(), std::uint64_t{0});
        for (auto own = shown_.begin(); own != shown_.end(); own += static_cast<std::ptrdiff_t>(classes_))
            out.kinds.push_back(
                std::accumulate(own, own + static_cast<std::ptrdiff_t>(classes_), std::uint64_t{0}));
    }

  private:
    std::size_t classes_, pixels_;
    std::vector<std::uint32_t> labelled_, samples_;  ///< [pixel] and [class][pixel]
    std::vector<std::uint8_t> shown_;                ///< [image][class] whether the class is there
};

/// Everything that is counted on the test images.
class Examiner {
  public:
    /// `closely`: whether take_tally() will be called.
    Examiner(const Dataset& data, const std::vector<const Calibrator*>& calibrators,
             const EvaluateOptions& options, bool closely, Progress& progress)
        : data_(data),
          calibrators_(calibrators),
          options_(options),
          progress_(progress),
          closely_(closely),
          released_(calibrators.front()->options.released),
          ece_maps_(options.maps && options.ece_maps),
          most_images_(0),
          totals_(data.classes()) {
        const Team& team = team_of(data);
        const std::size_t pixels = data.grid().pixels();
        if (options.bootstrap > 0) {
            resamples_ = Resamples(data, options.bootstrap, options.seed, progress);
            groups_.emplace(data.classes(), data.groups());
        }
        most_images_ = most(team.comm, data.images());
        tiles_ = {pixels, closely ? kCloseTile : kTile};
        if (options.bootstrap > 0)
            tiles_.length = std::min(
                tiles_.length, ResampledErrors::tile_size(data, most_images_, kNotes / calibrators.size()));
        for (const Calibrator* calibrator : calibrators) {
            const auto known = std::find(scores_.begin(), scores_.end(), calibrator->options.score);
            score_of_.push_back(static_cast<std::size_t>(known - scores_.begin()));
            if (known == scores_.end()) scores_.push_back(calibrator->options.score);
            judges_.push_back(
                std::make_unique<CoverageJudge>(*calibrator, options, data, features_, resamples_, closely));
        }
        if (closely) truth_.emplace(data);
        features_ = features_of(data, Condition::by_class, progress);
        find_shifts();
        report_.images = total(team.comm, data.images());
        report_.groups = total(team.comm, data.groups());
        report_.bootstrap = options.bootstrap;
        if (ece_maps_) report_.probabilities.ece_map.assign(data.classes(), std::vector<double>(pixels));
    }
    /// Visits all images.
    void count() {
        const Team& team = team_of(data_);
        const std::size_t together = tiles_together();
        for (std::size_t first = 0; first < tiles_.count(); first += together) {
            Tiled open(std::min(together, tiles_.count() - first));
            const auto for_all = [&](auto&& step) {
                parallel_for(open.size(), [&](std::size_t t) { step(open[t]); });
            };
            for_all([&](auto& tile) {
                tile = std::make_unique<Tile>(*this,
                                              tiles_[first + static_cast<std::size_t>(&tile - open.data())]);
            });
            visit_tiles({.data = data_,
                         .progress = progress_,
                         .stage = "evaluating",
                         .pass = first / together,
                         .passes = (tiles_.count() + together - 1) / together,
                         .score = &calibrators_.front()->options.score,
                         .sums = [&] { return list(open); },
                         .settle = [&] { for_all([](auto& tile) { tile->settle(); }); },
                         .complete =
                             [&] {
                                 if (team.counts()) for_all([](auto& tile) { tile->tabulate(); });
                             }},
                        open.size(),
                        [&](std::size_t t, std::size_t from, std::size_t to) { add(*open[t], from, to); });
            for_all([&](auto& tile) {
                finish(*tile);
                tile.reset();
            });
        }
        if (team.counts()) totals_.sum(team.comm);
    }
    /// Call after count().
    [[nodiscard]] EvaluationReport finish() {
        std::uint64_t samples = 0;
        for (const auto& judge : judges_) {
            report_.calibrators.push_back(judge->finish());
            for (const StratumEvaluation& one : report_.calibrators.back().strata) samples += one.samples;
        }
        if (samples == 0)
            fail(ErrorKind::data, "{}: every pixel is ignored, so there is nothing to evaluate on",
                 data_.options().labels_name);
        report_.probabilities.classes = totals_.finish();
        if (groups_) groups_->finish(resamples_, report_.probabilities);
        return std::move(report_);
    }
    /// Call after finish().
    [[nodiscard]] Tally take_tally() {
        Tally out;
        truth_->finish(out);
        out.undecided = judges_.front()->undecided();
        for (const auto& judge : judges_) out.methods.push_back(judge->take_tally());
        return out;
    }

  private:
    /// Computes the shifts of levels, for calibrators that adapt to images.
    void find_shifts() {
        shifts_.resize(calibrators_.size());
        for (std::size_t m = 0; m < calibrators_.size(); ++m) {
            if (!calibrators_[m]->adapts()) continue;
            for (const std::vector<ImageFeatures>& image : features_) {
                shifts_[m].emplace_back(calibrators_[m]->strata());
                shifts_of(*calibrators_[m], image, shifts_[m].back());
            }
        }
    }
    /// The counts in one tile.
    struct Tile {
        Tile(Examiner& all, PixelRange own)
            : range(own), reliability(all.data_.classes(), own.size(), all.released_, all.ece_maps_) {
            for (const auto& judge : all.judges_)
                coverage.push_back(std::make_unique<CoverageJudge::Tile>(*judge, own));
        }
        /// Completes the counts that list() refers to.
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
    using Tiled = std::vector<std::unique_ptr<Tile>>;

    /// The number of tiles that are counted in one pass over the images, as many as memory allows. Tiles are
    /// narrow, so that a tile's thresholds and counts stay in the cache.
    [[nodiscard]] std::size_t tiles_together() const {
        const std::size_t classes = data_.classes(), count = calibrators_.size(),
                          close = closely_ ? kCloseBytes : 0;
        if (!team_of(data_).counts()) {
            const std::size_t notes = options_.bootstrap > 0 ? data_.images() : 0;
            const std::size_t pixel = classes * (count * (kTallyBytes + close + notes) + kTallyBytes);
            return std::max(kGroupBytes / (tiles_.length * pixel), 2 * threads_in_use());
        }
        // This result must be the same on all ranks.
        constexpr std::size_t kLevels = 24, kBins = 24;  // upper limits of the numbers of levels and bins
        const std::size_t stride = resamples_.stride();
        const std::size_t counts =
            count * calibrators_.front()->strata() * (kLevels * (8 + 4 * stride) + close);
        const std::size_t notes = stride > 0 ? count * classes * most_images_ : 0;
        return std::max<std::size_t>(1, kBand / (tiles_.length * (counts + notes + classes * kBins * 8)));
    }
    void add(Tile& to, std::size_t first, std::size_t last) {
        std::vector<ScoredTile> tiles;
        for (const ScoreOptions& score : scores_) tiles.emplace_back(data_, score, to.range.size());
        for (std::size_t image = first; image < last; ++image) {
            for (ScoredTile& tile : tiles) tile.load(image, to.range);
            to.reliability.add(tiles.front(), groups_ ? &*groups_ : nullptr, data_.group_of(image));
            for (std::size_t m = 0; m < to.coverage.size(); ++m) {
                ScoredTile& tile = tiles[score_of_[m]];
                std::vector<float> values;
                if (calibrators_[m]->adapts()) {
                    values = values_of(*calibrators_[m], tile, to.range, shifts_[m][image]);
                    tile.show(values.data());
                }
                to.coverage[m]->add(tile, image);
                tile.show(nullptr);
            }
            if (truth_) truth_->add(tiles.front(), to.range, image);
        }
    }
    /// All counts; those of the bootstrap exist only after tabulation.
    [[nodiscard]] VisitSums list(const Tiled& open) {
        VisitSums sums;
        for (const auto& tile : open) {
            tile->reliability.list(sums);
            for (const auto& one : tile->coverage) one->list(sums);
            if (truth_) truth_->list(tile->range, sums);
        }
        for (const auto& judge : judges_) judge->list_images(sums);
        if (truth_) truth_->list_images(sums);
        if (groups_) sums.keep(groups_->state());
        return sums;
    }
    void finish(Tile& tile) {
        for (const auto& one : tile.coverage) one->finish();
        if (ece_maps_) tile.reliability.write_map(tile.range.begin, report_.probabilities.ece_map);
        const std::lock_guard lock(mutex_);
        totals_.add(tile.reliability.totals());
    }

    const Dataset& data_;
    const std::vector<const Calibrator*>& calibrators_;
    const EvaluateOptions& options_;
    Progress& progress_;
    bool closely_, released_, ece_maps_;
    Resamples resamples_;
    std::size_t most_images_;                                     ///< largest number of images on a rank
    std::vector<ScoreOptions> scores_;                            ///< the scores that calibrators use
    std::vector<std::size_t> score_of_;                           ///< [calibrator] index into scores_
    std::vector<std::vector<ImageFeatures>> features_;            ///< [image][class]
    std::vector<std::vector<std::vector<std::int32_t>>> shifts_;  ///< [calibrator][image][stratum]
    Tiles tiles_;
    std::vector<std::unique_ptr<CoverageJudge>> judges_;
    std::optional<TruthCounts> truth_;  ///< with a tally
    std::optional<GroupBins> groups_;   ///< with resamples
    EvaluationReport report_;
    std::mutex mutex_;
    ReliabilityTile::Totals totals_;
};

void check(const Dataset& data, const std::vector<const Calibrator*>& calibrators,
           const EvaluateOptions& options) {
    check_alpha(options.alpha);
    if (calibrators.empty()) fail(ErrorKind::usage, "there is no calibrator to evaluate");
    for (const Calibrator* calibrator : calibrators) {
        check_fits(*calibrator, data);
        // An alpha that the calibrator cannot guarantee is reported before any work.
        for (std::size_t s = 0; s < calibrator->strata(); ++s)
            (void)curve_alpha(*calibrator, s, options.alpha);
    }
    if (options.bootstrap > 10000)
        fail(ErrorKind::usage, "`bootstrap` is {}, but must be at most 10000", options.bootstrap);
}
}  // namespace

EvaluationReport evaluate(const Dataset& data, const std::vector<const Calibrator*>& calibrators,
                          const EvaluateOptions& options, Progress& progress) {
    check(data, calibrators, options);
    Examiner examiner(data, calibrators, options, false, progress);
    examiner.count();
    return examiner.finish();
}

EvaluationReport evaluate(const Dataset& data, const Calibrator& calibrator, const EvaluateOptions& options,
                          Progress& progress) {
    return evaluate(data, std::vector{&calibrator}, options, progress);
}

Examination examine(const Dataset& data, const std::vector<const Calibrator*>& calibrators,
                    const EvaluateOptions& options, Progress& progress) {
    check(data, calibrators, options);
    Examiner examiner(data, calibrators, options, true, progress);
    examiner.count();
    return {examiner.finish(), examiner.take_tally()};
}

}  // namespace kandinsky
