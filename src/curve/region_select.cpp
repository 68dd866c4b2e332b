#include "curve/region_select.hpp"

#include <algorithm>
#include <kandinsky/threads.hpp>
#include <utility>

#include "core/checkpoint.hpp"
#include "core/team.hpp"
#include "curve/region_walk.hpp"

namespace kandinsky {

namespace {
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kLeading = std::size_t{1} << 16, kFollowing = 256;

/// One order statistic that is looked for: the first score up to which `target` is reached.
struct Search {
    std::uint32_t job = 0;
    std::uint32_t prefix = 0;  ///< the digits found so far
    std::uint32_t slot = 0;    ///< whose counters the next digit is counted in
    std::uint32_t place = 0;   ///< in the order of the plans
    bool beyond = false;       ///< there is not that much: +inf
    Weight target = 0;         ///< less what lies before the prefix
};

/// Counters of each part, for slots of so many digits.
template <class Count>
class Counters {
  public:
    Counters(std::size_t parts, std::size_t slots, std::size_t digits)
        : digits_(digits), tables_(parts, std::vector<Count>(slots * digits)) {}
    Count& at(std::size_t part, std::size_t slot, std::size_t digit) {
        return tables_[part][slot * digits_ + digit];
    }
    /// What a checkpoint keeps.
    [[nodiscard]] State state() {
        State all;
        for (std::vector<Count>& table : tables_) all.push_back(bytes_of(table));
        return all;
    }
    /// Adds the parts up; at(0, ...) has the sums.
    void sum() {
        for (std::size_t part = 1; part < tables_.size(); ++part) {
            for (std::size_t i = 0; i < tables_[0].size(); ++i) tables_[0][i] += tables_[part][i];
            tables_[part] = {};
        }
    }
    /// Finds the next digit of searches that ascend by slot and, within it, by target: `each` for every job,
    /// whose first `known` bits are there.
    void resolve(std::span<Search> searches, std::size_t each, unsigned known, Communicator& comm) {
        if (comm.size() > 1)
            resolve_together(searches, each, known, comm);
        else
            resolve_alone(searches);
    }

  private:
    /// The same where every rank has counted its own: all halve the digits' range around each search, bit by
    /// bit, and say how much they have below the middle. Searches that still lie together ask once, and every
    /// job has room for as many questions as there can be: what crosses the network follows from the jobs and
    /// the ladder, not from the data.
    void resolve_together(std::span<Search> searches, std::size_t each, unsigned known, Communicator& comm) {
        std::vector<Count>& table = tables_[0];
        const std::size_t slots = table.size() / digits_;
        std::vector<Count> totals(slots);
        for (std::size_t slot = 0; slot < slots; ++slot)
            for (std::size_t digit = 0; digit < digits_; ++digit)
                totals[slot] += std::exchange(table[slot * digits_ + digit], totals[slot]);
        if (known == 0) {  // later there is what the digits before have promised
            sum_wide(comm, std::span(totals));
            for (Search& one : searches) one.beyond = one.beyond || totals[one.slot] < one.target;
        }
        std::vector<Search*> open;
        for (Search& one : searches)
            if (!one.beyond) open.push_back(&one);
        std::vector<std::uint32_t> digit(open.size(), 0);
        std::vector<Count> before(open.size(), 0), counts;
        const std::uint32_t first_job = searches.empty() ? 0 : searches.front().job;
        const auto for_each_place = [&](std::size_t room, auto&& visit) {
            std::size_t question = 0;
            for (std::size_t a = 0, b = 0; a < open.size(); a = b) {
                while (b < open.size() && open[b]->slot == open[a]->slot && digit[b] == digit[a]) ++b;
                if (a > 0 && open[a]->job != open[a - 1]->job) question = 0;
                visit(a, b, (open[a]->job - first_job) * room + question++);
            }
        };
        for (std::size_t step = digits_ / 2; step > 0; step /= 2, ++known) {
            const std::size_t room = std::min(each, std::size_t{1} << known);
            counts.assign(searches.size() / each * room, 0);
            for_each_place(room, [&](std::size_t a, std::size_t, std::size_t question) {
                counts[question] = table[open[a]->slot * digits_ + digit[a] + step];
            });
            sum_wide(comm, std::span(counts));
            std::vector<std::uint32_t> found = digit;
            for_each_place(room, [&](std::size_t a, std::size_t b, std::size_t question) {
                const Count below = counts[question];
                for (std::size_t i = a; i < b; ++i)
                    if (below < open[i]->target) {
                        found[i] = digit[i] + static_cast<std::uint32_t>(step);
                        before[i] = below;
                    }
            });
            digit = std::move(found);
        }
        for (std::size_t i = 0; i < open.size(); ++i) {
            open[i]->target -= before[i];
            open[i]->prefix = static_cast<std::uint32_t>(open[i]->prefix * digits_ + digit[i]);
        }
    }

    void resolve_alone(std::span<Search> searches) {
        std::uint32_t slot = kNone;
        Weight before = 0;
        std::size_t digit = 0;
        for (Search& one : searches) {
            if (one.beyond) continue;
            if (one.slot != slot) slot = one.slot, before = 0, digit = 0;
            while (digit < digits_ && before + at(0, slot, digit) < one.target)
                before += at(0, slot, digit++);
            one.beyond = digit == digits_;
            one.target -= before;
            one.prefix = static_cast<std::uint32_t>(one.prefix * digits_ + digit);
        }
    }

    std::size_t digits_;
    std::vector<std::vector<Count>> tables_;
};

/// Numbers the distinct places that ascending searches lead to: the slots of the next level, entered where
/// the walk will look for them. Returns how many there are.
template <class Place>
std::size_t number_slots(std::span<Search> searches, Place&& place) {
    std::uint32_t slots = 0;
    for (Search& one : searches) {
        if (one.beyond) continue;
        std::uint32_t& slot = place(one);
        if (slot == kNone) slot = slots++;
        one.slot = slot;
    }
    return slots;
}

/// The batch of jobs whose counters are held at a time.
template <class Count>
class Selection {
  public:
    Selection(const Dataset& data, const RegionWalk& walk, std::span<const RegionJob> jobs, std::size_t parts,
              std::size_t followed, const RegionPassRequest& request, Progress& progress)
        : data_(data),
          walk_(walk),
          jobs_(jobs),
          parts_(parts),
          followed_(followed),
          each_(CurvePlan::most_targets(request.rule)),
          request_(request),
          progress_(progress),
          grouped_(request.rule.pooling == Pooling::groups && !request.rule.released) {}

    std::vector<CurveSet::Curve> run() {
        std::vector<CurveSet::Curve> curves(jobs_.size());
        if (grouped_) count_groups(curves);
        // As many for every job, whatever it has; those that no plan asks for have nothing to find.
        std::vector<Search> searches(jobs_.size() * each_);
        for (std::size_t i = 0; i < searches.size(); ++i) {
            const auto job = static_cast<std::uint32_t>(i / each_);
            searches[i] = {.job = job, .slot = job, .place = static_cast<std::uint32_t>(i), .beyond = true};
        }
        std::vector<CurvePlan> plans(jobs_.size());
        for (std::size_t j = 0; j < jobs_.size(); ++j) {
            curves[j].scores = jobs_[j].count;
            if (jobs_[j].count == 0) continue;
            plans[j] = grouped_ ? CurvePlan::of_groups(jobs_[j].count, curves[j].groups, request_.rule)
                                : CurvePlan::of_scores(jobs_[j].count, request_.rule);
            curves[j].complete = plans[j].complete;
            for (std::size_t t = 0; t < plans[j].targets.size(); ++t) {
                searches[j * each_ + t].beyond = false;
                searches[j * each_ + t].target = plans[j].targets[t];
            }
        }
        // Counters are walked upwards; plans that interpolate step back at times.
        std::sort(searches.begin(), searches.end(), [](const Search& a, const Search& b) {
            return a.job != b.job ? a.job < b.job : a.target < b.target;
        });
        find(searches);
        std::sort(searches.begin(), searches.end(),
                  [](const Search& a, const Search& b) { return a.place < b.place; });
        for (std::size_t j = 0; j < jobs_.size(); ++j) {
            std::vector<float> found;
            for (std::size_t t = 0; t < plans[j].targets.size(); ++t) {
                const Search& one = searches[j * each_ + t];
                found.push_back(one.beyond ? std::numeric_limits<float>::infinity()
                                           : walk_.score(jobs_[j].stratum, one.prefix));
            }
            if (jobs_[j].count > 0) plans[j].read(request_.rule, jobs_[j].count, found, curves[j].values);
        }
        return curves;
    }

  private:
    /// How many scores each group has in each region, and so what one of them weighs.
    /// Groups are whole on a rank, so weights never leave it; how many groups there are does.
    void count_groups(std::vector<CurveSet::Curve>& curves) {
        const std::size_t groups = data_.groups();
        Counters<std::uint32_t> counts(parts_, jobs_.size(), groups);
        walk("groups of regions", counts, RegionWalk::What::places,
             [&](std::size_t part, std::uint32_t job, std::uint32_t, std::size_t image) {
                 ++counts.at(part, job, data_.group_of(image));
             });
        counts.sum();
        weights_.assign(jobs_.size() * groups, 0);
        for (std::size_t j = 0; j < jobs_.size(); ++j)
            for (std::size_t g = 0; g < groups; ++g)
                if (const std::uint32_t n = counts.at(0, j, g); n > 0) {
                    weights_[j * groups + g] = kGroupWeight / n;
                    ++curves[j].groups;
                }
        std::vector<std::uint64_t> all;
        for (const CurveSet::Curve& curve : curves) all.push_back(curve.groups);
        comm().sum(std::span(all));
        for (std::size_t j = 0; j < curves.size(); ++j) curves[j].groups = all[j];
    }

    [[nodiscard]] Communicator& comm() const { return data_.team().comm; }

    /// One walk over the images that adds to counters.
    template <class Table, class Visit>
    void walk(std::string_view name, Table& counts, RegionWalk::What what, Visit&& visit) {
        accumulate(data_.team(), name, data_.images(), counts.state(), [&](std::size_t from, std::size_t to) {
            walk_.run(from, to, parts_, what, progress_, visit);
        });
    }

    [[nodiscard]] Count weight(std::uint32_t job, std::size_t image) const {
        if constexpr (sizeof(Count) == sizeof(Weight))
            return weights_[job * data_.groups() + data_.group_of(image)];
        else
            return 1;
    }

    void find(std::vector<Search>& searches) {
        {
            const std::size_t digits = walk_.narrow() ? NarrowScores::kCodes : kLeading;
            const unsigned shift = walk_.narrow() ? 0 : 16;
            Counters<Count> leading(parts_, jobs_.size(), digits);
            walk("leading digits", leading, RegionWalk::What::keys,
                 [&](std::size_t part, std::uint32_t job, std::uint32_t key, std::size_t image) {
                     leading.at(part, job, key >> shift) += weight(job, image);
                 });
            leading.sum();
            leading.resolve(searches, each_, 0, comm());
        }
        if (walk_.narrow()) return;
        const std::size_t most = each_ * followed_;
        for (std::size_t begin = 0; begin < searches.size(); begin += most)
            follow(std::span(searches).subspan(begin, std::min(most, searches.size() - begin)));
    }

    /// The two digits after the leading one, for the searches of as many jobs as there are counters for.
    void follow(std::span<Search> searches) {
        std::vector<std::uint32_t> second(jobs_.size() * kLeading, kNone), third;
        {
            const std::size_t slots = number_slots(searches, [&](const Search& one) -> std::uint32_t& {
                return second[one.job * kLeading + one.prefix];
            });
            third.assign(slots * kFollowing, kNone);
            Counters<Count> counts(parts_, slots, kFollowing);
            walk("second digits", counts, RegionWalk::What::keys,
                 [&](std::size_t part, std::uint32_t job, std::uint32_t key, std::size_t image) {
                     const std::uint32_t slot = second[job * kLeading + (key >> 16)];
                     if (slot != kNone) counts.at(part, slot, key >> 8 & 255u) += weight(job, image);
                 });
            counts.sum();
            counts.resolve(searches, each_, 16, comm());
        }
        const std::size_t slots = number_slots(searches, [&](const Search& one) -> std::uint32_t& {
            return third[one.slot * kFollowing + (one.prefix & 255u)];
        });
        Counters<Count> counts(parts_, slots, kFollowing);
        walk("third digits", counts, RegionWalk::What::keys,
             [&](std::size_t part, std::uint32_t job, std::uint32_t key, std::size_t image) {
                 const std::uint32_t before = second[job * kLeading + (key >> 16)];
                 if (before == kNone) return;
                 const std::uint32_t slot = third[before * kFollowing + (key >> 8 & 255u)];
                 if (slot != kNone) counts.at(part, slot, key & 255u) += weight(job, image);
             });
        counts.sum();
        counts.resolve(searches, each_, 24, comm());
    }

    const Dataset& data_;
    const RegionWalk& walk_;
    std::span<const RegionJob> jobs_;
    std::size_t parts_;
    std::size_t followed_;  ///< jobs whose following digits are counted in one walk
    std::size_t each_;      ///< searches of a job
    const RegionPassRequest& request_;
    Progress& progress_;
    bool grouped_;
    std::vector<std::uint64_t> weights_;  ///< [job][group]
};
}  // namespace

std::vector<CurveSet::Curve> select_curves(const Dataset& data, const std::vector<Partition>& partitions,
                                           std::span<const RegionJob> jobs, const RegionPassRequest& request,
                                           Progress& progress) {
    const bool grouped = request.rule.pooling == Pooling::groups && !request.rule.released;
    const std::size_t count = grouped ? sizeof(Weight) : sizeof(std::uint64_t);
    // Fewer parts rather than more walks, but some parts.
    const auto most_jobs = [&](std::size_t parts) {
        const std::size_t each = kLeading * (parts * count + sizeof(std::uint32_t)) +
                                 (grouped ? data.groups() * (parts + 2) * 4 : 0);
        return std::max<std::size_t>(1, request.budget / 2 / each);
    };
    std::size_t parts = threads_in_use();
    while (parts > 4 && most_jobs(parts) < jobs.size()) parts /= 2;
    while (parts > 1 && parts * kLeading * count > request.budget) parts /= 2;
    // All ranks take the same batches, whatever their share and their threads.
    const std::size_t batch_size = jobs.empty() ? 1 : least(data.team().comm, most_jobs(parts));
    const std::size_t following =
        CurvePlan::most_targets(request.rule) * kFollowing * (parts * count + sizeof(std::uint32_t));
    const std::size_t followed =
        least(data.team().comm, std::max<std::size_t>(1, request.budget / 2 / following));
    std::vector<CurveSet::Curve> curves;
    for (std::size_t begin = 0; begin < jobs.size();) {
        const auto batch = jobs.subspan(begin, std::min(batch_size, jobs.size() - begin));
        const RegionWalk walk(data, partitions, batch, request);
        std::vector<CurveSet::Curve> own =
            grouped ? Selection<Weight>(data, walk, batch, parts, followed, request, progress).run()
                    : Selection<std::uint64_t>(data, walk, batch, parts, followed, request, progress).run();
        std::move(own.begin(), own.end(), std::back_inserter(curves));
        begin += batch.size();
    }
    return curves;
}
}  // namespace kandinsky
