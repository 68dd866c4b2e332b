#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <kandinsky/evaluate.hpp>
#include <limits>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "calibrate/empty_rule.hpp"
#include "core/data/dataset_access.hpp"
#include "core/kernel/compare_kernels.hpp"
#include "core/kernel/count_kernels.hpp"
#include "core/team/team.hpp"
#include "evaluate/alpha_counts.hpp"
#include "evaluate/bootstrap.hpp"
#include "evaluate/image_coverage.hpp"
#include "evaluate/level_plan.hpp"
#include "evaluate/mean_share.hpp"
#include "evaluate/tally.hpp"
#include "score/image_features.hpp"
#include "score/scored_tile.hpp"
#include "score/visit.hpp"

namespace kandinsky {

inline std::uint64_t total(const std::vector<std::uint64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

/// The lowest share among the places from `first` on that have enough samples; ties go to the first place.
inline WorstPlace worst_of(const std::vector<std::uint64_t>& tested,
                           const std::vector<std::uint64_t>& covered, std::size_t first = 0) {
    WorstPlace worst;
    for (std::size_t i = first; i < tested.size(); ++i) {
        if (tested[i] < WorstPlace::kEnoughSamples) continue;
        const double here = share_of(covered[i], tested[i]);
        if (!(here >= worst.coverage)) worst = {here, tested[i], i};
    }
    return worst;
}

/// Measures the sets at one level: their sizes, and coverage by pixel, region, set size and image.
class AlphaJudge {
  public:
    /// `features`: [image][class]. `closely`: whether set_sums(), pixel_wrong() and undecided() will be
    /// called.
    AlphaJudge(const Calibrator& calibrator, const EvaluateOptions& options, const Dataset& data,
               const std::vector<std::vector<ImageFeatures>>& features, bool closely)
        : calibrator_(calibrator),
          options_(options),
          data_(data),
          features_(features),
          by_curve_(thresholds_by_curve(calibrator, {options.alpha})),
          covered_(calibrator.strata() * calibrator.grid.pixels()),
          image_tested_(calibrator.strata(), ByImage(data.images())),
          image_covered_(image_tested_),
          image_wrong_(image_tested_),
          image_marked_(image_tested_),
          image_valid_(data.images()),
          image_single_(data.images()),
          set_sums_(closely ? calibrator.grid.pixels() : 0),
          pixel_wrong_(calibrator.strata() * set_sums_.size()),
          counts_(calibrator.classes) {
        options_.empty = empty_rule(options.empty, calibrator);
        if (options.bootstrap == 0) return;
        for (ByImage* one : {&image_members_, &image_empty_, &image_filled_, &image_right_, &image_full_})
            one->resize(data.images());
    }

    class Tile {
      public:
        Tile(AlphaJudge& judge, PixelRange range)
            : judge_(judge),
              range_(range),
              limits_(judge.calibrator_.strata() * range.size()),
              in_set_(judge.calibrator_.classes * range.size()),
              size_(range.size()),
              few_(range.size()),
              recent_covered_(limits_.size()),
              recent_(judge.calibrator_.strata()),
              covered_(limits_.size()),
              marked_(judge.calibrator_.classes),
              wrong_(marked_),
              counts_(judge.calibrator_.classes) {
            fill_thresholds(judge.calibrator_, judge.by_curve_, range, limits_.data());
        }
        void add(const ScoredTile& tile, std::size_t image) {
            if (judge_.calibrator_.classes <= kFewClasses)
                add_sets(few_.data(), tile, image);
            else
                add_sets(size_.data(), tile, image);
        }
        /// Completes the counts that list() refers to.
        void settle() {
            for (std::size_t s = 0; s < recent_.size(); ++s) unload(s);
        }
        /// Adds the settled counts to the judge's.
        void finish() {
            const std::size_t n = range_.size(), pixels = judge_.calibrator_.grid.pixels();
            for (std::size_t s = 0; s < judge_.calibrator_.strata(); ++s)
                std::copy_n(covered_.data() + s * n, n, judge_.covered_.data() + s * pixels + range_.begin);
            const std::lock_guard lock(judge_.mutex_);
            judge_.counts_.add(counts_);
        }
        /// The counts by pixel and set size; counts by image stay on the rank that has the image.
        void list(VisitSums& sums) {
            sums.add(std::span(covered_));
            if (!judge_.set_sums_.empty()) {
                sums.add(std::span(judge_.set_sums_).subspan(range_.begin, range_.size()));
                for (std::size_t s = 0; s < judge_.calibrator_.strata(); ++s)
                    sums.add(std::span(judge_.pixel_wrong(s, range_), range_.size()));
            }
            counts_.list(sums);
        }

      private:
        /// Adds one image. `size` has room for the sizes of its sets: bytes for few classes.
        template <class Size>
        void add_sets(Size* size, const ScoredTile& tile, std::size_t image) {
            const Calibrator& calibrator = judge_.calibrator_;
            const std::size_t n = range_.size(), classes = calibrator.classes;
            std::fill(size, size + n, Size{0});
            for (std::size_t c = 0; c < classes; ++c) {
                std::uint8_t* const in = in_set_.data() + c * n;
                at_least(limits_.data() + calibrator.stratum_of(c) * n, tile.scores(c), n, in);
                add_sizes(in, n, size);
            }
            const std::uint8_t* const labelled = tile.valid();
            HeldCounts held;
            held.plain.sets = count_both(labelled, labelled, n);
            held.plain.empty = count_size(size, 0, labelled, n);
            held.plain.single = count_size(size, 1, labelled, n);
            held.plain.full = count_size(size, classes, labelled, n);
            const std::uint64_t right_before = counts_.size_covered[1];
            for (std::size_t c = 0; c < classes; ++c) {
                const std::size_t s = calibrator.stratum_of(c);
                const std::uint8_t *const in = in_set_.data() + c * n, *const member = tile.member(c);
                add_both(member, in, n, recent_covered_.data() + s * n);
                if (++recent_[s] == 255) unload(s);
                const auto [samples, hits] =
                    count_by_size(size, member, in, n, counts_.size_samples, counts_.size_covered);
                const std::uint64_t members = count_both(in, labelled, n);
                wrong_[c] = members - hits;
                marked_[c] = members;
                held.plain.members += members;
                held.plain.wrong += wrong_[c];
                counts_.tested[c] += samples;
                add_atomically(judge_.image_tested_[s][image], samples);
                add_atomically(judge_.image_covered_[s][image], hits);
            }
            held.plain.right = counts_.size_covered[1] - right_before;
            look_at(size, tile, held);
            note(held, image);
        }
        /// Adds the byte counts to the wide counts and clears them.
        void unload(std::size_t s) {
            const std::size_t n = range_.size();
            for (std::size_t i = s * n; i < (s + 1) * n; ++i) {
                covered_[i] += recent_covered_[i];
                recent_covered_[i] = 0;
            }
            recent_[s] = 0;
        }
        /// Counts the effect of filling the empty sets of labelled pixels; adds to set_sums() and
        /// pixel_wrong().
        template <class Size>
        void look_at(const Size* size, const ScoredTile& tile, HeldCounts& held) {
            const std::size_t n = range_.size(), classes = judge_.calibrator_.classes;
            const std::uint8_t* const labelled = tile.valid();
            if (!judge_.set_sums_.empty()) {
                std::uint32_t* const sums = judge_.set_sums_.data() + range_.begin;
                for (std::size_t i = 0; i < n; ++i) sums[i] += std::uint32_t{labelled[i]} * size[i];
                for (std::size_t c = 0; c < classes; ++c) {
                    std::uint32_t* const wrong = judge_.pixel_wrong(judge_.calibrator_.stratum_of(c), range_);
                    const std::uint8_t *const in = in_set_.data() + c * n, *const member = tile.member(c);
                    for (std::size_t i = 0; i < n; ++i) wrong[i] += in[i] & labelled[i] & (member[i] ^ 1);
                }
            }
            if (judge_.options_.empty == EmptySets::keep || held.plain.empty == 0) return;
            for (std::size_t i = 0; i < n && held.filled < held.plain.empty; ++i) {
                if (size[i] != 0 || labelled[i] == 0) continue;
                std::size_t best = 0;
                for (std::size_t c = 1; c < classes; ++c)
                    if (tile.probs(c)[i] > tile.probs(best)[i]) best = c;
                const bool hit = tile.member(best)[i] != 0;
                ++held.filled;
                held.hits += hit;
                wrong_[best] += !hit;
                ++marked_[best];
            }
        }
        /// Adds the counts of one image in this tile to those of the image and of all images.
        void note(const HeldCounts& held, std::size_t image) {
            const SetCounts& plain = held.plain;
            add_atomically(judge_.image_valid_[image], plain.sets);
            add_atomically(judge_.image_single_[image], plain.single);
            for (std::size_t c = 0; c < wrong_.size(); ++c) {
                const std::size_t s = judge_.calibrator_.stratum_of(c);
                counts_.wrong[c] += wrong_[c];
                add_atomically(judge_.image_wrong_[s][image], wrong_[c]);
                add_atomically(judge_.image_marked_[s][image], marked_[c]);
            }
            counts_ += held;
            if (judge_.options_.bootstrap == 0) return;
            add_atomically(judge_.image_members_[image], plain.members + held.filled);
            add_atomically(judge_.image_empty_[image], plain.empty);
            add_atomically(judge_.image_filled_[image], held.filled);
            add_atomically(judge_.image_right_[image], plain.right + held.hits);
            add_atomically(judge_.image_full_[image], plain.full);
        }
        AlphaJudge& judge_;
        PixelRange range_;
        std::vector<float> limits_;                 ///< [stratum][pixel]
        std::vector<std::uint8_t> in_set_;          ///< [class][pixel] of the current image
        std::vector<std::uint16_t> size_;           ///< [pixel], for many classes
        std::vector<std::uint8_t> few_;             ///< [pixel], for at most kFewClasses classes
        std::vector<std::uint8_t> recent_covered_;  ///< [stratum][pixel], not yet in covered_
        std::vector<unsigned> recent_;              ///< [stratum] number of additions to recent_covered_
        std::vector<std::uint32_t> covered_;        ///< [stratum][pixel]
        /// [class] number of sets of the current image that contain the class after filling, and the number
        /// of those that contain it wrongly.
        std::vector<std::uint64_t> marked_, wrong_;
        AlphaCounts counts_;
    };

    /// The counts by image, for checkpoints.
    void list_images(VisitSums& sums) {
        for (auto* const strata : {&image_tested_, &image_covered_, &image_wrong_, &image_marked_})
            for (ByImage& one : *strata) sums.keep(bytes_of(one));
        for (ByImage* const one : {&image_valid_, &image_single_, &image_members_, &image_empty_,
                                   &image_filled_, &image_right_, &image_full_})
            sums.keep(bytes_of(*one));
    }
    /// Writes all measures, with intervals if there are resamples. pixel_tested: [stratum][pixel] samples.
    void finish(Evaluation& out, std::span<const std::uint32_t> pixel_tested,
                const Resamples& resamples) const {
        ByImage tested(data_.images()), covered(data_.images());
        for (std::size_t s = 0; s < calibrator_.strata(); ++s) {
            finish_stratum(s, pixel_tested, out.strata[s], resamples);
            for (std::size_t image = 0; image < tested.size(); ++image) {
                tested[image] += image_tested_[s][image];
                covered[image] += image_covered_[s][image];
            }
        }
        out.alpha = options_.alpha;
        const std::uint64_t hits = kandinsky::total(team_of(data_).comm, total(covered)),
                            samples = kandinsky::total(team_of(data_).comm, total(tested));
        out.coverage_at_alpha = share_of(hits, samples);
        out.filled_coverage = share_of(hits + counts_.hits, samples);
        out.filled_share = share_of(counts_.filled, counts_.plain.sets);
        out.plain_sets = counts_.plain.figures();
        out.sets = counts_.plain.with_filled(counts_.filled, counts_.hits).figures();
        for (std::size_t c = 0; c < calibrator_.classes; ++c)
            out.class_false_share.push_back(
                share_of(counts_.wrong[c], counts_.plain.sets - counts_.tested[c]));
        std::vector<std::uint64_t> size_samples = counts_.size_samples, size_covered = counts_.size_covered;
        if (options_.empty == EmptySets::fill) {
            size_samples[1] += std::exchange(size_samples[0], 0);
            size_covered[1] += counts_.hits;
        }
        for (std::size_t k = 0; k < size_samples.size(); ++k)
            out.size_coverage.push_back(share_of(size_covered[k], size_samples[k]));
        out.worst_size = worst_of(size_samples, size_covered, 1);  // an empty set never covers
        out.size_samples = std::move(size_samples);
        out.image_coverage = image_coverage(tested, covered, calibrator_.strata());
        for (const float threshold : score_thresholds(calibrator_, options_.alpha))
            out.infinite += std::isinf(threshold) && threshold > 0;
        if (resamples.count() == 0) return;
        out.coverage_interval = interval(resamples, covered, tested);
        ByImage single = image_single_, wrong(data_.images());
        for (std::size_t image = 0; image < single.size(); ++image) {
            single[image] += image_filled_[image];
            for (const ByImage& stratum : image_wrong_) wrong[image] += stratum[image];
        }
        const auto of_sets = [&](const ByImage& part) { return interval(resamples, part, image_valid_); };
        out.set_intervals = {.size = of_sets(image_members_),
                             .false_classes = of_sets(wrong),
                             .empty = of_sets(image_empty_),
                             .single = of_sets(single),
                             .single_right = interval(resamples, image_right_, single),
                             .full = of_sets(image_full_)};
    }
    /// [pixel] the summed sizes of the sets before filling.
    [[nodiscard]] const std::vector<std::uint32_t>& set_sums() const { return set_sums_; }
    /// [stratum][pixel] number of wrong classes of the stratum in the sets of all images, before filling.
    [[nodiscard]] const std::vector<std::uint32_t>& pixel_wrong() const { return pixel_wrong_; }
    /// [image] number of labelled pixels whose set does not have exactly one class before filling.
    [[nodiscard]] std::vector<std::uint64_t> undecided() const {
        ByImage out = image_valid_;
        for (std::size_t image = 0; image < out.size(); ++image) out[image] -= image_single_[image];
        return out;
    }

  private:
    [[nodiscard]] std::uint32_t* pixel_wrong(std::size_t stratum, PixelRange range) {
        return pixel_wrong_.data() + stratum * set_sums_.size() + range.begin;
    }
    /// [image] one kind of count. All tiles add to it concurrently.
    using ByImage = std::vector<std::uint64_t>;
    static void add_atomically(std::uint64_t& to, std::uint64_t n) {
        if (n > 0) std::atomic_ref(to).fetch_add(n, std::memory_order_relaxed);
    }
    void finish_stratum(std::size_t s, std::span<const std::uint32_t> pixel_tested, StratumEvaluation& out,
                        const Resamples& resamples) const {
        const Grid grid = calibrator_.grid;
        const Partition& partition = calibrator_.partitions[s];
        constexpr std::size_t kBlocks = WorstPlace::kBlocks;
        std::vector<std::uint64_t> region_tested(partition.regions), region_covered(partition.regions),
            block_tested(kBlocks * kBlocks), block_covered(kBlocks * kBlocks);
        double place_errors = 0;
        std::uint64_t places = 0;
        for (std::size_t p = 0; p < grid.pixels(); ++p) {
            const std::uint64_t here = pixel_tested[s * grid.pixels() + p];
            if (here >= StratumEvaluation::kSomeSamples) {
                place_errors +=
                    std::abs(share_of(covered_[s * grid.pixels() + p], here) - (1 - options_.alpha));
                ++places;
            }
            const std::size_t block =
                p / grid.width * kBlocks / grid.height * kBlocks + p % grid.width * kBlocks / grid.width;
            region_tested[partition.region[p]] += pixel_tested[s * grid.pixels() + p];
            region_covered[partition.region[p]] += covered_[s * grid.pixels() + p];
            block_tested[block] += pixel_tested[s * grid.pixels() + p];
            block_covered[block] += covered_[s * grid.pixels() + p];
        }
        out.coverage_at_alpha = share_of(total(block_covered), total(block_tested));
        out.place_error = places > 0 ? place_errors / static_cast<double>(places)
                                     : std::numeric_limits<double>::quiet_NaN();
        out.worst_region = worst_of(region_tested, region_covered);
        out.worst_block = worst_of(block_tested, block_covered);
        out.image_coverage = image_coverage(image_tested_[s], image_covered_[s], s);
        const std::size_t classes = calibrator_.classes / calibrator_.strata();
        std::uint64_t tested = 0, wrong = 0;
        for (std::size_t c = s * classes; c < (s + 1) * classes; ++c) {
            tested += counts_.tested[c];
            wrong += counts_.wrong[c];
        }
        out.false_share = share_of(wrong, classes * counts_.plain.sets - tested);
        out.false_discovery =
            mean_share(team_of(data_).comm, by_group(image_wrong_[s]), by_group(image_marked_[s]));
        if (resamples.count() == 0) return;
        out.coverage_interval = interval(resamples, image_covered_[s], image_tested_[s]);
        ByImage others = image_valid_;
        for (std::size_t image = 0; image < others.size(); ++image)
            others[image] = classes * others[image] - image_tested_[s][image];
        out.false_interval = interval(resamples, image_wrong_[s], others);
    }
    /// For one stratum, or for all together if `stratum` is the number of strata.
    [[nodiscard]] ImageCoverage image_coverage(const ByImage& tested, const ByImage& covered,
                                               std::size_t stratum) const {
        const bool all = stratum == calibrator_.strata();
        std::vector<ImageFeatures> features;
        for (const std::vector<ImageFeatures>& classes : features_)
            features.push_back(stratum_features(classes, all ? 1 : calibrator_.strata(), all ? 0 : stratum));
        return kandinsky::image_coverage(team_of(data_).comm, tested, covered, features, options_.alpha);
    }
    [[nodiscard]] std::vector<std::uint64_t> by_group(const ByImage& images) const {
        std::vector<std::uint64_t> out(data_.groups());
        for (std::size_t image = 0; image < images.size(); ++image)
            out[data_.group_of(image)] += images[image];
        return out;
    }
    /// The interval of the ratio of two sums over images.
    [[nodiscard]] Interval interval(const Resamples& resamples, const ByImage& top,
                                    const ByImage& bottom) const {
        return percentile_interval(resamples.ratios(by_group(top), by_group(bottom)));
    }

    const Calibrator& calibrator_;
    EvaluateOptions options_;
    const Dataset& data_;
    const std::vector<std::vector<ImageFeatures>>& features_;
    ThresholdTable by_curve_;
    std::vector<std::uint32_t> covered_;                 ///< [stratum][pixel]
    std::vector<ByImage> image_tested_, image_covered_;  ///< [stratum]
    std::vector<ByImage> image_wrong_, image_marked_;    ///< [stratum] as Tile::wrong_ and marked_
    ByImage image_valid_, image_single_;                 ///< sets; sets of one class before filling
    std::vector<std::uint32_t> set_sums_, pixel_wrong_;  ///< empty unless `closely`
    /// For intervals; empty without resamples. Sets are counted after filling, except for `empty`.
    ByImage image_members_, image_empty_, image_filled_, image_right_, image_full_;
    std::mutex mutex_;
    AlphaCounts counts_;
};

}  // namespace kandinsky
