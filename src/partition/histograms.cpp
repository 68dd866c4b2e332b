#include "partition/histograms.hpp"
#include "core/data/dataset_access.hpp"

#include <algorithm>
#include <numeric>

#include "core/team/team.hpp"
#include "score/scored_tile.hpp"
#include "score/visit.hpp"

namespace kandinsky::partition {

template <class Count>
Count BasicFoldHistograms<Count>::without(std::size_t pixel, std::size_t fold, std::span<Count> out) const {
    std::fill(out.begin(), out.end(), Count{0});
    for (std::size_t f = 0; f < folds_; ++f) {
        if (f == fold) continue;
        const std::span<const Count> own = at(pixel, f);
        for (std::size_t b = 0; b < bins_; ++b) out[b] += own[b];
    }
    return std::accumulate(out.begin(), out.end(), Count{0});
}

template <class Count>
BasicFoldHistograms<Count> BasicFoldHistograms<Count>::halved() const {
    BasicFoldHistograms out(pixels_, folds_, (bins_ + 1) / 2, !judges_.empty());
    const auto merge = [&](const std::vector<Count>& from, std::vector<Count>& to) {
        for (std::size_t i = 0; i < from.size() / std::max<std::size_t>(1, bins_); ++i)
            for (std::size_t b = 0; b < bins_; ++b) to[i * out.bins_ + b / 2] += from[i * bins_ + b];
    };
    merge(counts_, out.counts_);
    merge(judges_, out.judges_);
    return out;
}

template <class Count>
void BasicFoldHistograms<Count>::sum(Communicator& comm, std::size_t room) {
    if (comm.size() == 1) return;
    constexpr std::size_t kStretch = std::size_t{1} << 20;  // numbers in a message
    const std::size_t all = pixels_ * folds_, most = std::max<std::size_t>(1, kStretch / room);
    std::vector<Count> message;
    for (std::vector<Count>* const counts : {&counts_, &judges_})
        for (std::size_t first = 0; first < all && !counts->empty(); first += most) {
            const std::size_t count = std::min(most, all - first);
            message.assign(count * room, 0);
            for (std::size_t i = 0; i < count; ++i)
                std::copy_n(counts->begin() + static_cast<std::ptrdiff_t>((first + i) * bins_), bins_,
                            message.begin() + static_cast<std::ptrdiff_t>(i * room));
            comm.sum(std::span(message));
            for (std::size_t i = 0; i < count; ++i)
                std::copy_n(message.begin() + static_cast<std::ptrdiff_t>(i * room), bins_,
                            counts->begin() + static_cast<std::ptrdiff_t>((first + i) * bins_));
        }
}

template class BasicFoldHistograms<std::uint32_t>;
template class BasicFoldHistograms<std::uint64_t>;

std::uint64_t total_of(std::span<const std::uint32_t> counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::vector<std::size_t> judged_cells(const FoldHistograms& histograms, std::size_t fold) {
    std::vector<std::size_t> cells;
    for (std::size_t cell = 0; cell < histograms.pixels(); ++cell)
        if (total_of(histograms.judge(cell, fold)) > 0) cells.push_back(cell);
    return cells;
}

std::vector<FoldHistograms> count_scores(const SoftInput& input, std::span<const std::uint32_t> strata,
                                         const std::vector<ScoreGrid>& grids, const Folds& folds,
                                         const Cells& cells) {
    const Grid image_grid = input.data.grid();
    const std::vector<std::size_t> fed = fed_by_class(input.condition, input.data.classes(), strata);
    std::vector<FoldHistograms> histograms;
    histograms.reserve(grids.size());
    VisitSums sums;
    for (const ScoreGrid& grid : grids)
        histograms.emplace_back(cells.grid().pixels(), folds.count, grid.bins(), cells.side() > 1);
    for (FoldHistograms& one : histograms)
        for (const std::span<std::byte> bytes : one.state()) sums.keep(bytes);
    // Tiles must not share a cell: a tile is one row of cells, or several short rows.
    constexpr std::size_t kTile = 512;
    const std::size_t pixels = image_grid.pixels(), line = std::size_t{image_grid.width} * cells.side();
    const Tiles tiles{pixels, line * std::max<std::size_t>(1, kTile / line)};
    const auto count = [&](std::size_t number, std::size_t first, std::size_t last) {
        const PixelRange range = tiles[number];
        std::vector<std::uint32_t> cell(range.size());
        std::vector<std::uint8_t> middle(range.size());
        for (std::size_t i = 0; i < cell.size(); ++i) {
            cell[i] = static_cast<std::uint32_t>(cells.of(range.begin + i));
            middle[i] = cells.side() > 1 && cells.in_middle(range.begin + i);
        }
        ScoredTile tile(input.data, input.score, range.size());
        for (std::size_t image = first; image < last; ++image) {
            tile.load(image, range);
            const std::size_t fold = folds.of_image[image];
            for (std::size_t c = 0; c < fed.size(); ++c) {
                if (fed[c] == strata.size()) continue;
                FoldHistograms& own = histograms[fed[c]];
                const ScoreGrid& grid = grids[fed[c]];
                const float* const scores = tile.scores(c);
                const std::uint8_t* const member = tile.member(c);
                for (std::size_t i = 0; i < range.size(); ++i) {
                    if (member[i] == 0) continue;
                    const std::size_t bin = grid.bin_of(scores[i]);
                    ++own.at(cell[i], fold)[bin];
                    if (middle[i] != 0) ++own.judge(cell[i], fold)[bin];
                }
            }
        }
    };
    visit_tiles({.data = input.data,
                 .progress = input.progress,
                 .stage = "score histograms",
                 .score = &input.score,
                 .sums = [&] { return sums; }},
                tiles.count(), count);
    for (std::size_t i = 0; i < histograms.size(); ++i)
        histograms[i].sum(team_of(input.data).comm, grids[i].most_bins());
    return histograms;
}

std::vector<std::vector<std::uint32_t>> batches_of(const SoftInput& input, std::size_t folds,
                                                   std::size_t bins, const Grid& cells) {
    // The histograms with their middle pixels, and about the same memory for what is computed from them.
    // Regions have counts of twice the size, but no middle pixels.
    const std::size_t bytes = 4 * cells.pixels() * folds * bins * sizeof(std::uint32_t) +
                              16 * ScoreGrid::kSlots * 2 * sizeof(std::uint64_t);
    const std::size_t most = std::max<std::size_t>(1, input.memory / bytes);
    std::vector<std::uint32_t> wanted;
    for (const std::uint32_t stratum : input.strata)
        if (input.census.totals[stratum] > 0) wanted.push_back(stratum);
    // As few passes as the memory allows, all with about the same number of strata.
    const std::size_t passes = (wanted.size() + most - 1) / most;
    std::vector<std::vector<std::uint32_t>> batches(passes);
    for (std::size_t i = 0; i < wanted.size(); ++i) batches[i * passes / wanted.size()].push_back(wanted[i]);
    return batches;
}

}  // namespace kandinsky::partition
