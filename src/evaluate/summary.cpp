#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <kandinsky/evaluate.hpp>
#include <limits>

namespace kandinsky {

namespace {
/// std::lgamma writes the sign to a global that all threads share.
double log_gamma(double x) {
    int sign = 0;
    return ::lgamma_r(x, &sign);
}
}  // namespace

double sampling_floor(std::uint64_t n, double level, double target) {
    if (n == 0) return std::numeric_limits<double>::quiet_NaN();
    const double count = static_cast<double>(n);
    if (level == target && level > 0 && level < 1) {
        // De Moivre: E|X - n q| = 2 m C(n,m) q^m (1-q)^(n-m+1) with m = floor(n q) + 1.
        const double m = std::floor(count * level) + 1;
        const double log_term = log_gamma(count + 1) - log_gamma(m + 1) - log_gamma(count - m + 1) +
                                m * std::log(level) + (count - m + 1) * std::log1p(-level);
        return 2 * m * std::exp(log_term) / count;
    }
    // With k = floor(n t): E|X - n t| = n t (2 P(X_n <= k) - 1) - n q (2 P(X_{n-1} <= k-1) - 1).
    const auto cdf = [level](std::uint64_t trials, double k) {
        if (k < 0) return 0.0;
        if (k >= static_cast<double>(trials)) return 1.0;
        return boost::math::cdf(boost::math::binomial(static_cast<double>(trials), level), k);
    };
    const double k = std::floor(count * target + 1e-9);
    return target * (2 * cdf(n, k) - 1) - level * (2 * cdf(n - 1, k - 1) - 1);
}

double quantile(std::vector<double> values, double level) {
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    const double at = level * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(below);
    std::nth_element(values.begin(), middle, values.end());
    const double low = *middle;
    if (below + 1 >= values.size()) return low;
    const double high = *std::min_element(middle + 1, values.end());
    return low + (high - low) * (at - static_cast<double>(below));
}

}  // namespace kandinsky
