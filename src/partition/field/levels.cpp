#include "partition/field/levels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>

#include "core/parallel.hpp"
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
    ++groups_;
    for (std::size_t i = 0; i < mass_.size(); ++i) mass_[i] += static_cast<Wide>(kUnit / total) * counts[i];
}

void GroupLevels::add(const GroupLevels& other) {
    groups_ += other.groups_;
    for (std::size_t i = 0; i < mass_.size(); ++i) mass_[i] += other.mass_[i];
}

double GroupLevels::quantile(double level) const {
    const double wanted = level * static_cast<double>(groups_ + 1) * (1 - kSlack);  // in groups
    const double full = std::floor(wanted);
    const Wide target =
        static_cast<Wide>(full) * kUnit + static_cast<Wide>((wanted - full) * static_cast<double>(kUnit));
    Wide reached = 0;
    for (std::size_t i = 0; i < mass_.size(); ++i) {
        reached += mass_[i];
        if (reached >= target && (mass_[i] > 0 || target == 0)) return static_cast<double>(i) / kSteps;
    }
    return std::numeric_limits<double>::infinity();
}

GroupLevels cross_fitted_levels(const SoftInput& input, const ScoreGrid& grid, const Folds& folds,
                                const Cells& cells, const FoldHistograms& histograms,
                                const std::vector<Candidate>& candidates,
                                const std::vector<double>& weights) {
    const Dataset& data = input.data;
    std::vector<std::vector<std::uint32_t>> members(data.groups());  // images of each group
    for (std::size_t image = 0; image < data.images(); ++image)
        members[data.group_of(image)].push_back(static_cast<std::uint32_t>(image));
    GroupLevels levels;
    std::mutex adding;
    for (std::size_t fold = 0; fold < folds.count; ++fold) {
        std::vector<std::uint32_t> groups;
        for (std::size_t g = 0; g < members.size(); ++g)
            if (folds.of_image[members[g].front()] == fold) groups.push_back(static_cast<std::uint32_t>(g));
        std::optional<Plane> others;
        if (CandidateFields::possible(histograms, fold))
            others = blend(cells.grid(), CandidateFields(cells.grid(), histograms, fold, candidates), weights,
                           grid.bins());
        const std::size_t pixels = data.grid().pixels();
        constexpr std::size_t kTile = 4096;
        parallel_for(groups.size(), input.progress, "field: levels", [&](std::size_t i) {
            std::vector<std::uint32_t> counts(GroupLevels::kSteps + 2);
            ScoredTile tile(data, input.score, std::min(kTile, pixels));
            for (const std::uint32_t image : members[groups[i]])
                for (std::size_t begin = 0; begin < pixels; begin += kTile) {
                    const PixelRange range{begin, std::min(pixels, begin + kTile)};
                    tile.load(image, range);
                    for (std::size_t c = 0; c < data.classes(); ++c) {
                        if (!feeds(input, c)) continue;
                        for (std::size_t j = 0; j < range.size(); ++j) {
                            if (tile.member(c)[j] == 0) continue;
                            ++counts[others ? GroupLevels::step_of(level_at(
                                                  grid, others->at(cells.of(begin + j)), tile.scores(c)[j]))
                                            : GroupLevels::kSteps + 1];
                        }
                    }
                }
            const std::lock_guard lock(adding);
            levels.add(counts);
        });
    }
    return levels;
}

}  // namespace kandinsky::partition::field
