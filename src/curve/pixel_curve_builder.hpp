#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/base/pages.hpp"
#include "core/base/parallel.hpp"
#include "curve/curve_storage.hpp"
#include "curve/pixel_pass.hpp"

namespace kandinsky {

/// Builds the curves and features of all pixels in several threads. The caller provides the order statistics:
/// a single process reads them from its scores, and several processes search for them together. To learn
/// which order statistics a pixel needs, these first call write() with functions that only record them.
class PixelCurveBuilder {
  public:
    /// `weighed`: scores have the weights of their groups; otherwise all scores at a pixel have equal weight.
    PixelCurveBuilder(const Dataset& data, const Census& census, const PixelPassRequest& request,
                      bool weighed)
        : data_(data),
          request_(request),
          strata_(census.strata),
          pixels_(data.grid().pixels()),
          weighed_(weighed),
          features_(census.strata * pixels_ * request.quantiles.size(), 0.0f) {
        if (!request.curves || weighed) return;
        lay_out(census);
        if (!request.rule.released) plan_all(census);
    }

    [[nodiscard]] bool weighed() const { return weighed_; }

    /// Calls body(begin, end, sets) in threads for the pixels of a range, `task` at a time; pixels are
    /// numbered from the first of the range. The body appends the curves of weighed groups to `sets`, one set
    /// per stratum. Ranges must be passed in order.
    template <class Body>
    void build(PixelRange range, std::size_t task, Progress& progress, Body&& body) {
        const std::size_t tasks = (range.size() + task - 1) / task, before = parts_.size();
        parts_.resize(before + tasks);
        parallel_for(tasks, progress, "pixel curves", [&](std::size_t number) {
            const std::size_t begin = number * task, end = std::min(range.size(), begin + task);
            std::vector<CurveSet>& sets = parts_[before + number];
            if (weighed_) sets = empty_sets(end - begin);
            body(begin, end, sets);
        });
    }

    /// Writes the features and, unless weighed, the curve of n scores. at(k) returns the k-th score, and
    /// read(ranks, count, out) writes several scores, +inf for kNoRank. If a curve is written, throws
    /// (refuse_changed()) unless n is the number of the census.
    template <class At, class Read>
    void write(std::size_t s, std::size_t pixel, std::size_t n, At&& at, Read&& read) {
        if (request_.curves && !weighed_) write_curve(s, pixel, n, at, read);
        if (n == 0) return;
        const std::size_t wanted = request_.quantiles.size();
        float* const out = features_.data() + (s * pixels_ + pixel) * wanted;
        for (std::size_t q = 0; q < wanted; ++q)
            out[q] = static_cast<float>(interpolated_quantile(n, request_.quantiles[q], at));
    }

    [[nodiscard]] PixelPassResult take() {
        PixelPassResult result{.features = std::move(features_), .curves = {}};
        if (!request_.curves) return result;
        const Ladder& ladder = request_.rule.ladder;
        if (!weighed_) {
            for (CurveStorage& own : storage_)
                result.curves.push_back(curves_from(ladder, request_.rule.released, std::move(own)));
            return result;
        }
        result.curves.assign(strata_, CurveSet(ladder, request_.rule.released));
        for (std::size_t s = 0; s < strata_; ++s) {
            std::size_t values = 0;
            for (const std::vector<CurveSet>& part : parts_) values += storage_of(part[s]).values.size();
            result.curves[s].reserve(pixels_, values);
            for (std::vector<CurveSet>& part : parts_) {
                result.curves[s].append(part[s]);
                part[s] = CurveSet();  // frees its memory for the next stratum
            }
        }
        return result;
    }

  private:
    static constexpr std::size_t kMostRanks = std::size_t{1} << 23;  ///< of all stored plans together

    [[nodiscard]] std::vector<CurveSet> empty_sets(std::size_t pixels) const {
        const Ladder& ladder = request_.rule.ladder;
        std::vector<CurveSet> sets(strata_, CurveSet(ladder, request_.rule.released));
        for (CurveSet& set : sets) set.reserve(pixels, pixels * ladder.levels.size());
        return sets;
    }
    void lay_out(const Census& census) {
        const CurveRule& rule = request_.rule;
        const bool grouped = rule.pooling == Pooling::groups && !rule.released;
        storage_.resize(strata_);
        for (std::size_t s = 0; s < strata_; ++s) {
            CurveStorage& own = storage_[s];
            own.offsets.resize(pixels_ + 1);
            own.scores.resize(pixels_);
            own.groups.resize(pixels_);
            own.complete.resize(pixels_);
            for (std::size_t p = 0; p < pixels_; ++p) {
                const std::uint32_t n = census.counts[s * pixels_ + p];
                const bool complete = n > 0 && !rule.released && plain_complete(n, rule);
                own.scores[p] = n;
                own.groups[p] = grouped ? n : 0;
                own.complete[p] = complete;
                own.offsets[p + 1] = own.offsets[p] + (n == 0 ? 0 : complete ? n : rule.ladder.levels.size());
            }
            own.values.reserve(own.offsets.back());
            prefer_large_pages(own.values.data(), own.offsets.back() * sizeof(float));
            own.values.resize(own.offsets.back());
        }
    }
    /// The ranks of a curve depend only on its number of scores, and there are far fewer such numbers than
    /// pixels.
    void plan_all(const Census& census) {
        const std::size_t levels = request_.rule.ladder.levels.size();
        first_ranks_.resize(levels);
        std::iota(first_ranks_.begin(), first_ranks_.end(), 0u);
        const std::uint32_t most = *std::max_element(census.counts.begin(), census.counts.end());
        std::vector<std::uint8_t> there(std::size_t{most} + 1);
        for (const std::uint32_t n : census.counts) there[n] = 1;
        const auto kinds = static_cast<std::size_t>(std::count(there.begin(), there.end(), 1));
        if (kinds * levels > kMostRanks) return;
        plan_of_.resize(there.size());
        for (std::size_t n = levels + 1; n < there.size(); ++n) {
            if (there[n] == 0) continue;
            plan_of_[n] = ranks_.size();
            const std::vector<std::uint32_t> own = plain_ranks(n, request_.rule);
            ranks_.insert(ranks_.end(), own.begin(), own.end());
        }
    }

    template <class At, class Read>
    void write_curve(std::size_t s, std::size_t pixel, std::size_t n, At&& at, Read&& read) {
        if (n != storage_[s].scores[pixel]) refuse_changed(data_);
        if (n == 0) return;
        const CurveRule& rule = request_.rule;
        float* const out = storage_[s].values.data() + storage_[s].offsets[pixel];
        if (rule.released) {
            const CurveSet::Curve curve = build_plain_curve(n, rule, at);
            std::copy(curve.values.begin(), curve.values.end(), out);
        } else if (plain_complete(n, rule)) {
            read(first_ranks_.data(), n, out);
        } else if (n < plan_of_.size()) {
            read(ranks_.data() + plan_of_[n], rule.ladder.levels.size(), out);
        } else {
            read(plain_ranks(n, rule).data(), rule.ladder.levels.size(), out);
        }
    }

    const Dataset& data_;
    const PixelPassRequest& request_;
    std::size_t strata_, pixels_;
    bool weighed_;
    std::vector<float> features_;
    // Used if all scores have equal weight: the lengths of curves then follow from the counts, so threads
    // write in place.
    std::vector<CurveStorage> storage_;  ///< [stratum]
    std::vector<std::size_t> plan_of_;  ///< [number of scores] start of its plan in ranks_; empty: not stored
    std::vector<std::uint32_t> ranks_, first_ranks_;
    std::vector<std::vector<CurveSet>> parts_;  ///< [task][stratum], of weighed groups
};

}  // namespace kandinsky
