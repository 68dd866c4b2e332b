#include "calibrate/group_losses.hpp"
#include "core/data/dataset_access.hpp"

#include <algorithm>
#include <numeric>

#include "calibrate/adapted_values.hpp"
#include "core/base/random.hpp"
#include "core/team/team.hpp"
#include "partition/soft_method.hpp"
#include "score/group_identity.hpp"
#include "score/image_features.hpp"
#include "score/scored_tile.hpp"
#include "score/visit.hpp"

namespace kandinsky {

namespace {
constexpr std::uint32_t kOne = 1u << 24;              // the loss 1 in the rows
constexpr std::uint32_t kAbsent = 0xFFFFFFFF;         // row of a group without the class
constexpr std::uint64_t kPurpose = 0x62657474696E67;  // of the random order

std::uint32_t share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<std::uint32_t>((part * kOne + whole - 1) / whole);
}

/// The place of every group of this rank in the order of the groups of all ranks.
struct Order {
    std::vector<std::size_t> place;
    std::size_t groups = 0;
};

Order order_of(const Dataset& data, std::uint64_t seed, Progress& progress) {
    std::vector<std::uint64_t> tickets = group_identities(data, progress);
    for (std::uint64_t& one : tickets) one = mix(mix(mix(seed) ^ kPurpose) ^ mix(one));
    const Gathered all = gather_words(team_of(data).comm, tickets);
    std::vector<std::size_t> by_ticket(all.values.size());
    std::iota(by_ticket.begin(), by_ticket.end(), std::size_t{0});
    // Without groups, equal keys mean equal images, whose losses are equal.
    std::stable_sort(by_ticket.begin(), by_ticket.end(),
                     [&](std::size_t a, std::size_t b) { return all.values[a] < all.values[b]; });
    Order out{.place = std::vector<std::size_t>(tickets.size()), .groups = all.values.size()};
    for (std::size_t rank = 0; rank < by_ticket.size(); ++rank)
        if (by_ticket[rank] >= all.first && by_ticket[rank] - all.first < tickets.size())
            out.place[by_ticket[rank] - all.first] = rank;
    return out;
}

/// Pixels of one group and stratum, counted by the first step whose set contains the class.
struct StepCounts {
    std::vector<std::uint64_t> right, wrong;  ///< pixels with the class in truth, and without

    StepCounts(std::size_t steps, bool with_wrong) : right(steps + 1), wrong(with_wrong ? steps + 1 : 0) {}
};

/// Writes a group's rows: losses at every step.
void write_rows(const StepCounts& counts, std::size_t steps, std::uint32_t* missed, std::uint32_t* wrong) {
    const std::uint64_t all = std::accumulate(counts.right.begin(), counts.right.end(), std::uint64_t{0});
    std::uint64_t held = 0, false_ones = 0;
    for (std::size_t k = 0; k < steps; ++k) {
        held += counts.right[k];
        missed[k] = all == 0 ? kAbsent : share(all - held, all);
        if (wrong == nullptr) continue;
        false_ones += counts.wrong[k];
        wrong[k] = share(false_ones, held + false_ones);
    }
}

/// The rows [group][step] of groups that are not kAbsent, as [step][group].
std::vector<double> by_step(const std::uint32_t* rows, std::size_t groups, std::size_t steps,
                            std::uint64_t& count) {
    std::vector<const std::uint32_t*> present;
    for (std::size_t g = 0; g < groups; ++g)
        if (rows[g * steps] != kAbsent) present.push_back(rows + g * steps);
    count = present.size();
    std::vector<double> out(present.size() * steps);
    for (std::size_t k = 0; k < steps; ++k)
        for (std::size_t g = 0; g < present.size(); ++g)
            out[k * present.size() + g] = static_cast<double>(present[g][k]) / kOne;
    return out;
}

/// One pass over the data for some strata.
class LossScan {
  public:
    LossScan(const Dataset& data, const NestedSets& sets, const Order& order,
             std::vector<std::uint32_t> strata, bool with_wrong)
        : data_(data),
          sets_(sets),
          order_(order),
          strata_(std::move(strata)),
          fed_(fed_by_class(sets.base().options.condition, data.classes(), strata_)),
          missed_(strata_.size() * order.groups * sets.steps()),
          wrong_(with_wrong ? missed_.size() : 0) {}

    void run(Progress& progress) {
        visit_groups({.data = data_,
                      .progress = progress,
                      .stage = "losses of groups",
                      .score = &sets_.base().options.score,
                      .sums =
                          [&] {
                              VisitSums sums;
                              sums.add(std::span(missed_));
                              sums.add(std::span(wrong_));
                              return sums;
                          }},
                     [&](const std::vector<std::uint32_t>& images) { count(images); });
    }

    [[nodiscard]] GroupLosses losses(std::size_t place) const {
        const std::size_t rows = order_.groups * sets_.steps();
        GroupLosses out;
        out.missed = by_step(missed_.data() + place * rows, order_.groups, sets_.steps(), out.with_class);
        if (!wrong_.empty())
            out.wrong = by_step(wrong_.data() + place * rows, order_.groups, sets_.steps(), out.groups);
        return out;
    }
    [[nodiscard]] const std::vector<std::uint32_t>& strata() const { return strata_; }

  private:
    void count(const std::vector<std::uint32_t>& images) {
        const Grid grid = data_.grid();
        const std::size_t pixels = grid.pixels();
        const std::size_t length = grid.width * std::clamp<std::size_t>(4096 / grid.width, 1, grid.height);
        ScoredTile tile(data_, sets_.base().options.score, length);
        std::vector<StepCounts> counts(strata_.size(), StepCounts(sets_.steps(), !wrong_.empty()));
        std::vector<std::int32_t> shifts(sets_.base().strata());
        std::vector<std::uint16_t> steps(length);
        for (const std::uint32_t image : images) {
            if (sets_.base().adapts()) shifts_of(sets_.base(), features_of(data_, image), shifts);
            for (std::size_t begin = 0; begin < pixels; begin += length) {
                const PixelRange range{begin, std::min(pixels, begin + length)};
                tile.load(image, range);
                for (std::size_t c = 0; c < fed_.size(); ++c)
                    if (fed_[c] < strata_.size()) add(tile, c, range, shifts, steps, counts[fed_[c]]);
            }
        }
        const std::size_t row = order_.place[data_.group_of(images.front())];
        for (std::size_t i = 0; i < strata_.size(); ++i) {
            const std::size_t at = (i * order_.groups + row) * sets_.steps();
            write_rows(counts[i], sets_.steps(), missed_.data() + at,
                       wrong_.empty() ? nullptr : wrong_.data() + at);
        }
    }

    void add(const ScoredTile& tile, std::size_t c, PixelRange range, std::span<const std::int32_t> shifts,
             std::vector<std::uint16_t>& steps, StepCounts& to) const {
        const std::uint8_t* const member = tile.member(c);
        const std::uint8_t* const valid = tile.valid();
        const std::size_t n = range.size(), stratum = strata_[fed_[c]];
        if (wrong_.empty()) {  // few pixels have the class: process runs of them
            for (std::size_t i = 0; i < n;) {
                if (member[i] == 0) {
                    ++i;
                    continue;
                }
                std::size_t end = i;
                while (end < n && member[end] != 0) ++end;
                sets_.enter_at(stratum, shifts[stratum], {range.begin + i, range.begin + end},
                               tile.scores(c) + i, steps.data());
                for (std::size_t j = 0; j < end - i; ++j) ++to.right[steps[j]];
                i = end;
            }
            return;
        }
        sets_.enter_at(stratum, shifts[stratum], range, tile.scores(c), steps.data());
        for (std::size_t i = 0; i < n; ++i) {
            if (member[i] != 0)
                ++to.right[steps[i]];
            else if (valid[i] != 0)
                ++to.wrong[steps[i]];
        }
    }

    const Dataset& data_;
    const NestedSets& sets_;
    const Order& order_;
    std::vector<std::uint32_t> strata_;
    std::vector<std::size_t> fed_;
    std::vector<std::uint32_t> missed_, wrong_;  ///< [place][group][step]
};
}  // namespace

void each_stratum_losses(const Dataset& data, const NestedSets& sets, bool with_wrong,
                         const std::function<void(std::size_t, const GroupLosses&)>& body,
                         Progress& progress) {
    const CalibrateOptions& options = sets.base().options;
    const Order order = order_of(data, options.seed, progress);
    const std::size_t bytes = order.groups * sets.steps() * sizeof(std::uint32_t) * (with_wrong ? 2 : 1);
    const std::size_t at_once = std::max<std::size_t>(1, options.memory / std::max<std::size_t>(1, bytes));
    for (std::uint32_t first = 0; first < sets.base().strata();) {
        std::vector<std::uint32_t> strata;
        for (; first < sets.base().strata() && strata.size() < at_once; ++first) strata.push_back(first);
        LossScan scan(data, sets, order, std::move(strata), with_wrong);
        scan.run(progress);
        for (std::size_t i = 0; i < scan.strata().size(); ++i) body(scan.strata()[i], scan.losses(i));
    }
}

}  // namespace kandinsky
