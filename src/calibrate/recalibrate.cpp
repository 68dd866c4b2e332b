#include <algorithm>
#include <cmath>
#include <kandinsky/calibrator.hpp>
#include <mutex>
#include <optional>

#include "calibrate/adapted_values.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/data/dataset_access.hpp"
#include "core/team/team.hpp"
#include "curve/curve_storage.hpp"
#include "partition/group_levels.hpp"
#include "score/census.hpp"
#include "score/image_features.hpp"
#include "score/scored_tile.hpp"
#include "score/visit.hpp"

namespace kandinsky {

using partition::GroupLevels;

namespace {
/// The level of a score in the curve of a region, in steps of GroupLevels. `below`: the number of the curve's
/// points below the score. Scores above all points have the step kSteps.
std::size_t step_above(const CurveSet& curves, std::size_t curve, std::size_t below) {
    const std::size_t points = curves.values(curve).size();
    if (below == 0) return 0;
    if (below == points) return GroupLevels::kSteps;
    const double level = curves.complete(curve) ? static_cast<double>(below) / static_cast<double>(points + 1)
                                                : curves.ladder().levels[below - 1];
    return static_cast<std::size_t>(std::ceil(level * GroupLevels::kSteps));
}

/// Finds the levels of new scores in a calibrator's curves, which do not change.
class FixedJudge {
  public:
    FixedJudge(const Calibrator& calibrator, const Dataset& data)
        : calibrator_(calibrator),
          data_(data),
          most_(std::min(data.grid().pixels(), kTile)),
          tile_(data, calibrator.options.score, most_),
          shifts_(calibrator.strata()) {}

    /// Adds the scores of an image to counts[stratum][step]. The last entry counts scores without a curve and
    /// scores above all possible scores.
    void count(std::uint32_t image, std::vector<GroupLevels::Counts>& counts) {
        if (calibrator_.adapts()) shifts_of(calibrator_, features_of(data_, image), shifts_);
        const std::size_t pixels = data_.grid().pixels();
        for (std::size_t begin = 0; begin < pixels; begin += most_) {
            const PixelRange range{begin, std::min(pixels, begin + most_)};
            tile_.load(image, range);
            for (std::size_t c = 0; c < data_.classes(); ++c) {
                const std::size_t s = calibrator_.stratum_of(c);
                const std::uint8_t* const member = tile_.member(c);
                const float* const scores = tile_.scores(c);
                for (std::size_t i = 0; i < range.size(); ++i)
                    if (member[i] != 0) ++counts[s][step(s, begin + i, scores[i], counts[s].size() - 1)];
            }
        }
    }

  private:
    static constexpr std::size_t kTile = 4096;

    [[nodiscard]] std::size_t step(std::size_t s, std::size_t pixel, float score, std::size_t nobody) const {
        if (const SmoothCurves* const smooth = calibrator_.smooth_of(s)) {
            if (smooth->without_data() || !(score <= storage_of(*smooth).largest)) return nobody;
            const std::uint32_t level = smooth->level(pixel, score);
            return calibrator_.adaptation_of(s) != nullptr ? GroupLevels::step_of(level, shifts_[s])
                                                           : GroupLevels::step_of(level);
        }
        if (calibrator_.levels[s * calibrator_.grid.pixels() + pixel] == CurveLevel::none) return nobody;
        const CurveSet& curves = calibrator_.curves[s];
        const std::size_t curve = calibrator_.curve_of(s, pixel);
        const std::span<const float> points = curves.values(curve);
        const auto below = std::lower_bound(points.begin(), points.end(), score) - points.begin();
        return step_above(curves, curve, static_cast<std::size_t>(below));
    }

    const Calibrator& calibrator_;
    const Dataset& data_;
    std::size_t most_;
    ScoredTile tile_;
    std::vector<std::int32_t> shifts_;
};

/// The curves of regions at the levels of new groups.
CurveSet releveled(const CurveSet& old, const GroupLevels& levels) {
    const Ladder& ladder = old.ladder();
    std::vector<double> steps;
    for (const double level : ladder.levels) steps.push_back(levels.quantile(level) * GroupLevels::kSteps);
    CurveSet out(ladder);
    for (std::size_t k = 0; k < old.size(); ++k) {
        const std::span<const float> points = old.values(k);
        CurveSet::Curve curve{
            .scores = old.scores(k), .groups = levels.groups(), .complete = false, .values = {}};
        std::size_t below = 0;  // the largest number of points below a score in the set
        for (const double step : points.empty() ? std::vector<double>{} : steps) {
            while (below < points.size() && static_cast<double>(step_above(old, k, below + 1)) <= step)
                ++below;
            curve.values.push_back(below < points.size() && !std::isinf(step)
                                       ? points[below]
                                       : std::numeric_limits<float>::infinity());
        }
        out.append(curve);
    }
    return out;
}

void refuse_unless_possible(const Calibrator& calibrator, const Dataset& data) {
    check_fits(calibrator, data);
    if (!data.labelled()) fail(ErrorKind::usage, "to recalibrate, the new images need labels");
    if (calibrator.grouped && !data.grouped())
        fail(ErrorKind::usage,
             "the calibration images had groups, so groups set the levels: give `groups` (or `group_by` for "
             "files)");
    if (calibrator.options.confidence > 0)
        fail(
            ErrorKind::usage,
            "this calibrator's promise has confidence {:g}, which new levels would not keep; calibrate again "
            "on the new images",
            calibrator.options.confidence);
    if (calibrator.options.released || calibrator.options.pooling != Pooling::groups)
        fail(ErrorKind::usage,
             "this calibrator was made with `pooling pixels`, so new groups cannot set its levels; "
             "calibrate with `pooling groups`");
}
}  // namespace

Calibrator recalibrate(const Calibrator& calibrator, const Dataset& data, Progress& progress) {
    refuse_unless_possible(calibrator, data);
    const Census census = take_census(data, calibrator.options.condition, progress);
    if (census.fingerprint == calibrator.fingerprint)
        fail(ErrorKind::data,
             "{} has the images that the calibrator was made from, which have set its levels already; give "
             "new "
             "images",
             data.options().probs_name);
    if (std::all_of(census.totals.begin(), census.totals.end(), [](std::uint64_t n) { return n == 0; }))
        fail(ErrorKind::data, "{}: every pixel is ignored, so there is nothing to set levels with",
             data.options().labels_name);
    const std::size_t strata = calibrator.strata();
    std::vector<GroupLevels> sums;
    for (std::size_t s = 0; s < strata; ++s)
        sums.emplace_back(calibrator.adaptation_of(s) != nullptr ? Adapt::image : Adapt::none);
    std::mutex adding;
    VisitSums kept;
    for (GroupLevels& one : sums)
        for (const std::span<std::byte> bytes : one.state()) kept.keep(bytes);
    visit_groups({.data = data, .progress = progress, .stage = "levels", .sums = [&] { return kept; }},
                 [&](const std::vector<std::uint32_t>& images) {
                     std::vector<GroupLevels::Counts> counts;
                     counts.reserve(sums.size());
                     for (const GroupLevels& one : sums) counts.push_back(one.no_counts());
                     FixedJudge judge(calibrator, data);
                     for (const std::uint32_t image : images) judge.count(image, counts);
                     const std::lock_guard lock(adding);
                     for (std::size_t s = 0; s < strata; ++s) sums[s].add(counts[s]);
                 });
    for (GroupLevels& one : sums) one.sum(team_of(data).comm);

    Calibrator made = calibrator;
    for (std::size_t s = 0; s < strata; ++s) {
        if (const SmoothCurves* const smooth = calibrator.smooth_of(s)) {
            if (smooth->without_data()) continue;
            SmoothStorage storage = storage_of(*smooth);
            storage.groups = sums[s].groups();
            if (const Adaptation* const own = calibrator.adaptation_of(s))
                made.adaptations[s] = partition::adapted(own->shifts(), sums[s], smooth->ladder(), storage);
            else
                storage.levels = partition::levels_of(smooth->ladder(), &sums[s]);
            made.smooth[s] = smooth_from(calibrator.grid, smooth->ladder(), std::move(storage));
        } else {
            made.curves[s] = releveled(calibrator.curves[s], sums[s]);
        }
    }
    made.version = KANDINSKY_VERSION;
    made.classless = made.classless || census.classless > 0;
    made.weighting = {};
    made.renewal = {.images = census.images,
                    .groups = census.groups,
                    .grouped = data.grouped(),
                    .fingerprint = census.fingerprint};
    return made;
}

}  // namespace kandinsky
