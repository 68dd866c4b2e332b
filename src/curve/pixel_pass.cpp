#include "curve/pixel_pass.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "core/team.hpp"
#include "curve/pixel_rows.hpp"
#include "curve/pixel_select.hpp"
#include "curve/score_key.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kTask = 256;  // pixels whose curves one thread builds in a row

/// The curves and features of the gathered pixels, a task at a time.
class CurveBuilder {
  public:
    CurveBuilder(const Dataset& data, const PixelRows& rows, const PixelPassRequest& request,
                 std::size_t strata, PixelPassResult& result)
        : data_(data), rows_(rows), request_(request), strata_(strata), result_(result) {
        // Where each group has one score at a pixel, weighing by groups is weighing alike.
        const bool grouped = request.rule.pooling == Pooling::groups && !request.rule.released;
        pairs_ = request.curves && grouped && !(rows.single() && data.groups() == data.images());
    }

    /// Pixels first .. first + count of the range that begins at `begin`; a set of curves for each stratum.
    std::vector<CurveSet> build(std::size_t begin, std::size_t first, std::size_t count) const {
        std::vector<CurveSet> sets;
        if (request_.curves) {
            sets.assign(strata_, CurveSet(request_.rule.ladder, request_.rule.released));
            for (CurveSet& set : sets) set.reserve(count, count * request_.rule.ladder.levels.size());
        }
        PixelRows::Scratch scratch;
        std::vector<std::uint32_t> sizes(pairs_ ? data_.groups() : 0);
        CurveSet::Curve curve;
        for (std::size_t i = first; i < first + count; ++i) {
            if (pairs_) {
                rows_.pair_up(i, scratch);
                for (std::size_t s = 0; s < strata_; ++s) {
                    const auto own =
                        std::span(scratch.pairs).subspan(scratch.first[s], PixelRows::count(scratch, s));
                    sort_pairs(own);
                    sets[s].append(build_group_curve(own, sizes, request_.rule));
                    features(begin + i, s, own.size(), [&](std::size_t k) {
                        return score_of(static_cast<std::uint32_t>(own[k] >> 32));
                    });
                }
                continue;
            }
            rows_.sort(i, scratch);
            for (std::size_t s = 0; s < strata_; ++s) {
                const auto at = [&](std::size_t k) { return rows_.score(scratch, s, k); };
                if (request_.curves) {
                    build_plain_curve(PixelRows::count(scratch, s), request_.rule, at, curve);
                    sets[s].append(curve);
                }
                features(begin + i, s, PixelRows::count(scratch, s), at);
            }
        }
        return sets;
    }

  private:
    template <class At>
    void features(std::size_t pixel, std::size_t s, std::size_t n, At&& at) const {
        if (n == 0) return;
        const std::size_t wanted = request_.quantiles.size();
        float* const out = result_.features.data() + (s * data_.grid().pixels() + pixel) * wanted;
        for (std::size_t q = 0; q < wanted; ++q)
            out[q] = static_cast<float>(interpolated_quantile(n, request_.quantiles[q], at));
    }

    const Dataset& data_;
    const PixelRows& rows_;
    const PixelPassRequest& request_;
    std::size_t strata_;
    PixelPassResult& result_;
    bool pairs_ = false;
};
}  // namespace

PixelPassResult pixel_pass(const Dataset& data, const Census& census, const PixelPassRequest& request,
                           Progress& progress) {
    if (data.team().counts()) return pixel_select(data, census, request, progress);
    const std::size_t pixels = data.grid().pixels();
    PixelPassResult result;
    result.features.assign(census.strata * pixels * request.quantiles.size(), 0.0f);
    std::vector<std::vector<CurveSet>> parts;  // [task][stratum]
    {
        PixelRows rows(data, request.condition, request.score);
        const CurveBuilder builder(data, rows, request, census.strata, result);
        // Equal ranges, as few as the budget allows: every range is a walk over the data.
        const std::size_t most = std::max<std::size_t>(1, request.budget / rows.row_bytes());
        const std::size_t ranges = (pixels + most - 1) / most;
        for (std::size_t r = 0; r < ranges; ++r) {
            const PixelRange range{pixels * r / ranges, pixels * (r + 1) / ranges};
            rows.gather(range, progress);
            const std::size_t tasks = (range.size() + kTask - 1) / kTask, before = parts.size();
            parts.resize(before + tasks);
            parallel_for(tasks, progress, "pixel curves", [&](std::size_t task) {
                parts[before + task] =
                    builder.build(range.begin, task * kTask, std::min(kTask, range.size() - task * kTask));
            });
        }
    }
    if (!request.curves) return result;
    result.curves.assign(census.strata, CurveSet(request.rule.ladder, request.rule.released));
    for (std::size_t s = 0; s < census.strata; ++s) {
        std::size_t values = 0;
        for (const std::vector<CurveSet>& part : parts) values += part[s].storage().values.size();
        result.curves[s].reserve(pixels, values);
        for (std::vector<CurveSet>& part : parts) {
            result.curves[s].append(part[s]);
            part[s] = CurveSet();  // its memory is needed for the next
        }
    }
    return result;
}

}  // namespace kandinsky
