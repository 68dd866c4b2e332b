#include "partition/field/leave_one_out.hpp"

#include <algorithm>
#include <mutex>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/team/team.hpp"
#include "partition/field/evidence.hpp"

namespace kandinsky::partition::field {

std::vector<std::uint16_t> read_on(const ScoreGrid& to, const ScoreGrid& from,
                                   const std::vector<std::uint16_t>& distributions, std::size_t cells) {
    struct Place {
        std::size_t bin;
        std::int64_t part, whole;  ///< of the bin
    };
    std::vector<Place> places;
    for (std::size_t k = 0; k + 1 < to.bins(); ++k) {
        const std::int32_t key = to.edges()[k];
        const auto bin = static_cast<std::size_t>(
            std::lower_bound(from.edges().begin(), from.edges().end(), key) - from.edges().begin());
        const std::int32_t low = bin > 0 && bin < from.bins() ? from.edges()[bin - 1] : from.origin();
        if (bin >= from.bins())
            places.push_back({from.bins(), 0, 1});
        else
            places.push_back({bin, std::max<std::int64_t>(0, std::int64_t{key} - low),
                              std::int64_t{from.edges()[bin]} - low});
    }
    const std::size_t known = from.bins() - 1;
    std::vector<std::uint16_t> out(cells * places.size());
    for (std::size_t cell = 0; cell < cells; ++cell) {
        const std::uint16_t* const own = distributions.data() + cell * known;
        const auto value = [&](std::size_t bin) -> std::int64_t {
            return bin < known ? own[bin] : SmoothCurves::kOne;
        };
        for (std::size_t k = 0; k < places.size(); ++k) {
            const auto& [bin, part, whole] = places[k];
            std::int64_t level = SmoothCurves::kOne;
            if (bin < from.bins()) {
                const std::int64_t below = bin > 0 ? value(bin - 1) : 0;
                level = below + (value(bin) - below) * part / whole;
            }
            out[cell * places.size() + k] = static_cast<std::uint16_t>(std::min<std::int64_t>(65535, level));
        }
    }
    return out;
}

namespace {
/// What one stratum has after some groups were left out, each once.
struct Envelope {
    std::vector<std::uint16_t> least;  ///< of all distributions
    GroupLevels levels;
    std::mutex adding;
};

/// Where the pixels of a row or column lie between the cells.
std::vector<BetweenCells> places_on(std::uint32_t pixels, std::uint32_t side, std::uint32_t cells) {
    std::vector<BetweenCells> out;
    for (std::uint32_t i = 0; i < pixels; ++i) out.push_back(between_cells(i, side, cells));
    return out;
}

/// Learns without one group, and lets what was learnt judge that group.
class LeftOut {
  public:
    LeftOut(const SoftInput& input, const Options& options, const Cells& cells, const Folds& folds)
        : input_(input),
          options_(options),
          cells_(cells),
          folds_(folds),
          common_(ScoreGrid::fixed(input.score, input.data.classes())),
          rows_(places_on(input.data.grid().height, cells.side(), cells.grid().height)),
          columns_(places_on(input.data.grid().width, cells.side(), cells.grid().width)) {}

    [[nodiscard]] const ScoreGrid& grid() const { return common_; }

    void judge(const Evidence& evidence, std::size_t group, Envelope& out) const {
        std::vector<bool> used;
        std::uint32_t place = 0;
        bool has = false;
        for (std::size_t image = 0; image < input_.data.images(); ++image) {
            used.push_back(input_.data.group_of(image) != group);
            if (used.back()) continue;
            place = folds_.place[image];
            has = has || !evidence.of_image(image).empty();
        }
        if (!has) return;
        const std::optional<std::vector<std::uint16_t>> others = learnt(evidence, used, place);
        const SmoothCurves curves(input_.data.grid(), Ladder{}, storage_on(common_, cells_, others));
        std::vector<std::uint32_t> counts(GroupLevels::kSteps + 2);
        for (std::size_t image = 0; image < used.size(); ++image) {
            if (used[image]) continue;
            for (const Evidence::Score& one : evidence.of_image(image)) ++counts[step(curves, one)];
        }
        const std::lock_guard lock(out.adding);
        out.levels.add(counts);
        // Nothing was learnt: every score of a new pixel could be as strange.
        const std::vector<std::uint16_t> own = others ? *others : std::vector<std::uint16_t>(size());
        if (out.least.empty()) out.least.assign(size(), 65535);
        for (std::size_t i = 0; i < own.size(); ++i) out.least[i] = std::min(out.least[i], own[i]);
    }

  private:
    [[nodiscard]] std::size_t size() const { return cells_.grid().pixels() * (common_.bins() - 1); }

    [[nodiscard]] std::optional<std::vector<std::uint16_t>> learnt(const Evidence& evidence,
                                                                   const std::vector<bool>& used,
                                                                   std::uint32_t place) const {
        const std::optional<ScoreGrid> grid =
            evidence.grid(used, input_.data.grid().pixels(), common_.largest(), options_.bins);
        if (!grid) return std::nullopt;
        const Folds folds = folds_without(folds_, options_.folds, input_.data.groups(), place);
        const Learnt found =
            learn(evidence.count(used, *grid, folds, cells_), options_, cells_, false, silent());
        return read_on(common_, *grid, found.distributions, cells_.grid().pixels());
    }

    [[nodiscard]] std::size_t step(const SmoothCurves& curves, const Evidence::Score& one) const {
        if (curves.without_data()) return GroupLevels::kSteps + 1;
        const std::uint32_t width = input_.data.grid().width;
        const std::int32_t key = scale_key(one.score);
        return GroupLevels::step_of(curves.level(rows_[one.pixel / width], columns_[one.pixel % width],
                                                 common_.bin_of_key(key), key));
    }

    const SoftInput& input_;
    const Options& options_;
    const Cells& cells_;
    const Folds& folds_;
    ScoreGrid common_;
    std::vector<BetweenCells> rows_, columns_;
};
}  // namespace

std::vector<SoftCurves> leave_one_out(const SoftInput& input, const Options& options, const Cells& cells) {
    if (input.data.team().comm.size() > 1)
        fail(ErrorKind::usage, "--promise loo runs in one process; use --promise split with mpirun");
    if (options.order == FoldOrder::contiguous)
        fail(ErrorKind::usage,
             "--promise loo needs folds by content: leave --field-fold-order contiguous out");
    const Folds folds =
        make_folds(input.data, input.census.image_hash, options.folds, options.order, input.seed);
    if (folds.place.empty())
        fail(ErrorKind::usage, "--promise loo is for up to 65536 groups; use --promise split");
    const LeftOut left_out(input, options, cells, folds);
    const std::vector<Evidence> evidence = gather_evidence(input, input.strata);
    const std::size_t groups = input.data.groups(), strata = input.strata.size();
    std::vector<Envelope> envelopes(strata);
    parallel_for(groups * strata, input.progress, "field: leaving groups out", [&](std::size_t i) {
        left_out.judge(evidence[i % strata], i / strata, envelopes[i % strata]);
    });
    std::vector<SoftCurves> out(strata);
    for (std::size_t i = 0; i < strata; ++i) {
        const std::vector<bool> all(input.data.images(), true);
        const std::optional<ScoreGrid> grid =
            evidence[i].grid(all, input.data.grid().pixels(), left_out.grid().largest(), options.bins);
        SmoothCurves::Storage storage = storage_on(
            left_out.grid(), cells, grid ? std::optional(std::move(envelopes[i].least)) : std::nullopt);
        Learnt found;
        if (grid) {
            found = learn(evidence[i].count(all, *grid, folds, cells), options, cells, false, input.progress);
            storage.levels = levels_of(input.ladder, &envelopes[i].levels);
            storage.scores = input.census.totals[input.strata[i]];
            storage.groups = envelopes[i].levels.groups();
        }
        out[i].partition.geometry = describe(found, folds.count, cells, grid ? grid->bins() : 0);
        out[i].curves = SmoothCurves(input.data.grid(), input.ladder, std::move(storage));
    }
    return out;
}

}  // namespace kandinsky::partition::field
