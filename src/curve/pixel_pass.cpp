#include "curve/pixel_pass.hpp"
#include "core/data/dataset_access.hpp"
#include "curve/curve_storage.hpp"
#include "score/scoring.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/base/pages.hpp"
#include "core/base/parallel.hpp"
#include "core/base/thread_buffer.hpp"
#include "core/team/bisect.hpp"
#include "core/team/checkpoint.hpp"
#include "core/team/team.hpp"
#include "curve/pixel_rows.hpp"
#include "curve/score_key.hpp"

namespace kandinsky {

namespace {
/// Builds the curves and features of all pixels in several threads. The caller provides the order statistics:
/// a single process reads them from its scores, and several processes search for them together. To learn
/// which order statistics a pixel needs, these first call write() with functions that only record them.
class PixelCurves {
  public:
    /// `weighed`: scores have the weights of their groups; otherwise all scores at a pixel have equal weight.
    PixelCurves(const Dataset& data, const Census& census, const PixelPassRequest& request, bool weighed)
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
    /// read(ranks, count, out) writes several scores, +inf for kNoRank.
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
                   PixelRows& rows, PixelRange range, PixelCurves& curves)
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

    /// This rank's keys of every unit, ascending, and the running sums of their weights if groups are
    /// weighed.
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

    /// The keys and running weights of a unit's pairs, from `first` on, and the unit's groups on this rank.
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
    PixelCurves& curves_;
    std::size_t strata_;
    std::vector<Unit> units_;            ///< [pixel of the range][stratum]
    std::vector<std::uint32_t> groups_;  ///< [unit] number of groups, if groups are weighed
    std::vector<Weight> mass_;           ///< [unit] total weight of its groups
    std::vector<std::uint32_t> keys_;    ///< the rank's own, unit by unit, ascending
    std::vector<Weight> sums_;           ///< running sums of their weights, within each unit
};

void select_range(const Dataset& data, const Census& census, const PixelPassRequest& request, PixelRows& rows,
                  PixelRange range, PixelCurves& curves, Progress& progress) {
    RangeSelection selection(data, census, request, rows, range, curves);
    const std::vector<std::byte> found = remembered(team_of(data), "pixel curves", [&] {
        rows.gather(range, progress);
        return selection.find();
    });
    selection.build(found, progress);
}

/// Bytes per pixel that RangeSelection needs on one rank, in addition to the pixel's rows.
std::size_t select_bytes(const PixelRows& rows, const PixelPassRequest& request, std::size_t strata,
                         bool weighed) {
    const std::size_t asked =
        2 * request.quantiles.size() + (request.curves ? CurvePlan::most_targets(request.rule) : 0);
    return rows.places() * (weighed ? 20 : 4) +
           strata * (sizeof(Unit) + asked * (sizeof(Sought) + sizeof(Weight) + 8));
}

constexpr std::size_t kTask = 256;  // pixels whose curves one thread builds in a row

void build_plain(PixelRows& rows, PixelCurves& curves, std::size_t strata, std::size_t origin,
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

void build_weighed(const Dataset& data, const PixelRows& rows, PixelCurves& curves, const CurveRule& rule,
                   std::size_t origin, std::size_t begin, std::size_t end, std::vector<CurveSet>& sets) {
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
    PixelCurves curves(data, census, request, most(team.comm, several ? 1 : 0) == 1);
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
