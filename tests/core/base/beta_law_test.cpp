#include "core/base/beta_law.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {
using namespace kandinsky;

/// The sum of the probabilities of 0 to k successes, term by term.
double summed(int n, double p, int k) {
    double sum = 0, term = std::pow(1 - p, n);
    for (int i = 0; i <= k; ++i) {
        sum += term;
        term *= (n - i) / (i + 1.0) * p / (1 - p);
    }
    return sum;
}

TEST(BetaLaw, BinomialSumsItsTerms) {
    for (const int n : {1, 2, 7, 40})
        for (const double p : {0.01, 0.3, 0.5, 0.93})
            for (int k = 0; k < n; ++k)
                EXPECT_NEAR(binomial_below(n, p, k), summed(n, p, k), 1e-12) << n << ' ' << p;
}

TEST(BetaLaw, BinomialBeyondItsRange) {
    EXPECT_EQ(binomial_below(5, 0.3, -1), 0);
    EXPECT_EQ(binomial_below(5, 0.3, 5), 1);
    EXPECT_EQ(binomial_below(5, 0.3, 9), 1);
    EXPECT_EQ(binomial_below(5, 0, 0), 1);
    EXPECT_EQ(binomial_below(5, 1, 4), 0);
}

TEST(BetaLaw, AboveHasClosedFormsForOneAsParameter) {
    for (const double x : {0.0, 0.2, 0.5, 0.99, 1.0}) {
        EXPECT_NEAR(beta_above(1, 3, x), std::pow(1 - x, 3), 1e-14);
        EXPECT_NEAR(beta_above(4, 1, x), 1 - std::pow(x, 4), 1e-14);
    }
}

TEST(BetaLaw, QuantileInvertsAbove) {
    for (const double rest : {0.01, 0.3, 0.9})
        EXPECT_NEAR(beta_above(10.1, 90.9, beta_quantile_above(10.1, 90.9, rest)), rest, 1e-12);
}
}  // namespace
