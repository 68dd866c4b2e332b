#include "evaluate/reliability.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/half.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kBins = Reliability::kBins;
constexpr double kOne = 4294967296.0;  // 2^32 units are probability 1
// The released code divides in half precision, and what reaches 20 that way has a bin of its own.
constexpr std::size_t kMapBins = kBins + 1;

std::size_t released_bin(float p) {
    return static_cast<std::size_t>(round_to_half(p / round_to_half(0.05f)));
}
}  // namespace

ReliabilityTile::ReliabilityTile(std::size_t classes, std::size_t pixels, bool released)
    : classes_(classes),
      pixels_(pixels),
      released_(released),
      totals_(classes),
      gap_(classes * pixels * kMapBins),
      seen_(classes * pixels) {}

void ReliabilityTile::add(const ScoredTile& tile) {
    if (released_)
        add_as<true>(tile);
    else
        add_as<false>(tile);
}

template <bool kReleased>
void ReliabilityTile::add_as(const ScoredTile& tile) {
    const std::uint8_t* const valid = tile.valid();
    for (std::size_t c = 0; c < classes_; ++c) {
        const float* const probs = tile.probs(c);
        const std::uint8_t* const member = tile.member(c);
        std::int64_t* const gap = gap_.data() + c * pixels_ * kMapBins;
        std::uint32_t* const seen = seen_.data() + c * pixels_;
        const float least = round_to_half(0.02f);
        // Neighbours often fall into the same bin, so they count in turn: all in the low half, members in the
        // high one.
        std::uint64_t turns[4][kBins] = {};
        for (std::size_t i = 0; i < pixels_; ++i) {
            if (valid[i] == 0) continue;
            const float p = kReleased ? round_to_half(probs[i]) : probs[i];
            if (kReleased && !(p > least)) continue;
            const auto bin =
                static_cast<std::size_t>(std::min(static_cast<std::int32_t>(kBins) - 1,
                                                  static_cast<std::int32_t>(p * static_cast<float>(kBins))));
            const auto units = static_cast<std::int64_t>(static_cast<double>(p) * kOne);
            turns[i % 4][bin] += 1 | static_cast<std::uint64_t>(member[i]) << 32;
            if constexpr (kReleased) {
                ++seen[i];
                totals_.confidence[c * kBins + bin] += units;
                gap[i * kMapBins + released_bin(p)] += static_cast<std::int64_t>(
                    static_cast<double>(round_to_half(p - static_cast<float>(member[i]))) * kOne);
            } else {
                gap[i * kMapBins + bin] += units - (static_cast<std::int64_t>(member[i]) << 32);
            }
        }
        if constexpr (!kReleased)
            for (std::size_t i = 0; i < pixels_; ++i) seen[i] += valid[i];
        for (const auto& turn : turns)
            for (std::size_t b = 0; b < kBins; ++b) {
                totals_.count[c * kBins + b] += turn[b] & 0xFFFFFFFFu;
                totals_.positive[c * kBins + b] += turn[b] >> 32;
            }
    }
}

ReliabilityTile::Totals ReliabilityTile::totals() const {
    Totals out = totals_;
    if (released_) return out;
    // The gaps of a bin sum up to its confidence less its members.
    for (std::size_t c = 0; c < classes_; ++c)
        for (std::size_t b = 0; b < kBins; ++b) {
            std::int64_t& sum = out.confidence[c * kBins + b];
            sum = static_cast<std::int64_t>(out.positive[c * kBins + b]) << 32;
            for (std::size_t i = 0; i < pixels_; ++i) sum += gap_[(c * pixels_ + i) * kMapBins + b];
        }
    return out;
}

void ReliabilityTile::write_map(std::size_t first, std::vector<std::vector<double>>& map) const {
    for (std::size_t c = 0; c < classes_; ++c)
        for (std::size_t i = 0; i < pixels_; ++i) {
            double sum = 0;
            for (std::size_t b = 0; b < kMapBins; ++b)
                sum += std::abs(static_cast<double>(gap_[(c * pixels_ + i) * kMapBins + b])) / kOne;
            const std::uint32_t n = seen_[c * pixels_ + i];
            map[c][first + i] = n > 0 ? sum / n : std::numeric_limits<double>::quiet_NaN();
        }
}

void ReliabilityTile::Totals::add(const Totals& other) {
    for (std::size_t i = 0; i < count.size(); ++i) {
        count[i] += other.count[i];
        positive[i] += other.positive[i];
        confidence[i] += other.confidence[i];
    }
}

std::vector<Reliability> ReliabilityTile::Totals::finish() const {
    std::vector<Reliability> out(count.size() / kBins);
    for (std::size_t c = 0; c < out.size(); ++c) {
        Reliability& one = out[c];
        std::uint64_t total = 0;
        double gaps = 0;
        for (std::size_t b = 0; b < kBins; ++b) {
            const std::uint64_t n = count[c * kBins + b];
            one.count[b] = n;
            if (n == 0) continue;
            const double sum = static_cast<double>(confidence[c * kBins + b]) / kOne;
            const auto hits = static_cast<double>(positive[c * kBins + b]);
            one.confidence[b] = sum / static_cast<double>(n);
            one.accuracy[b] = hits / static_cast<double>(n);
            gaps += std::abs(sum - hits);
            total += n;
        }
        one.ece = total > 0 ? gaps / static_cast<double>(total) : std::numeric_limits<double>::quiet_NaN();
    }
    return out;
}

}  // namespace kandinsky
