#include "score/image_features.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/thread_buffer.hpp"
#include "score/feature_kernels.hpp"
#include "score/visit.hpp"

namespace kandinsky {

namespace {
constexpr double kLeast = 1.0 / FeatureSums::kOne;  // added to shares, so that the logarithm of 0 is finite
constexpr std::size_t kRun = 8192;                  // pixels at a time: as many as count_features() takes

double share(std::uint64_t part, std::uint64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}
double log_share(double share) {
    return std::log2(share + kLeast);
}
}  // namespace

void FeatureSums::add(const float* probs, std::size_t n) {
    for (std::size_t begin = 0; begin < n; begin += kRun) {
        const std::size_t count = std::min(kRun, n - begin);
        totals_.add(count_features(probs + begin, count), count);
    }
}

ImageFeatures FeatureSums::features() const {
    return image_features(totals_);
}

ImageFeatures image_features(const FeatureTotals& totals) {
    // p (1 - p) is at most 1/4, which is 2^16 units of doubt. Sums of roots are in units of 1 / (kRoot kOne).
    constexpr std::uint64_t kMostDoubt = std::uint64_t{1} << 16, kOne = FeatureSums::kOne, kRoot = 64;
    // If nothing is predicted, `inside` has its largest value.
    const double inside = totals.inside > 0 ? share(totals.inside_doubt, totals.inside * kMostDoubt) : 1.0;
    // The logarithm of a mean weighted by p. Each pixel also adds the value 1/4 with a weight of 1/4096, so
    // the mean is 1/4 if nothing is predicted.
    const auto mean = [&](std::uint64_t sum) {
        return std::log2(share(sum + totals.pixels * (kRoot / 4),
                               kRoot * std::max<std::uint64_t>(1, totals.mass + totals.pixels)));
    };
    return {{log_share(share(totals.doubt, totals.pixels * kMostDoubt)),
             log_share(share(totals.mass, totals.pixels * kOne)), log_share(inside),
             share(totals.mass - totals.inside_mass, totals.mass + totals.pixels * (kOne / 1024)),
             mean(totals.root), mean(totals.fourth)}};
}

ImageFeatures image_features(std::span<const float> probs) {
    FeatureSums sums;
    sums.add(probs.data(), probs.size());
    return sums.features();
}

ImageFeatures stratum_features(std::span<const ImageFeatures> classes, std::size_t strata,
                               std::size_t stratum) {
    if (strata > 1) return classes[stratum];
    ImageFeatures mean;
    for (const ImageFeatures& one : classes)
        for (std::size_t k = 0; k < ImageFeatures::kCount; ++k)
            mean.values[k] += one.values[k] / static_cast<double>(classes.size());
    return mean;
}

std::vector<ImageFeatures> features_of(const Dataset& data, std::size_t image) {
    const std::size_t pixels = data.grid().pixels(), classes = data.classes();
    std::vector<FeatureSums> sums(classes);
    std::vector<float>& probs = thread_buffer<float, FeatureSums>();
    probs.resize(classes * std::min(kRun, pixels));
    for (std::size_t begin = 0; begin < pixels; begin += kRun) {
        const PixelRange range{begin, std::min(pixels, begin + kRun)};
        data.read_probs(image, range, probs);
        for (std::size_t c = 0; c < classes; ++c) sums[c].add(probs.data() + c * range.size(), range.size());
    }
    std::vector<ImageFeatures> out;
    out.reserve(sums.size());
    for (const FeatureSums& one : sums) out.push_back(one.features());
    return out;
}

std::vector<std::vector<ImageFeatures>> features_of(const Dataset& data, Condition condition,
                                                    Progress& progress) {
    const std::size_t strata = condition == Condition::by_class ? data.classes() : 1;
    std::vector<std::vector<ImageFeatures>> out(data.images());
    visit_blocks({.data = data, .progress = progress, .stage = "features"}, {},
                 [&](std::size_t, std::size_t first, std::size_t last) {
                     for (std::size_t image = first; image < last; ++image) {
                         const std::vector<ImageFeatures> classes = features_of(data, image);
                         for (std::size_t s = 0; s < strata; ++s)
                             out[image].push_back(stratum_features(classes, strata, s));
                     }
                 });
    return out;
}

}  // namespace kandinsky
