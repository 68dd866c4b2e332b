#pragma once

#include <algorithm>
#include <span>

#include "core/base/parallel.hpp"
#include "curve/pixel_pass.hpp"

namespace kandinsky {

/// The curves and features of all pixels while they are made, by several threads. Where the order statistics
/// come from is the caller's: a process that has all scores reads them, ranks find them together. A caller
/// that only notes which ones are asked for learns the plan of a pixel.
class PixelCurves {
  public:
    /// `weighed`: groups weigh alike and some have several scores at a pixel.
    PixelCurves(const Dataset& data, const Census& census, const PixelPassRequest& request, bool weighed);

    [[nodiscard]] bool weighed() const { return weighed_; }

    /// Calls body(begin, end, sets) in threads for the pixels of a range, `task` at a time and numbered from
    /// its first; to `sets` the body appends curves of weighed groups, one set per stratum, pixel by pixel.
    /// Ranges come in order.
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

    /// The features and, unless weighed, the curve of n scores: at(k) is the k-th of them, and
    /// read(ranks, count, out) gives several, +inf for kNoRank.
    template <class At, class Read>
    void write(std::size_t s, std::size_t pixel, std::size_t n, At&& at, Read&& read) {
        if (request_.curves && !weighed_) write_curve(s, pixel, n, at, read);
        if (n == 0) return;
        const std::size_t wanted = request_.quantiles.size();
        float* const out = features_.data() + (s * pixels_ + pixel) * wanted;
        for (std::size_t q = 0; q < wanted; ++q)
            out[q] = static_cast<float>(interpolated_quantile(n, request_.quantiles[q], at));
    }

    [[nodiscard]] PixelPassResult take();

  private:
    [[nodiscard]] std::vector<CurveSet> empty_sets(std::size_t pixels) const;
    void lay_out(const Census& census);
    void plan_all(const Census& census);

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
    // One score an observation: lengths of curves follow from the counts alone, so threads write in place.
    std::vector<CurveSet::Storage> storage_;  ///< [stratum]
    std::vector<std::size_t> plan_of_;  ///< [scores]: where its ranks begin; empty when there are too many
    std::vector<std::uint32_t> ranks_, first_ranks_;
    std::vector<std::vector<CurveSet>> parts_;  ///< [task][stratum], of weighed groups
};

}  // namespace kandinsky
