#include "partition/field/learn.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.hpp"

namespace kandinsky::partition::field {
namespace {

double objective(const std::vector<double>& m, const std::vector<double>& w, double ridge) {
    double sum = 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
        sum += ridge * w[i] * w[i];
        for (std::size_t j = 0; j < w.size(); ++j) sum += w[i] * w[j] * m[i * w.size() + j];
    }
    return sum;
}

/// Products of random error vectors, positive semidefinite and often singular.
std::vector<double> products(std::size_t n, std::size_t rank, Random& random) {
    std::vector<double> errors(n * rank), m(n * n);
    for (double& e : errors) e = random.normal() + 0.8;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t r = 0; r < rank; ++r)
                m[i * n + j] += errors[i * rank + r] * errors[j * rank + r];
    return m;
}

TEST(SimplexMinimum, IsNoWorseThanAnyPointOfAFineLattice) {
    for (std::uint64_t trial = 0; trial < 100; ++trial) {
        Random random(3, trial);
        const std::vector<double> m = products(3, 1 + trial % 4, random);
        const std::vector<double> w = simplex_minimum(m, 3, 1e-5);
        double best = 1e300;
        constexpr int kSteps = 100;
        for (int i = 0; i <= kSteps; ++i)
            for (int j = 0; i + j <= kSteps; ++j)
                best = std::min(best, objective(m, {i / 100.0, j / 100.0, (kSteps - i - j) / 100.0}, 1e-5));
        EXPECT_LE(objective(m, w, 1e-5), best + 1e-9) << "trial " << trial;
    }
}

TEST(SimplexMinimum, MeetsTheOptimalityConditionsWithManyCandidates) {
    for (std::uint64_t trial = 0; trial < 200; ++trial) {
        Random random(4, trial);
        const std::size_t n = 1 + random.below(30);
        const std::vector<double> m = products(n, 1 + random.below(40), random);
        const std::vector<double> w = simplex_minimum(m, n, 1e-5);
        double sum = 0;
        for (const double x : w) {
            EXPECT_GE(x, 0);
            sum += x;
        }
        EXPECT_NEAR(sum, 1, 1e-12);
        // Nothing is gained by moving weight towards any candidate.
        const double level = objective(m, w, 1e-5);
        for (std::size_t i = 0; i < n; ++i) {
            double slope = 1e-5 * w[i];
            for (std::size_t j = 0; j < n; ++j) slope += m[i * n + j] * w[j];
            EXPECT_GE(slope, level - 1e-7 * (1 + level)) << "trial " << trial << " candidate " << i;
        }
    }
}

TEST(SimplexMinimum, SharesBetweenCandidatesThatAreTheSame) {
    const std::vector<double> w = simplex_minimum({2, 2, 2, 2}, 2, 1e-5);
    EXPECT_NEAR(w[0], 0.5, 1e-6);
    EXPECT_EQ(simplex_minimum({0.3}, 1, 1e-5), std::vector<double>{1.0});
}

}  // namespace
}  // namespace kandinsky::partition::field
