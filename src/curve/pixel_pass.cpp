#include "curve/pixel_pass.hpp"
#include "core/data/dataset_access.hpp"

#include <algorithm>
#include <optional>

#include "core/team/team.hpp"
#include "curve/pixel_curve_builder.hpp"
#include "curve/pixel_rows.hpp"
#include "curve/range_selection.hpp"
#include "curve/score_key.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kTask = 256;  // pixels whose curves one thread builds in a row

void build_plain(PixelRows& rows, PixelCurveBuilder& curves, std::size_t strata, std::size_t origin,
                 std::size_t begin, std::size_t end) {
    PixelRows::Scratch scratch;
    for (std::size_t i = begin; i < end; ++i) {
        const std::size_t tile = i / rows.lanes(), lane = i % rows.lanes();
        if (lane == 0) rows.sort_tile(tile);
        rows.open(tile, lane, scratch);
        for (std::size_t s = 0; s < strata; ++s)
            curves.write(
                s, origin + i, PixelRows::count(scratch, s),
                [&](std::size_t k) { return rows.score(scratch, s, k); },
                [&](const std::uint32_t* ranks, std::size_t n, float* out) {
                    rows.read(scratch, s, ranks, n, out);
                });
    }
}

void build_weighed(const Dataset& data, const PixelRows& rows, PixelCurveBuilder& curves,
                   const CurveRule& rule, std::size_t origin, std::size_t begin, std::size_t end,
                   std::vector<CurveSet>& sets) {
    PixelRows::Scratch scratch;
    std::vector<std::uint32_t> sizes(data.groups());
    for (std::size_t i = begin; i < end; ++i) {
        rows.pair_up(i / rows.lanes(), i % rows.lanes(), scratch);
        for (std::size_t s = 0; s < sets.size(); ++s) {
            const auto own = std::span(scratch.pairs).subspan(scratch.first[s], PixelRows::count(scratch, s));
            sort_pairs(own);
            sets[s].append(build_group_curve(own, sizes, rule));
            curves.write(
                s, origin + i, own.size(),
                [&](std::size_t k) { return score_of(static_cast<std::uint32_t>(own[k] >> 32)); },
                [](const std::uint32_t*, std::size_t, float*) {});
        }
    }
}
}  // namespace

PixelPassResult pixel_pass(const Dataset& data, const Census& census, const PixelPassRequest& request,
                           Progress& progress) {
    std::optional<PixelRows> own;
    if (request.gathered == nullptr) own.emplace(data, request.condition, request.score);
    PixelRows& rows = own ? *own : *request.gathered;
    const Team& team = team_of(data);
    // If every group has one score at a pixel, on every rank, and all groups have equal weight, then all
    // scores have equal weight.
    const bool grouped = request.rule.pooling == Pooling::groups && !request.rule.released;
    const bool several =
        request.curves && grouped &&
        (request.rule.weights != nullptr || !(rows.single() && data.groups() == data.images()));
    PixelCurveBuilder curves(data, census, request, most(team.comm, several ? 1 : 0) == 1);
    // Equal ranges of whole tiles, as few as the budget allows, because every range needs a pass over the
    // data.
    const std::size_t pixels = data.grid().pixels(), lanes = rows.lanes(),
                      tiles = (pixels + lanes - 1) / lanes;
    const std::size_t bytes =
        rows.tile_bytes() +
        (team.counts() ? lanes * select_bytes(rows, request, census.strata, curves.weighed()) : 0);
    const std::size_t fit = least(team.comm, std::max<std::size_t>(1, request.budget / bytes));
    const std::size_t ranges = request.gathered != nullptr ? 1 : (tiles + fit - 1) / fit;
    for (std::size_t r = 0; r < ranges; ++r) {
        const PixelRange range{tiles * r / ranges * lanes,
                               std::min(pixels, tiles * (r + 1) / ranges * lanes)};
        if (team.counts()) {
            select_range(data, census, request, rows, range, curves, progress);
            continue;
        }
        if (own) rows.gather(range, progress);
        curves.build(range, kTask / lanes * lanes, progress,
                     [&](std::size_t begin, std::size_t end, std::vector<CurveSet>& sets) {
                         if (curves.weighed())
                             build_weighed(data, rows, curves, request.rule, range.begin, begin, end, sets);
                         else
                             build_plain(rows, curves, census.strata, range.begin, begin, end);
                     });
    }
    return curves.take();
}

}  // namespace kandinsky
