#include "curve/ranked_regions.hpp"

#include <algorithm>
#include <array>
#include <kandinsky/error.hpp>
#include <kandinsky/threads.hpp>
#include <limits>
#include <utility>

#include "core/parallel.hpp"
#include "core/team.hpp"
#include "core/thread_buffer.hpp"
#include "curve/score_key.hpp"
#include "score/narrow_scores.hpp"
#include "score/scored_tile.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kLeading = std::size_t{1} << 16;  // buckets of a stratum, by the key's leading half
constexpr std::size_t kTile = 4096, kMostRegions = 4096, kMostParts = 16;
constexpr float kInf = std::numeric_limits<float>::infinity();

/// A score in its bucket: the rest of its key, and its pixel in the low bits.
template <class Entry>
inline constexpr unsigned kPixelBits = sizeof(Entry) == 4 ? 16 : 32;

/// Sorts the entries of a bucket by the rest of their keys, two digits of 8 bits.
template <class Entry>
void sort_bucket(std::span<Entry> entries) {
    constexpr std::size_t kShort = 64;
    constexpr unsigned kShift = kPixelBits<Entry>;
    if (entries.size() < kShort) {
        std::sort(entries.begin(), entries.end());
        return;
    }
    std::vector<Entry>& scratch = thread_buffer<Entry, struct SortBucket>();
    if (scratch.size() < entries.size()) scratch.resize(entries.size());
    std::array<std::size_t, 512> place{};
    for (const Entry entry : entries) {
        ++place[entry >> kShift & 255u];
        ++place[256 + (entry >> (kShift + 8) & 255u)];
    }
    for (const std::size_t base : {std::size_t{0}, std::size_t{256}}) {
        std::size_t sum = 0;
        for (std::size_t digit = 0; digit < 256; ++digit) sum += std::exchange(place[base + digit], sum);
    }
    for (const Entry entry : entries) scratch[place[entry >> kShift & 255u]++] = entry;
    for (std::size_t i = 0; i < entries.size(); ++i)
        entries[place[256 + (scratch[i] >> (kShift + 8) & 255u)]++] = scratch[i];
    if (scratch.size() > (std::size_t{1} << 22)) scratch = {};  // too large to keep for the next call
}

/// The curves of one question in one stratum, while the scores pass by in order.
class Asked {
  public:
    Asked(const RegionQuestion& question, std::size_t stratum, const std::uint32_t* counts,
          std::size_t pixels)
        : partition_((*question.partitions)[stratum]), rule_(question.rule), totals_(partition_.regions) {
        for (std::size_t p = 0; p < pixels; ++p) totals_[partition_.region[p]] += counts[p];
        seen_.resize(totals_.size());
        for (const std::uint64_t n : totals_) {
            Plan one;
            if (n > 0) one.plan = CurvePlan::of_scores(n, rule_);
            one.found.assign(one.plan.targets.size(), kInf);
            for (std::uint32_t i = 0; i < one.found.size(); ++i) one.order.push_back(i);
            // Plans that interpolate step back at times.
            std::stable_sort(one.order.begin(), one.order.end(), [&](std::uint32_t a, std::uint32_t b) {
                return one.plan.targets[a] < one.plan.targets[b];
            });
            plans_.push_back(std::move(one));
            wanted_.push_back(0);
            advance(plans_.size() - 1);
        }
    }

    /// The next scores in order.
    template <class Entry>
    void pass(std::span<const Entry> entries, std::uint32_t leading) {
        constexpr Entry kPixels = (Entry{1} << kPixelBits<Entry>)-1;
        const std::uint32_t* const region = partition_.region.data();
        for (const Entry entry : entries) {
            const std::uint32_t r = region[entry & kPixels];
            if (++seen_[r] == wanted_[r])
                reach(r, score_of(leading << 16 | static_cast<std::uint32_t>(entry >> kPixelBits<Entry>)));
        }
    }

    CurveSet take() {
        CurveSet set(rule_.ladder, rule_.released);
        for (std::size_t r = 0; r < plans_.size(); ++r) {
            CurveSet::Curve curve;
            curve.scores = totals_[r];
            curve.complete = plans_[r].plan.complete;
            if (totals_[r] > 0) plans_[r].plan.read(rule_, totals_[r], plans_[r].found, curve.values);
            set.append(curve);
        }
        return set;
    }

  private:
    struct Plan {
        CurvePlan plan;
        std::vector<float> found;
        std::vector<std::uint32_t> order;  ///< of the targets
        std::size_t next = 0;              ///< in that order
    };
    [[nodiscard]] std::uint64_t target(const Plan& one) const {
        return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(one.plan.targets[one.order[one.next]]));
    }
    void advance(std::size_t r) {
        const Plan& one = plans_[r];
        // Beyond what there is: never reached, and +inf stays.
        wanted_[r] = one.next < one.order.size() ? target(one) : 0;
    }
    void reach(std::size_t r, float score) {
        Plan& one = plans_[r];
        while (one.next < one.order.size() && target(one) == seen_[r])
            one.found[one.order[one.next++]] = score;
        advance(r);
    }

    const Partition& partition_;
    CurveRule rule_;
    std::vector<std::uint64_t> totals_, seen_, wanted_;  ///< [region]
    std::vector<Plan> plans_;
};

template <class Entry>
class Ranking {
  public:
    Ranking(const Dataset& data, const Census& census, const RegionPassRequest& request, Progress& progress)
        : data_(data),
          request_(request),
          progress_(progress),
          strata_(census.strata),
          blocks_((data.images() + ScoredTile::kBlock - 1) / ScoredTile::kBlock),
          parts_(std::min({threads_in_use(), kMostParts, blocks_})),
          sizes_(parts_, std::vector<std::uint64_t>(census.strata * kLeading)) {}

    /// Counts the buckets. False when one alone exceeds what may be held.
    bool count() {
        walk([&](std::size_t part, std::size_t stratum, std::size_t, std::size_t n, const float* scores,
                 const std::uint8_t* member) {
            std::uint64_t* const own = sizes_[part].data() + stratum * kLeading;
            for (std::size_t i = 0; i < n; ++i)
                if (member[i] != 0) ++own[key_of(scores[i]) >> 16];
        });
        most_ = request_.budget / 2 / sizeof(Entry);
        for (std::size_t b = 0; b < strata_ * kLeading; ++b)
            if (size_of(b) > most_) return false;
        return true;
    }

    /// Hands the scores of all strata to asked[question][stratum], in order.
    void pass(std::vector<std::vector<Asked>>& asked) {
        std::vector<Entry> entries;
        for (std::size_t begin = 0; begin < strata_ * kLeading;) {
            std::uint64_t held = 0;
            std::size_t end = begin;
            while (end < strata_ * kLeading && held + size_of(end) <= most_) held += size_of(end++);
            if (held > 0) {
                entries.resize(held);
                const std::vector<std::uint64_t> first = gather(begin, end, entries.data());
                parallel_for(end - begin, [&](std::size_t b) {
                    if (first[b + 1] - first[b] > 1)
                        sort_bucket(std::span(entries).subspan(first[b], first[b + 1] - first[b]));
                });
                parallel_for(asked.size() * strata_, progress_, "region curves", [&](std::size_t job) {
                    const std::size_t s = job % strata_;
                    Asked& one = asked[job / strata_][s];
                    for (std::size_t b = std::max(begin, s * kLeading); b < std::min(end, (s + 1) * kLeading);
                         ++b)
                        one.pass(std::span<const Entry>(entries).subspan(
                                     first[b - begin], first[b + 1 - begin] - first[b - begin]),
                                 static_cast<std::uint32_t>(b - s * kLeading));
                });
            }
            begin = end;
        }
    }

  private:
    [[nodiscard]] std::uint64_t size_of(std::size_t bucket) const {
        std::uint64_t sum = 0;
        for (const auto& own : sizes_) sum += own[bucket];
        return sum;
    }

    /// Places the scores of buckets [begin, end); returns where each begins, and the end. Every part knows
    /// from the count where its own go, so threads need no word with each other.
    std::vector<std::uint64_t> gather(std::size_t begin, std::size_t end, Entry* out) {
        std::vector<std::uint64_t> first(end - begin + 1);
        std::vector<std::vector<std::uint64_t>> next(parts_, std::vector<std::uint64_t>(end - begin)),
            last = next;
        for (std::size_t b = begin; b < end; ++b) {
            std::uint64_t at = first[b - begin];
            for (std::size_t part = 0; part < parts_; ++part) {
                next[part][b - begin] = at;
                at += sizes_[part][b];
                last[part][b - begin] = at;
            }
            first[b - begin + 1] = at;
        }
        walk([&](std::size_t part, std::size_t stratum, std::size_t pixel, std::size_t n, const float* scores,
                 const std::uint8_t* member) {
            const std::size_t origin = stratum * kLeading;
            if (origin + kLeading <= begin || origin >= end) return;
            std::uint64_t* const to = next[part].data();
            for (std::size_t i = 0; i < n; ++i) {
                if (member[i] == 0) continue;
                const std::uint32_t key = key_of(scores[i]);
                const std::size_t bucket = origin + (key >> 16);
                if (bucket < begin || bucket >= end) continue;
                if (to[bucket - begin] == last[part][bucket - begin]) refuse_changed(data_);
                out[to[bucket - begin]++] =
                    static_cast<Entry>(key & 0xFFFFu) << kPixelBits<Entry> | static_cast<Entry>(pixel + i);
            }
        });
        return first;
    }

    /// Calls visit(part, stratum, first pixel, n, scores, member), each part in a thread of its own with the
    /// same images every time.
    template <class Visit>
    void walk(Visit&& visit) const {
        const std::size_t pixels = data_.grid().pixels();
        parallel_for(parts_, progress_, "region scores", [&](std::size_t part) {
            ScoredTile tile(data_, request_.score, std::min(pixels, kTile));
            for (std::size_t block = part; block < blocks_; block += parts_)
                for (std::size_t image = block * ScoredTile::kBlock;
                     image < std::min(data_.images(), (block + 1) * ScoredTile::kBlock); ++image) {
                    if (progress_.cancelled()) throw Interrupted();
                    for (std::size_t begin = 0; begin < pixels; begin += kTile) {
                        const PixelRange range{begin, std::min(pixels, begin + kTile)};
                        tile.load(image, range);
                        for (std::size_t c = 0; c < data_.classes(); ++c)
                            visit(part, request_.condition == Condition::by_class ? c : 0, begin,
                                  range.size(), tile.scores(c), tile.member(c));
                    }
                }
        });
    }

    const Dataset& data_;
    const RegionPassRequest& request_;
    Progress& progress_;
    std::size_t strata_, blocks_, parts_;
    std::uint64_t most_ = 0;                         ///< entries held at a time
    std::vector<std::vector<std::uint64_t>> sizes_;  ///< [part][stratum * kLeading + leading]
};

template <class Entry>
bool rank_all(const Dataset& data, const Census& census, const RegionPassRequest& request,
              std::vector<std::vector<Asked>>& asked, Progress& progress) {
    Ranking<Entry> ranking(data, census, request, progress);
    if (!ranking.count()) return false;
    ranking.pass(asked);
    return true;
}
}  // namespace

std::optional<std::vector<std::vector<CurveSet>>> ranked_regions(const Dataset& data, const Census& census,
                                                                 std::span<const RegionQuestion> questions,
                                                                 const RegionPassRequest& request,
                                                                 Progress& progress) {
    if (data.team().counts()) return {};  // the scores of other ranks are not here to be ordered
    // Tables of each thread: where memory is that short, other ways need less.
    const std::size_t tables = 2 * std::min(threads_in_use(), kMostParts) * census.strata * kLeading * 8;
    if (tables > request.budget / 2 || NarrowScores::of(data, request.score, request.condition)) return {};
    std::size_t regions = 0;
    for (const RegionQuestion& one : questions) {
        if (one.rule.pooling == Pooling::groups && !one.rule.released) return {};
        for (const Partition& partition : *one.partitions) regions += partition.regions;
    }
    if (regions > kMostRegions) return {};
    const std::size_t pixels = data.grid().pixels();
    std::vector<std::vector<Asked>> asked(questions.size());
    for (std::size_t q = 0; q < questions.size(); ++q)
        for (std::size_t s = 0; s < census.strata; ++s)
            asked[q].emplace_back(questions[q], s, census.counts.data() + s * pixels, pixels);
    const bool found = pixels <= (std::size_t{1} << 16)
                           ? rank_all<std::uint32_t>(data, census, request, asked, progress)
                           : rank_all<std::uint64_t>(data, census, request, asked, progress);
    if (!found) return {};
    std::vector<std::vector<CurveSet>> sets(questions.size());
    for (std::size_t q = 0; q < questions.size(); ++q)
        for (Asked& one : asked[q]) sets[q].push_back(one.take());
    return sets;
}

}  // namespace kandinsky
