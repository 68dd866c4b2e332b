#include "partition/score_grid.hpp"
#include "core/data/dataset_access.hpp"
#include "score/scoring.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <kandinsky/threads.hpp>

#include "core/team/checkpoint.hpp"
#include "core/team/team.hpp"
#include "score/scored_tile.hpp"
#include "score/visit.hpp"

namespace kandinsky::partition {

namespace {
/// The slots in which the running sum passes (j + 1/2) / wanted of the whole.
std::vector<std::uint32_t> quantile_slots(const std::vector<std::uint64_t>& mass, std::size_t wanted) {
    double total = 0;
    for (const std::uint64_t m : mass) total += static_cast<double>(m);
    std::vector<std::uint32_t> slots;
    double sum = 0;
    for (std::size_t slot = 0; slot < mass.size() && slots.size() < wanted; ++slot) {
        sum += static_cast<double>(mass[slot]);
        while (slots.size() < wanted && mass[slot] > 0 &&
               sum * static_cast<double>(wanted) >= total * (static_cast<double>(slots.size()) + 0.5))
            slots.push_back(static_cast<std::uint32_t>(slot));
    }
    return slots;
}
}  // namespace

ScoreGrid::ScoreGrid(std::vector<std::uint32_t> slots, std::uint32_t first, float largest, std::size_t bins)
    : largest_(largest), most_bins_(bins), bin_of_slot_(kSlots) {
    std::sort(slots.begin(), slots.end());
    slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
    for (const std::uint32_t slot : slots) edges_.push_back(upper_key(slot));
    edges_.back() = std::min(edges_.back(), scale_key(largest));
    // Where scores begin: an empty stretch below them would pull interpolated thresholds down.
    origin_ = std::min(edges_.front(), lower_key(first)) - 1;
    std::size_t bin = 0;
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
        while (bin + 1 < slots.size() && slot > slots[bin]) ++bin;
        bin_of_slot_[slot] = static_cast<std::uint8_t>(bin);
    }
}

namespace {
std::vector<std::uint32_t> chosen_slots(const std::vector<std::uint64_t>& counts,
                                        const std::vector<std::uint64_t>& weights, std::size_t bins) {
    std::vector<std::uint32_t> slots = quantile_slots(counts, bins / 2);
    const std::vector<std::uint32_t> rare = quantile_slots(weights, bins - 1 - bins / 2);
    slots.insert(slots.end(), rare.begin(), rare.end());
    const auto last = std::find_if(counts.rbegin(), counts.rend(), [](std::uint64_t n) { return n > 0; });
    slots.push_back(static_cast<std::uint32_t>(counts.rend() - last - 1));
    return slots;
}

std::uint32_t first_slot(const std::vector<std::uint64_t>& counts) {
    const auto first = std::find_if(counts.begin(), counts.end(), [](std::uint64_t n) { return n > 0; });
    return static_cast<std::uint32_t>(first - counts.begin());
}
}  // namespace

ScoreGrid::ScoreGrid(const std::vector<std::uint64_t>& counts, const std::vector<std::uint64_t>& weights,
                     float largest, std::size_t bins)
    : ScoreGrid(chosen_slots(counts, weights, bins), first_slot(counts), largest, bins) {}

ScoreGrid ScoreGrid::fixed(const ScoreOptions& score, std::size_t classes) {
    constexpr std::int32_t kHalf = 23, kFine = 15;  // octaves from 2^-24 up to 1/2; up to 2^-9
    const float largest = largest_score(score, classes);
    const std::int32_t low = scale_key(score_range(score, classes).low), top = scale_key(largest),
                       octave = scale_key(0.5f) / kHalf;
    assert(octave > 0);
    const auto slot = [](std::int32_t key) {
        return static_cast<std::uint32_t>((key >> kShift) + kZeroSlot);
    };
    std::vector<std::uint32_t> slots{slot(low), slot(top)};
    // Each i is an octave of the distance to 0 or 1. Octaves above 2^-9 are divided, because most scores near
    // thresholds lie there.
    const std::int32_t many = top / octave - 2 * kHalf > 24 ? 1 : low < 0 ? 2 : 4;
    for (std::int32_t i = low < 0 ? -2 * kHalf : 0; i <= top / octave; ++i) {
        const std::int32_t place = i < 0 ? -1 - i : i;
        const bool beyond = place >= 2 * kHalf;
        const std::int32_t distance = beyond           ? place - 2 * kHalf
                                      : place >= kHalf ? 2 * kHalf - 1 - place
                                                       : place;
        const std::int32_t parts = distance < kFine ? 1 : beyond ? 2 * many + 1 : many + 1;
        for (std::int32_t k = 0; k < parts; ++k) {
            const std::int32_t key = i * octave + octave / parts * k;
            if (key > low && key < top) slots.push_back(slot(key));
        }
    }
    return {std::move(slots), slot(low), largest, 256};
}

std::vector<ScoreGrid> make_score_grids(const SoftInput& input, std::span<const std::uint32_t> strata,
                                        std::size_t bins) {
    const std::size_t pixels = input.data.grid().pixels(), wanted = strata.size(),
                      all = wanted * ScoreGrid::kSlots;
    const std::vector<std::size_t> fed = fed_by_class(input.condition, input.data.classes(), strata);
    // Few parts, because each needs its own tables; one part for small grids, where the tables are most of
    // the work.
    const std::size_t parts =
        std::clamp<std::size_t>(pixels / 256, 1, std::min<std::size_t>(16, threads_in_use()));
    std::vector<std::uint64_t> counts(all), weights(all);
    // The bits of a float that is not negative ascend with it.
    std::vector<std::uint64_t> top(wanted, 0);
    struct Own {
        std::vector<std::uint64_t> counts, weights;
        std::vector<float> largest;
    };
    std::vector<Own> own(parts);
    const auto count = [&](std::size_t part, std::size_t first, std::size_t last) {
        const PixelRange range{part * pixels / parts, (part + 1) * pixels / parts};
        auto& [own_counts, own_weights, own_largest] = own[part];
        own_counts.resize(all);
        own_weights.resize(all);
        own_largest.resize(wanted);
        std::vector<std::uint64_t> vote(wanted * range.size());
        for (std::size_t i = 0; i < wanted; ++i)
            for (std::size_t j = 0; j < range.size(); ++j)
                vote[i * range.size() + j] =
                    ScoreGrid::vote(input.census.counts[strata[i] * pixels + range.begin + j]);
        constexpr std::size_t kRun = 4096;  // pixels scored at a time: they stay in the cache
        ScoredTile tile(input.data, input.score, std::min(kRun, range.size()));
        for (std::size_t image = first; image < last; ++image)
            for (std::size_t begin = range.begin; begin < range.end; begin += kRun) {
                const PixelRange run{begin, std::min(range.end, begin + kRun)};
                tile.load(image, run);
                for (std::size_t c = 0; c < fed.size(); ++c) {
                    if (fed[c] == wanted) continue;
                    const float* const scores = tile.scores(c);
                    const std::uint8_t* const member = tile.member(c);
                    const std::uint64_t* const votes =
                        vote.data() + fed[c] * range.size() + (begin - range.begin);
                    std::uint64_t* const seen = own_counts.data() + fed[c] * ScoreGrid::kSlots;
                    std::uint64_t* const weight = own_weights.data() + fed[c] * ScoreGrid::kSlots;
                    float& largest = own_largest[fed[c]];
                    for (std::size_t i = 0; i < run.size(); ++i) {
                        if (member[i] == 0) continue;
                        const std::uint32_t slot = ScoreGrid::slot_of(scores[i]);
                        ++seen[slot];
                        weight[slot] += votes[i];
                        largest = std::max(largest, scores[i]);
                    }
                }
            }
    };
    const auto add_up = [&] {
        for (const Own& one : own) {
            for (std::size_t slot = 0; slot < one.counts.size(); ++slot) {
                counts[slot] += one.counts[slot];
                weights[slot] += one.weights[slot];
            }
            for (std::size_t i = 0; i < one.largest.size(); ++i)
                top[i] = std::max<std::uint64_t>(top[i], std::bit_cast<std::uint32_t>(one.largest[i]));
        }
        own.assign(parts, {});
    };
    VisitSums sums;
    sums.add(std::span(counts));
    sums.add(std::span(weights));
    sums.keep(bytes_of(top));
    visit_tiles({.data = input.data,
                 .progress = input.progress,
                 .stage = "score thresholds",
                 .score = &input.score,
                 .sums = [&] { return sums; },
                 .settle = add_up},
                parts, count);
    team_of(input.data).comm.max(std::span(top));
    std::vector<ScoreGrid> grids;
    for (std::size_t i = 0; i < wanted; ++i) {
        const auto slots = [&](const std::vector<std::uint64_t>& tables) {
            const auto begin = tables.begin() + static_cast<std::ptrdiff_t>(i * ScoreGrid::kSlots);
            return std::vector<std::uint64_t>(begin, begin + ScoreGrid::kSlots);
        };
        const auto found = std::bit_cast<float>(static_cast<std::uint32_t>(top[i]));
        grids.emplace_back(slots(counts), slots(weights),
                           std::max(found, largest_score(input.score, input.data.classes())), bins);
    }
    return grids;
}

}  // namespace kandinsky::partition
