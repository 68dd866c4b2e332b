#include "curve/pixel_curves.hpp"

#include <numeric>

#include "core/base/pages.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kMostRanks = std::size_t{1} << 23;  // of all plans, kept at a time
}

PixelCurves::PixelCurves(const Dataset& data, const Census& census, const PixelPassRequest& request,
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

std::vector<CurveSet> PixelCurves::empty_sets(std::size_t pixels) const {
    const Ladder& ladder = request_.rule.ladder;
    std::vector<CurveSet> sets(strata_, CurveSet(ladder, request_.rule.released));
    for (CurveSet& set : sets) set.reserve(pixels, pixels * ladder.levels.size());
    return sets;
}

void PixelCurves::lay_out(const Census& census) {
    const CurveRule& rule = request_.rule;
    const bool grouped = rule.pooling == Pooling::groups && !rule.released;
    storage_.resize(strata_);
    for (std::size_t s = 0; s < strata_; ++s) {
        CurveSet::Storage& own = storage_[s];
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

/// Which ranks make a curve depends on the number of scores only, of which there are far fewer than pixels.
void PixelCurves::plan_all(const Census& census) {
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

PixelPassResult PixelCurves::take() {
    PixelPassResult result{.features = std::move(features_), .curves = {}};
    if (!request_.curves) return result;
    const Ladder& ladder = request_.rule.ladder;
    if (!weighed_) {
        for (CurveSet::Storage& own : storage_)
            result.curves.push_back(CurveSet::from_storage(ladder, request_.rule.released, std::move(own)));
        return result;
    }
    result.curves.assign(strata_, CurveSet(ladder, request_.rule.released));
    for (std::size_t s = 0; s < strata_; ++s) {
        std::size_t values = 0;
        for (const std::vector<CurveSet>& part : parts_) values += part[s].storage().values.size();
        result.curves[s].reserve(pixels_, values);
        for (std::vector<CurveSet>& part : parts_) {
            result.curves[s].append(part[s]);
            part[s] = CurveSet();  // its memory is needed for the next
        }
    }
    return result;
}

}  // namespace kandinsky
