#pragma once

#include <algorithm>
#include <kandinsky/dataset.hpp>
#include <kandinsky/partition.hpp>
#include <kandinsky/progress.hpp>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "curve/region_pass.hpp"
#include "curve/score_key.hpp"
#include "score/narrow_scores.hpp"
#include "score/scored_tile.hpp"
#include "score/visit.hpp"

namespace kandinsky {

/// One region of one stratum.
struct RegionJob {
    std::size_t stratum = 0;
    std::uint32_t region = 0;
    std::uint64_t count = 0;  ///< scores
};

/// Walks over all scores that belong to a list of regions, image by image as they lie in the file.
class RegionWalk {
  public:
    RegionWalk(const Dataset& data, const std::vector<Partition>& partitions, std::span<const RegionJob> jobs,
               const RegionPassRequest& request)
        : data_(data), request_(request), job_of_(partitions.size() * data.grid().pixels(), kElsewhere) {
        narrow_ = NarrowScores::of(data, request.score, request.condition);
        const std::size_t pixels = data.grid().pixels();
        for (std::size_t s = 0; s < partitions.size(); ++s) {
            std::vector<std::uint32_t> of_region(partitions[s].regions, kElsewhere);
            for (std::size_t j = 0; j < jobs.size(); ++j)
                if (jobs[j].stratum == s) of_region[jobs[j].region] = static_cast<std::uint32_t>(j);
            for (std::size_t p = 0; p < pixels; ++p)
                job_of_[s * pixels + p] = of_region[partitions[s].region[p]];
        }
    }

    /// Whether keys are codes of few bits instead of all 32.
    [[nodiscard]] bool narrow() const { return narrow_.has_value(); }
    [[nodiscard]] float score(std::size_t stratum, std::uint32_t key) const {
        return narrow_ ? narrow_->score(stratum, key) : score_of(key);
    }

    /// Calls take(part, job, key, image) for every score, from at most `parts` threads with a number each;
    /// `what` says whether keys are wanted at all. `sums`: what take() adds to, for checkpoints; none where
    /// null.
    enum class What { keys, places };
    template <class Take>
    void run(std::size_t parts, What what, Progress& progress, const VisitSums* sums, std::string_view stage,
             Take&& take) const {
        const std::size_t pixels = data_.grid().pixels(), classes = data_.classes();
        const std::size_t most = std::min(pixels, kTile);
        Visit visit{.data = data_, .progress = progress, .stage = stage};
        if (sums != nullptr) visit.sums = [&] { return *sums; };
        visit_blocks(visit, {.images = kBlock, .parts = parts},
                     [&](std::size_t part, std::size_t first, std::size_t last) {
                         std::vector<std::uint16_t> codes(most);
                         std::vector<std::uint8_t> truth(classes * most), valid(most);
                         std::optional<ScoredTile> tile;
                         if (!narrow_ && what == What::keys) tile.emplace(data_, request_.score, most);
                         for (std::size_t image = first; image < last; ++image) {
                             visit.stop_if_cancelled();
                             for (std::size_t begin = 0; begin < pixels; begin += kTile) {
                                 const PixelRange range{begin, std::min(pixels, begin + kTile)};
                                 const std::size_t n = range.size();
                                 if (tile)
                                     tile->load(image, range);
                                 else
                                     data_.read_truth(image, range, truth.data(), valid.data());
                                 for (std::size_t c = 0; c < classes; ++c) {
                                     const std::size_t s = request_.condition == Condition::by_class ? c : 0;
                                     const std::uint32_t* const to = job_of_.data() + s * pixels + begin;
                                     const std::uint8_t* const member =
                                         tile ? tile->member(c) : truth.data() + c * n;
                                     const auto take_all = [&](auto&& key) {
                                         for (std::size_t i = 0; i < n; ++i)
                                             if (member[i] != 0 && to[i] != kElsewhere)
                                                 take(part, to[i], key(i), image);
                                     };
                                     if (what == What::places) {
                                         take_all([](std::size_t) { return 0u; });
                                     } else if (tile) {
                                         take_all([scores = tile->scores(c)](std::size_t i) {
                                             return key_of(scores[i]);
                                         });
                                     } else {
                                         narrow_->read(image, range, c, codes.data());
                                         take_all([&](std::size_t i) { return std::uint32_t{codes[i]}; });
                                     }
                                 }
                             }
                         }
                     });
    }

  private:
    static constexpr std::size_t kTile = 4096, kBlock = 16;
    static constexpr std::uint32_t kElsewhere = std::numeric_limits<std::uint32_t>::max();

    const Dataset& data_;
    const RegionPassRequest& request_;
    std::optional<NarrowScores> narrow_;
    std::vector<std::uint32_t> job_of_;  ///< [stratum][pixel]
};

}  // namespace kandinsky
