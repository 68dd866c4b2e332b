#include "partition/region_distributions.hpp"
#include "core/data/dataset_access.hpp"
#include "curve/curve_storage.hpp"

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>

#include "partition/envelope.hpp"
#include "score/scored_tile.hpp"
#include "score/visit.hpp"

namespace kandinsky::partition {

std::vector<RegionHistograms> count_regions(const SoftInput& input, std::span<const std::uint32_t> strata,
                                            const std::vector<ScoreGrid>& grids, const Folds& folds,
                                            std::span<const Cells> cells) {
    const std::vector<std::size_t> fed = fed_by_class(input.condition, input.data.classes(), strata);
    std::vector<RegionHistograms> histograms;
    VisitSums sums;
    for (std::size_t i = 0; i < strata.size(); ++i)
        histograms.emplace_back(cells[i].grid().pixels(), folds.count, grids[i].bins());
    for (RegionHistograms& one : histograms)
        for (const std::span<std::byte> bytes : one.state()) sums.keep(bytes);
    constexpr std::size_t kRun = 4096;  // pixels scored at a time: they stay in the cache
    const std::size_t pixels = input.data.grid().pixels();
    struct Found {
        std::uint32_t cell, bin;
    };
    std::mutex adding;
    const auto count = [&](std::size_t, std::size_t first, std::size_t last) {
        ScoredTile tile(input.data, input.score, std::min(kRun, pixels));
        std::vector<std::vector<Found>> found(strata.size());
        for (std::size_t image = first; image < last; ++image) {
            for (std::vector<Found>& one : found) one.clear();
            for (std::size_t begin = 0; begin < pixels; begin += kRun) {
                const PixelRange range{begin, std::min(pixels, begin + kRun)};
                tile.load(image, range);
                for (std::size_t c = 0; c < fed.size(); ++c) {
                    const std::size_t place = fed[c];
                    if (place == strata.size()) continue;
                    const float* const scores = tile.scores(c);
                    const std::uint8_t* const member = tile.member(c);
                    for (std::size_t i = 0; i < range.size(); ++i)
                        if (member[i] != 0)
                            found[place].push_back({static_cast<std::uint32_t>(cells[place].of(begin + i)),
                                                    grids[place].bin_of(scores[i])});
                }
            }
            const std::lock_guard lock(adding);
            for (std::size_t place = 0; place < strata.size(); ++place)
                for (const auto& [cell, bin] : found[place])
                    ++histograms[place].at(cell, folds.of_image[image])[bin];
        }
    };
    visit_blocks({.data = input.data,
                  .progress = input.progress,
                  .stage = "regions: scores",
                  .score = &input.score,
                  .sums = [&] { return sums; }},
                 {}, count);
    for (std::size_t i = 0; i < histograms.size(); ++i)
        histograms[i].sum(team_of(input.data).comm, grids[i].most_bins());
    return histograms;
}

namespace {
/// Appends a histogram as a cumulative distribution, rounded down, without the last bin.
void append(const std::vector<std::uint64_t>& counts, std::vector<std::uint16_t>& out) {
    std::uint64_t total = 0, sum = 0;
    for (const std::uint64_t one : counts) total += one;
    for (std::size_t b = 0; b + 1 < counts.size(); ++b) {
        sum += counts[b];
        const std::uint64_t level = total > 0 ? sum * SmoothCurves::kOne / total : 0;
        out.push_back(static_cast<std::uint16_t>(std::min<std::uint64_t>(65535, level)));
    }
}

std::optional<std::vector<std::uint16_t>> without(const RegionHistograms& histograms, std::size_t fold,
                                                  std::uint64_t least) {
    std::vector<std::uint64_t> image(histograms.bins()), counts(histograms.bins());
    std::uint64_t total = 0;
    for (std::size_t cell = 0; cell < histograms.pixels(); ++cell) {
        total += histograms.without(cell, fold, counts);
        for (std::size_t b = 0; b < counts.size(); ++b) image[b] += counts[b];
    }
    if (total == 0) return std::nullopt;
    std::vector<std::uint16_t> out;
    out.reserve(histograms.pixels() * (histograms.bins() - 1));
    for (std::size_t cell = 0; cell < histograms.pixels(); ++cell) {
        const std::uint64_t scores = histograms.without(cell, fold, counts);
        append(scores < least ? image : counts, out);
    }
    return out;
}
}  // namespace

FoldDistributions region_distributions(const RegionHistograms& histograms, std::uint64_t least) {
    FoldDistributions out;
    out.whole = without(histograms, histograms.folds(), least).value_or(std::vector<std::uint16_t>());
    for (std::size_t fold = 0; fold < histograms.folds(); ++fold)
        out.without_fold.push_back(without(histograms, fold, least));
    return out;
}

SoftCurves regions_without_data(Grid grid, const Partition& partition, const Ladder& ladder) {
    SmoothStorage nothing;
    nothing.region = partition.region;
    SoftCurves out{.partition = partition, .curves = smooth_from(grid, ladder, std::move(nothing))};
    out.partition.regions = static_cast<std::uint32_t>(out.curves.cells().pixels());
    return out;
}

std::vector<SoftCurves> adapted_regions(const LevelImages& images, const std::vector<Partition>& partitions,
                                        std::uint64_t least) {
    const SoftInput& input = images.learn;
    const Folds folds =
        make_folds(input.data, input.census.image_hash, kRegionFolds, FoldOrder::content, input.seed);
    std::vector<SoftCurves> out(input.strata.size());
    std::uint32_t most = 1;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const Partition& own = partitions[input.strata[i]];
        out[i] = regions_without_data(input.data.grid(), own, input.ladder);
        most = std::max(most, own.regions);
    }
    const Grid room{1, most};
    for (const std::vector<std::uint32_t>& strata : batches_of(input, folds.count, kRegionBins, room)) {
        const std::vector<ScoreGrid> grids = make_score_grids(input, strata, kRegionBins);
        std::vector<Cells> cells;
        cells.reserve(strata.size());
        for (const std::uint32_t s : strata) cells.emplace_back(input.data.grid(), partitions[s]);
        std::vector<FoldDistributions> fits;
        for (const RegionHistograms& one : count_regions(input, strata, grids, folds, cells))
            fits.push_back(region_distributions(one, least));
        const FoldLevels fitted = fold_levels(images, strata, cells, folds, grids, fits);
        for (std::size_t i = 0; i < strata.size(); ++i) {
            SmoothStorage storage = storage_on(grids[i], cells[i], std::move(fits[i].whole));
            storage.scores = input.census.totals[strata[i]];
            storage.groups = fitted.levels[i].groups();
            const auto place =
                std::find(input.strata.begin(), input.strata.end(), strata[i]) - input.strata.begin();
            SoftCurves& made = out[static_cast<std::size_t>(place)];
            made.adaptation = adapted({fitted.shifts[i].shift}, fitted.levels[i], input.ladder, storage);
            made.curves = smooth_from(input.data.grid(), input.ladder, std::move(storage));
            nlohmann::ordered_json geometry = nlohmann::ordered_json::parse(made.partition.geometry);
            geometry["adapt"] = nlohmann::ordered_json::parse(describe(fitted.shifts[i]));
            made.partition.geometry = geometry.dump();
        }
    }
    return out;
}

}  // namespace kandinsky::partition
