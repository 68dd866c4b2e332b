#pragma once

#include <cmath>
#include <cstdint>
#include <kandinsky/evaluate.hpp>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "evaluate/alpha_judge.hpp"
#include "evaluate/level_counts.hpp"
#include "evaluate/level_plan.hpp"
#include "evaluate/sampling_floor.hpp"
#include "evaluate/tally.hpp"
#include "score/scored_tile.hpp"

namespace kandinsky {

/// [level] the share of the `tested` samples that is covered; NaN without samples.
inline std::vector<double> shares(const std::uint64_t* covered, std::uint64_t tested, std::size_t levels) {
    std::vector<double> out(levels, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t l = 0; l < levels && tested > 0; ++l)
        out[l] = static_cast<double>(covered[l]) / static_cast<double>(tested);
    return out;
}

/// Measures the coverage of one calibrator. Has the data that all tiles share, and the sums over all tiles.
class CoverageJudge {
  public:
    /// `features`: [image][class]. `closely`: whether take_tally() will be called.
    CoverageJudge(const Calibrator& calibrator, const EvaluateOptions& options, const Dataset& data,
                  const std::vector<std::vector<ImageFeatures>>& features, const Resamples& resamples,
                  bool closely)
        : calibrator_(calibrator),
          options_(options),
          plan_(calibrator.options.released ? released_levels() : paper_levels()),
          resamples_(resamples),
          at_alpha_(calibrator, options, data, features, closely),
          levels_(calibrator, plan_.alphas,
                  {.sets = true, .pixels = true, .pixel_levels = closely && !calibrator.options.released}) {
        if (resamples.count() > 0) resampled_.emplace(calibrator, plan_, data, resamples);
        const bool released = calibrator.options.released;
        const auto also = [&](std::optional<LevelCounts>& to, const std::vector<double>& alphas,
                              LevelCounts::Detail detail) {
            to.emplace(calibrator, alphas, detail);
            others_.push_back(&*to);
        };
        if (released) also(marginal_, released_marginal_levels().alphas, {.sets = false});
        if (closely) also(slider_, slider_alphas(), {.sets = true});
        if (closely && released)
            also(curves_, curve_alphas(), {.sets = false, .pixels = true, .pixel_levels = true});
        const std::size_t strata = calibrator.strata();
        ce_.assign(strata, std::vector<double>(calibrator.grid.pixels()));
        regions_.resize(strata);
        for (std::size_t s = 0; s < strata; ++s)
            if (const std::size_t regions = calibrator.partitions[s].regions; regions <= kMostRegions) {
                regions_[s].tested.assign(regions, 0);
                regions_[s].covered.assign(regions * levels_.levels(), 0);
            }
    }

    /// The counts of one tile: add() for every image, then settle() and finish().
    class Tile {
      public:
        Tile(CoverageJudge& judge, PixelRange range)
            : judge_(judge), range_(range), at_alpha_(judge.at_alpha_, range), levels_(judge.levels_, range) {
            for (LevelCounts* const one : judge.others_) others_.emplace_back(*one, range);
            if (judge.resampled_) resampled_.emplace(*judge.resampled_, range.size());
        }
        void add(const ScoredTile& tile, std::size_t image) {
            at_alpha_.add(tile, image);
            levels_.add(tile, image, resampled_ ? &*resampled_ : nullptr);
            for (LevelCounts::Tile& one : others_) one.add(tile, image);
        }
        /// Completes the counts that list() refers to.
        void settle() {
            at_alpha_.settle();
            levels_.settle();
            for (LevelCounts::Tile& one : others_) one.settle();
        }
        /// For several ranks or a checkpoint: call once all images are added, before counts are summed.
        void tabulate() {
            if (resampled_) resampled_->tabulate();
        }
        void list(VisitSums& sums) {
            at_alpha_.list(sums);
            levels_.list(sums);
            for (LevelCounts::Tile& one : others_) one.list(sums);
            if (resampled_) resampled_->list(sums);
        }
        /// Adds the settled counts to the judge's.
        void finish() {
            at_alpha_.finish();
            levels_.finish();
            for (LevelCounts::Tile& one : others_) one.finish();
            if (resampled_) resampled_->finish();
            const Calibrator& calibrator = judge_.calibrator_;
            const std::size_t n = range_.size(), strata = calibrator.strata(),
                              levels = judge_.levels_.levels();
            for (std::size_t s = 0; s < strata; ++s)
                for (std::size_t i = 0; i < n; ++i) {
                    const std::uint32_t total = levels_.tested(s)[i];
                    double error = 0;
                    for (std::size_t l = 0; l < levels && total > 0; ++l)
                        error += std::abs(static_cast<double>(levels_.covered(s)[l * n + i]) /
                                              static_cast<double>(total) -
                                          judge_.plan_.targets[l]);
                    judge_.ce_[s][range_.begin + i] = total > 0 ? error / static_cast<double>(levels)
                                                                : std::numeric_limits<double>::quiet_NaN();
                }
            const std::lock_guard lock(judge_.mutex_);
            for (std::size_t s = 0; s < strata; ++s) {
                Regions& regions = judge_.regions_[s];
                for (std::size_t i = 0; i < n && !regions.tested.empty(); ++i) {
                    const std::uint32_t region = calibrator.partitions[s].region[range_.begin + i];
                    regions.tested[region] += levels_.tested(s)[i];
                    for (std::size_t l = 0; l < levels; ++l)
                        regions.covered[region * levels + l] += levels_.covered(s)[l * n + i];
                }
            }
        }

      private:
        CoverageJudge& judge_;
        PixelRange range_;
        AlphaJudge::Tile at_alpha_;
        LevelCounts::Tile levels_;
        std::vector<LevelCounts::Tile> others_;  ///< of the judge's optional parts that exist
        std::optional<ResampledErrors::Tile> resampled_;
    };

    void list_images(VisitSums& sums) { at_alpha_.list_images(sums); }
    [[nodiscard]] Evaluation finish() {
        const std::size_t pixels = calibrator_.grid.pixels(), levels = levels_.levels();
        const LevelTotals& totals = levels_.totals();
        Evaluation out;
        out.targets = plan_.targets;
        std::map<std::uint32_t, double> floors;  // by number of test samples; there are few different numbers
        for (std::size_t s = 0; s < calibrator_.strata(); ++s) {
            StratumEvaluation one;
            std::vector<double> errors;
            double sum = 0, floor = 0, weighted = 0, enough = 0, enough_floor = 0, samples = 0;
            for (std::size_t p = 0; p < pixels; ++p) {
                const std::uint32_t n = totals.pixel_tested[s * pixels + p];
                if (n == 0) continue;
                errors.push_back(ce_[s][p]);
                sum += ce_[s][p];
                auto [known, fresh] = floors.try_emplace(n, 0.0);
                if (fresh)
                    for (std::size_t l = 0; l < levels; ++l)
                        known->second += sampling_floor(n, plan_.levels[l], plan_.targets[l]) /
                                         static_cast<double>(levels);
                floor += known->second;
                weighted += n * ce_[s][p];
                samples += n;
                if (n < StratumEvaluation::kEnoughSamples) continue;
                ++one.pixels_enough;
                enough += ce_[s][p];
                enough_floor += known->second;
            }
            one.pixels = errors.size();
            one.pixels_without_data = pixels - errors.size();
            const double none = std::numeric_limits<double>::quiet_NaN();
            one.mean_ce = errors.empty() ? none : sum / static_cast<double>(errors.size());
            one.floor = errors.empty() ? none : floor / static_cast<double>(errors.size());
            one.weighted_ce = errors.empty() ? none : weighted / samples;
            one.ce_enough = one.pixels_enough > 0 ? enough / static_cast<double>(one.pixels_enough) : none;
            one.floor_enough =
                one.pixels_enough > 0 ? enough_floor / static_cast<double>(one.pixels_enough) : none;
            if (resampled_ && !errors.empty()) {
                const std::vector<double> means = resampled_->means(s);
                one.mean_ce_interval = centred_interval(means, one.mean_ce);
                one.mean_ce_bias = bootstrap_bias(means, one.mean_ce);
            }
            one.q05 = quantile(errors, 0.05);
            one.q95 = quantile(errors, 0.95);
            one.coverage = shares(totals.covered[s].data(), totals.tested[s], levels);
            one.false_shares = shares(totals.wrong(s).data(),
                                      totals.others(s, calibrator_.classes / calibrator_.strata()), levels);
            one.samples = totals.tested[s];
            one.region_samples = regions_[s].tested;
            for (std::size_t r = 0; r < one.region_samples.size(); ++r)
                one.region_coverage.push_back(
                    shares(regions_[s].covered.data() + r * levels, one.region_samples[r], levels));
            if (options_.maps) one.ce_map = std::move(ce_[s]);
            out.strata.push_back(std::move(one));
            if (!marginal_) continue;
            const LevelTotals& marginal = marginal_->totals();
            out.released_marginal.push_back(
                shares(marginal.covered[s].data(), marginal.tested[s], marginal_->levels()));
        }
        for (const SetCounts& level : totals.sets) out.level_sets.push_back(level.figures());
        at_alpha_.finish(out, totals.pixel_tested, resamples_);
        return out;
    }
    /// Call after finish().
    [[nodiscard]] MethodTally take_tally() {
        LevelTotals slider = slider_->take(), curves = (curves_ ? *curves_ : levels_).take();
        MethodTally out;
        for (std::size_t s = 0; s < calibrator_.strata(); ++s) {
            out.others.push_back(slider.others(s, calibrator_.classes / calibrator_.strata()));
            out.wrong.push_back(slider.wrong(s));
        }
        out.covered = std::move(slider.covered);
        out.sets = std::move(slider.sets);
        out.pixel_tested = std::move(curves.pixel_tested);
        out.pixel_covered = std::move(curves.pixel_covered);
        out.set_sums = at_alpha_.set_sums();
        out.pixel_wrong = at_alpha_.pixel_wrong();
        return out;
    }
    [[nodiscard]] std::vector<std::uint64_t> undecided() const { return at_alpha_.undecided(); }

  private:
    /// Coverage by region is kept for partitions with at most this many regions.
    static constexpr std::uint32_t kMostRegions = 1024;

    /// Counts of the regions of a stratum that has few regions.
    struct Regions {
        std::vector<std::uint64_t> tested, covered;  ///< [region] and [region][level]
    };
    const Calibrator& calibrator_;
    EvaluateOptions options_;
    LevelPlan plan_;
    const Resamples& resamples_;
    AlphaJudge at_alpha_;
    LevelCounts levels_;                   ///< of the coverage error
    std::optional<LevelCounts> marginal_;  ///< of the released code's pooled rule
    std::optional<LevelCounts> slider_;    ///< with a tally
    std::optional<LevelCounts> curves_;    ///< with a tally, if the coverage error has other levels
    std::vector<LevelCounts*> others_;     ///< the optional counts above that exist
    std::vector<std::vector<double>> ce_;  ///< [stratum][pixel]
    std::mutex mutex_;
    std::vector<Regions> regions_;              ///< [stratum]
    std::optional<ResampledErrors> resampled_;  ///< when there are resamples
};

}  // namespace kandinsky
