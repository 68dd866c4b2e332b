#include "calibrate/logistic_regression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/base/random.hpp"

namespace kandinsky {
namespace {

TwoSamples some_samples(std::uint64_t seed, std::size_t features, double apart) {
    Random random(seed, 41);
    TwoSamples out{.features = features};
    for (std::size_t r = 0; r < 40 + seed % 30; ++r)
        for (std::size_t k = 0; k < features; ++k) {
            out.first.push_back(random.uniform() * 3 - 1.5);
            if (r < 25) out.second.push_back(random.uniform() * 3 - 1.5 + (k % 2 == 0 ? apart : 0));
        }
    return out;
}

double penalised(const TwoSamples& samples, const LogRatio& ratio, double ridge) {
    return log_loss(samples, ratio) +
           ridge / 2 * std::inner_product(ratio.slope.begin(), ratio.slope.end(), ratio.slope.begin(), 0.0);
}

/// The optimum by accelerated gradient descent, without second derivatives.
LogRatio by_descent(const TwoSamples& samples, double ridge) {
    const std::size_t n = samples.features;
    std::vector<double> at(n + 1), look = at;
    double momentum = 1;
    double largest = 1;  // squared length of a row; a quarter of it bounds the curvature
    for (const auto* part : {&samples.first, &samples.second})
        for (std::size_t r = 0; r < part->size(); r += n)
            largest = std::max(largest,
                               1 + std::inner_product(part->begin() + static_cast<std::ptrdiff_t>(r),
                                                      part->begin() + static_cast<std::ptrdiff_t>(r + n),
                                                      part->begin() + static_cast<std::ptrdiff_t>(r), 0.0));
    const double step = 1 / (largest / 4 + ridge);
    for (int i = 0; i < 20000; ++i) {
        std::vector<double> gradient(n + 1);
        const auto add = [&](const std::vector<double>& rows, double sign) {
            const double weight = 0.5 * static_cast<double>(n) / static_cast<double>(rows.size());
            for (std::size_t r = 0; r < rows.size(); r += n) {
                double sum = look[n];
                for (std::size_t k = 0; k < n; ++k) sum += look[k] * rows[r + k];
                const double pull = -sign * weight / (1 + std::exp(sign * sum));
                for (std::size_t k = 0; k < n; ++k) gradient[k] += pull * rows[r + k];
                gradient[n] += pull;
            }
        };
        add(samples.first, -1);
        add(samples.second, 1);
        for (std::size_t k = 0; k < n; ++k) gradient[k] += ridge * look[k];
        const double next = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
        for (std::size_t k = 0; k <= n; ++k) {
            const double moved = look[k] - step * gradient[k];
            look[k] = moved + (momentum - 1) / next * (moved - at[k]);
            at[k] = moved;
        }
        momentum = i % 500 == 499 ? 1 : next;  // restarted, so that it does not oscillate
    }
    return {.constant = at[n], .slope = {at.begin(), at.end() - 1}};
}

TEST(LogisticRegression, AgreesWithAnotherSolver) {
    for (std::uint64_t seed = 0; seed < 6; ++seed)
        for (const double ridge : {1.0, 0.1, 0.01}) {
            const TwoSamples samples = some_samples(seed, 1 + seed, 0.3 * static_cast<double>(seed));
            const LogRatio found = logistic_regression(samples, ridge), slow = by_descent(samples, ridge);
            EXPECT_NEAR(found.constant, slow.constant, 1e-6);
            for (std::size_t k = 0; k < samples.features; ++k)
                EXPECT_NEAR(found.slope[k], slow.slope[k], 1e-6);
            EXPECT_LE(penalised(samples, found, ridge), penalised(samples, slow, ridge) + 1e-12);
        }
}

TEST(LogisticRegression, TerminatesForSeparatedAndForEqualSamples) {
    const TwoSamples apart = some_samples(2, 3, 10);
    const LogRatio far = logistic_regression(apart, 0.001);
    EXPECT_GT(far.slope[0], 0);
    EXPECT_LT(log_loss(apart, far), 0.1);
    TwoSamples same = some_samples(3, 2, 0);
    same.second = same.first;
    const LogRatio none = logistic_regression(same, 0.001);
    EXPECT_NEAR(none.constant, 0, 1e-9);
    for (const double slope : none.slope) EXPECT_NEAR(slope, 0, 1e-9);
    EXPECT_NEAR(log_loss(same, none), std::log(2.0), 1e-12);
}

}  // namespace
}  // namespace kandinsky
