#include "partition/histograms.hpp"

#include <algorithm>
#include <numeric>

#include "core/checkpoint.hpp"
#include "core/team.hpp"
#include "score/image_blocks.hpp"
#include "score/scored_tile.hpp"

namespace kandinsky::partition {

std::uint32_t FoldHistograms::without(std::size_t pixel, std::size_t fold,
                                      std::span<std::uint32_t> out) const {
    std::fill(out.begin(), out.end(), 0u);
    for (std::size_t f = 0; f < folds_; ++f) {
        if (f == fold) continue;
        const std::span<const std::uint32_t> own = at(pixel, f);
        for (std::size_t b = 0; b < bins_; ++b) out[b] += own[b];
    }
    std::uint32_t total = 0;
    for (const std::uint32_t n : out) total += n;
    return total;
}

void FoldHistograms::sum(Communicator& comm, std::size_t room) {
    if (comm.size() == 1) return;
    constexpr std::size_t kStretch = std::size_t{1} << 20;  // numbers in a message
    const std::size_t all = pixels_ * folds_, most = std::max<std::size_t>(1, kStretch / room);
    std::vector<std::uint32_t> message;
    for (std::size_t first = 0; first < all; first += most) {
        const std::size_t count = std::min(most, all - first);
        message.assign(count * room, 0);
        for (std::size_t i = 0; i < count; ++i)
            std::copy_n(counts_.begin() + static_cast<std::ptrdiff_t>((first + i) * bins_), bins_,
                        message.begin() + static_cast<std::ptrdiff_t>(i * room));
        comm.sum(std::span(message));
        for (std::size_t i = 0; i < count; ++i)
            std::copy_n(message.begin() + static_cast<std::ptrdiff_t>(i * room), bins_,
                        counts_.begin() + static_cast<std::ptrdiff_t>((first + i) * bins_));
    }
}

std::uint64_t total_of(std::span<const std::uint32_t> counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::size_t lattice_step(const FoldHistograms& histograms) {
    constexpr std::size_t kMostPixels = 20000;
    std::size_t filled = 0;
    for (std::size_t p = 0; p < histograms.pixels(); ++p)
        for (std::size_t f = 0; f < histograms.folds(); ++f)
            if (total_of(histograms.at(p, f)) > 0) {
                ++filled;
                break;
            }
    std::size_t step = 1;
    while (filled / (step * step) > kMostPixels) ++step;
    return step;
}

std::vector<std::size_t> judged_pixels(const Grid& grid, const FoldHistograms& histograms, std::size_t fold,
                                       std::size_t step) {
    std::vector<std::size_t> pixels;
    for (std::size_t y = step / 2; y < grid.height; y += step)
        for (std::size_t x = step / 2; x < grid.width; x += step)
            if (total_of(histograms.at(y * grid.width + x, fold)) > 0) pixels.push_back(y * grid.width + x);
    return pixels;
}

FoldHistograms count_scores(const SoftInput& input, const ScoreGrid& grid, const Folds& folds,
                            const Cells& cells) {
    const Grid image_grid = input.data.grid();
    FoldHistograms histograms(cells.grid().pixels(), folds.count, grid.bins());
    // A tile's histograms should stay in the cache while all images pass by, and tiles must not share a cell:
    // a run of pixels where cells are pixels, else the rows of one line of cells.
    constexpr std::size_t kTile = 512;
    const std::size_t pixels = image_grid.pixels();
    const std::size_t length = cells.side() == 1 ? kTile : std::size_t{image_grid.width} * cells.side();
    const std::size_t tiles = (pixels + length - 1) / length;
    const auto walk = [&](std::size_t number, std::size_t first, std::size_t last) {
        const PixelRange range{number * length, std::min(pixels, (number + 1) * length)};
        std::vector<std::size_t> cell(range.size());
        for (std::size_t i = 0; i < cell.size(); ++i) cell[i] = cells.of(range.begin + i);
        ScoredTile tile(input.data, input.score, range.size(), ScoredTile::Pages::keep);
        for (std::size_t image = first; image < last; ++image) {
            tile.load(image, range);
            const std::size_t fold = folds.of_image[image];
            for (std::size_t c = 0; c < input.data.classes(); ++c) {
                if (!feeds(input, c)) continue;
                const float* const scores = tile.scores(c);
                const std::uint8_t* const member = tile.member(c);
                for (std::size_t i = 0; i < range.size(); ++i)
                    if (member[i] != 0) ++histograms.at(cell[i], fold)[grid.bin_of(scores[i])];
            }
        }
    };
    const Team& team = input.data.team();
    accumulate(team, "score histograms", input.data.images(), {std::as_writable_bytes(histograms.all())},
               [&](std::size_t first, std::size_t last) {
                   pass_images(input.data, first, last, tiles, input.progress, "score histograms", walk);
               });
    histograms.sum(team.comm, grid.most_bins());
    return histograms;
}

}  // namespace kandinsky::partition
