#include "curve/pixel_pass.hpp"

#include <algorithm>
#include <numeric>

#include "core/pages.hpp"
#include "core/parallel.hpp"
#include "core/team.hpp"
#include "curve/pixel_rows.hpp"
#include "curve/pixel_select.hpp"
#include "curve/score_key.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kTask = 256;                        // pixels whose curves one thread builds in a row
constexpr std::size_t kMostRanks = std::size_t{1} << 23;  // of all plans, kept at a time

/// Where the curves of one score an observation lie: their lengths follow from the counts alone, so threads
/// write them in place.
class PlainCurves {
  public:
    PlainCurves(const Dataset& data, const Census& census, const CurveRule& rule)
        : data_(data), rule_(rule), storage_(census.strata) {
        const std::size_t pixels = data.grid().pixels();
        const std::size_t levels = rule.ladder.levels.size();
        const bool grouped = rule.pooling == Pooling::groups && !rule.released;
        for (std::size_t s = 0; s < census.strata; ++s) {
            CurveSet::Storage& own = storage_[s];
            own.offsets.resize(pixels + 1);
            own.scores.resize(pixels);
            own.groups.resize(pixels);
            own.complete.resize(pixels);
            for (std::size_t p = 0; p < pixels; ++p) {
                const std::uint32_t n = census.counts[s * pixels + p];
                const bool complete = n > 0 && !rule.released && plain_complete(n, rule);
                own.scores[p] = n;
                own.groups[p] = grouped ? n : 0;
                own.complete[p] = complete;
                own.offsets[p + 1] = own.offsets[p] + (n == 0 ? 0 : complete ? n : levels);
            }
            own.values.reserve(own.offsets.back());
            prefer_large_pages(own.values.data(), own.offsets.back() * sizeof(float));
            own.values.resize(own.offsets.back());
        }
        if (!rule.released) plan_all(census);
    }

    void write(const PixelRows& rows, const PixelRows::Scratch& scratch, std::size_t s, std::size_t pixel) {
        const std::size_t n = PixelRows::count(scratch, s);
        if (n != storage_[s].scores[pixel]) refuse_changed(data_);
        if (n == 0) return;
        float* const out = storage_[s].values.data() + storage_[s].offsets[pixel];
        if (rule_.released) {
            CurveSet::Curve curve;
            build_plain_curve(
                n, rule_, [&](std::size_t k) { return rows.score(scratch, s, k); }, curve);
            std::copy(curve.values.begin(), curve.values.end(), out);
        } else if (plain_complete(n, rule_)) {
            rows.read(scratch, s, first_ranks_.data(), n, out);
        } else if (n < plan_of_.size()) {
            rows.read(scratch, s, ranks_.data() + plan_of_[n], rule_.ladder.levels.size(), out);
        } else {
            rows.read(scratch, s, plain_ranks(n, rule_).data(), rule_.ladder.levels.size(), out);
        }
    }

    std::vector<CurveSet> take() {
        std::vector<CurveSet> sets;
        for (CurveSet::Storage& own : storage_)
            sets.push_back(CurveSet::from_storage(rule_.ladder, rule_.released, std::move(own)));
        return sets;
    }

  private:
    /// Which ranks make a curve depends on the number of scores only, of which there are far fewer than
    /// pixels.
    void plan_all(const Census& census) {
        const std::size_t levels = rule_.ladder.levels.size();
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
            const std::vector<std::uint32_t> own = plain_ranks(n, rule_);
            ranks_.insert(ranks_.end(), own.begin(), own.end());
        }
    }

    const Dataset& data_;
    const CurveRule& rule_;
    std::vector<CurveSet::Storage> storage_;  ///< [stratum]
    std::vector<std::size_t> plan_of_;  ///< [scores]: where its ranks begin; empty when there are too many
    std::vector<std::uint32_t> ranks_, first_ranks_;
};

/// The curves and features of gathered pixels, a task at a time.
class CurveBuilder {
  public:
    CurveBuilder(const Dataset& data, PixelRows& rows, const PixelPassRequest& request, const Census& census,
                 PixelPassResult& result)
        : data_(data), rows_(rows), request_(request), strata_(census.strata), result_(result) {
        // Where each group has one score at a pixel, weighing by groups is weighing alike.
        const bool grouped = request.rule.pooling == Pooling::groups && !request.rule.released;
        pairs_ = request.curves && grouped && !(rows.single() && data.groups() == data.images());
        if (request.curves && !pairs_) plain_.emplace(data, census, request.rule);
    }

    /// All pixels of a gathered range, in the ranges' order.
    void build(PixelRange range, Progress& progress) {
        const std::size_t task = kTask / rows_.lanes() * rows_.lanes();
        const std::size_t tasks = (range.size() + task - 1) / task, before = parts_.size();
        if (pairs_) parts_.resize(before + tasks);
        parallel_for(tasks, progress, "pixel curves", [&](std::size_t number) {
            const std::size_t begin = number * task, end = std::min(range.size(), begin + task);
            if (pairs_)
                parts_[before + number] = build_pairs(range.begin, begin, end);
            else
                build_plain(range.begin, begin, end);
        });
    }

    std::vector<CurveSet> take() {
        if (!request_.curves) return {};
        if (plain_) return plain_->take();
        std::vector<CurveSet> sets(strata_, CurveSet(request_.rule.ladder, request_.rule.released));
        for (std::size_t s = 0; s < strata_; ++s) {
            std::size_t values = 0;
            for (const std::vector<CurveSet>& part : parts_) values += part[s].storage().values.size();
            sets[s].reserve(data_.grid().pixels(), values);
            for (std::vector<CurveSet>& part : parts_) {
                sets[s].append(part[s]);
                part[s] = CurveSet();  // its memory is needed for the next
            }
        }
        return sets;
    }

  private:
    void build_plain(std::size_t origin, std::size_t begin, std::size_t end) {
        PixelRows::Scratch scratch;
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t tile = i / rows_.lanes(), lane = i % rows_.lanes();
            if (lane == 0) rows_.sort_tile(tile);
            rows_.open(tile, lane, scratch);
            for (std::size_t s = 0; s < strata_; ++s) {
                if (plain_) plain_->write(rows_, scratch, s, origin + i);
                features(origin + i, s, PixelRows::count(scratch, s),
                         [&](std::size_t k) { return rows_.score(scratch, s, k); });
            }
        }
    }

    std::vector<CurveSet> build_pairs(std::size_t origin, std::size_t begin, std::size_t end) const {
        std::vector<CurveSet> sets(strata_, CurveSet(request_.rule.ladder, request_.rule.released));
        for (CurveSet& set : sets)
            set.reserve(end - begin, (end - begin) * request_.rule.ladder.levels.size());
        PixelRows::Scratch scratch;
        std::vector<std::uint32_t> sizes(data_.groups());
        for (std::size_t i = begin; i < end; ++i) {
            rows_.pair_up(i / rows_.lanes(), i % rows_.lanes(), scratch);
            for (std::size_t s = 0; s < strata_; ++s) {
                const auto own =
                    std::span(scratch.pairs).subspan(scratch.first[s], PixelRows::count(scratch, s));
                sort_pairs(own);
                sets[s].append(build_group_curve(own, sizes, request_.rule));
                features(origin + i, s, own.size(),
                         [&](std::size_t k) { return score_of(static_cast<std::uint32_t>(own[k] >> 32)); });
            }
        }
        return sets;
    }

    template <class At>
    void features(std::size_t pixel, std::size_t s, std::size_t n, At&& at) const {
        if (n == 0) return;
        const std::size_t wanted = request_.quantiles.size();
        float* const out = result_.features.data() + (s * data_.grid().pixels() + pixel) * wanted;
        for (std::size_t q = 0; q < wanted; ++q)
            out[q] = static_cast<float>(interpolated_quantile(n, request_.quantiles[q], at));
    }

    const Dataset& data_;
    PixelRows& rows_;
    const PixelPassRequest& request_;
    std::size_t strata_;
    PixelPassResult& result_;
    bool pairs_ = false;
    std::optional<PlainCurves> plain_;
    std::vector<std::vector<CurveSet>> parts_;  ///< [task][stratum], of pairs
};
}  // namespace

PixelPassResult pixel_pass(const Dataset& data, const Census& census, const PixelPassRequest& request,
                           Progress& progress) {
    if (data.team().counts()) return pixel_select(data, census, request, progress);
    const std::size_t pixels = data.grid().pixels();
    PixelPassResult result;
    result.features.assign(census.strata * pixels * request.quantiles.size(), 0.0f);
    if (request.gathered != nullptr) {
        CurveBuilder builder(data, *request.gathered, request, census, result);
        builder.build({0, pixels}, progress);
        result.curves = builder.take();
        return result;
    }
    PixelRows rows(data, request.condition, request.score);
    CurveBuilder builder(data, rows, request, census, result);
    // Equal ranges, as few as the budget allows: every range is a walk over the data.
    const std::size_t lanes = rows.lanes(), tiles = (pixels + lanes - 1) / lanes;
    const std::size_t most = std::max<std::size_t>(1, request.budget / rows.tile_bytes());
    const std::size_t ranges = (tiles + most - 1) / most;
    for (std::size_t r = 0; r < ranges; ++r) {
        const PixelRange range{tiles * r / ranges * lanes,
                               std::min(pixels, tiles * (r + 1) / ranges * lanes)};
        rows.gather(range, progress);
        builder.build(range, progress);
    }
    result.curves = builder.take();
    return result;
}

}  // namespace kandinsky
