#include "partition/field/evidence.hpp"

#include <algorithm>

#include "score/scored_tile.hpp"
#include "score/visit.hpp"

namespace kandinsky::partition::field {

std::optional<ScoreGrid> Evidence::grid(const std::vector<bool>& used, std::size_t pixels, float largest,
                                        std::size_t bins) const {
    std::vector<std::uint32_t> at_pixel(pixels);
    bool any = false;
    for (std::size_t image = 0; image < images_.size(); ++image) {
        if (!used[image]) continue;
        for (const Score& one : images_[image]) ++at_pixel[one.pixel];
        any = any || !images_[image].empty();
    }
    if (!any) return std::nullopt;
    std::vector<std::uint64_t> counts(ScoreGrid::kSlots), weights(ScoreGrid::kSlots);
    for (std::size_t image = 0; image < images_.size(); ++image) {
        if (!used[image]) continue;
        for (const Score& one : images_[image]) {
            const std::uint32_t slot = ScoreGrid::slot_of(one.score);
            ++counts[slot];
            weights[slot] += ScoreGrid::vote(at_pixel[one.pixel]);
            largest = std::max(largest, one.score);
        }
    }
    return ScoreGrid(counts, weights, largest, bins);
}

FoldHistograms Evidence::count(const std::vector<bool>& used, const ScoreGrid& grid, const Folds& folds,
                               const Cells& cells) const {
    const bool by_pixel = cells.side() > 1;
    FoldHistograms out(cells.grid().pixels(), folds.count, grid.bins(), by_pixel);
    for (std::size_t image = 0; image < images_.size(); ++image) {
        if (!used[image]) continue;
        const std::size_t fold = folds.of_image[image];
        for (const Score& one : images_[image]) {
            const std::size_t cell = cells.of(one.pixel), bin = grid.bin_of(one.score);
            ++out.at(cell, fold)[bin];
            if (by_pixel && cells.in_middle(one.pixel)) ++out.judge(cell, fold)[bin];
        }
    }
    return out;
}

std::vector<Evidence> gather_evidence(const SoftInput& input, std::span<const std::uint32_t> strata) {
    const std::size_t pixels = input.data.grid().pixels();
    const std::vector<std::size_t> fed = fed_by_class(input.condition, input.data.classes(), strata);
    std::vector<Evidence> out(strata.size(), Evidence(input.data.images()));
    constexpr std::size_t kRun = 4096;  // pixels scored at a time: they stay in the cache
    visit_blocks(
        {.data = input.data, .progress = input.progress, .stage = "field: scores", .score = &input.score}, {},
        [&](std::size_t, std::size_t first, std::size_t last) {
            ScoredTile tile(input.data, input.score, std::min(kRun, pixels));
            for (std::size_t image = first; image < last; ++image)
                for (std::size_t begin = 0; begin < pixels; begin += kRun) {
                    const PixelRange range{begin, std::min(pixels, begin + kRun)};
                    tile.load(image, range);
                    for (std::size_t c = 0; c < fed.size(); ++c) {
                        if (fed[c] == strata.size()) continue;
                        auto& own = out[fed[c]].of_image(image);
                        for (std::size_t i = 0; i < range.size(); ++i)
                            if (tile.member(c)[i] != 0)
                                own.push_back({static_cast<std::uint32_t>(begin + i), tile.scores(c)[i]});
                    }
                }
        });
    return out;
}

}  // namespace kandinsky::partition::field
