#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <vector>

#include "partition/evidence.hpp"
#include "partition/group_levels.hpp"

namespace kandinsky {

/// The scores of one stratum in ascending order. Gives the levels of a group's scores, and of new scores,
/// under a partition that was learnt without the group. F(s), the distribution of a region, is the share of
/// scores below s, averaged over the other groups with scores there; 0 without such a group. Levels are
/// rounded up to multiples of 1/4096.
class RegionJudge {
    using Evidence = partition::Evidence;
    using GroupLevels = partition::GroupLevels;

  public:
    using Regions = std::span<const std::uint16_t>;  ///< [pixel]

    /// `fallback`: a region where the other groups have fewer scores than this uses the scores of the whole
    /// image.
    RegionJudge(const Evidence& evidence, std::size_t groups, std::uint64_t fallback)
        : groups_(groups), fallback_(fallback) {
        for (const Evidence::Image& image : evidence.images())
            for (const auto& [pixel, score] : image.scores) items_.push_back({score, pixel, image.group});
        std::sort(items_.begin(), items_.end(),
                  [](const Item& a, const Item& b) { return a.score < b.score; });
    }

    /// Adds the levels of a group's scores. `regions` were learnt without the group; `weight` is the group's.
    void judge(std::uint32_t group, Regions regions, std::uint64_t weight, GroupLevels& levels) const {
        Scan scan(*this, group, regions);
        GroupLevels::Counts counts(GroupLevels::kSteps + 2);
        scan.run([&](const Item& one) { ++counts[scan.step(scan.serving(regions[one.pixel]))]; },
                 [](std::size_t, float) {});
        levels.add(counts, weight);
    }
    /// [region][rung] the largest score whose level is at most rungs[rung] (in units of 1 /
    /// SmoothCurves::kOne), under the regions learnt without a group. Regions that fall back have the
    /// thresholds of the image.
    [[nodiscard]] std::vector<float> thresholds(std::uint32_t group, Regions regions,
                                                const std::vector<std::uint32_t>& rungs) const {
        Scan scan(*this, group, regions);
        const std::size_t count = scan.regions();
        std::vector<float> own((count + 1) * rungs.size(), std::numeric_limits<float>::infinity());
        std::vector<std::size_t> next(count + 1);  // the first rung whose threshold is not known
        const auto limit = [&](std::size_t rung) {
            return rungs[rung] == SmoothCurves::kNever
                       ? rungs[rung]
                       : static_cast<std::uint32_t>(GroupLevels::step_of(rungs[rung]));
        };
        scan.run([](const Item&) {},
                 [&](std::size_t region, float score) {
                     for (std::size_t& k = next[region]; k < rungs.size() && scan.exceeds(region, limit(k));
                          ++k)
                         own[region * rungs.size() + k] = score;
                 });
        std::vector<float> out(count * rungs.size());
        for (std::size_t r = 0; r < count; ++r)
            std::copy_n(own.begin() + static_cast<std::ptrdiff_t>(scan.serving(r) * rungs.size()),
                        rungs.size(), out.begin() + static_cast<std::ptrdiff_t>(r * rungs.size()));
        return out;
    }

  private:
    struct Item {
        float score;
        std::uint32_t pixel, group;
    };
    /// One pass through the scores, with the weight of each region below the current score.
    class Scan {
      public:
        Scan(const RegionJudge& judge, std::uint32_t left_out, Regions regions)
            : judge_(judge),
              left_out_(left_out),
              regions_(regions),
              image_(std::size_t{*std::max_element(regions.begin(), regions.end())} + 1),
              scores_(judge.groups_ * (image_ + 1)),
              mass_(image_ + 1),
              groups_(image_ + 1),
              serves_(image_ + 1) {
            std::vector<std::uint64_t> total(image_ + 1);
            for (const Item& one : judge.items_)
                if (one.group != left_out)
                    for (const std::size_t r : counted(one)) {
                        groups_[r] += scores_[one.group * mass_.size() + r]++ == 0;
                        ++total[r];
                    }
            for (std::size_t r = 0; r <= image_; ++r) serves_[r] = total[r] < judge.fallback_ ? image_ : r;
        }

        [[nodiscard]] std::size_t regions() const { return image_; }
        /// The region whose distribution a region's pixels use.
        [[nodiscard]] std::size_t serving(std::size_t region) const { return serves_[region]; }

        /// Calls at(item) for each score of the left-out group, and passed(region, score) after the weight
        /// of a score is added to its region.
        template <class At, class Passed>
        void run(At&& at, Passed&& passed) {
            const std::vector<Item>& items = judge_.items_;
            for (std::size_t first = 0; first < items.size();) {
                std::size_t last = first;
                for (; last < items.size() && items[last].score == items[first].score; ++last)
                    if (items[last].group == left_out_) at(items[last]);
                for (std::size_t i = first; i < last; ++i)
                    if (items[i].group != left_out_)
                        for (const std::size_t r : counted(items[i]))
                            mass_[r] += kUnit / scores_[items[i].group * mass_.size() + r];
                for (std::size_t i = first; i < last; ++i)
                    if (items[i].group != left_out_)
                        for (const std::size_t r : counted(items[i])) passed(r, items[i].score);
                first = last;
            }
        }

        /// Whether step() exceeds a limit.
        [[nodiscard]] bool exceeds(std::size_t region, std::uint32_t limit) const {
            return static_cast<WideCount>(mass_[region]) * GroupLevels::kSteps >
                   static_cast<WideCount>(kUnit) * groups_[region] * limit;
        }
        /// The weight of a region below the current score, in steps of GroupLevels.
        [[nodiscard]] std::uint32_t step(std::size_t region) const {
            if (groups_[region] == 0) return 0;
            const WideCount whole = static_cast<WideCount>(kUnit) * groups_[region];
            return static_cast<std::uint32_t>(
                (static_cast<WideCount>(mass_[region]) * GroupLevels::kSteps + whole - 1) / whole);
        }

      private:
        static constexpr std::uint64_t kUnit = std::uint64_t{1}
                                               << 46;  // the weight of a group; the sum of 65536 groups fits

        /// The regions in which a score counts: its own, and the whole image if needed.
        [[nodiscard]] std::span<const std::size_t> counted(const Item& one) {
            both_[0] = regions_[one.pixel];
            return std::span(both_).first(judge_.fallback_ > 0 ? 2 : 1);
        }

        const RegionJudge& judge_;
        std::uint32_t left_out_;
        Regions regions_;
        std::size_t image_;  ///< the number that stands for the whole image: above all regions
        std::array<std::size_t, 2> both_{0, image_};
        std::vector<std::uint32_t> scores_;  ///< [group][region]
        std::vector<std::uint64_t> mass_, groups_;
        std::vector<std::size_t> serves_;
    };

    std::vector<Item> items_;  ///< by ascending score
    std::size_t groups_;
    std::uint64_t fallback_;
};

}  // namespace kandinsky
