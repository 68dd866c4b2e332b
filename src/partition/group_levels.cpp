#include "partition/group_levels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "score/scored_tile.hpp"
#include "score/visit.hpp"

namespace kandinsky::partition {

namespace {
// As in curves: one group weighs 2^62 units, and the slack is more than any group loses to rounding.
constexpr std::uint64_t kUnit = std::uint64_t{1} << 62;
constexpr double kSlack = 1e-11;
// Far above rounding, far below a level: 0.3 * 65536 should not round up to the next number.
constexpr double kRounding = 1e-6;
}  // namespace

void GroupLevels::add(const std::vector<std::uint32_t>& counts) {
    const std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    if (total == 0) return;
    ++groups_[0];
    for (std::size_t i = 0; i < mass_.size(); ++i)
        mass_[i] += static_cast<WideCount>(kUnit / total) * counts[i];
}

void GroupLevels::sum(Communicator& comm) {
    sum_wide(comm, mass_);
    comm.sum(std::span(groups_));
}

State GroupLevels::state() {
    return {bytes_of(mass_), bytes_of(groups_)};
}

double GroupLevels::quantile(double level) const {
    const double wanted = level * static_cast<double>(groups() + 1) * (1 - kSlack);  // in groups
    const double full = std::floor(wanted);
    const WideCount target = static_cast<WideCount>(full) * kUnit +
                             static_cast<WideCount>((wanted - full) * static_cast<double>(kUnit));
    WideCount reached = 0;
    for (std::size_t i = 0; i < mass_.size(); ++i) {
        reached += mass_[i];
        if (reached >= target && (mass_[i] > 0 || target == 0)) return static_cast<double>(i) / kSteps;
    }
    return std::numeric_limits<double>::infinity();
}

std::vector<std::uint32_t> levels_of(const Ladder& ladder, const GroupLevels* fitted) {
    std::vector<std::uint32_t> levels;
    for (const double level : ladder.levels) {
        const double wanted = fitted != nullptr ? fitted->quantile(level) : level;
        levels.push_back(
            std::isinf(wanted)
                ? SmoothCurves::kNever
                : std::min<std::uint32_t>(SmoothCurves::kOne, static_cast<std::uint32_t>(std::ceil(
                                                                  wanted * SmoothCurves::kOne - kRounding))));
    }
    return levels;
}

std::vector<GroupLevels> group_levels(const SoftInput& input, std::span<const std::uint32_t> strata,
                                      const Cells& cells, const std::vector<Judge>& judges,
                                      const std::vector<std::uint8_t>& fold_of_image) {
    static_assert(SmoothCurves::kOne == 16 * GroupLevels::kSteps);
    constexpr std::size_t kCounts = GroupLevels::kSteps + 2;
    const Grid image_grid = input.data.grid();
    const std::size_t pixels = image_grid.pixels(), width = image_grid.width, wanted = strata.size();
    // Some rows at a time, so that their scores stay in the cache.
    const std::size_t tile_pixels = width * std::clamp<std::size_t>(4096 / width, 1, image_grid.height);
    const std::vector<BetweenCells> rows = cells.rows(), columns = cells.columns();
    const std::vector<std::size_t> fed = fed_by_class(input.condition, input.data.classes(), strata);
    std::vector<GroupLevels> sums(wanted);
    std::mutex adding;
    const auto count = [&](const std::vector<std::uint32_t>& images) {
        std::vector<std::vector<std::uint32_t>> counts(wanted, std::vector<std::uint32_t>(kCounts));
        ScoredTile tile(input.data, input.score, tile_pixels);
        for (const std::uint32_t image : images) {
            for (std::size_t begin = 0; begin < pixels; begin += tile_pixels) {
                const PixelRange range{begin, std::min(pixels, begin + tile_pixels)};
                tile.load(image, range);
                for (std::size_t c = 0; c < fed.size(); ++c) {
                    if (fed[c] == wanted) continue;
                    const SmoothCurves& others = judges[fed[c]].by_fold[fold_of_image[image]];
                    const ScoreGrid& grid = *judges[fed[c]].grid;
                    std::uint32_t* const own = counts[fed[c]].data();
                    const float* const scores = tile.scores(c);
                    const std::uint8_t* const member = tile.member(c);
                    if (others.without_data()) {
                        for (std::size_t j = 0; j < range.size(); ++j)
                            own[GroupLevels::kSteps + 1] += member[j] != 0;
                        continue;
                    }
                    for (std::size_t line = 0; line < range.size(); line += width) {
                        const BetweenCells& row = rows[(begin + line) / width];
                        for (std::size_t x = 0; x < width; ++x) {
                            if (member[line + x] == 0) continue;
                            const std::int32_t key = scale_key(scores[line + x]);
                            ++own[GroupLevels::step_of(
                                others.level(row, columns[x], grid.bin_of_key(key), key))];
                        }
                    }
                }
            }
        }
        const std::lock_guard lock(adding);
        for (std::size_t i = 0; i < wanted; ++i) sums[i].add(counts[i]);
    };
    VisitSums kept;
    for (GroupLevels& one : sums)
        for (const std::span<std::byte> bytes : one.state()) kept.keep(bytes);
    visit_groups({.data = input.data,
                  .progress = input.progress,
                  .stage = "field: levels",
                  .sums = [&] { return kept; }},
                 count);
    for (GroupLevels& one : sums) one.sum(input.data.team().comm);
    return sums;
}

}  // namespace kandinsky::partition
