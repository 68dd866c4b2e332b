#include "curve/range_selection.hpp"
#include "core/data/dataset_access.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/base/parallel.hpp"
#include "core/base/thread_buffer.hpp"
#include "core/team/bisect.hpp"
#include "core/team/checkpoint.hpp"
#include "core/team/team.hpp"
#include "curve/score_key.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kWholeTiles = 64;                                       // pixels per task: whole tiles
constexpr std::uint32_t kBeyond = std::numeric_limits<std::uint32_t>::max();  // no score has this key: +inf

/// The scores that one rank has at one pixel and stratum, and the order statistics that are searched for
/// there.
struct Unit {
    std::size_t first = 0, count = 0;  ///< of the rank's own sorted keys
    std::uint64_t scores = 0;          ///< of all ranks
    std::vector<Sought> ranks;         ///< for features, and for curves if all scores have equal weight
    std::vector<Sought> weights;       ///< for curves if groups are weighed
};

/// The curves and features of a range of pixels for several ranks, each with a part of the images. All ranks
/// get the same result. Each rank sorts its own scores; then all ranks together bisect the range of keys
/// around every order statistic that is needed (core/team/bisect.hpp).
class RangeSelection {
  public:
    RangeSelection(const Dataset& data, const Census& census, const PixelPassRequest& request,
                   PixelRows& rows, PixelRange range, PixelCurveBuilder& curves)
        : data_(data),
          request_(request),
          rows_(rows),
          range_(range),
          curves_(curves),
          strata_(census.strata),
          units_(range.size() * census.strata),
          groups_(curves.weighed() ? units_.size() : 0),
          mass_(groups_.size()) {
        const std::size_t pixels = data.grid().pixels();
        for (std::size_t i = 0; i < range.size(); ++i)
            for (std::size_t s = 0; s < strata_; ++s)
                units_[i * strata_ + s].scores = census.counts[s * pixels + range.begin + i];
    }

    /// Finds the order statistics. Returns all that build() needs as bytes, which checkpoints store: the keys
    /// and, if groups are weighed, the numbers and weights of groups.
    std::vector<std::byte> find() {
        sort_own();
        std::vector<Weight> totals;
        if (curves_.weighed()) totals = count_groups();
        ask();
        for (std::size_t u = 0; u < units_.size(); ++u)
            for (Sought& one : units_[u].weights)
                one.target = reachable(one.target, totals[u], {groups_[u], mass_[u]}, request_.rule);
        const std::size_t features = 2 * request_.quantiles.size();
        const std::size_t targets = request_.curves ? CurvePlan::most_targets(request_.rule) : 0;
        const auto below = [&](const Unit& one, std::uint64_t middle) {
            const auto own = std::span(keys_).subspan(one.first, one.count);
            return static_cast<std::size_t>(std::lower_bound(own.begin(), own.end(), middle) - own.begin());
        };
        bisect<std::uint32_t>(
            team_of(data_).comm, units_.size(), features + (curves_.weighed() ? 0 : targets), 0,
            rows_.key_bits(), [&](std::size_t u) -> std::vector<Sought>& { return units_[u].ranks; },
            [&](std::size_t u, const Sought&, std::uint64_t middle) {
                return static_cast<std::uint32_t>(below(units_[u], middle));
            });
        if (curves_.weighed())
            bisect<Weight>(
                team_of(data_).comm, units_.size(), targets, 0, rows_.key_bits(),
                [&](std::size_t u) -> std::vector<Sought>& { return units_[u].weights; },
                [&](std::size_t u, const Sought&, std::uint64_t middle) {
                    const std::size_t n = below(units_[u], middle);
                    return n > 0 ? sums_[units_[u].first + n - 1] : Weight{0};
                });
        std::vector<std::uint32_t> words = groups_;
        for (const Weight one : mass_)
            for (unsigned shift = 0; shift < 128; shift += 32)
                words.push_back(static_cast<std::uint32_t>(one >> shift));
        for (std::size_t u = 0; u < units_.size(); ++u) {
            for (const Sought& one : units_[u].ranks) words.push_back(static_cast<std::uint32_t>(one.key));
            for (const Sought& one : units_[u].weights)
                words.push_back(one.target > totals[u] ? kBeyond : static_cast<std::uint32_t>(one.key));
        }
        keys_ = {};
        sums_ = {};
        const auto bytes = std::as_bytes(std::span(words));
        return {bytes.begin(), bytes.end()};
    }

    void build(std::span<const std::byte> bytes, Progress& progress) {
        std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
        if (!words.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
        std::copy_n(words.begin(), groups_.size(), groups_.begin());
        std::size_t next = groups_.size();
        for (Weight& one : mass_) {
            one = 0;
            for (unsigned shift = 0; shift < 128; shift += 32)
                one |= static_cast<Weight>(words[next++]) << shift;
        }
        ask();
        for (Unit& one : units_) {
            for (Sought& search : one.ranks) search.key = words[next++];
            for (Sought& search : one.weights) search.key = words[next++];
        }
        curves_.build(range_, kWholeTiles, progress,
                      [&](std::size_t begin, std::size_t end, std::vector<CurveSet>& sets) {
                          for (std::size_t i = begin; i < end; ++i)
                              for (std::size_t s = 0; s < strata_; ++s) write(i, s, sets);
                      });
    }

  private:
    void write(std::size_t i, std::size_t s, std::vector<CurveSet>& sets) {
        const std::size_t u = i * strata_ + s;
        const Unit& one = units_[u];
        const auto score = [&](std::uint64_t key) {
            return key == kBeyond ? std::numeric_limits<float>::infinity()
                                  : rows_.score_at(s, static_cast<std::uint32_t>(key));
        };
        const auto at = [&](std::size_t k) { return score(key_for(one.ranks, k + 1)); };
        curves_.write(s, range_.begin + i, one.scores, at,
                      [&](const std::uint32_t* ranks, std::size_t n, float* out) {
                          for (std::size_t k = 0; k < n; ++k)
                              out[k] = ranks[k] == kNoRank ? score(kBeyond) : at(ranks[k]);
                      });
        if (curves_.weighed())
            sets[s].append(build_planned_curve(
                one.scores, {groups_[u], mass_[u]}, true, request_.rule,
                [&](Weight target) { return score(key_for(one.weights, std::max<Weight>(1, target))); }));
    }

    /// Records the order statistics of every unit that write() will need.
    void ask() {
        for_pixels([&](std::size_t i) {
            for (std::size_t s = 0; s < strata_; ++s) {
                Unit& one = units_[i * strata_ + s];
                one.ranks.clear();
                one.weights.clear();
                const auto note = [&](std::size_t k) {
                    one.ranks.push_back({.target = k + 1});
                    return 0.0f;
                };
                curves_.write(s, range_.begin + i, one.scores, note,
                              [&](const std::uint32_t* ranks, std::size_t n, float*) {
                                  for (std::size_t k = 0; k < n; ++k)
                                      if (ranks[k] != kNoRank) note(ranks[k]);
                              });
                if (curves_.weighed())
                    (void)build_planned_curve(
                        one.scores, {groups_[i * strata_ + s], mass_[i * strata_ + s]}, true, request_.rule,
                        [&](Weight target) {
                            one.weights.push_back({.target = std::max<Weight>(1, target)});
                            return 0.0f;
                        });
                ascend(one.ranks);
                ascend(one.weights);
            }
        });
    }

    template <class Body>
    void for_pixels(Body&& body) {
        parallel_for((range_.size() + kWholeTiles - 1) / kWholeTiles, [&](std::size_t task) {
            for (std::size_t i = task * kWholeTiles; i < std::min(range_.size(), (task + 1) * kWholeTiles);
                 ++i)
                body(i);
        });
    }

    /// Fills keys_ with this rank's keys of every unit and, if groups are weighed, sums_ with the running
    /// sums of their weights.
    void sort_own() {
        const std::size_t places = rows_.places();
        const bool weighed = curves_.weighed();
        keys_.resize(range_.size() * places);
        if (weighed) sums_.resize(keys_.size());
        for_pixels([&](std::size_t i) {
            PixelRows::Scratch& scratch = thread_buffer<PixelRows::Scratch, struct OwnKeys>(1).front();
            std::size_t next = i * places;
            const std::size_t tile = i / rows_.lanes(), lane = i % rows_.lanes();
            if (weighed) {
                rows_.pair_up(tile, lane, scratch, PixelRows::PairsOf::keys);
            } else {
                if (lane == 0) rows_.sort_tile(tile);
                rows_.open(tile, lane, scratch);
            }
            for (std::size_t s = 0; s < strata_; ++s) {
                Unit& one = units_[i * strata_ + s];
                one.first = next;
                one.count = PixelRows::count(scratch, s);
                if (!weighed)
                    for (std::size_t k = 0; k < one.count; ++k) keys_[next + k] = rows_.key(scratch, s, k);
                else
                    weigh(std::span(scratch.pairs).subspan(scratch.first[s], one.count), one.first,
                          i * strata_ + s);
                next += one.count;
            }
        });
    }

    /// Sorts a unit's pairs, writes their keys and running weights from `first` on, and counts the unit's
    /// groups on this rank.
    void weigh(std::span<std::uint64_t> pairs, std::size_t first, std::size_t unit) {
        std::vector<std::uint32_t>& sizes = thread_buffer<std::uint32_t, struct GroupSizes>();
        sizes.resize(std::max(sizes.size(), data_.groups()));
        sort_pairs(pairs);
        for (const std::uint64_t pair : pairs) {
            const std::size_t group = pair & 0xFFFFFFFFu;
            if (sizes[group]++ > 0) continue;
            ++groups_[unit];
            mass_[unit] += request_.rule.weight(group);
        }
        Weight sum = 0;
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            const std::size_t group = pairs[k] & 0xFFFFFFFFu;
            sum += request_.rule.weight(group) / sizes[group];
            keys_[first + k] = static_cast<std::uint32_t>(pairs[k] >> 32);
            sums_[first + k] = sum;
        }
        for (const std::uint64_t pair : pairs) sizes[pair & 0xFFFFFFFFu] = 0;
    }

    /// Sums the groups of every unit and their weights over all ranks. Returns the total weights of the
    /// scores, which rounding makes slightly smaller than those of the groups.
    std::vector<Weight> count_groups() {
        std::vector<Weight> totals(units_.size());
        for (std::size_t u = 0; u < units_.size(); ++u)
            if (units_[u].count > 0) totals[u] = sums_[units_[u].first + units_[u].count - 1];
        team_of(data_).comm.sum(std::span(groups_));
        sum_wide(team_of(data_).comm, mass_);
        sum_wide(team_of(data_).comm, totals);
        return totals;
    }

    const Dataset& data_;
    const PixelPassRequest& request_;
    PixelRows& rows_;
    PixelRange range_;
    PixelCurveBuilder& curves_;
    std::size_t strata_;
    std::vector<Unit> units_;            ///< [pixel of the range][stratum]
    std::vector<std::uint32_t> groups_;  ///< [unit] number of groups, if groups are weighed
    std::vector<Weight> mass_;           ///< [unit] total weight of its groups
    std::vector<std::uint32_t> keys_;    ///< the rank's own, unit by unit, ascending
    std::vector<Weight> sums_;           ///< running sums of their weights, within each unit
};
}  // namespace

void select_range(const Dataset& data, const Census& census, const PixelPassRequest& request, PixelRows& rows,
                  PixelRange range, PixelCurveBuilder& curves, Progress& progress) {
    RangeSelection selection(data, census, request, rows, range, curves);
    const std::vector<std::byte> found = remembered(team_of(data), "pixel curves", [&] {
        rows.gather(range, progress);
        return selection.find();
    });
    selection.build(found, progress);
}

std::size_t select_bytes(const PixelRows& rows, const PixelPassRequest& request, std::size_t strata,
                         bool weighed) {
    const std::size_t asked =
        2 * request.quantiles.size() + (request.curves ? CurvePlan::most_targets(request.rule) : 0);
    return rows.places() * (weighed ? 20 : 4) +
           strata * (sizeof(Unit) + asked * (sizeof(Sought) + sizeof(Weight) + 8));
}

}  // namespace kandinsky
