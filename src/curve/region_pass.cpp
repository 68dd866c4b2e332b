#include "curve/region_pass.hpp"
#include "core/data/dataset_access.hpp"
#include "score/scoring.hpp"

#include <algorithm>
#include <atomic>
#include <kandinsky/threads.hpp>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/team/bisect.hpp"
#include "core/team/checkpoint.hpp"
#include "curve/score_key.hpp"
#include "score/narrow_scores.hpp"
#include "score/scored_tile.hpp"
#include "score/visit.hpp"

namespace kandinsky {

namespace {
/// One region of one stratum.
struct RegionJob {
    std::size_t stratum = 0;
    std::uint32_t region = 0;
    std::uint64_t count = 0;  ///< scores
};

/// Iterates over all scores of a list of regions. Blocks of images are read in parallel.
class RegionScan {
  public:
    RegionScan(const Dataset& data, const std::vector<Partition>& partitions, std::span<const RegionJob> jobs,
               const RegionPassRequest& request)
        : data_(data), request_(request), job_of_(partitions.size() * data.grid().pixels(), kElsewhere) {
        narrow_ = NarrowScores::of(data, request.score, request.condition);
        const std::size_t pixels = data.grid().pixels();
        for (std::size_t s = 0; s < partitions.size(); ++s) {
            std::vector<std::uint32_t> of_region(partitions[s].regions, kElsewhere);
            for (std::size_t j = 0; j < jobs.size(); ++j)
                if (jobs[j].stratum == s) of_region[jobs[j].region] = static_cast<std::uint32_t>(j);
            for (std::size_t p = 0; p < pixels; ++p)
                job_of_[s * pixels + p] = of_region[partitions[s].region[p]];
        }
    }

    /// Whether keys are codes of few bits instead of all 32.
    [[nodiscard]] bool narrow() const { return narrow_.has_value(); }
    [[nodiscard]] float score(std::size_t stratum, std::uint32_t key) const {
        return narrow_ ? narrow_->score(stratum, key) : score_of(key);
    }

    /// Calls take(part, job, key, image) for every score, from at most `parts` threads. `part` is below
    /// `parts`, and calls with the same part are sequential. `what` says whether keys are needed.
    enum class What { keys, places };
    template <class Take>
    void run(const Visit& visit, std::size_t parts, What what, Take&& take) const {
        const std::size_t pixels = data_.grid().pixels(), classes = data_.classes();
        const std::size_t most = std::min(pixels, kTile);
        visit_blocks(visit, {.images = kBlock, .parts = parts},
                     [&](std::size_t part, std::size_t first, std::size_t last) {
                         std::vector<std::uint16_t> codes(most);
                         std::vector<std::uint8_t> truth(classes * most), valid(most);
                         std::optional<ScoredTile> tile;
                         if (!narrow_ && what == What::keys) tile.emplace(data_, request_.score, most);
                         for (std::size_t image = first; image < last; ++image) {
                             visit.stop_if_cancelled();
                             for (std::size_t begin = 0; begin < pixels; begin += kTile) {
                                 const PixelRange range{begin, std::min(pixels, begin + kTile)};
                                 const std::size_t n = range.size();
                                 if (tile)
                                     tile->load(image, range);
                                 else
                                     data_.read_truth(image, range, truth, valid);
                                 for (std::size_t c = 0; c < classes; ++c) {
                                     const std::size_t s = request_.condition == Condition::by_class ? c : 0;
                                     const std::uint32_t* const to = job_of_.data() + s * pixels + begin;
                                     const std::uint8_t* const member =
                                         tile ? tile->member(c) : truth.data() + c * n;
                                     const auto take_all = [&](auto&& key) {
                                         for (std::size_t i = 0; i < n; ++i)
                                             if (member[i] != 0 && to[i] != kElsewhere)
                                                 take(part, to[i], key(i), image);
                                     };
                                     if (what == What::places) {
                                         take_all([](std::size_t) { return 0u; });
                                     } else if (tile) {
                                         take_all([scores = tile->scores(c)](std::size_t i) {
                                             return key_of(scores[i]);
                                         });
                                     } else {
                                         narrow_->read(image, range, c, codes.data());
                                         take_all([&](std::size_t i) { return std::uint32_t{codes[i]}; });
                                     }
                                 }
                             }
                         }
                     });
    }

  private:
    static constexpr std::size_t kTile = 4096, kBlock = 16;
    static constexpr std::uint32_t kElsewhere = std::numeric_limits<std::uint32_t>::max();

    const Dataset& data_;
    const RegionPassRequest& request_;
    std::optional<NarrowScores> narrow_;
    std::vector<std::uint32_t> job_of_;  ///< [stratum][pixel]
};

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr unsigned kLeadingBits = 16, kFollowingBits = 8;
// With more scores than this, scores of few distinct values are faster to count than to sort.
constexpr std::uint64_t kSmall = std::uint64_t{1} << 18;

[[nodiscard]] bool by_groups(const CurveRule& rule) {
    return rule.pooling == Pooling::groups && !rule.released;
}

/// A counter for each part, slot and value of a digit.
template <class Count>
class Counters {
  public:
    Counters(std::size_t parts, std::size_t slots, std::size_t digits)
        : digits_(digits), tables_(parts, std::vector<Count>(slots * digits)) {}
    Count& at(std::size_t part, std::size_t slot, std::size_t digit) {
        return tables_[part][slot * digits_ + digit];
    }
    /// Adds the other parts to part 0.
    void settle() {
        for (std::size_t part = 1; part < tables_.size(); ++part)
            for (std::size_t i = 0; i < tables_[0].size(); ++i)
                tables_[0][i] += std::exchange(tables_[part][i], Count{0});
    }
    /// The memory that a checkpoint saves, after settle(). It does not depend on the number of parts.
    [[nodiscard]] std::span<std::byte> state() { return bytes_of(tables_[0]); }
    /// Frees all parts except part 0.
    void free_parts() { tables_.resize(1); }
    /// Makes at(0, slot, digit) the sum over the smaller digits of the slot.
    void run_up() {
        for (std::size_t first = 0; first < tables_[0].size(); first += digits_) {
            Count sum = 0;
            for (std::size_t digit = 0; digit < digits_; ++digit)
                sum += std::exchange(tables_[0][first + digit], sum);
        }
    }

  private:
    std::size_t digits_;
    std::vector<std::vector<Count>> tables_;
};

/// Curves of regions of any size in bounded memory. Counts scores by their leading digits, then, around each
/// order statistic of the curve, by the following digits. Needs one pass over the data if scores have few
/// distinct values, otherwise one and then two for every `followed` regions. Counting the scores of groups
/// needs one pass more. Counts are integers, which add up over threads, batches and ranks.
template <class Count>
class Selection {
  public:
    Selection(const Dataset& data, const RegionScan& scan, std::span<const RegionJob> jobs, std::size_t parts,
              std::size_t followed, const RegionPassRequest& request, Progress& progress)
        : data_(data),
          scan_(scan),
          jobs_(jobs),
          parts_(parts),
          followed_(followed),
          each_(CurvePlan::most_targets(request.rule)),
          request_(request),
          progress_(progress),
          searches_(jobs.size()) {}

    std::vector<CurveSet::Curve> run() {
        std::vector<CurveSet::Curve> curves(jobs_.size());
        std::vector<Weight> totals(jobs_.size());
        std::vector<GroupMass> there(jobs_.size());
        for (std::size_t j = 0; j < jobs_.size(); ++j) totals[j] = jobs_[j].count;
        const bool grouped = by_groups(request_.rule);
        if (grouped) count_groups(there, totals);
        // The first call records the targets, the second reads their scores.
        const auto build = [&](auto&& find) {
            for (std::size_t j = 0; j < jobs_.size(); ++j)
                curves[j] =
                    build_planned_curve(jobs_[j].count, there[j], grouped, request_.rule, [&](Weight target) {
                        const Weight sought = reachable(target, totals[j], there[j], request_.rule);
                        return sought > totals[j] ? std::numeric_limits<float>::infinity()
                                                  : find(j, std::max<Weight>(1, sought));
                    });
        };
        build([&](std::size_t j, Weight target) {
            searches_[j].push_back({{.target = target}, static_cast<std::uint32_t>(j), 0});
            return 0.0f;
        });
        for (std::vector<Search>& own : searches_) ascend(own);
        find();
        build([&](std::size_t j, Weight target) {
            return scan_.score(jobs_[j].stratum, static_cast<std::uint32_t>(key_for(searches_[j], target)));
        });
        return curves;
    }

  private:
    struct Search : Sought {
        std::uint32_t slot = 0;  ///< the counters of the next digit
        Count before = 0;        ///< the weight of this rank's scores below the bits found so far
    };
    /// A known digit: [slot][digit] is the slot of the next digit's counters, or kNone.
    struct Known {
        unsigned shift = 0, bits = 0;
        std::vector<std::uint32_t> next;
    };

    /// Counts the scores of each group in each region, which gives the weight of one score. A group is on one
    /// rank only, so only the numbers of groups and their total weights are summed over the ranks.
    void count_groups(std::vector<GroupMass>& there, std::vector<Weight>& totals) {
        const std::size_t groups = data_.groups();
        Counters<std::uint64_t> counts(parts_, jobs_.size(), groups);
        scan("groups of regions", counts, RegionScan::What::places,
             [&](std::size_t part, std::uint32_t job, std::uint32_t, std::size_t image) {
                 ++counts.at(part, job, data_.group_of(image));
             });
        weights_.assign(jobs_.size() * groups, 0);
        std::vector<std::uint64_t> number(jobs_.size());
        std::vector<Weight> mass(jobs_.size());
        totals.assign(jobs_.size(), 0);
        for (std::size_t j = 0; j < jobs_.size(); ++j)
            for (std::size_t g = 0; g < groups; ++g)
                if (const std::uint64_t n = counts.at(0, j, g); n > 0) {
                    const std::uint64_t weight = request_.rule.weight(g);
                    weights_[j * groups + g] = weight / n;
                    totals[j] += static_cast<Weight>(weight / n) * n;
                    mass[j] += weight;
                    ++number[j];
                }
        comm().sum(std::span(number));
        sum_wide(comm(), std::span(totals));
        sum_wide(comm(), std::span(mass));
        for (std::size_t j = 0; j < there.size(); ++j) there[j] = {number[j], mass[j]};
    }

    [[nodiscard]] Communicator& comm() const { return team_of(data_).comm; }

    /// One pass over the images that adds to counters; the sums are in part 0.
    template <class Table, class Take>
    void scan(std::string_view name, Table& counts, RegionScan::What what, Take&& take) {
        VisitSums sums;
        sums.keep(counts.state());
        scan_.run({.data = data_,
                   .progress = progress_,
                   .stage = name,
                   .sums = [&] { return sums; },
                   .settle = [&] { counts.settle(); }},
                  parts_, what, take);
        counts.free_parts();
    }

    [[nodiscard]] Count weight(std::uint32_t job, std::size_t image) const {
        if constexpr (sizeof(Count) == sizeof(Weight))
            return weights_[job * data_.groups() + data_.group_of(image)];
        else
            return 1;
    }

    void find() {
        if (scan_.narrow()) return find_digit(0, jobs_.size(), jobs_.size(), 0, NarrowScores::kBits);
        find_digit(0, jobs_.size(), jobs_.size(), 2 * kFollowingBits, kLeadingBits);
        for (std::size_t begin = 0; begin < jobs_.size(); begin += followed_) {
            const std::size_t end = std::min(jobs_.size(), begin + followed_);
            known_.clear();
            std::size_t slots = number_slots(begin, end, jobs_.size(), 2 * kFollowingBits, kLeadingBits);
            find_digit(begin, end, slots, kFollowingBits, kFollowingBits);
            slots = number_slots(begin, end, slots, kFollowingBits, kFollowingBits);
            find_digit(begin, end, slots, 0, kFollowingBits);
        }
    }

    /// Numbers the distinct prefixes of the searches of jobs [begin, end), up to the digit at `shift`. The
    /// numbers are the slots of the next digit. Returns how many there are.
    std::size_t number_slots(std::size_t begin, std::size_t end, std::size_t slots, unsigned shift,
                             unsigned bits) {
        Known digit{.shift = shift, .bits = bits, .next = std::vector<std::uint32_t>(slots << bits, kNone)};
        std::uint32_t count = 0;
        for (std::size_t j = begin; j < end; ++j)
            for (Search& one : searches_[j]) {
                std::uint32_t& slot =
                    digit.next[std::size_t{one.slot} << bits | (one.key & ((1u << bits) - 1))];
                if (slot == kNone) slot = count++;
                one.slot = slot;
            }
        known_.push_back(std::move(digit));
        return count;
    }

    /// Finds the digit at `shift` for the searches of jobs [begin, end).
    void find_digit(std::size_t begin, std::size_t end, std::size_t slots, unsigned shift, unsigned bits) {
        const std::uint32_t mask = (1u << bits) - 1;
        Counters<Count> counts(parts_, slots, std::size_t{1} << bits);
        const auto count = [&](auto&& slot_of) {
            scan("digits of regions", counts, RegionScan::What::keys,
                 [&](std::size_t part, std::uint32_t job, std::uint32_t key, std::size_t image) {
                     const std::uint32_t slot = slot_of(job, key);
                     if (slot != kNone) counts.at(part, slot, key >> shift & mask) += weight(job, image);
                 });
        };
        const auto next = [](const Known& digit, std::uint32_t slot, std::uint32_t key) {
            return slot == kNone ? kNone
                                 : digit.next[std::size_t{slot} << digit.bits |
                                              (key >> digit.shift & ((1u << digit.bits) - 1))];
        };
        if (known_.empty())
            count([](std::uint32_t job, std::uint32_t) { return job; });
        else if (known_.size() == 1)
            count([&](std::uint32_t job, std::uint32_t key) { return next(known_[0], job, key); });
        else
            count([&](std::uint32_t job, std::uint32_t key) {
                return next(known_[1], next(known_[0], job, key), key);
            });
        counts.run_up();
        unsigned before = 0;
        for (const Known& digit : known_) before += digit.bits;
        bisect<Count>(
            comm(), end - begin, each_, before, bits,
            [&](std::size_t j) -> std::vector<Search>& { return searches_[begin + j]; },
            [&](std::size_t, const Search& one, std::uint64_t middle) {
                return one.before + counts.at(0, one.slot, middle & mask);
            });
        for (std::size_t j = begin; j < end; ++j)
            for (Search& one : searches_[j]) one.before += counts.at(0, one.slot, one.key & mask);
    }

    const Dataset& data_;
    const RegionScan& scan_;
    std::span<const RegionJob> jobs_;
    std::size_t parts_;
    std::size_t followed_;  ///< jobs whose remaining digits are counted in one pass
    std::size_t each_;      ///< largest number of searches of a job
    const RegionPassRequest& request_;
    Progress& progress_;
    std::vector<std::vector<Search>> searches_;  ///< [job]
    std::vector<Known> known_;
    std::vector<std::uint64_t> weights_;  ///< [job][group]
};

using Curves = std::vector<CurveSet::Curve>;

/// The curves of regions by counting, for as many regions at a time as the budget has counters for.
Curves count_curves(const Dataset& data, const std::vector<Partition>& partitions,
                    std::span<const RegionJob> jobs, const RegionPassRequest& request, Progress& progress) {
    const bool grouped = by_groups(request.rule);
    const std::size_t count = grouped ? sizeof(Weight) : sizeof(std::uint64_t);
    // With fewer parts, more regions fit into a pass. Some parts are kept, so that several threads work.
    constexpr std::size_t kLeading = std::size_t{1} << kLeadingBits, kKept = 4;
    const auto most_jobs = [&](std::size_t parts) {
        const std::size_t each = kLeading * (parts * count + sizeof(std::uint32_t)) +
                                 (grouped ? data.groups() * (parts + 1) * sizeof(std::uint64_t) : 0);
        return std::max<std::size_t>(1, request.budget / 2 / each);
    };
    const auto most_followed = [&](std::size_t parts) {
        const std::size_t each = (CurvePlan::most_targets(request.rule) << kFollowingBits) *
                                 (parts * count + sizeof(std::uint32_t));
        return std::max<std::size_t>(1, request.budget / 2 / each);
    };
    const Team& team = team_of(data);
    const std::size_t threads = threads_in_use();
    std::size_t parts = team.counts() ? kKept : threads;
    while (parts > kKept && most_jobs(parts) < jobs.size()) parts /= 2;
    while (parts > 1 && parts * kLeading * count > request.budget) parts /= 2;
    // All ranks make the same passes, whatever their share of the images and their number of threads. So does
    // a run that continues from a checkpoint with another number of threads.
    const std::size_t batch_size = jobs.empty() ? 1 : least(team.comm, most_jobs(parts));
    const std::size_t followed = least(team.comm, most_followed(parts));
    if (team.counts()) {  // at most one part for each thread, and more if these passes leave memory for them
        const std::size_t together = std::min(batch_size, jobs.size()),
                          least_parts = std::min(parts, threads);
        const auto fits = [&](std::size_t some) {
            return some * kLeading * count <= request.budget && most_jobs(some) >= together &&
                   most_followed(some) >= std::min(followed, together);
        };
        parts = threads;
        while (parts > least_parts && !fits(parts)) parts = std::max(least_parts, parts / 2);
    }
    Curves curves;
    for (std::size_t begin = 0; begin < jobs.size(); begin += batch_size) {
        const auto batch = jobs.subspan(begin, std::min(batch_size, jobs.size() - begin));
        const RegionScan scan(data, partitions, batch, request);
        Curves own =
            grouped ? Selection<Weight>(data, scan, batch, parts, followed, request, progress).run()
                    : Selection<std::uint64_t>(data, scan, batch, parts, followed, request, progress).run();
        std::move(own.begin(), own.end(), std::back_inserter(curves));
    }
    return curves;
}

/// The keys of all scores of some regions, as make(key, group), region by region. Threads fill small buffers
/// and reserve a range for each full buffer, so the order is undefined until the keys are sorted.
template <class Key, class Make>
std::vector<Key> gather(const Dataset& data, const RegionScan& scan, std::span<const RegionJob> jobs,
                        std::span<const std::uint64_t> first, Progress& progress, Make&& make) {
    const std::size_t parts = threads_in_use();
    const std::size_t room = std::clamp<std::size_t>((std::size_t{1} << 18) / jobs.size(), 4, 1024);
    std::vector<Key> keys(first.back());
    std::vector<std::atomic<std::uint64_t>> next(jobs.size());
    for (std::size_t j = 0; j < jobs.size(); ++j) next[j] = first[j];
    std::vector<Key> buffers(parts * jobs.size() * room);    // [part][job][place]
    std::vector<std::uint32_t> filled(parts * jobs.size());  // [part][job]
    const auto flush = [&](std::size_t slot, std::size_t job) {
        const std::size_t n = std::exchange(filled[slot], 0);
        const std::uint64_t at = next[job].fetch_add(n, std::memory_order_relaxed);
        if (at + n > first[job + 1]) refuse_changed(data);  // more than the census saw
        std::copy_n(buffers.data() + slot * room, n, keys.data() + at);
    };
    const bool narrow = scan.narrow();
    scan.run({.data = data, .progress = progress, .stage = "scores of regions"}, parts,
             RegionScan::What::keys,
             [&](std::size_t part, std::uint32_t job, std::uint32_t key, std::size_t image) {
                 const std::size_t slot = part * jobs.size() + job;
                 std::uint32_t& n = filled[slot];
                 if (narrow) key = key_of(scan.score(jobs[job].stratum, key));
                 buffers[slot * room + n] = make(key, data.group_of(image));
                 if (++n == room) flush(slot, job);
             });
    for (std::size_t job = 0; job < jobs.size(); ++job) {
        for (std::size_t part = 0; part < parts; ++part) flush(part * jobs.size() + job, job);
        if (next[job] != first[job + 1]) refuse_changed(data);
    }
    return keys;
}

/// Curves of regions by sorting. All their scores are in memory at the same time.
Curves sort_curves(const Dataset& data, const std::vector<Partition>& partitions,
                   std::span<const RegionJob> jobs, const RegionPassRequest& request, Progress& progress) {
    std::vector<std::uint64_t> first(1, 0);
    for (const RegionJob& job : jobs) first.push_back(first.back() + job.count);
    Curves curves(jobs.size());
    if (first.back() == 0) return curves;
    const RegionScan scan(data, partitions, jobs, request);
    const auto own = [&](auto& keys, std::size_t j) {
        return std::span(keys).subspan(first[j], jobs[j].count);
    };
    if (by_groups(request.rule)) {
        auto pairs = gather<std::uint64_t>(data, scan, jobs, first, progress, pair_of);
        parallel_for(jobs.size(), [&](std::size_t j) {
            std::vector<std::uint32_t> sizes(data.groups());
            sort_pairs(own(pairs, j));
            curves[j] = build_group_curve(own(pairs, j), sizes, request.rule);
        });
    } else {
        auto keys = gather<std::uint32_t>(data, scan, jobs, first, progress,
                                          [](std::uint32_t key, std::uint32_t) { return key; });
        parallel_for(jobs.size(), [&](std::size_t j) {
            sort_keys(own(keys, j));
            curves[j] = build_curve(own(keys, j), request.rule);
        });
    }
    return curves;
}
}  // namespace

std::vector<CurveSet> region_pass(const Dataset& data, const Census& census,
                                  const std::vector<Partition>& partitions, const RegionPassRequest& request,
                                  Progress& progress) {
    const std::size_t pixels = data.grid().pixels();
    std::vector<RegionJob> jobs;
    std::vector<std::size_t> first_job;
    for (std::size_t s = 0; s < census.strata; ++s) {
        first_job.push_back(jobs.size());
        for (std::uint32_t r = 0; r < partitions[s].regions; ++r) jobs.push_back({.stratum = s, .region = r});
        for (std::size_t p = 0; p < pixels; ++p)
            jobs[first_job[s] + partitions[s].region[p]].count += census.counts[s * pixels + p];
    }

    // Regions that fit into memory are gathered and sorted, with scratch of the same size. Other regions are
    // counted, which needs no memory for the scores and is also faster if scores have few distinct values.
    // Several ranks and checkpoints always count, because counts can be added.
    constexpr std::uint64_t kMostSorted =
        std::numeric_limits<std::uint32_t>::max();  // build_group_curve() counts a group's scores in 32 bits
    const std::uint64_t most =
        std::clamp<std::uint64_t>(request.budget / (by_groups(request.rule) ? 16 : 8), 1, kMostSorted);
    const bool few_values = NarrowScores::of(data, request.score, request.condition).has_value();
    const std::uint64_t sorted = team_of(data).counts() ? 0 : few_values ? std::min(most, kSmall) : most;
    Curves curves(jobs.size());
    const auto find = [&](std::span<const std::size_t> some, auto&& how) {
        std::vector<RegionJob> batch;
        for (const std::size_t j : some) batch.push_back(jobs[j]);
        Curves found = how(data, partitions, batch, request, progress);
        for (std::size_t i = 0; i < some.size(); ++i) curves[some[i]] = std::move(found[i]);
    };
    std::vector<std::size_t> small, large;
    for (std::size_t j = 0; j < jobs.size(); ++j) (jobs[j].count > sorted ? large : small).push_back(j);
    find(large, count_curves);
    for (std::size_t begin = 0, end = 0; begin < small.size(); begin = end) {
        std::uint64_t scores = jobs[small[end++]].count;
        while (end < small.size() && scores + jobs[small[end]].count <= most)
            scores += jobs[small[end++]].count;
        find(std::span(small).subspan(begin, end - begin), sort_curves);
    }

    std::vector<CurveSet> sets(census.strata, CurveSet(request.rule.ladder, request.rule.released));
    for (std::size_t s = 0; s < census.strata; ++s)
        for (std::uint32_t r = 0; r < partitions[s].regions; ++r) sets[s].append(curves[first_job[s] + r]);
    return sets;
}

}  // namespace kandinsky
