#include "partition/group_levels.hpp"
#include "core/data/dataset_access.hpp"
#include "curve/curve_storage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "curve/group_weights.hpp"
#include "score/scored_tile.hpp"
#include "score/visit.hpp"

namespace kandinsky::partition {

namespace {
// Levels are lowered by this part, as in curves. It exceeds what rounding loses: the weight at each step of a
// group is rounded down to a whole unit. A group has kGroupWeight units; 1e-11 of them are 4e7 units.
constexpr double kSlack = 1e-11;
// Far above rounding and far below 1: a whole number with a rounding error must not become the next one.
constexpr double kRounding = 1e-6;
}  // namespace

void GroupLevels::add(const Counts& counts, std::uint64_t weight) {
    const std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    if (total == 0) return;
    ++groups_[0];
    total_[0] += weight;
    // weight * count / total, rounded down.
    const std::uint64_t each = weight / total, rest = weight % total;
    for (std::size_t i = 0; i < mass_.size(); ++i)
        if (const WideCount count = counts[i]; count > 0) mass_[i] += each * count + rest * count / total;
}

void GroupLevels::sum(Communicator& comm) {
    sum_wide(comm, mass_);
    comm.sum(std::span(groups_));
    sum_wide(comm, total_);
}

State GroupLevels::state() {
    return {bytes_of(mass_), bytes_of(groups_), bytes_of(total_)};
}

std::size_t GroupLevels::step_at(double level) const {
    const double whole = static_cast<double>(total_[0]) / static_cast<double>(kGroupWeight) + 1;
    const double wanted = level * whole * (1 - kSlack);  // in units of kGroupWeight
    const double full = std::floor(wanted);
    const WideCount target = static_cast<WideCount>(full) * kGroupWeight +
                             static_cast<WideCount>((wanted - full) * static_cast<double>(kGroupWeight));
    WideCount reached = 0;
    std::size_t step = 0;
    for (; step < mass_.size(); ++step) {
        reached += mass_[step];
        if (reached >= target && (mass_[step] > 0 || target == 0)) break;
    }
    return step;
}

double GroupLevels::quantile(double level) const {
    const std::size_t step = step_at(level);
    return step < mass_.size() ? static_cast<double>(step) / kSteps : std::numeric_limits<double>::infinity();
}

std::vector<std::int32_t> GroupLevels::values(const Ladder& ladder) const {
    std::vector<std::int32_t> out;
    for (const double level : ladder.levels) {
        const std::size_t step = step_at(level);
        out.push_back(step < mass_.size() ? static_cast<std::int32_t>(step) - kValueZero
                                          : Adaptation::kNever);
    }
    return out;
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

Adaptation adapted(std::vector<Adaptation::Shift> shifts, const GroupLevels& levels, const Ladder& ladder,
                   SmoothStorage& storage) {
    const bool moves =
        std::any_of(shifts.begin(), shifts.end(), [](const Adaptation::Shift& one) { return !one.none(); });
    Adaptation made(std::move(shifts), levels.values(ladder));
    storage.levels.clear();
    for (std::size_t rung = 0; rung < ladder.levels.size(); ++rung)
        storage.levels.push_back(made.level(rung, 0));
    return moves ? made : Adaptation();
}

namespace {
/// Reads the levels of images' scores from the distributions of the other folds.
class LevelReader {
  public:
    /// The level of a score for which nothing could be learnt.
    static constexpr std::uint32_t kNone = SmoothCurves::kNever;
    struct NoOthers {};  ///< for read(), where pixels with another label do not count

    LevelReader(const SoftInput& input, std::span<const std::uint32_t> strata, std::span<const Cells> cells,
                const std::vector<Judge>& judges)
        : grid_(input.data.grid()),
          strata_(strata.size()),
          judges_(judges),
          cells_(cells),
          fed_(fed_by_class(input.condition, input.data.classes(), strata)),
          // Some rows at a time, so that their scores stay in the cache.
          tile_pixels_(grid_.width * std::clamp<std::size_t>(4096 / grid_.width, 1, grid_.height)),
          tile_(input.data, input.score, tile_pixels_) {
        for (const Cells& one : cells) rows_.push_back(one.rows()), columns_.push_back(one.columns());
    }

    /// Calls body(place of the stratum, level) for all scores of an image, and other(place, level) for some
    /// of its pixels with another label. `fold`: the image's fold.
    template <class Body, class Other>
    void read(std::uint32_t image, std::size_t fold, Body&& body, [[maybe_unused]] Other&& other) {
        constexpr bool kOthers = !std::is_same_v<std::remove_cvref_t<Other>, NoOthers>;
        const std::size_t pixels = grid_.pixels(), width = grid_.width;
        for (std::size_t begin = 0; begin < pixels; begin += tile_pixels_) {
            const PixelRange range{begin, std::min(pixels, begin + tile_pixels_)};
            tile_.load(image, range);
            for (std::size_t c = 0; c < fed_.size(); ++c) {
                const std::size_t place = fed_[c];
                if (place == strata_) continue;
                const SmoothCurves& others = judges_[place].by_fold[fold];
                const ScoreGrid& grid = *judges_[place].grid;
                const float* const scores = tile_.scores(c);
                const std::uint8_t* const member = tile_.member(c);
                if (others.without_data()) {
                    for (std::size_t j = 0; j < range.size(); ++j)
                        if (member[j] != 0) body(place, kNone);
                    continue;
                }
                for (std::size_t line = 0; line < range.size(); line += width) {
                    const BetweenCells& row = rows_[place][(begin + line) / width];
                    for (std::size_t x = 0; x < width; ++x) {
                        const std::size_t pixel = begin + line + x;
                        if (member[line + x] == 0) {
                            // Scores of pixels with another label may lie beyond the thresholds.
                            if constexpr (kOthers)
                                if (tile_.valid()[line + x] != 0 && priced(pixel, pixels))
                                    other(place, others.level(pixel, scores[line + x]));
                            continue;
                        }
                        const std::int32_t key = scale_key(scores[line + x]);
                        const std::size_t column = cells_[place].column_of(pixel);
                        body(place,
                             level_between(others, row, columns_[place][column], grid.bin_of_key(key), key));
                    }
                }
            }
        }
    }

  private:
    Grid grid_;
    std::size_t strata_;
    const std::vector<Judge>& judges_;
    std::span<const Cells> cells_;
    std::vector<std::vector<BetweenCells>> rows_, columns_;  ///< [place of the stratum]
    std::vector<std::size_t> fed_;
    std::size_t tile_pixels_;
    ScoredTile tile_;
};
}  // namespace

std::vector<GroupLevels> group_levels(const SoftInput& input, std::span<const std::uint32_t> strata,
                                      std::span<const Cells> cells, const std::vector<Judge>& judges,
                                      const std::vector<std::uint8_t>& fold_of_image,
                                      const ImageShifts* shifts) {
    static_assert(SmoothCurves::kOne == 16 * GroupLevels::kSteps);
    const std::size_t wanted = strata.size();
    std::vector<GroupLevels> sums(wanted, GroupLevels(shifts != nullptr ? Adapt::image : Adapt::none));
    const std::vector<std::uint64_t> weights =
        input.weights != nullptr ? units_of_groups(input.data, *input.weights) : std::vector<std::uint64_t>{};
    std::mutex adding;
    const auto count = [&](const std::vector<std::uint32_t>& images) {
        std::vector<GroupLevels::Counts> counts(wanted, sums.front().no_counts());
        LevelReader reader(input, strata, cells, judges);
        for (const std::uint32_t image : images)
            reader.read(
                image, fold_of_image[image],
                [&](std::size_t place, std::uint32_t level) {
                    GroupLevels::Counts& own = counts[place];
                    ++own[level == LevelReader::kNone ? own.size() - 1
                          : shifts != nullptr         ? GroupLevels::step_of(level, (*shifts)[image][place])
                                                      : GroupLevels::step_of(level)];
                },
                LevelReader::NoOthers{});
        const std::lock_guard lock(adding);
        const std::uint64_t weight =
            weights.empty() ? kGroupWeight : weights[input.data.group_of(images.front())];
        for (std::size_t i = 0; i < wanted; ++i) sums[i].add(counts[i], weight);
    };
    VisitSums kept;
    for (GroupLevels& one : sums)
        for (const std::span<std::byte> bytes : one.state()) kept.keep(bytes);
    visit_groups(
        {.data = input.data, .progress = input.progress, .stage = "levels", .sums = [&] { return kept; }},
        count);
    for (GroupLevels& one : sums) one.sum(team_of(input.data).comm);
    return sums;
}

namespace {
/// Identifies the group of an image if groups have no place in an order (Folds::place).
std::uint64_t identity(const SoftInput& input, std::size_t image) {
    return input.data.grouped() ? static_cast<std::uint64_t>(input.data.group_id(image))
                                : input.census.image_hash[image];
}
}  // namespace

std::vector<std::vector<ShiftSample>> shift_samples(const SoftInput& input,
                                                    std::span<const std::uint32_t> strata,
                                                    std::span<const Cells> cells,
                                                    const std::vector<Judge>& judges, const Folds& folds) {
    const std::size_t wanted = strata.size();
    std::vector<std::vector<ShiftSample>> out(wanted, std::vector<ShiftSample>(input.data.images()));
    visit_blocks({.data = input.data, .progress = input.progress, .stage = "image shifts"}, {},
                 [&](std::size_t, std::size_t first, std::size_t last) {
                     LevelReader reader(input, strata, cells, judges);
                     std::vector<std::vector<std::int32_t>> values(wanted), others(wanted);
                     for (std::size_t image = first; image < last; ++image) {
                         for (auto* list : {&values, &others})
                             for (std::vector<std::int32_t>& one : *list) one.clear();
                         reader.read(
                             static_cast<std::uint32_t>(image), folds.of_image[image],
                             [&](std::size_t place, std::uint32_t level) {
                                 if (level != LevelReader::kNone)
                                     values[place].push_back(Adaptation::value_of(level));
                             },
                             [&](std::size_t place, std::uint32_t level) {
                                 others[place].push_back(Adaptation::value_of(level));
                             });
                         for (std::size_t i = 0; i < wanted; ++i) {
                             ShiftSample& one = out[i][image];
                             one.group = folds.place.empty() ? identity(input, image) : folds.place[image];
                             one.fold = folds.of_image[image];
                             one.scores = values[i].size();
                             one.features = (*input.features)[image][strata[i]];
                             one.values = some_values(values[i], input.census.images);
                             one.others = some_values(others[i], input.census.images);
                         }
                     }
                 });
    for (std::vector<ShiftSample>& stratum : out) {
        std::erase_if(stratum, [](const ShiftSample& one) { return one.scores == 0 && one.others.empty(); });
        share(team_of(input.data).comm, stratum);
    }
    return out;
}

}  // namespace kandinsky::partition
