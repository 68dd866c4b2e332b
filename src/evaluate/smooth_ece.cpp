#include "evaluate/smooth_ece.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace kandinsky {

double smooth_ece_at(std::span<const std::int64_t> residuals, std::uint64_t count, double one, double width) {
    const auto bins = static_cast<std::ptrdiff_t>(residuals.size());
    const double scale = static_cast<double>(bins) * width;  // the width in bins
    // A kernel of more than 64 bins cannot tell neighbours apart: pairs of bins do, at a quarter of the cost.
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
    // The error falls as the width grows, so there is one crossing, and it lies below the error without any
    // smoothing. 2^-16 is far below a bin.
    double low = 0, high = std::min(1.0, smooth_ece_at(residuals, count, one, 0));
    while (high - low > 0x1.0p-16) {
        const double middle = (low + high) / 2;
        (smooth_ece_at(residuals, count, one, middle) < middle ? high : low) = middle;
    }
    return (low + high) / 2;
}

}  // namespace kandinsky
