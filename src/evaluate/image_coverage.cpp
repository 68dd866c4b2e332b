#include "evaluate/image_coverage.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "evaluate/tally.hpp"

namespace kandinsky {

namespace {
/// quantile() of the n shares of all ranks together. Ranks find the order statistics by counting, so the
/// network volume does not grow with the number of images.
std::array<double, ImageCoverage::kLevels.size()> quantiles_of(Communicator& comm,
                                                               const std::vector<double>& shares,
                                                               std::uint64_t n) {
    constexpr std::size_t kCount = ImageCoverage::kLevels.size();
    std::array<double, kCount> out{};
    if (comm.size() == 1 || n == 0) {
        for (std::size_t k = 0; k < kCount; ++k) out[k] = quantile(shares, ImageCoverage::kLevels[k]);
        return out;
    }
    // The bits of non-negative numbers have the order of the numbers.
    std::vector<std::uint64_t> keys, wanted;
    for (const double one : shares) keys.push_back(std::bit_cast<std::uint64_t>(one));
    std::sort(keys.begin(), keys.end());
    const auto place = [&](std::size_t k) { return ImageCoverage::kLevels[k] * static_cast<double>(n - 1); };
    for (std::size_t k = 0; k < kCount; ++k) {
        const auto below = static_cast<std::uint64_t>(place(k));
        wanted.push_back(below + 1);
        wanted.push_back(std::min(below + 2, n));
    }
    const std::vector<std::uint64_t> found = select_ranks(comm, keys, wanted);
    for (std::size_t k = 0; k < kCount; ++k) {
        const auto low = std::bit_cast<double>(found[2 * k]), high = std::bit_cast<double>(found[2 * k + 1]);
        const double share_above = place(k) - std::floor(place(k));
        out[k] = wanted[2 * k] >= n ? low : low + (high - low) * share_above;
    }
    return out;
}

// Only integers are summed over ranks.
constexpr double kParts = 4294967296.0;
std::uint64_t in_parts(double value) {
    return static_cast<std::uint64_t>(value * kParts + 0.5);
}

/// Divides the images into tenths by one feature. A tenth has the images at or above its lower cut and below
/// the next cut, so images with equal features are in the same tenth. `features` and `shares`: [image]; `n`:
/// the number of images of all ranks, at least one.
std::array<FeatureTenth, 10> tenths_of(Communicator& comm, const std::vector<double>& features,
                                       const std::vector<double>& shares, std::uint64_t n) {
    constexpr std::size_t kTenths = 10;
    constexpr double kUp = 16;  // makes features positive; they lie between -15 and 1
    constexpr unsigned kBits = 32;
    std::vector<std::uint64_t> keys, ranks;
    for (const double one : features) keys.push_back(static_cast<std::uint64_t>((one + kUp) * 0x1.0p27));
    std::vector<std::uint64_t> sorted = keys;
    std::sort(sorted.begin(), sorted.end());
    for (std::uint64_t above = kTenths - 1; above > 0; --above)
        ranks.push_back(n - (n * above + kTenths - 1) / kTenths + 1);
    const std::vector<std::uint64_t> cuts = select_ranks(comm, sorted, ranks, kBits);
    std::array<std::uint64_t, 3 * kTenths> sums{};
    for (std::size_t i = 0; i < features.size(); ++i) {
        const auto tenth =
            static_cast<std::size_t>(std::upper_bound(cuts.begin(), cuts.end(), keys[i]) - cuts.begin());
        sums[3 * tenth] += 1;
        sums[3 * tenth + 1] += in_parts(features[i] + kUp);
        sums[3 * tenth + 2] += in_parts(shares[i]);
    }
    comm.sum(std::span(sums));
    std::array<FeatureTenth, kTenths> out;
    for (std::size_t k = 0; k < kTenths; ++k)
        out[k] = {sums[3 * k], share_of(sums[3 * k + 1], sums[3 * k]) / kParts - kUp,
                  share_of(sums[3 * k + 2], sums[3 * k]) / kParts};
    return out;
}
}  // namespace

ImageCoverage image_coverage(Communicator& comm, std::span<const std::uint64_t> tested,
                             std::span<const std::uint64_t> covered, std::span<const ImageFeatures> features,
                             double alpha) {
    ImageCoverage out;
    std::vector<double> shares;
    std::array<std::vector<double>, ImageFeatures::kCount> looks;
    std::uint64_t below = 0, far_below = 0, distance = 0;
    for (std::size_t image = 0; image < tested.size(); ++image) {
        if (tested[image] == 0) continue;
        shares.push_back(share_of(covered[image], tested[image]));
        // In floating point, 1 - 0.9 is not 0.1. A share that equals the limit must not count as below.
        below += shares.back() < 1 - alpha - 1e-12;
        far_below += shares.back() < 0.9 - alpha - 1e-12;
        distance += in_parts(std::abs(shares.back() - (1 - alpha)));
        for (std::size_t k = 0; k < looks.size(); ++k) looks[k].push_back(features[image].values[k]);
    }
    out.images = total(comm, shares.size());
    out.below = share_of(total(comm, below), out.images);
    out.quantiles = quantiles_of(comm, shares, out.images);
    out.spread = share_of(total(comm, distance), out.images) / kParts;
    out.far_below = share_of(total(comm, far_below), out.images);
    if (out.images == 0) return out;
    for (std::size_t k = 0; k < looks.size(); ++k)
        out.tenths[k] = tenths_of(comm, looks[k], shares, out.images);
    out.hardest = out.tenths[0].back().coverage;  // the first feature is the doubt
    return out;
}

}  // namespace kandinsky
