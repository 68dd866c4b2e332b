#include "evaluate/image_coverage.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "evaluate/tally.hpp"

namespace kandinsky {

namespace {
/// quantile() of all ranks' shares together, n of them. Ranks look for the order statistics by counting, so
/// what they say does not grow with the images.
std::array<double, ImageCoverage::kLevels.size()> quantiles_of(Communicator& comm,
                                                               const std::vector<double>& shares,
                                                               std::uint64_t n) {
    constexpr std::size_t kCount = ImageCoverage::kLevels.size();
    std::array<double, kCount> out{};
    if (comm.size() == 1 || n == 0) {
        for (std::size_t k = 0; k < kCount; ++k) out[k] = quantile(shares, ImageCoverage::kLevels[k]);
        return out;
    }
    // The bits of numbers that are not negative ascend with them.
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
}  // namespace

ImageCoverage image_coverage(Communicator& comm, std::span<const std::uint64_t> tested,
                             std::span<const std::uint64_t> covered, std::span<const double> doubts,
                             double alpha) {
    constexpr double kParts = 4294967296.0;  // sums over ranks are of whole numbers
    const auto in_parts = [](double value) { return static_cast<std::uint64_t>(value * kParts + 0.5); };
    ImageCoverage out;
    std::vector<double> shares;
    std::vector<std::uint64_t> keys;  // ascending in the doubt, which lies above -12
    std::uint64_t below = 0, far_below = 0, distance = 0;
    for (std::size_t image = 0; image < tested.size(); ++image) {
        if (tested[image] == 0) continue;
        shares.push_back(share_of(covered[image], tested[image]));
        // 1 - 0.9 is not 0.1: a share that is meant to be equal is not below.
        below += shares.back() < 1 - alpha - 1e-12;
        far_below += shares.back() < 0.9 - alpha - 1e-12;
        distance += in_parts(std::abs(shares.back() - (1 - alpha)));
        keys.push_back(std::bit_cast<std::uint64_t>(doubts[image] + 16));
    }
    out.images = total(comm, shares.size());
    out.below = share_of(total(comm, below), out.images);
    out.quantiles = quantiles_of(comm, shares, out.images);
    out.spread = share_of(total(comm, distance), out.images) / kParts;
    out.far_below = share_of(total(comm, far_below), out.images);
    if (out.images == 0) return out;
    // The hardest tenth, and all that look exactly as hard as the easiest of them.
    std::vector<std::uint64_t> sorted = keys;
    std::sort(sorted.begin(), sorted.end());
    const std::uint64_t rank = out.images - (out.images + 9) / 10 + 1;
    const std::uint64_t least = select_ranks(comm, sorted, {&rank, 1}).front();
    std::uint64_t hard = 0, hits = 0;
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (keys[i] >= least) ++hard, hits += in_parts(shares[i]);
    out.hardest = share_of(total(comm, hits), total(comm, hard)) / kParts;
    return out;
}

}  // namespace kandinsky
