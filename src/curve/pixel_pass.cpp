#include "curve/pixel_pass.hpp"

#include <algorithm>
#include <kandinsky/error.hpp>

#include "core/parallel.hpp"
#include "curve/score_key.hpp"
#include "score/scored_tile.hpp"

namespace kandinsky {

namespace {
/// The scores of one tile, sorted into one stretch for each (stratum, pixel).
class TileScores {
  public:
    TileScores(const Dataset& data, const Census& census, const PixelPassRequest& request, PixelRange range)
        : data_(data), range_(range), by_class_(request.condition == Condition::by_class) {
        const std::size_t pixels = data.grid().pixels();
        offsets_.reserve(census.strata * range.size() + 1);
        std::size_t total = 0;
        for (std::size_t s = 0; s < census.strata; ++s)
            for (std::size_t p = range.begin; p < range.end; ++p) {
                offsets_.push_back(total);
                total += census.counts[s * pixels + p];
            }
        offsets_.push_back(total);
        cursor_.assign(offsets_.begin(), offsets_.end() - 1);
    }

    [[nodiscard]] std::size_t total() const { return offsets_.back(); }
    [[nodiscard]] std::size_t begin(std::size_t slot) const { return offsets_[slot]; }
    [[nodiscard]] std::size_t length(std::size_t slot) const { return offsets_[slot + 1] - offsets_[slot]; }

    /// Calls put(position, score, group) for every score of the tile.
    template <class Put>
    void gather(const ScoreOptions& options, Progress& progress, Put&& put) {
        ScoredTile tile(data_, options, range_.size());
        const std::size_t n = range_.size();
        for (std::size_t image = 0; image < data_.images(); ++image) {
            if (progress.cancelled()) throw Interrupted();
            tile.load(image, range_);
            const std::uint32_t group = data_.group_of(image);
            for (std::size_t c = 0; c < data_.classes(); ++c) {
                const float* const scores = tile.scores(c);
                const std::uint8_t* const member = tile.member(c);
                std::size_t* const cursor = cursor_.data() + (by_class_ ? c * n : 0);
                for (std::size_t i = 0; i < n; ++i)
                    if (member[i] != 0) put(cursor[i]++, scores[i], group);
            }
        }
    }

  private:
    const Dataset& data_;
    PixelRange range_;
    bool by_class_;
    std::vector<std::size_t> offsets_, cursor_;
};
}  // namespace

PixelPassResult pixel_pass(const Dataset& data, const Census& census, const PixelPassRequest& request,
                           Progress& progress) {
    const std::size_t pixels = data.grid().pixels(), features = request.quantiles.size();
    // Tiles small enough that their scores stay in the cache, large enough to read whole cache lines.
    const std::size_t tile = std::clamp<std::size_t>((std::size_t{1} << 20) / data.images(), 64, 4096);
    const std::size_t tiles = (pixels + tile - 1) / tile;
    const bool grouped = request.curves && request.rule.pooling == Pooling::groups && !request.rule.released;

    PixelPassResult result;
    result.features.assign(features > 0 ? census.strata * pixels * features : 0, 0.0f);
    std::vector<std::vector<CurveSet>> parts(request.curves ? tiles : 0);  // [tile][stratum]

    parallel_for(tiles, progress, "pixel curves", [&](std::size_t number) {
        const PixelRange range{number * tile, std::min(pixels, (number + 1) * tile)};
        TileScores scores(data, census, request, range);
        std::vector<std::uint32_t> keys(scores.total()), sizes(grouped ? data.groups() : 0);
        std::vector<std::uint64_t> pairs(grouped ? scores.total() : 0);
        if (grouped)
            scores.gather(request.score, progress, [&](std::size_t at, float score, std::uint32_t group) {
                pairs[at] = pair_of(score, group);
            });
        else
            scores.gather(request.score, progress,
                          [&](std::size_t at, float score, std::uint32_t) { keys[at] = key_of(score); });
        if (request.curves)
            parts[number].assign(census.strata, CurveSet(request.rule.ladder, request.rule.released));
        for (std::size_t s = 0; s < census.strata; ++s) {
            for (std::size_t i = 0; i < range.size(); ++i) {
                const std::size_t slot = s * range.size() + i, n = scores.length(slot);
                const std::span<std::uint32_t> own(keys.data() + scores.begin(slot), n);
                if (grouped) {
                    const std::span<std::uint64_t> own_pairs(pairs.data() + scores.begin(slot), n);
                    sort_pairs(own_pairs);
                    for (std::size_t k = 0; k < n; ++k)
                        own[k] = static_cast<std::uint32_t>(own_pairs[k] >> 32);
                    parts[number][s].append(build_group_curve(own_pairs, sizes, request.rule));
                } else {
                    sort_keys(own);
                    if (request.curves) parts[number][s].append(build_curve(own, request.rule));
                }
                if (n == 0) continue;
                float* const out = result.features.data() + (s * pixels + range.begin + i) * features;
                for (std::size_t q = 0; q < features; ++q)
                    out[q] = static_cast<float>(interpolated_quantile(own, request.quantiles[q]));
            }
        }
    });

    if (request.curves) {
        result.curves.assign(census.strata, CurveSet(request.rule.ladder, request.rule.released));
        for (std::size_t s = 0; s < census.strata; ++s)
            for (std::vector<CurveSet>& part : parts) {
                result.curves[s].append(part[s]);
                part[s] = CurveSet();  // its memory is needed for the next
            }
    }
    return result;
}

}  // namespace kandinsky
