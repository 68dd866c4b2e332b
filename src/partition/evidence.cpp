#include "partition/evidence.hpp"
#include "core/data/dataset_access.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "core/base/fail.hpp"
#include "core/team/team.hpp"
#include "partition/image_shift.hpp"
#include "score/scored_tile.hpp"
#include "score/visit.hpp"

namespace kandinsky::partition {

bool Evidence::has(std::uint32_t group) const {
    return std::any_of(images_.begin(), images_.end(),
                       [&](const Image& image) { return image.group == group && !image.scores.empty(); });
}

double Evidence::images_per_group(std::uint32_t left_out) const {
    std::set<std::uint32_t> groups;
    std::size_t images = 0;
    for (const Image& image : images_)
        if (image.group != left_out) groups.insert(image.group), ++images;
    return static_cast<double>(images) / static_cast<double>(std::max<std::size_t>(1, groups.size()));
}

std::optional<ScoreGrid> Evidence::grid(std::uint32_t left_out, std::size_t pixels, float largest,
                                        std::size_t bins) const {
    std::vector<std::uint32_t> at_pixel(pixels);
    bool any = false;
    for (const Image& image : images_) {
        if (image.group == left_out) continue;
        for (const Score& one : image.scores) ++at_pixel[one.pixel];
        any = any || !image.scores.empty();
    }
    if (!any) return std::nullopt;
    std::vector<std::uint64_t> counts(ScoreGrid::kSlots), weights(ScoreGrid::kSlots);
    for (const Image& image : images_) {
        if (image.group == left_out) continue;
        for (const Score& one : image.scores) {
            const std::uint32_t slot = ScoreGrid::slot_of(one.score);
            ++counts[slot];
            weights[slot] += ScoreGrid::vote(at_pixel[one.pixel]);
            largest = std::max(largest, one.score);
        }
    }
    return ScoreGrid(counts, weights, largest, bins);
}

template <class Histograms>
Histograms Evidence::counted(std::uint32_t left_out, const ScoreGrid& grid, const Folds& folds,
                             const Cells& cells) const {
    const bool by_pixel = cells.side() > 1;
    Histograms out(cells.grid().pixels(), folds.count, grid.bins(), by_pixel);
    for (const Image& image : images_) {
        if (image.group == left_out) continue;
        const std::size_t fold = folds.of_image[image.group];
        for (const Score& one : image.scores) {
            const std::size_t cell = cells.of(one.pixel), bin = grid.bin_of(one.score);
            ++out.at(cell, fold)[bin];
            if (by_pixel && cells.in_middle(one.pixel)) ++out.judge(cell, fold)[bin];
        }
    }
    return out;
}

FoldHistograms Evidence::count(std::uint32_t left_out, const ScoreGrid& grid, const Folds& folds,
                               const Cells& cells) const {
    return counted<FoldHistograms>(left_out, grid, folds, cells);
}

RegionHistograms Evidence::count_regions(std::uint32_t left_out, const ScoreGrid& grid, const Folds& folds,
                                         const Cells& cells) const {
    return counted<RegionHistograms>(left_out, grid, folds, cells);
}

namespace {
/// Replaces the images of this rank by those of all ranks, in the order of the ranks.
void share(Communicator& comm, Evidence& evidence) {
    if (comm.size() == 1) return;
    std::vector<std::uint64_t> words;
    for (const Evidence::Image& image : evidence.images()) {
        words.push_back(std::uint64_t{image.group} << 32 | image.scores.size());
        for (const double value : image.features.values) words.push_back(std::bit_cast<std::uint64_t>(value));
        words.push_back(image.others.size());
        for (const auto* list : {&image.scores, &image.others})
            for (const Evidence::Score& one : *list)
                words.push_back(std::uint64_t{one.pixel} << 32 | std::bit_cast<std::uint32_t>(one.score));
    }
    const std::vector<std::uint64_t> all = gather_words(comm, words).values;
    evidence.images().clear();
    for (std::size_t at = 0; at < all.size();) {
        Evidence::Image& image = evidence.images().emplace_back();
        image.group = static_cast<std::uint32_t>(all[at] >> 32);
        const std::size_t scores = static_cast<std::uint32_t>(all[at++]);
        for (double& value : image.features.values) value = std::bit_cast<double>(all[at++]);
        const std::size_t own = at + 1 + scores, end = own + all[at];
        for (++at; at < end; ++at)
            (at < own ? image.scores : image.others)
                .push_back({static_cast<std::uint32_t>(all[at] >> 32),
                            std::bit_cast<float>(static_cast<std::uint32_t>(all[at]))});
    }
}
}  // namespace

std::vector<Evidence> gather_evidence(const SoftInput& input, std::span<const std::uint32_t> strata,
                                      const std::vector<std::uint32_t>& places) {
    std::uint64_t bytes = 0;
    for (const std::uint32_t s : strata) bytes += input.census.totals[s] * sizeof(Evidence::Score);
    if (bytes > std::max(input.memory, Evidence::kLeastMemory))
        fail(ErrorKind::usage,
             "`promise loo` holds {} MiB of scores in memory; raise `memory`, or use `promise split`",
             (bytes >> 20) + 1);
    const std::size_t pixels = input.data.grid().pixels();
    const std::vector<std::size_t> fed = fed_by_class(input.condition, input.data.classes(), strata);
    std::vector<Evidence> out(strata.size());
    for (Evidence& one : out)
        for (const std::uint32_t place : places) one.images().push_back({.group = place, .scores = {}});
    for (std::size_t s = 0; s < strata.size() && input.features != nullptr; ++s)
        for (std::size_t image = 0; image < places.size(); ++image)
            out[s].images()[image].features = (*input.features)[image][strata[s]];
    constexpr std::size_t kRun = 4096;  // pixels scored at a time: they stay in the cache
    visit_blocks({.data = input.data, .progress = input.progress, .stage = "scores", .score = &input.score},
                 {}, [&](std::size_t, std::size_t first, std::size_t last) {
                     ScoredTile tile(input.data, input.score, std::min(kRun, pixels));
                     for (std::size_t image = first; image < last; ++image)
                         for (std::size_t begin = 0; begin < pixels; begin += kRun) {
                             const PixelRange range{begin, std::min(pixels, begin + kRun)};
                             tile.load(image, range);
                             for (std::size_t c = 0; c < fed.size(); ++c) {
                                 if (fed[c] == strata.size()) continue;
                                 Evidence::Image& own = out[fed[c]].images()[image];
                                 for (std::size_t i = 0; i < range.size(); ++i) {
                                     const Evidence::Score one{static_cast<std::uint32_t>(begin + i),
                                                               tile.scores(c)[i]};
                                     if (tile.member(c)[i] != 0)
                                         own.scores.push_back(one);
                                     else if (input.features != nullptr && tile.valid()[i] != 0 &&
                                              priced(one.pixel, pixels))
                                         own.others.push_back(one);
                                 }
                             }
                         }
                 });
    for (Evidence& one : out) share(team_of(input.data).comm, one);
    return out;
}

std::vector<std::vector<std::uint32_t>> evidence_batches(const SoftInput& input) {
    std::vector<std::vector<std::uint32_t>> batches;
    std::uint64_t room = 0;
    for (const std::uint32_t s : input.strata) {
        const std::uint64_t bytes = input.census.totals[s] * sizeof(Evidence::Score);
        if (batches.empty() || bytes > room) {
            batches.emplace_back();
            room = std::max(input.memory, Evidence::kLeastMemory);
        }
        batches.back().push_back(s);
        room -= std::min(room, bytes);
    }
    return batches;
}

}  // namespace kandinsky::partition
