#include "evaluate/reliability.hpp"

#include <algorithm>
#include <atomic>
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

__extension__ using Long = __int128;

/// As the low 48 bits and what is above them, which has the sign.
void sum_over_ranks(Communicator& comm, std::vector<Long>& values) {
    if (comm.size() == 1) return;
    constexpr unsigned kLow = 48;
    std::vector<std::uint64_t> words;
    for (const Long value : values) {
        words.push_back(static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << kLow) - 1));
        words.push_back(static_cast<std::uint64_t>(static_cast<std::int64_t>(value >> kLow)));
    }
    comm.sum(std::span(words));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] =
            static_cast<Long>(static_cast<std::int64_t>(words[2 * i + 1])) * (static_cast<Long>(1) << kLow) +
            words[2 * i];
}

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
        std::int64_t* const residuals = totals_.residuals.data() + c * kSmoothBins;
        // Neighbours often fall into the same bin, so they count in turn: all in the low half, members in the
        // high one.
        std::uint64_t turns[4][kBins] = {};
        std::int64_t sums[4][kBins] = {};  // of the probabilities, in turn too
        for (std::size_t i = 0; i < pixels_; ++i) {
            if (valid[i] == 0) continue;
            const float p = kReleased ? round_to_half(probs[i]) : probs[i];
            if (kReleased && !(p > least)) continue;
            const auto bin =
                static_cast<std::size_t>(std::min(static_cast<std::int32_t>(kBins) - 1,
                                                  static_cast<std::int32_t>(p * static_cast<float>(kBins))));
            const auto units = static_cast<std::int64_t>(static_cast<double>(p) * kOne);
            const auto fine = static_cast<std::size_t>(
                std::min(static_cast<std::int32_t>(kSmoothBins) - 1,
                         static_cast<std::int32_t>(p * static_cast<float>(kSmoothBins))));
            residuals[fine] += units - (static_cast<std::int64_t>(member[i]) << 32);
            turns[i % 4][bin] += 1 | static_cast<std::uint64_t>(member[i]) << 32;
            sums[i % 4][bin] += units;
            if constexpr (kReleased) {
                ++seen[i];
                gap[i * kMapBins + released_bin(p)] += static_cast<std::int64_t>(
                    static_cast<double>(round_to_half(p - static_cast<float>(member[i]))) * kOne);
            } else {
                gap[i * kMapBins + bin] += units - (static_cast<std::int64_t>(member[i]) << 32);
            }
        }
        if constexpr (!kReleased)
            for (std::size_t i = 0; i < pixels_; ++i) seen[i] += valid[i];
        for (const auto& sum : sums)
            for (std::size_t b = 0; b < kBins; ++b) totals_.confidence[c * kBins + b] += sum[b];
        for (const auto& turn : turns)
            for (std::size_t b = 0; b < kBins; ++b) {
                totals_.count[c * kBins + b] += turn[b] & 0xFFFFFFFFu;
                totals_.positive[c * kBins + b] += turn[b] >> 32;
            }
    }
}

void ReliabilityTile::add(const ScoredTile& tile, GroupBins& groups, std::uint32_t group) {
    before_.count = totals_.count;
    before_.positive = totals_.positive;
    before_.confidence = totals_.confidence;
    add(tile);
    for (std::size_t c = 0; c < classes_; ++c) {
        std::int64_t gaps[kBins];
        std::uint64_t count = 0;
        for (std::size_t b = 0; b < kBins; ++b) {
            const std::size_t at = c * kBins + b;
            count += totals_.count[at] - before_.count[at];
            gaps[b] = totals_.confidence[at] - before_.confidence[at] -
                      (static_cast<std::int64_t>(totals_.positive[at] - before_.positive[at]) << 32);
        }
        groups.add(c, group, gaps, count);
    }
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
        // A sum over the groups of a resample may leave 64 bits.
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
    for (std::size_t i = 0; i < residuals.size(); ++i) residuals[i] += other.residuals[i];
}

void ReliabilityTile::Totals::sum(Communicator& comm) {
    comm.sum(std::span(count));
    comm.sum(std::span(positive));
    sum_signed(comm, confidence);
    sum_signed(comm, residuals);
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
        one.smooth_ece = smooth_ece(std::span(residuals).subspan(c * kSmoothBins, kSmoothBins), total, kOne);
        one.ece = total > 0 ? gaps / static_cast<double>(total) : std::numeric_limits<double>::quiet_NaN();
    }
    return out;
}

}  // namespace kandinsky
