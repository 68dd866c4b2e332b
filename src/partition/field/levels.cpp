#include "partition/field/levels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>

#include "core/checkpoint.hpp"
#include "core/parallel.hpp"
#include "core/team.hpp"
#include "score/scored_tile.hpp"

namespace kandinsky::partition::field {

namespace {
// As in curves: one group weighs 2^62 units, and the slack is more than any group loses to rounding.
constexpr std::uint64_t kUnit = std::uint64_t{1} << 62;
constexpr double kSlack = 1e-11;
}  // namespace

std::size_t GroupLevels::step_of(double u) {
    return static_cast<std::size_t>(std::ceil(std::clamp(u, 0.0, 1.0) * kSteps));
}

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

void GroupLevels::add(const GroupLevels& other) {
    groups_[0] += other.groups_[0];
    for (std::size_t i = 0; i < mass_.size(); ++i) mass_[i] += other.mass_[i];
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

namespace {
/// Adds the u values of some groups; infinite ones without distributions.
void add_groups(const SoftInput& input, const ScoreGrid& grid, const Cells& cells,
                const std::optional<Plane>& distributions,
                const std::vector<std::vector<std::uint32_t>>& groups, GroupLevels& levels) {
    constexpr std::size_t kTile = 4096;
    const std::size_t pixels = input.data.grid().pixels();
    std::mutex adding;
    const auto walk = [&](std::size_t g, GroupLevels& sums) {
        std::vector<std::uint32_t> counts(GroupLevels::kSteps + 2);
        ScoredTile tile(input.data, input.score, std::min(kTile, pixels), ScoredTile::Pages::keep);
        const auto count = [&](std::size_t pixel, float score) {
            ++counts[distributions
                         ? GroupLevels::step_of(level_at(grid, distributions->at(cells.of(pixel)), score))
                         : GroupLevels::kSteps + 1];
        };
        for (const std::uint32_t image : groups[g]) {
            for (std::size_t begin = 0; begin < pixels; begin += kTile) {
                const PixelRange range{begin, std::min(pixels, begin + kTile)};
                tile.load(image, range);
                for (std::size_t c = 0; c < input.data.classes(); ++c)
                    for (std::size_t j = 0; j < range.size() && feeds(input, c); ++j)
                        if (tile.member(c)[j] != 0) count(begin + j, tile.scores(c)[j]);
            }
            input.data.release(image, image + 1);
        }
        const std::lock_guard lock(adding);
        sums.add(counts);
    };
    GroupLevels own;
    accumulate(input.data.team(), "field: levels", groups.size(), own.state(),
               [&](std::size_t first, std::size_t last) {
                   parallel_for(last - first, input.progress, "field: levels",
                                [&](std::size_t g) { walk(first + g, own); });
               });
    levels.add(own);
}

/// The images of each group.
std::vector<std::vector<std::uint32_t>> images_by_group(const Dataset& data) {
    std::vector<std::vector<std::uint32_t>> members(data.groups());
    for (std::size_t image = 0; image < data.images(); ++image)
        members[data.group_of(image)].push_back(static_cast<std::uint32_t>(image));
    return members;
}
}  // namespace

GroupLevels cross_fitted_levels(const SoftInput& input, const ScoreGrid& grid, const Folds& folds,
                                const Cells& cells, const FoldHistograms& histograms,
                                const std::vector<Candidate>& candidates,
                                const std::vector<double>& weights) {
    const std::vector<std::vector<std::uint32_t>> members = images_by_group(input.data);
    GroupLevels levels;
    for (std::size_t fold = 0; fold < folds.count; ++fold) {
        std::vector<std::vector<std::uint32_t>> groups;
        for (const std::vector<std::uint32_t>& images : members)
            if (folds.of_image[images.front()] == fold) groups.push_back(images);
        std::optional<Plane> others;
        if (CandidateFields::possible(histograms, fold))
            others = blend(cells.grid(), CandidateFields(cells.grid(), histograms, fold, candidates), weights,
                           grid.bins());
        add_groups(input, grid, cells, others, groups, levels);
    }
    levels.sum(input.data.team().comm);
    return levels;
}

GroupLevels held_out_levels(const SoftInput& input, const ScoreGrid& grid, const Cells& cells,
                            const Plane& distributions) {
    GroupLevels levels;
    add_groups(input, grid, cells, distributions, images_by_group(input.data), levels);
    levels.sum(input.data.team().comm);
    return levels;
}

}  // namespace kandinsky::partition::field
