#include "curve/region_pass.hpp"

#include <algorithm>
#include <kandinsky/error.hpp>
#include <limits>

#include "core/parallel.hpp"
#include "core/team.hpp"
#include "curve/ranked_regions.hpp"
#include "curve/region_select.hpp"
#include "curve/score_key.hpp"
#include "score/narrow_scores.hpp"
#include "score/scored_tile.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kTile = 2048;
constexpr std::uint64_t kSmall = std::uint64_t{1} << 18;  // scores; more of few values are faster counted
constexpr std::size_t kElsewhere = std::numeric_limits<std::size_t>::max();

/// The jobs of one walk, with a stretch of the buffer for every (job, tile): the census says how long each
/// is, so threads fill them without a word to each other.
class Walk {
  public:
    Walk(const Census& census, const std::vector<Partition>& partitions, std::span<const RegionJob> jobs,
         std::size_t pixels)
        : jobs_(jobs), tiles_((pixels + kTile - 1) / kTile), slot_of_(census.strata) {
        for (std::size_t s = 0; s < census.strata; ++s) slot_of_[s].assign(partitions[s].regions, kElsewhere);
        for (std::size_t j = 0; j < jobs.size(); ++j) slot_of_[jobs[j].stratum][jobs[j].region] = j;
        std::vector<std::uint64_t> length(jobs.size() * tiles_, 0);
        for (std::size_t s = 0; s < census.strata; ++s)
            for (std::size_t p = 0; p < pixels; ++p) {
                const std::size_t job = slot_of_[s][partitions[s].region[p]];
                if (job != kElsewhere) length[job * tiles_ + p / kTile] += census.counts[s * pixels + p];
            }
        start_.resize(length.size() + 1, 0);
        for (std::size_t i = 0; i < length.size(); ++i) start_[i + 1] = start_[i] + length[i];
    }

    [[nodiscard]] std::size_t tiles() const { return tiles_; }
    [[nodiscard]] std::uint64_t total() const { return start_.back(); }
    [[nodiscard]] std::uint64_t start(std::size_t job, std::size_t tile) const {
        return start_[job * tiles_ + tile];
    }
    [[nodiscard]] std::uint64_t end(std::size_t job, std::size_t tile) const {
        return start_[job * tiles_ + tile + 1];
    }
    [[nodiscard]] std::size_t job_of(std::size_t stratum, std::uint32_t region) const {
        return slot_of_[stratum][region];
    }
    [[nodiscard]] std::span<const RegionJob> jobs() const { return jobs_; }

  private:
    std::span<const RegionJob> jobs_;
    std::size_t tiles_;
    std::vector<std::vector<std::size_t>> slot_of_;
    std::vector<std::uint64_t> start_;
};

/// Fills the buffer of a walk with make(score, group) of every score that belongs to one of its jobs.
template <class Key, class Make>
std::vector<Key> gather(const Dataset& data, const std::vector<Partition>& partitions,
                        const RegionPassRequest& request, const Walk& walk, Progress& progress, Make&& make) {
    const std::size_t pixels = data.grid().pixels();
    std::vector<Key> keys(walk.total());
    parallel_for(walk.tiles(), progress, "region scores", [&](std::size_t number) {
        const PixelRange range{number * kTile, std::min(pixels, (number + 1) * kTile)};
        const std::size_t n = range.size();
        std::vector<std::uint64_t> cursor(walk.jobs().size()), end(cursor.size());
        for (std::size_t j = 0; j < cursor.size(); ++j)
            cursor[j] = walk.start(j, number), end[j] = walk.end(j, number);
        // Which job each pixel of the tile feeds, looked up once for all images.
        std::vector<std::size_t> target(partitions.size() * n);
        for (std::size_t s = 0; s < partitions.size(); ++s)
            for (std::size_t i = 0; i < n; ++i)
                target[s * n + i] = walk.job_of(s, partitions[s].region[range.begin + i]);
        ScoredTile tile(data, request.score, n);
        for (std::size_t image = 0; image < data.images(); ++image) {
            if (progress.cancelled()) throw Interrupted();
            tile.load(image, range);
            const std::uint32_t group = data.group_of(image);
            for (std::size_t c = 0; c < data.classes(); ++c) {
                const std::size_t* const to =
                    target.data() + (request.condition == Condition::by_class ? c * n : 0);
                const float* const scores = tile.scores(c);
                const std::uint8_t* const member = tile.member(c);
                for (std::size_t i = 0; i < n; ++i) {
                    if (member[i] == 0 || to[i] == kElsewhere) continue;
                    std::uint64_t& at = cursor[to[i]];
                    if (at == end[to[i]]) refuse_changed(data);  // more than the census saw
                    keys[at++] = make(scores[i], group);
                }
            }
        }
        if (cursor != end) refuse_changed(data);
    });
    return keys;
}
}  // namespace

std::vector<CurveSet> region_pass(const Dataset& data, const Census& census,
                                  const std::vector<Partition>& partitions, const RegionPassRequest& request,
                                  Progress& progress) {
    const RegionQuestion question{&partitions, request.rule};
    if (auto found = ranked_regions(data, census, {&question, 1}, request, progress))
        return std::move(found->front());
    const std::size_t pixels = data.grid().pixels();
    const bool grouped = request.rule.pooling == Pooling::groups && !request.rule.released;
    std::vector<RegionJob> jobs;
    std::vector<std::size_t> first_job;
    for (std::size_t s = 0; s < census.strata; ++s) {
        first_job.push_back(jobs.size());
        jobs.resize(jobs.size() + partitions[s].regions);
        for (std::uint32_t r = 0; r < partitions[s].regions; ++r)
            jobs[first_job[s] + r] = {.stratum = s, .region = r, .count = 0};
        for (std::size_t p = 0; p < pixels; ++p)
            jobs[first_job[s] + partitions[s].region[p]].count += census.counts[s * pixels + p];
    }

    // Regions that fit are gathered and sorted, with as much scratch as there are scores. Others are counted,
    // which needs no memory for the scores; for scores of few values it is faster too. Ranks that work
    // together and checkpoints always count: counts add up.
    const std::uint64_t most = std::max<std::uint64_t>(1, request.budget / (grouped ? 16 : 8));
    const bool few_values = NarrowScores::of(data, request.score, request.condition).has_value();
    const std::uint64_t sorted = data.team().counts() ? 0 : few_values ? std::min(most, kSmall) : most;
    std::vector<CurveSet::Curve> curves(jobs.size());
    std::vector<std::size_t> small;
    {
        std::vector<RegionJob> large;
        std::vector<std::size_t> place;
        for (std::size_t j = 0; j < jobs.size(); ++j)
            if (jobs[j].count > sorted)
                large.push_back(jobs[j]), place.push_back(j);
            else
                small.push_back(j);
        std::vector<CurveSet::Curve> found = select_curves(data, partitions, large, request, progress);
        for (std::size_t i = 0; i < place.size(); ++i) curves[place[i]] = std::move(found[i]);
    }
    for (std::size_t begin = 0; begin < small.size();) {
        std::vector<RegionJob> held;
        std::uint64_t scores = 0;
        while (begin + held.size() < small.size() &&
               (held.empty() || scores + jobs[small[begin + held.size()]].count <= most)) {
            held.push_back(jobs[small[begin + held.size()]]);
            scores += held.back().count;
        }
        if (scores == 0) {
            begin += held.size();
            continue;
        }
        const Walk walk(census, partitions, held, pixels);
        const auto stretch = [&](auto& keys, std::size_t j) {
            const std::uint64_t from = walk.start(j, 0);
            return std::span(keys).subspan(from, walk.jobs()[j].count);
        };
        if (grouped) {
            auto pairs = gather<std::uint64_t>(data, partitions, request, walk, progress, pair_of);
            parallel_for(held.size(), [&](std::size_t j) {
                std::vector<std::uint32_t> sizes(data.groups());
                const auto own = stretch(pairs, j);
                sort_pairs(own);
                curves[small[begin + j]] = build_group_curve(own, sizes, request.rule);
            });
        } else {
            auto keys = gather<std::uint32_t>(data, partitions, request, walk, progress,
                                              [](float score, std::uint32_t) { return key_of(score); });
            parallel_for(held.size(), [&](std::size_t j) {
                const auto own = stretch(keys, j);
                sort_keys(own);
                curves[small[begin + j]] = build_curve(own, request.rule);
            });
        }
        begin += held.size();
    }

    std::vector<CurveSet> sets(census.strata, CurveSet(request.rule.ladder, request.rule.released));
    for (std::size_t s = 0; s < census.strata; ++s)
        for (std::uint32_t r = 0; r < partitions[s].regions; ++r) sets[s].append(curves[first_job[s] + r]);
    return sets;
}

}  // namespace kandinsky
