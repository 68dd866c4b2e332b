#include "evaluate/level_counts.hpp"

#include <algorithm>
#include <numeric>

#include "core/kernel/count_kernels.hpp"
#include "evaluate/kernels.hpp"
#include "evaluate/level_plan.hpp"

namespace kandinsky {

namespace {
/// Adds to each level what it or a lower one is the first to cover; returns the sum of all.
std::uint64_t add_up(const std::uint64_t* first, std::vector<std::uint64_t>& covered) {
    std::uint64_t sum = 0;
    for (std::uint64_t& level : covered) level += sum += *first++;
    return sum + *first;
}

/// The same by itself.
std::vector<std::uint64_t> up_to(const std::vector<std::uint64_t>& first) {
    std::vector<std::uint64_t> out(first.size() - 1);
    add_up(first.data(), out);
    return out;
}
}  // namespace

std::vector<std::uint64_t> LevelTotals::wrong(std::size_t stratum) const {
    std::vector<std::uint64_t> out = members[stratum];
    for (std::size_t l = 0; l < out.size(); ++l) out[l] -= covered[stratum][l];
    return out;
}

LevelCounts::LevelCounts(const Calibrator& calibrator, const std::vector<double>& alphas, Detail detail)
    : calibrator_(calibrator),
      levels_(alphas.size()),
      detail_(detail),
      by_curve_(thresholds_by_curve(calibrator, alphas)) {
    const std::size_t strata = calibrator.strata(), pixels = calibrator.grid.pixels();
    totals_.tested.assign(strata, 0);
    totals_.covered.assign(strata, std::vector<std::uint64_t>(levels_));
    totals_.members.assign(strata, std::vector<std::uint64_t>(levels_));
    totals_.sets.resize(levels_);
    if (detail.pixels) totals_.pixel_tested.assign(strata * pixels, 0);
    if (detail.pixel_levels) totals_.pixel_covered.assign(strata * pixels * levels_, 0);
}

LevelCounts::Tile::Tile(LevelCounts& all, PixelRange range)
    : all_(all),
      range_(range),
      thresholds_(all.calibrator_.strata() * all.levels_ * range.size()),
      first_covered_(all.calibrator_.strata() * (all.levels_ + 1)),
      first_member_(first_covered_.size()),
      first_class_(all.levels_ + 1),
      second_class_(all.levels_ + 1),
      last_class_(all.levels_ + 1),
      first_right_(all.levels_ + 1),
      second_right_(all.levels_ + 1),
      rank_(range.size()),
      first_(range.size()),
      second_(range.size()),
      last_(range.size()),
      right_(range.size()) {
    fill_thresholds(all.calibrator_, all.by_curve_, range, thresholds_.data());
    if (!all.detail_.pixels) return;
    tested_.assign(all.calibrator_.strata() * range.size(), 0);
    covered_.assign(thresholds_.size(), 0);
    recent_tested_.assign(tested_.size(), 0);
    recent_covered_.assign(covered_.size(), 0);
    recent_.assign(all.calibrator_.strata(), 0);
}

void LevelCounts::Tile::unload(std::size_t s) {
    const auto move = [](std::uint8_t* from, std::size_t n, std::uint32_t* to) {
        for (std::size_t i = 0; i < n; ++i) to[i] += from[i];
        std::fill(from, from + n, std::uint8_t{0});
    };
    const std::size_t n = range_.size(), levels = all_.levels_;
    move(recent_tested_.data() + s * n, n, tested_.data() + s * n);
    move(recent_covered_.data() + s * levels * n, levels * n, covered_.data() + s * levels * n);
    recent_[s] = 0;
}

void LevelCounts::Tile::add_class(const ScoredTile& tile, std::size_t c) {
    const std::size_t n = range_.size(), levels = all_.levels_, s = all_.calibrator_.stratum_of(c);
    const std::uint8_t* const member = tile.member(c);
    first_covering_level(tile.scores(c), thresholds_.data() + s * levels * n, levels, n, rank_.data());
    if (all_.detail_.sets) {
        rank_sets(rank_.data(), member, n, first_.data(), second_.data(), last_.data(), right_.data());
        count_ranks(rank_.data(), tile.valid(), levels, n, first_member_.data() + s * (levels + 1));
    }
    if (!all_.detail_.pixels) {
        count_ranks(rank_.data(), member, levels, n, first_covered_.data() + s * (levels + 1));
        return;
    }
    add_both(member, member, n, recent_tested_.data() + s * n);
    add_covered(rank_.data(), member, levels, n, recent_covered_.data() + s * levels * n);
    if (++recent_[s] == 255) unload(s);
}

void LevelCounts::Tile::add(const ScoredTile& tile, std::size_t image, ResampledErrors::Tile* notes) {
    const auto none = static_cast<std::uint8_t>(all_.levels_);
    for (auto* const ranks : {&first_, &second_}) std::fill(ranks->begin(), ranks->end(), none);
    for (auto* const bytes : {&last_, &right_}) std::fill(bytes->begin(), bytes->end(), std::uint8_t{0});
    for (std::size_t c = 0; c < all_.calibrator_.classes; ++c) {
        add_class(tile, c);
        if (notes != nullptr) notes->note(image, c, rank_.data(), tile.member(c));
    }
    if (!all_.detail_.sets) return;
    const auto count = [&](const std::vector<std::uint8_t>& ranks, const std::uint8_t* flag,
                           std::vector<std::uint64_t>& counts) {
        count_ranks(ranks.data(), flag, all_.levels_, range_.size(), counts.data());
    };
    count(first_, tile.valid(), first_class_);
    count(second_, tile.valid(), second_class_);
    count(last_, tile.valid(), last_class_);
    count(first_, right_.data(), first_right_);
    count(second_, right_.data(), second_right_);
}

void LevelCounts::Tile::settle() {
    for (std::size_t s = 0; s < recent_.size(); ++s) unload(s);
}

void LevelCounts::Tile::list(VisitSums& sums) {
    sums.add(std::span(tested_));
    sums.add(std::span(covered_));
    sums.add(std::span(first_covered_));
    sums.add(std::span(first_member_));
    for (auto* const counts : {&first_class_, &second_class_, &last_class_, &first_right_, &second_right_})
        sums.add(std::span(*counts));
}

void LevelCounts::Tile::finish() {
    LevelTotals& totals = all_.totals_;
    const std::size_t n = range_.size(), levels = all_.levels_, pixels = all_.calibrator_.grid.pixels(),
                      strata = all_.calibrator_.strata();
    for (std::size_t s = 0; s < strata && all_.detail_.pixels; ++s) {
        std::copy_n(tested(s), n, totals.pixel_tested.data() + s * pixels + range_.begin);
        for (std::size_t i = 0; i < n && all_.detail_.pixel_levels; ++i)
            for (std::size_t l = 0; l < levels; ++l)
                totals.pixel_covered[(s * pixels + range_.begin + i) * levels + l] = covered(s)[l * n + i];
    }
    const std::lock_guard lock(all_.mutex_);
    for (std::size_t s = 0; s < strata; ++s) {
        std::vector<std::uint64_t> hits(levels), members(levels);
        if (all_.detail_.pixels) {
            totals.tested[s] += std::accumulate(tested(s), tested(s) + n, std::uint64_t{0});
            for (std::size_t l = 0; l < levels; ++l)
                hits[l] = std::accumulate(covered(s) + l * n, covered(s) + (l + 1) * n, std::uint64_t{0});
        } else {
            totals.tested[s] += add_up(first_covered_.data() + s * (levels + 1), hits);
        }
        add_up(first_member_.data() + s * (levels + 1), members);
        for (std::size_t l = 0; l < levels; ++l) {
            totals.covered[s][l] += hits[l];
            if (!all_.detail_.sets) continue;
            totals.members[s][l] += members[l];
            totals.sets[l].members += members[l];
            totals.sets[l].wrong += members[l] - hits[l];
        }
    }
    const std::vector<std::uint64_t> first = up_to(first_class_), second = up_to(second_class_),
                                     last = up_to(last_class_), right = up_to(first_right_),
                                     not_alone = up_to(second_right_);
    const std::uint64_t sets = std::accumulate(first_class_.begin(), first_class_.end(), std::uint64_t{0});
    for (std::size_t l = 0; l < levels; ++l) {
        SetCounts& to = totals.sets[l];
        to.sets += sets;
        to.empty += sets - first[l];
        to.single += first[l] - second[l];
        to.right += right[l] - not_alone[l];
        to.full += last[l];
    }
}

}  // namespace kandinsky
