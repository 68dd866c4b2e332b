#include "evaluate/reliability.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/base/thread_buffer.hpp"
#include "core/kernel/half.hpp"
#include "evaluate/kernels.hpp"

namespace kandinsky {

double smooth_ece_at(std::span<const std::int64_t> residuals, std::uint64_t count, double one, double width) {
    const auto bins = static_cast<std::ptrdiff_t>(residuals.size());
    const double scale = static_cast<double>(bins) * width;  // the width in bins
    // A kernel wider than 64 bins does not resolve single bins, so bins are merged in pairs, which reduces
    // the cost to a quarter.
    if (scale > 64 && bins % 2 == 0) {
        std::vector<std::int64_t> pairs(residuals.size() / 2);
        for (std::size_t k = 0; k < residuals.size(); ++k) pairs[k / 2] += residuals[k];
        return smooth_ece_at(pairs, count, one, width);
    }
    std::vector<double> kernel{1.0};
    double whole = 1;
    while (scale > 0) {
        const double x = static_cast<double>(kernel.size()) / scale;
        if (x > 6) break;
        kernel.push_back(std::exp(-0.5 * x * x));
        whole += 2 * kernel.back();
    }
    const auto reflected = [&](std::ptrdiff_t k) {
        k = ((k % (2 * bins)) + 2 * bins) % (2 * bins);
        return k < bins ? k : 2 * bins - 1 - k;
    };
    const auto reach = static_cast<std::ptrdiff_t>(kernel.size()) - 1;
    std::vector<double> padded;
    for (std::ptrdiff_t k = -reach; k < bins + reach; ++k)
        padded.push_back(static_cast<double>(residuals[static_cast<std::size_t>(reflected(k))]) / one /
                         (static_cast<double>(count) * whole));
    double sum = 0;
    for (std::ptrdiff_t j = 0; j < bins; ++j) {
        const double* const centre = padded.data() + reach + j;
        double here = kernel[0] * centre[0];
        for (std::ptrdiff_t d = 1; d <= reach; ++d)
            here += kernel[static_cast<std::size_t>(d)] * (centre[d] + centre[-d]);
        sum += std::abs(here);
    }
    return sum;
}

double smooth_ece(std::span<const std::int64_t> residuals, std::uint64_t count, double one) {
    if (count == 0) return std::numeric_limits<double>::quiet_NaN();
    // The error falls as the width grows, so exactly one width equals its error. This width is below the
    // error without smoothing. 2^-16 is far below a bin.
    double low = 0, high = std::min(1.0, smooth_ece_at(residuals, count, one, 0));
    while (high - low > 0x1.0p-16) {
        const double middle = (low + high) / 2;
        (smooth_ece_at(residuals, count, one, middle) < middle ? high : low) = middle;
    }
    return (low + high) / 2;
}

namespace {
constexpr std::size_t kBins = Reliability::kBins;
constexpr double kOne = 4294967296.0;  // 2^32 units are probability 1
// The released code divides in half precision; quotients that round to 20 have their own bin.
constexpr std::size_t kMapBins = kBins + 1;

__extension__ using Long = __int128;

/// Sums over the ranks as unsigned numbers modulo 2^112.
void sum_over_ranks(Communicator& comm, std::vector<Long>& values) {
    sum_wide(comm, std::span(reinterpret_cast<WideCount*>(values.data()), values.size()));
    for (Long& value : values) value = static_cast<Long>(static_cast<WideCount>(value) << 16) >> 16;
}

std::size_t released_bin(float p) {
    return static_cast<std::size_t>(round_to_half(p / round_to_half(0.05f)));
}

/// The bins of the probabilities of one class and tile.
struct Scratch {
    void resize(std::size_t n) {
        bin.resize(n);
        slot.resize(n);
        gap.resize(n);
    }
    std::vector<std::uint8_t> bin;
    std::vector<std::uint16_t> slot;
    std::vector<std::int64_t> gap;
};

std::size_t place_of(float p, std::size_t bins) {
    return static_cast<std::size_t>(std::min(static_cast<std::int32_t>(bins) - 1,
                                             static_cast<std::int32_t>(p * static_cast<float>(bins))));
}

/// The slot at which each bin begins, and the end of the last bin.
std::array<std::size_t, kBins + 1> first_slots() {
    std::array<std::size_t, kBins + 1> first{};
    for (std::size_t b = 1; b < kBins; ++b) {
        // Close to the smallest probability of the bin.
        float p = static_cast<float>(b) / static_cast<float>(kBins);
        while (place_of(p, kBins) >= b) p = std::nextafter(p, 0.0f);
        while (place_of(p, kBins) < b) p = std::nextafter(p, 1.0f);
        first[b] = b + place_of(p, kSmoothBins);
    }
    first[kBins] = ReliabilityTile::Totals::kSlots;
    return first;
}
}  // namespace

ReliabilityTile::ReliabilityTile(std::size_t classes, std::size_t pixels, bool released, bool map)
    : classes_(classes),
      pixels_(pixels),
      released_(released),
      map_(map),
      totals_(classes),
      turns_(released ? 0 : classes * kTurns * Totals::kSlots),
      gap_(map ? classes * pixels * kMapBins : 0),
      seen_(map ? classes * pixels : 0) {}

void ReliabilityTile::add(const ScoredTile& tile, GroupBins* groups, std::uint32_t group) {
    for (std::size_t c = 0; c < classes_; ++c) {
        const Added added = released_           ? add_class_as_released(tile, c)
                            : groups != nullptr ? add_class<true>(tile, c)
                                                : add_class<false>(tile, c);
        if (groups != nullptr) groups->add(c, group, added.gaps, added.count);
    }
}

template <bool kGaps>
ReliabilityTile::Added ReliabilityTile::add_class(const ScoredTile& tile, std::size_t c) {
    Scratch& scratch = thread_buffer<Scratch, ReliabilityTile>(1).front();
    scratch.resize(pixels_);
    const std::uint8_t *const member = tile.member(c), *const valid = tile.valid();
    const std::uint8_t* const bin = scratch.bin.data();
    const std::uint16_t* const slot = scratch.slot.data();
    const std::int64_t* const gap = scratch.gap.data();
    bin_probabilities(tile.probs(c), member, valid, pixels_, kBins, kSmoothBins,
                      {scratch.bin.data(), scratch.slot.data(), scratch.gap.data()});
    Added added;
    std::uint64_t all[kBins] = {};
    count_bins(bin, member, pixels_, kBins, all, totals_.positive.data() + c * kBins);
    for (std::size_t b = 0; b < kBins; ++b) {
        totals_.count[c * kBins + b] += all[b];
        added.count += all[b];
    }
    // Neighbouring pixels often have the same slot or bin, and consecutive additions to one number are slow.
    // Several accumulators are therefore used in turn.
    std::int64_t* const slots = turns_.data() + c * kTurns * Totals::kSlots;
    const std::size_t n = pixels_;
    for (std::size_t i = 0; i < n; ++i) slots[i % kTurns * Totals::kSlots + slot[i]] += gap[i];
    if constexpr (kGaps) {
        std::int64_t turns[4][kBins + 1] = {};
        for (std::size_t i = 0; i < pixels_; ++i) turns[i % 4][bin[i]] += gap[i];
        for (std::size_t b = 0; b < kBins; ++b)
            added.gaps[b] = turns[0][b] + turns[1][b] + turns[2][b] + turns[3][b];
    }
    if (map_) {
        std::int64_t* to = gap_.data() + c * pixels_ * kMapBins;
        for (std::size_t i = 0; i < pixels_; ++i, to += kMapBins) to[bin[i]] += gap[i];
        std::uint32_t* const seen = seen_.data() + c * pixels_;
        for (std::size_t i = 0; i < pixels_; ++i) seen[i] += valid[i];
    }
    return added;
}

ReliabilityTile::Added ReliabilityTile::add_class_as_released(const ScoredTile& tile, std::size_t c) {
    const float* const probs = tile.probs(c);
    const std::uint8_t *const member = tile.member(c), *const valid = tile.valid();
    const float least = round_to_half(0.02f);
    Added added;
    for (std::size_t i = 0; i < pixels_; ++i) {
        const float p = round_to_half(probs[i]);
        if (valid[i] == 0 || !(p > least)) continue;
        const std::size_t bin = place_of(p, kBins);
        const std::int64_t gap = static_cast<std::int64_t>(static_cast<double>(p) * kOne) -
                                 (static_cast<std::int64_t>(member[i]) << 32);
        totals_.gaps[c * Totals::kSlots + bin + place_of(p, kSmoothBins)] += gap;
        ++totals_.count[c * kBins + bin];
        totals_.positive[c * kBins + bin] += member[i];
        added.gaps[bin] += gap;
        ++added.count;
        if (!map_) continue;
        ++seen_[c * pixels_ + i];
        gap_[(c * pixels_ + i) * kMapBins + released_bin(p)] += static_cast<std::int64_t>(
            static_cast<double>(round_to_half(p - static_cast<float>(member[i]))) * kOne);
    }
    return added;
}

void GroupBins::add(std::size_t cls, std::uint32_t group, const std::int64_t* gaps, std::uint64_t count) {
    if (count == 0) return;
    std::int64_t* const own = bins_.data() + (cls * groups_ + group) * (kBins + 1);
    for (std::size_t b = 0; b < kBins; ++b)
        if (gaps[b] != 0) std::atomic_ref(own[b]).fetch_add(gaps[b], std::memory_order_relaxed);
    std::atomic_ref(own[kBins]).fetch_add(static_cast<std::int64_t>(count), std::memory_order_relaxed);
}

void GroupBins::finish(const Resamples& resamples, ProbabilityEvaluation& out) const {
    std::vector<double> means(resamples.count(), 0.0);
    double mean = 0;
    for (std::size_t c = 0; c < classes_; ++c) {
        // A sum over the groups of a resample may exceed 64 bits.
        std::vector<Long> sums(resamples.count() * (kBins + 1));
        std::vector<double> values(resamples.count());
        for (std::size_t g = 0; g < groups_; ++g) {
            const std::int64_t* const own = bins_.data() + (c * groups_ + g) * (kBins + 1);
            const std::uint16_t* const times = resamples.times(static_cast<std::uint32_t>(g));
            for (std::size_t b = 0; b < resamples.count(); ++b)
                for (std::size_t k = 0; times[b] > 0 && k <= kBins; ++k)
                    sums[b * (kBins + 1) + k] += static_cast<Long>(times[b]) * own[k];
        }
        sum_over_ranks(resamples.comm(), sums);
        for (std::size_t b = 0; b < resamples.count(); ++b) {
            const Long* const own = sums.data() + b * (kBins + 1);
            double gaps = 0;
            for (std::size_t k = 0; k < kBins; ++k) gaps += std::abs(static_cast<double>(own[k]));
            values[b] = gaps / kOne / static_cast<double>(own[kBins]);
            means[b] += values[b] / static_cast<double>(classes_);
        }
        out.classes[c].ece_interval = centred_interval(values, out.classes[c].ece);
        mean += out.classes[c].ece / static_cast<double>(classes_);
    }
    out.mean_ece_interval = centred_interval(means, mean);
}

ReliabilityTile::Totals ReliabilityTile::totals() const {
    Totals all = totals_;
    for (std::size_t i = 0; i < turns_.size(); ++i)
        all.gaps[i / (kTurns * Totals::kSlots) * Totals::kSlots + i % Totals::kSlots] += turns_[i];
    return all;
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
    }
    for (std::size_t i = 0; i < gaps.size(); ++i) gaps[i] += other.gaps[i];
}

void ReliabilityTile::Totals::sum(Communicator& comm) {
    comm.sum(std::span(count));
    comm.sum(std::span(positive));
    sum_signed(comm, gaps);
}

std::vector<Reliability> ReliabilityTile::Totals::finish() const {
    const std::array<std::size_t, kBins + 1> first = first_slots();
    std::vector<Reliability> out(count.size() / kBins);
    for (std::size_t c = 0; c < out.size(); ++c) {
        Reliability& one = out[c];
        std::vector<std::int64_t> residuals(kSmoothBins);
        std::uint64_t total = 0;
        double off = 0;
        for (std::size_t b = 0; b < kBins; ++b) {
            std::int64_t confidence = static_cast<std::int64_t>(positive[c * kBins + b]) << 32;
            for (std::size_t slot = first[b]; slot < first[b + 1]; ++slot) {
                residuals[slot - b] += gaps[c * kSlots + slot];
                confidence += gaps[c * kSlots + slot];
            }
            const std::uint64_t n = count[c * kBins + b];
            one.count[b] = n;
            if (n == 0) continue;
            const double sum = static_cast<double>(confidence) / kOne;
            const auto hits = static_cast<double>(positive[c * kBins + b]);
            one.confidence[b] = sum / static_cast<double>(n);
            one.accuracy[b] = hits / static_cast<double>(n);
            off += std::abs(sum - hits);
            total += n;
        }
        one.smooth_ece = smooth_ece(residuals, total, kOne);
        one.ece = total > 0 ? off / static_cast<double>(total) : std::numeric_limits<double>::quiet_NaN();
    }
    return out;
}

}  // namespace kandinsky
