#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kandinsky/calibrator.hpp>
#include <limits>
#include <mutex>
#include <numeric>
#include <vector>

#include "core/kernel/count_kernels.hpp"
#include "evaluate/bootstrap.hpp"
#include "evaluate/kernels.hpp"
#include "evaluate/level_plan.hpp"
#include "evaluate/tally.hpp"
#include "score/scored_tile.hpp"
#include "score/visit.hpp"

namespace kandinsky {

inline void add_row(std::uint16_t* to, const std::uint16_t* from, std::size_t n) {
    add_words(from, n, to);
}
inline void add_row(std::uint32_t* __restrict to, const std::uint16_t* __restrict from, std::size_t n) {
    for (std::size_t b = 0; b < n; ++b) to[b] += from[b];
}
inline void add_level(const std::uint16_t* counts, const double* share, double target, std::size_t n,
                      double* covered, double* error) {
    add_errors(counts, share, target, n, covered, error);
}
inline void add_level(const std::uint32_t* counts, const double* share, double target, std::size_t n,
                      double* covered, double* error) {
    for (std::size_t b = 0; b < n; ++b) {
        covered[b] += counts[b];
        error[b] += std::abs(covered[b] * share[b] - target);
    }
}

/// covered[l] += first[0] + ... + first[l]. Returns the sum of `first`, which has one entry more than
/// `covered`.
inline std::uint64_t add_up(const std::uint64_t* first, std::vector<std::uint64_t>& covered) {
    std::uint64_t sum = 0;
    for (std::uint64_t& level : covered) level += sum += *first++;
    return sum + *first;
}

/// [level] the cumulative sums of `first`, without the last entry of `first`.
inline std::vector<std::uint64_t> up_to(const std::vector<std::uint64_t>& first) {
    std::vector<std::uint64_t> out(first.size() - 1);
    add_up(first.data(), out);
    return out;
}

/// The mean coverage error of every resample of the test groups, in the same pass as the error itself. A tile
/// records the first level that covers each sample. When a tile is finished, these levels are counted for all
/// resamples. Cost: samples x resamples additions of small integers, and pixels x resamples x levels for the
/// errors.
class ResampledErrors {
  public:
    ResampledErrors(const Calibrator& calibrator, const LevelPlan& plan, const Dataset& data,
                    const Resamples& resamples)
        : calibrator_(calibrator),
          plan_(plan),
          data_(data),
          resamples_(resamples),
          sums_(calibrator.strata() * resamples.stride()),
          pixels_(sums_.size()) {}

    /// The largest number of pixels in a tile whose records of `images` images fit into `bytes`, at least 16.
    [[nodiscard]] static std::size_t tile_size(const Dataset& data, std::size_t images, std::size_t bytes) {
        return std::max<std::size_t>(16, bytes / (data.classes() * std::max<std::size_t>(1, images)));
    }

    class Tile {
      public:
        Tile(ResampledErrors& all, std::size_t pixels)
            : all_(all), pixels_(pixels), first_(all.data_.classes() * pixels * all.data_.images(), kNone) {}
        /// Records ranks[pixel], the first level that covers class c in an image; only pixels with the class
        /// count.
        void note(std::size_t image, std::size_t c, const std::uint8_t* ranks, const std::uint8_t* member) {
            const std::size_t images = all_.data_.images();
            std::uint8_t* const to = first_.data() + c * pixels_ * images + image;
            for (std::size_t i = 0; i < pixels_; ++i)
                if (member[i] != 0) to[i * images] = ranks[i];
        }
        void finish() {
            // At a pixel, an image has at most one sample of a class. If classes are pooled and overlap, it
            // may have a sample of every class.
            const std::uint64_t most =
                all_.resamples_.most_images() *
                (all_.calibrator_.strata() == 1 ? all_.data_.classes() : std::size_t{1});
            if (tables_.empty() && most < std::numeric_limits<std::uint16_t>::max())
                count_all<std::uint16_t>();
            else
                count_all<std::uint32_t>();
        }
        /// For several ranks or a checkpoint: turns the records that finish() reads into counts to be summed.
        void tabulate() {
            const std::size_t each = (all_.plan_.alphas.size() + 1) * all_.resamples_.stride();
            tables_.assign(all_.calibrator_.strata() * pixels_ * each, 0);
            for (std::size_t s = 0; s < all_.calibrator_.strata(); ++s)
                for (std::size_t i = 0; i < pixels_; ++i)
                    count_pixel(s, i, tables_.data() + (s * pixels_ + i) * each);
        }
        /// The records for checkpoints, and the counts after tabulation.
        void list(VisitSums& sums) {
            sums.add(std::span(tables_));
            sums.keep(bytes_of(first_));
        }

      private:
        template <class Count>
        void count_all() {
            const std::size_t levels = all_.plan_.alphas.size();
            const std::size_t strata = all_.calibrator_.strata(), stride = all_.resamples_.stride();
            std::vector<Count> table((levels + 1) * stride);
            std::vector<double> share(stride), covered(stride), error(stride);
            std::vector<std::uint64_t> sums(strata * stride), counted(strata * stride);
            for (std::size_t s = 0; s < strata; ++s)
                for (std::size_t i = 0; i < pixels_; ++i) {
                    if (tables_.empty()) {
                        std::fill(table.begin(), table.end(), Count{0});
                        if (!count_pixel(s, i, table.data())) continue;
                    } else {
                        const std::uint32_t* const from = tables_.data() + (s * pixels_ + i) * table.size();
                        std::transform(from, from + table.size(), table.begin(),
                                       [](std::uint32_t n) { return static_cast<Count>(n); });
                    }
                    std::fill(share.begin(), share.end(), 0.0);
                    std::fill(covered.begin(), covered.end(), 0.0);
                    std::fill(error.begin(), error.end(), 0.0);
                    for (std::size_t l = 0; l <= levels; ++l)
                        for (std::size_t b = 0; b < stride; ++b) share[b] += table[l * stride + b];
                    for (std::size_t b = 0; b < stride; ++b) {
                        counted[s * stride + b] += share[b] > 0;
                        share[b] = share[b] > 0 ? 1 / share[b] : 0.0;
                    }
                    for (std::size_t l = 0; l < levels; ++l) {
                        add_level(table.data() + l * stride, share.data(), all_.plan_.targets[l], stride,
                                  covered.data(), error.data());
                    }
                    for (std::size_t b = 0; b < stride; ++b)
                        if (share[b] > 0)
                            sums[s * stride + b] += static_cast<std::uint64_t>(
                                error[b] / static_cast<double>(levels) * kOne + 0.5);
                }
            const std::lock_guard lock(all_.mutex_);
            for (std::size_t i = 0; i < sums.size(); ++i) {
                all_.sums_[i] += sums[i];
                all_.pixels_[i] += counted[i];
            }
        }
        /// Adds to table[level][resample] how often the level is the first to cover a sample of the pixel.
        /// Returns whether there is a sample.
        template <class Count>
        bool count_pixel(std::size_t stratum, std::size_t pixel, Count* table) const {
            const std::size_t images = all_.data_.images(), stride = all_.resamples_.stride();
            bool any = false;
            for (std::size_t c = 0; c < all_.data_.classes(); ++c) {
                if (all_.calibrator_.stratum_of(c) != stratum) continue;
                const std::uint8_t* const first = first_.data() + (c * pixels_ + pixel) * images;
                for (std::size_t image = 0; image < images; ++image) {
                    if (first[image] == kNone) continue;
                    add_row(table + first[image] * stride, all_.resamples_.times(all_.data_.group_of(image)),
                            stride);
                    any = true;
                }
            }
            return any;
        }
        ResampledErrors& all_;
        std::size_t pixels_;
        std::vector<std::uint8_t> first_;    ///< [class][pixel][image]: level, or kNone
        std::vector<std::uint32_t> tables_;  ///< [stratum][pixel][level][resample] after tabulation
    };

    /// [resample]: mean over the pixels that have a sample in the resample; NaN without such a pixel.
    [[nodiscard]] std::vector<double> means(std::size_t stratum) const {
        std::vector<double> out(resamples_.count(), std::numeric_limits<double>::quiet_NaN());
        for (std::size_t b = 0; b < out.size(); ++b) {
            const std::size_t at = stratum * resamples_.stride() + b;
            if (pixels_[at] > 0)
                out[b] = static_cast<double>(sums_[at]) / kOne / static_cast<double>(pixels_[at]);
        }
        return out;
    }

  private:
    static constexpr std::uint8_t kNone = 255;
    static constexpr double kOne = 4294967296.0;  ///< 2^32 units are an error of 1
    const Calibrator& calibrator_;
    const LevelPlan& plan_;
    const Dataset& data_;
    const Resamples& resamples_;
    std::mutex mutex_;
    std::vector<std::uint64_t> sums_;    ///< [stratum][resample] in units of 2^-32
    std::vector<std::uint64_t> pixels_;  ///< [stratum][resample]
};

/// Integer counts of the sets of one calibrator at several levels.
struct LevelTotals {
    std::vector<std::uint64_t> tested;                ///< [stratum] samples
    std::vector<std::vector<std::uint64_t>> covered;  ///< [stratum][level] covered samples
    std::vector<std::vector<std::uint64_t>> members;  ///< [stratum][level] classes in all sets together
    std::vector<SetCounts> sets;                      ///< [level] sets of labelled pixels, over all images
    std::vector<std::uint32_t> pixel_tested;          ///< [stratum][pixel]
    std::vector<std::uint32_t> pixel_covered;         ///< [stratum][pixel][level]

    /// The number of pairs of pixel and class that are not a sample, for a stratum of `classes` classes.
    [[nodiscard]] std::uint64_t others(std::size_t stratum, std::size_t classes) const {
        return classes * sets.front().sets - tested[stratum];
    }
    /// [level] the number of pairs as in others() whose set contains the class.
    [[nodiscard]] std::vector<std::uint64_t> wrong(std::size_t stratum) const {
        std::vector<std::uint64_t> out = members[stratum];
        for (std::size_t l = 0; l < out.size(); ++l) out[l] -= covered[stratum][l];
        return out;
    }
};

/// Counts LevelTotals tile by tile. Counts are integers, so the order of images and tiles has no effect.
class LevelCounts {
  public:
    struct Detail {
        bool sets = true;           ///< members and sets
        bool pixels = false;        ///< pixel_tested, and the counts of each pixel for Tile::covered()
        bool pixel_levels = false;  ///< with `pixels`: pixel_covered
    };
    LevelCounts(const Calibrator& calibrator, const std::vector<double>& alphas, Detail detail)
        : calibrator_(calibrator),
          levels_(alphas.size()),
          detail_(detail),
          by_curve_(thresholds_by_curve(calibrator, alphas)) {
        const std::size_t strata = calibrator.strata(), pixels = calibrator.grid.pixels();
        totals_.tested.assign(strata, 0);
        totals_.covered.assign(strata, std::vector<std::uint64_t>(levels_));
        totals_.members.assign(strata, std::vector<std::uint64_t>(levels_));
        totals_.sets.resize(levels_);
        if (detail.pixels) totals_.pixel_tested.assign(strata * pixels, 0);
        if (detail.pixel_levels) totals_.pixel_covered.assign(strata * pixels * levels_, 0);
    }

    class Tile {
      public:
        Tile(LevelCounts& all, PixelRange range)
            : all_(all),
              range_(range),
              thresholds_(all.calibrator_.strata() * all.levels_ * range.size()),
              first_covered_(all.calibrator_.strata() * (all.levels_ + 1)),
              first_member_(first_covered_.size()),
              first_class_(all.levels_ + 1),
              second_class_(all.levels_ + 1),
              last_class_(all.levels_ + 1),
              first_right_(all.levels_ + 1),
              second_right_(all.levels_ + 1),
              rank_(range.size()),
              first_(range.size()),
              second_(range.size()),
              last_(range.size()),
              right_(range.size()) {
            fill_thresholds(all.calibrator_, all.by_curve_, range, thresholds_.data());
            if (!all.detail_.pixels) return;
            tested_.assign(all.calibrator_.strata() * range.size(), 0);
            covered_.assign(thresholds_.size(), 0);
            recent_tested_.assign(tested_.size(), 0);
            recent_covered_.assign(covered_.size(), 0);
            recent_.assign(all.calibrator_.strata(), 0);
        }
        /// `notes` records the first level that covers each sample; may be null.
        void add(const ScoredTile& tile, std::size_t image, ResampledErrors::Tile* notes = nullptr) {
            const auto none = static_cast<std::uint8_t>(all_.levels_);
            for (auto* const ranks : {&first_, &second_}) std::fill(ranks->begin(), ranks->end(), none);
            for (auto* const bytes : {&last_, &right_})
                std::fill(bytes->begin(), bytes->end(), std::uint8_t{0});
            for (std::size_t c = 0; c < all_.calibrator_.classes; ++c) {
                add_class(tile, c);
                if (notes != nullptr) notes->note(image, c, rank_.data(), tile.member(c));
            }
            if (!all_.detail_.sets) return;
            const auto count = [&](const std::vector<std::uint8_t>& ranks, const std::uint8_t* flag,
                                   std::vector<std::uint64_t>& counts) {
                count_ranks(ranks.data(), flag, all_.levels_, range_.size(), counts.data());
            };
            count(first_, tile.valid(), first_class_);
            count(second_, tile.valid(), second_class_);
            count(last_, tile.valid(), last_class_);
            count(first_, right_.data(), first_right_);
            count(second_, right_.data(), second_right_);
        }
        /// Completes the counts that list() refers to.
        void settle() {
            for (std::size_t s = 0; s < recent_.size(); ++s) unload(s);
        }
        void list(VisitSums& sums) {
            sums.add(std::span(tested_));
            sums.add(std::span(covered_));
            sums.add(std::span(first_covered_));
            sums.add(std::span(first_member_));
            for (auto* const counts :
                 {&first_class_, &second_class_, &last_class_, &first_right_, &second_right_})
                sums.add(std::span(*counts));
        }
        /// Adds the settled counts to the totals.
        void finish() {
            LevelTotals& totals = all_.totals_;
            const std::size_t n = range_.size(), levels = all_.levels_,
                              pixels = all_.calibrator_.grid.pixels(), strata = all_.calibrator_.strata();
            for (std::size_t s = 0; s < strata && all_.detail_.pixels; ++s) {
                std::copy_n(tested(s), n, totals.pixel_tested.data() + s * pixels + range_.begin);
                for (std::size_t i = 0; i < n && all_.detail_.pixel_levels; ++i)
                    for (std::size_t l = 0; l < levels; ++l)
                        totals.pixel_covered[(s * pixels + range_.begin + i) * levels + l] =
                            covered(s)[l * n + i];
            }
            const std::lock_guard lock(all_.mutex_);
            for (std::size_t s = 0; s < strata; ++s) {
                std::vector<std::uint64_t> hits(levels), members(levels);
                if (all_.detail_.pixels) {
                    totals.tested[s] += std::accumulate(tested(s), tested(s) + n, std::uint64_t{0});
                    for (std::size_t l = 0; l < levels; ++l)
                        hits[l] =
                            std::accumulate(covered(s) + l * n, covered(s) + (l + 1) * n, std::uint64_t{0});
                } else {
                    totals.tested[s] += add_up(first_covered_.data() + s * (levels + 1), hits);
                }
                add_up(first_member_.data() + s * (levels + 1), members);
                for (std::size_t l = 0; l < levels; ++l) {
                    totals.covered[s][l] += hits[l];
                    if (!all_.detail_.sets) continue;
                    totals.members[s][l] += members[l];
                    totals.sets[l].members += members[l];
                    totals.sets[l].wrong += members[l] - hits[l];
                }
            }
            const std::vector<std::uint64_t> first = up_to(first_class_), second = up_to(second_class_),
                                             last = up_to(last_class_), right = up_to(first_right_),
                                             not_alone = up_to(second_right_);
            const std::uint64_t sets =
                std::accumulate(first_class_.begin(), first_class_.end(), std::uint64_t{0});
            for (std::size_t l = 0; l < levels; ++l) {
                SetCounts& to = totals.sets[l];
                to.sets += sets;
                to.empty += sets - first[l];
                to.single += first[l] - second[l];
                to.right += right[l] - not_alone[l];
                to.full += last[l];
            }
        }

        /// Settled counts of each pixel: [pixel] and [level][pixel].
        [[nodiscard]] const std::uint32_t* tested(std::size_t s) const {
            return tested_.data() + s * range_.size();
        }
        [[nodiscard]] const std::uint32_t* covered(std::size_t s) const {
            return covered_.data() + s * all_.levels_ * range_.size();
        }

      private:
        void add_class(const ScoredTile& tile, std::size_t c) {
            const std::size_t n = range_.size(), levels = all_.levels_, s = all_.calibrator_.stratum_of(c);
            const std::uint8_t* const member = tile.member(c);
            first_covering_level(tile.scores(c), thresholds_.data() + s * levels * n, levels, n,
                                 rank_.data());
            if (all_.detail_.sets) {
                rank_sets(rank_.data(), member, n, first_.data(), second_.data(), last_.data(),
                          right_.data());
                count_ranks(rank_.data(), tile.valid(), levels, n, first_member_.data() + s * (levels + 1));
            }
            if (!all_.detail_.pixels) {
                count_ranks(rank_.data(), member, levels, n, first_covered_.data() + s * (levels + 1));
                return;
            }
            add_both(member, member, n, recent_tested_.data() + s * n);
            add_covered(rank_.data(), member, levels, n, recent_covered_.data() + s * levels * n);
            if (++recent_[s] == 255) unload(s);
        }
        /// Adds the byte counts to the wide counts and clears them.
        void unload(std::size_t s) {
            const auto move = [](std::uint8_t* from, std::size_t n, std::uint32_t* to) {
                for (std::size_t i = 0; i < n; ++i) to[i] += from[i];
                std::fill(from, from + n, std::uint8_t{0});
            };
            const std::size_t n = range_.size(), levels = all_.levels_;
            move(recent_tested_.data() + s * n, n, tested_.data() + s * n);
            move(recent_covered_.data() + s * levels * n, levels * n, covered_.data() + s * levels * n);
            recent_[s] = 0;
        }

        LevelCounts& all_;
        PixelRange range_;
        std::vector<float> thresholds_;       ///< [stratum][level][pixel]
        std::vector<std::uint32_t> tested_;   ///< [stratum][pixel], with Detail::pixels
        std::vector<std::uint32_t> covered_;  ///< [stratum][level][pixel], with Detail::pixels
        std::vector<std::uint8_t> recent_tested_, recent_covered_;  ///< counts not yet added above
        std::vector<unsigned> recent_;                              ///< [stratum] number of additions to them
        // Indexed by the first level at which a sample is covered or a class enters; last entry: none.
        std::vector<std::uint64_t> first_covered_;  ///< [stratum][level], without Detail::pixels
        std::vector<std::uint64_t> first_member_;   ///< [stratum][level] pairs of labelled pixel and class
        /// [level] number of sets whose first, second or last class enters at this level. first_right_ and
        /// second_right_ count only sets whose first class is right.
        std::vector<std::uint64_t> first_class_, second_class_, last_class_, first_right_, second_right_;
        std::vector<std::uint8_t> rank_;  ///< [pixel] first covering level of the current class
        std::vector<std::uint8_t> first_, second_, last_;  ///< [pixel] the levels at which classes enter
        std::vector<std::uint8_t> right_;                  ///< [pixel] whether the first class is the pixel's
    };

    [[nodiscard]] std::size_t levels() const { return levels_; }
    /// Call once every tile is finished.
    [[nodiscard]] const LevelTotals& totals() const { return totals_; }
    [[nodiscard]] LevelTotals take() { return std::move(totals_); }

  private:
    const Calibrator& calibrator_;
    std::size_t levels_;
    Detail detail_;
    ThresholdTable by_curve_;
    std::mutex mutex_;
    LevelTotals totals_;
};

}  // namespace kandinsky
