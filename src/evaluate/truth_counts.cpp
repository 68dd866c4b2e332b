#include "evaluate/truth_counts.hpp"

#include <atomic>
#include <numeric>

namespace kandinsky {

TruthCounts::TruthCounts(const Dataset& data)
    : classes_(data.classes()),
      pixels_(data.grid().pixels()),
      labelled_(pixels_),
      samples_(classes_ * pixels_),
      shown_(data.images() * classes_) {}

void TruthCounts::add(const ScoredTile& tile, PixelRange range, std::size_t image) {
    // Flags are 0 or 1; returns whether one of them is 1.
    const auto count = [&](const std::uint8_t* flags, std::uint32_t* counts) {
        std::uint8_t any = 0;
        for (std::size_t i = 0; i < range.size(); ++i) {
            counts[i] += flags[i];
            any |= flags[i];
        }
        return any != 0;
    };
    count(tile.valid(), labelled_.data() + range.begin);
    for (std::size_t c = 0; c < classes_; ++c)
        if (count(tile.member(c), samples_.data() + c * pixels_ + range.begin))
            std::atomic_ref(shown_[image * classes_ + c]).store(1, std::memory_order_relaxed);
}

void TruthCounts::list(PixelRange range, VisitSums& sums) {
    sums.add(std::span(labelled_).subspan(range.begin, range.size()));
    for (std::size_t c = 0; c < classes_; ++c)
        sums.add(std::span(samples_).subspan(c * pixels_ + range.begin, range.size()));
}

void TruthCounts::list_images(VisitSums& sums) {
    sums.keep(bytes_of(shown_));
}

void TruthCounts::finish(Tally& out) const {
    out.labelled = labelled_;
    out.samples = samples_;
    out.labels = std::accumulate(labelled_.begin(), labelled_.end(), std::uint64_t{0});
    for (auto own = shown_.begin(); own != shown_.end(); own += static_cast<std::ptrdiff_t>(classes_))
        out.kinds.push_back(
            std::accumulate(own, own + static_cast<std::ptrdiff_t>(classes_), std::uint64_t{0}));
}

}  // namespace kandinsky
