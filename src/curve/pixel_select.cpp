#include "curve/pixel_select.hpp"

#include <algorithm>
#include <cstring>

#include "core/checkpoint.hpp"
#include "core/parallel.hpp"
#include "core/team.hpp"
#include "core/thread_buffer.hpp"
#include "curve/pixel_rows.hpp"
#include "curve/score_key.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kTask = 64;  // pixels that one thread takes in a row: whole tiles

/// One order statistic: the first key up to which `target` is reached.
struct Search {
    Weight target = 0;
    std::uint32_t found = 0;  ///< the bits known so far
    std::uint32_t place = 0;  ///< in the order of asking
};

/// What one rank has of one pixel and stratum, and what is looked for there.
struct Unit {
    std::size_t first = 0, count = 0;  ///< of the rank's own sorted keys
    std::uint64_t scores = 0;          ///< of all ranks
    std::uint64_t groups = 0;          ///< of all ranks, where groups are weighed
    std::vector<Search> ranks;         ///< every score alike; ascending targets
    std::vector<Search> weights;       ///< every group alike
    CurvePlan plan;
};

/// The ranks of the order statistics that features interpolate between.
void ask_features(const std::vector<double>& quantiles, std::uint64_t n, std::vector<Search>& asked) {
    for (const double level : quantiles) {
        const auto below = static_cast<std::uint64_t>(level * static_cast<double>(n - 1));
        for (const std::uint64_t rank : {below + 1, std::min(below + 2, n)})
            asked.push_back({.target = rank, .place = static_cast<std::uint32_t>(asked.size())});
    }
}

void ascend(std::vector<Search>& searches) {
    std::sort(searches.begin(), searches.end(), [](const Search& a, const Search& b) {
        return a.target != b.target ? a.target < b.target : a.place < b.place;
    });
}

void order_by_place(std::vector<Search>& searches) {
    std::sort(searches.begin(), searches.end(),
              [](const Search& a, const Search& b) { return a.place < b.place; });
}

/// The selection in one range of pixels.
class RangeSelection {
  public:
    RangeSelection(const Dataset& data, const Census& census, const PixelPassRequest& request,
                   PixelRows& rows, PixelRange range, bool weighed)
        : data_(data),
          request_(request),
          rows_(rows),
          range_(range),
          strata_(census.strata),
          weighed_(weighed),
          grouped_(request.rule.pooling == Pooling::groups && !request.rule.released),
          units_(range.size() * census.strata) {
        const std::size_t pixels = data.grid().pixels();
        for (std::size_t i = 0; i < range.size(); ++i)
            for (std::size_t s = 0; s < strata_; ++s)
                unit(i, s).scores = census.counts[s * pixels + range.begin + i];
    }

    void run() {
        sort_own();
        if (weighed_) count_groups();
        ask();
        const auto ranks = [](Unit& one) -> std::vector<Search>& { return one.ranks; };
        const auto weights = [](Unit& one) -> std::vector<Search>& { return one.weights; };
        const std::size_t features = 2 * request_.quantiles.size();
        const std::size_t targets = request_.curves ? CurvePlan::most_targets(request_.rule) : 0;
        for (unsigned bit = rows_.key_bits(); bit-- > 0;)
            halve<std::uint32_t>(bit, features + (weighed_ ? 0 : targets), ranks,
                                 [&](const Unit& one, std::size_t below) {
                                     (void)one;
                                     return static_cast<std::uint32_t>(below);
                                 });
        if (weighed_)
            for (unsigned bit = rows_.key_bits(); bit-- > 0;)
                halve<Weight>(bit, targets, weights, [&](const Unit& one, std::size_t below) {
                    return below > 0 ? sums_[one.first + below - 1] : Weight{0};
                });
    }

    /// Curves and features of the range.
    PixelPassResult result(Progress& progress) {
        PixelPassResult out;
        const std::size_t tasks = (range_.size() + kTask - 1) / kTask;
        std::vector<std::vector<CurveSet>> parts(tasks);
        out.features.assign(strata_ * range_.size() * request_.quantiles.size(), 0.0f);
        parallel_for(tasks, progress, "pixel curves", [&](std::size_t task) {
            parts[task] =
                build(task * kTask, std::min(kTask, range_.size() - task * kTask), out.features.data());
        });
        if (!request_.curves) return out;
        out.curves.assign(strata_, CurveSet(request_.rule.ladder, request_.rule.released));
        for (std::size_t s = 0; s < strata_; ++s)
            for (const std::vector<CurveSet>& part : parts) out.curves[s].append(part[s]);
        return out;
    }

  private:
    /// Curves of pixels [first, first + count) of the range; their features are written.
    std::vector<CurveSet> build(std::size_t first, std::size_t count, float* features) {
        std::vector<CurveSet> sets;
        if (request_.curves) sets.assign(strata_, CurveSet(request_.rule.ladder, request_.rule.released));
        const std::size_t wanted = request_.quantiles.size();
        std::vector<float> found;
        for (std::size_t i = first; i < first + count; ++i)
            for (std::size_t s = 0; s < strata_; ++s) {
                Unit& one = unit(i, s);
                order_by_place(one.ranks);
                order_by_place(one.weights);
                const auto at = [&](std::size_t k) { return rows_.score_at(s, one.ranks[k].found); };
                for (std::size_t q = 0; q < wanted && one.scores > 0; ++q) {
                    const double level = request_.quantiles[q];
                    const auto below = static_cast<std::size_t>(level * static_cast<double>(one.scores - 1));
                    features[(s * range_.size() + i) * wanted + q] = static_cast<float>(interpolated_quantile(
                        one.scores, level, [&](std::size_t k) { return at(2 * q + (k > below ? 1 : 0)); }));
                }
                if (!request_.curves) continue;
                CurveSet::Curve curve{.scores = one.scores,
                                      .groups = !grouped_  ? 0
                                                : weighed_ ? one.groups
                                                           : one.scores,
                                      .complete = one.plan.complete,
                                      .values = {}};
                found.clear();
                for (std::size_t t = 0, next = 2 * wanted; t < one.plan.targets.size(); ++t) {
                    if (beyond(one, one.plan.targets[t]))
                        found.push_back(std::numeric_limits<float>::infinity());
                    else if (weighed_)
                        found.push_back(rows_.score_at(s, one.weights[t].found));
                    else
                        found.push_back(at(next + t));
                }
                if (one.scores > 0) one.plan.read(request_.rule, one.scores, found, curve.values);
                sets[s].append(curve);
            }
        return sets;
    }

    Unit& unit(std::size_t i, std::size_t s) { return units_[i * strata_ + s]; }

    template <class Body>
    void for_pixels(Body&& body) {
        parallel_for((range_.size() + kTask - 1) / kTask, [&](std::size_t task) {
            for (std::size_t i = task * kTask; i < std::min(range_.size(), (task + 1) * kTask); ++i) body(i);
        });
    }

    /// The own keys of every unit, ascending, and where groups are weighed the running sums of their weights.
    void sort_own() {
        const std::size_t places = rows_.places();
        keys_.resize(range_.size() * places);
        if (weighed_) sums_.resize(keys_.size());
        for_pixels([&](std::size_t i) {
            PixelRows::Scratch& scratch = thread_buffer<PixelRows::Scratch, struct OwnKeys>(1).front();
            std::size_t next = i * places;
            const std::size_t tile = i / rows_.lanes(), lane = i % rows_.lanes();
            if (weighed_) {
                rows_.pair_up(tile, lane, scratch, PixelRows::PairsOf::keys);
            } else {
                if (lane == 0) rows_.sort_tile(tile);
                rows_.open(tile, lane, scratch);
            }
            for (std::size_t s = 0; s < strata_; ++s) {
                Unit& one = unit(i, s);
                one.first = next;
                one.count = PixelRows::count(scratch, s);
                if (!weighed_)
                    for (std::size_t k = 0; k < one.count; ++k) keys_[next + k] = rows_.key(scratch, s, k);
                else
                    weigh(std::span(scratch.pairs).subspan(scratch.first[s], one.count), one);
                next += one.count;
            }
        });
    }

    void weigh(std::span<std::uint64_t> pairs, Unit& one) {
        std::vector<std::uint32_t>& sizes = thread_buffer<std::uint32_t, struct GroupSizes>();
        sizes.resize(std::max(sizes.size(), data_.groups()));
        sort_pairs(pairs);
        for (const std::uint64_t pair : pairs) one.groups += sizes[pair & 0xFFFFFFFFu]++ == 0;
        Weight sum = 0;
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            sum += kGroupWeight / sizes[pairs[k] & 0xFFFFFFFFu];
            keys_[one.first + k] = static_cast<std::uint32_t>(pairs[k] >> 32);
            sums_[one.first + k] = sum;
        }
        for (const std::uint64_t pair : pairs) sizes[pair & 0xFFFFFFFFu] = 0;
    }

    void count_groups() {
        std::vector<std::uint32_t> groups(units_.size());
        std::vector<Weight> totals(units_.size());
        for (std::size_t u = 0; u < units_.size(); ++u) {
            groups[u] = static_cast<std::uint32_t>(units_[u].groups);
            if (units_[u].count > 0) totals[u] = sums_[units_[u].first + units_[u].count - 1];
        }
        data_.team().comm.sum(std::span(groups));
        sum_wide(data_.team().comm, totals);
        for (std::size_t u = 0; u < units_.size(); ++u) units_[u].groups = groups[u];
        totals_ = std::move(totals);
    }

    /// Whether there is less than a target of a unit's plan asks for.
    [[nodiscard]] bool beyond(const Unit& one, Weight target) const {
        if (weighed_) return totals_[static_cast<std::size_t>(&one - units_.data())] < target;
        return rank_of(target) > one.scores;
    }
    /// With groups of one score each, the k-th score is the first to reach (k - 1, k] group weights.
    [[nodiscard]] Weight rank_of(Weight target) const {
        return grouped_ ? (target + (kGroupWeight - 1)) / kGroupWeight : target;
    }

    void ask() {
        for_pixels([&](std::size_t i) {
            for (std::size_t s = 0; s < strata_; ++s) {
                Unit& one = unit(i, s);
                if (one.scores == 0) continue;
                ask_features(request_.quantiles, one.scores, one.ranks);
                if (request_.curves) {
                    one.plan = grouped_ ? CurvePlan::of_groups(one.scores, weighed_ ? one.groups : one.scores,
                                                               request_.rule)
                                        : CurvePlan::of_scores(one.scores, request_.rule);
                    std::vector<Search>& asked = weighed_ ? one.weights : one.ranks;
                    for (const Weight target : one.plan.targets)
                        asked.push_back({.target = std::max<Weight>(1, weighed_ ? target : rank_of(target)),
                                         .place = static_cast<std::uint32_t>(asked.size())});
                }
                ascend(one.ranks);
                ascend(one.weights);
            }
        });
    }

    /// One more bit of every search: how much lies below the middle, summed over the ranks. Searches that
    /// have found the same bits so far are neighbours and ask once. Every unit has room for as many questions
    /// as there can be, so what crosses the network follows from the grid and the ladder, not from the data.
    template <class Count, class Of, class Below>
    void halve(unsigned bit, std::size_t most, Of&& searches, Below&& below) {
        const unsigned known = rows_.key_bits() - 1 - bit;
        const std::size_t room = std::min(most, std::size_t{1} << known);
        const auto groups_of = [](std::vector<Search>& all, auto&& visit) {
            for (std::size_t a = 0, b = 0; a < all.size(); a = b) {
                while (b < all.size() && all[b].found == all[a].found) ++b;
                visit(std::span(all).subspan(a, b - a));
            }
        };
        std::vector<Count> counts(units_.size() * room);
        for_pixels([&](std::size_t i) {
            for (std::size_t u = i * strata_; u < (i + 1) * strata_; ++u) {
                const Unit& one = units_[u];
                const auto own = std::span(keys_).subspan(one.first, one.count);
                std::size_t next = u * room;
                groups_of(searches(units_[u]), [&](std::span<Search> same) {
                    const std::uint32_t middle = same.front().found | std::uint32_t{1} << bit;
                    counts[next++] =
                        below(one, static_cast<std::size_t>(std::lower_bound(own.begin(), own.end(), middle) -
                                                            own.begin()));
                });
            }
        });
        if constexpr (sizeof(Count) == sizeof(Weight))
            sum_wide(data_.team().comm, std::span(counts));
        else
            data_.team().comm.sum(std::span(counts));
        for_pixels([&](std::size_t i) {
            for (std::size_t u = i * strata_; u < (i + 1) * strata_; ++u) {
                std::size_t next = u * room;
                groups_of(searches(units_[u]), [&](std::span<Search> same) {
                    const Weight seen = counts[next++];
                    const std::uint32_t before = same.front().found;
                    for (Search& search : same)
                        if (seen < search.target) search.found = before | std::uint32_t{1} << bit;
                });
            }
        });
    }

    const Dataset& data_;
    const PixelPassRequest& request_;
    PixelRows& rows_;
    PixelRange range_;
    std::size_t strata_;
    bool weighed_, grouped_;
    std::vector<Unit> units_;          ///< [pixel of the range][stratum]
    std::vector<std::uint32_t> keys_;  ///< the rank's own, unit by unit, ascending
    std::vector<Weight> sums_;         ///< of their weights, from the unit's first on
    std::vector<Weight> totals_;       ///< of each unit, all ranks
};

/// A result as bytes, for checkpoints.
class Packer {
  public:
    void put(const auto& values) {
        const std::uint64_t count = values.size();
        append(&count, sizeof count);
        append(values.data(), count * sizeof(*values.data()));
    }
    std::vector<std::byte> bytes;

  private:
    void append(const void* from, std::size_t n) {
        const auto* const begin = static_cast<const std::byte*>(from);
        bytes.insert(bytes.end(), begin, begin + n);
    }
};

template <class Vector>
void take(std::span<const std::byte>& bytes, Vector& values) {
    std::uint64_t count = 0;
    std::memcpy(&count, bytes.data(), sizeof count);
    values.resize(count);
    const std::size_t length = count * sizeof(*values.data());
    if (count > 0) std::memcpy(values.data(), bytes.data() + sizeof count, length);
    bytes = bytes.subspan(sizeof count + length);
}

std::vector<std::byte> packed(const PixelPassResult& result) {
    Packer out;
    out.put(result.features);
    for (const CurveSet& set : result.curves) {
        const CurveSet::Storage& from = set.storage();
        out.put(from.values);
        out.put(from.offsets);
        out.put(from.scores);
        out.put(from.groups);
        out.put(from.complete);
    }
    return std::move(out.bytes);
}

PixelPassResult unpacked(std::span<const std::byte> bytes, const PixelPassRequest& request) {
    PixelPassResult result;
    take(bytes, result.features);
    while (!bytes.empty()) {
        CurveSet::Storage storage;
        take(bytes, storage.values);
        take(bytes, storage.offsets);
        take(bytes, storage.scores);
        take(bytes, storage.groups);
        take(bytes, storage.complete);
        result.curves.push_back(
            CurveSet::from_storage(request.rule.ladder, request.rule.released, std::move(storage)));
    }
    return result;
}

/// Bytes that a pixel takes on one rank while it is worked on.
std::size_t pixel_bytes(const PixelRows& rows, const PixelPassRequest& request, std::size_t strata,
                        bool weighed) {
    const std::size_t asked =
        2 * request.quantiles.size() + (request.curves ? CurvePlan::most_targets(request.rule) : 0);
    return rows.tile_bytes() / rows.lanes() + rows.places() * (weighed ? 20 : 4) +
           strata * (sizeof(Unit) + asked * (sizeof(Search) + sizeof(Weight) + 8));
}
}  // namespace

PixelPassResult pixel_select(const Dataset& data, const Census& census, const PixelPassRequest& request,
                             Progress& progress) {
    Communicator& comm = data.team().comm;
    const std::size_t pixels = data.grid().pixels(), wanted = request.quantiles.size();
    PixelPassResult result;
    result.features.assign(census.strata * pixels * wanted, 0.0f);
    if (request.curves)
        result.curves.assign(census.strata, CurveSet(request.rule.ladder, request.rule.released));
    PixelRows rows(data, request.condition, request.score);
    // Where each group has one score at a pixel, on every rank, weighing by groups is weighing alike.
    const bool grouped = request.rule.pooling == Pooling::groups && !request.rule.released;
    const bool weighed =
        most(comm, request.curves && grouped && !(rows.single() && data.groups() == data.images()) ? 1 : 0) ==
        1;
    const std::size_t fit = least(
        comm, std::max<std::size_t>(1, request.budget / pixel_bytes(rows, request, census.strata, weighed)));
    const std::size_t ranges = (pixels + fit - 1) / fit;
    for (std::size_t r = 0; r < ranges; ++r) {
        const PixelRange range{pixels * r / ranges, pixels * (r + 1) / ranges};
        const PixelPassResult part =
            unpacked(remembered(data.team(), "pixel curves",
                                [&] {
                                    rows.gather(range, progress);
                                    RangeSelection selection(data, census, request, rows, range, weighed);
                                    selection.run();
                                    return packed(selection.result(progress));
                                }),
                     request);
        for (std::size_t s = 0; s < census.strata; ++s) {
            std::copy_n(part.features.data() + s * range.size() * wanted, range.size() * wanted,
                        result.features.data() + (s * pixels + range.begin) * wanted);
            if (request.curves) result.curves[s].append(part.curves[s]);
        }
    }
    return result;
}

}  // namespace kandinsky
