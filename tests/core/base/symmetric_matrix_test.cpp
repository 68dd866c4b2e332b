#include "core/base/symmetric_matrix.hpp"

#include <gtest/gtest.h>

#include "core/base/random.hpp"

namespace {
using namespace kandinsky;

std::vector<double> drawn(Random& random, std::size_t count) {
    std::vector<double> out(count);
    for (double& value : out) value = random.uniform() - 0.5;
    return out;
}

/// The sum of the outer products of random vectors with themselves. It is positive definite, because there
/// are more vectors than rows.
SymmetricMatrix positive(Random& random, std::size_t size) {
    SymmetricMatrix out(size);
    for (std::size_t i = 0; i < 2 * size; ++i) {
        const std::vector<double> row = drawn(random, size);
        out.add_product(1, row, row);
    }
    return out;
}

TEST(SymmetricMatrix, BothTrianglesAreTheSame) {
    SymmetricMatrix a(3);
    a(0, 2) = 5;
    EXPECT_EQ(a(2, 0), 5);
    EXPECT_EQ(a.times(std::vector<double>{1, 0, 2}), (std::vector<double>{10, 0, 5}));
}

TEST(SymmetricMatrix, AddsTheSymmetricPartOfAProduct) {
    SymmetricMatrix a = SymmetricMatrix::identity(2);
    a.add_product(2, std::vector<double>{1, 2}, std::vector<double>{3, 5});
    EXPECT_EQ(a(0, 0), 7);
    EXPECT_EQ(a(0, 1), 11);
    EXPECT_EQ(a(1, 1), 21);
    a *= 0.5;
    EXPECT_EQ(a(0, 1), 5.5);
}

TEST(SymmetricMatrix, SolveInvertsTheProduct) {
    Random random(1, 2, 3);
    for (std::size_t size = 1; size <= 24; ++size) {
        const SymmetricMatrix a = positive(random, size);
        const std::vector<double> x = drawn(random, size), solved = a.solve(a.times(x));
        for (std::size_t i = 0; i < size; ++i) EXPECT_NEAR(solved[i], x[i], 1e-9) << size;
    }
}

TEST(SymmetricMatrix, ASingularMatrixGivesFiniteNumbers) {
    SymmetricMatrix a(3);
    const std::vector<double> ones{1, 1, 1};
    a.add_product(1, ones, ones);
    const std::vector<double> solved = a.solve(ones);
    EXPECT_NEAR(solved[0] + solved[1] + solved[2], 1, 1e-12);
}

TEST(SymmetricMatrix, DotIsTheSumOfProductsAndLargestTheGreatestMagnitude) {
    EXPECT_EQ(dot(std::vector<double>{1, 2}, std::vector<double>{3, 4}), 11);
    EXPECT_EQ(largest(std::vector<double>{1, -7, 3}), 7);
    EXPECT_EQ(largest({}), 0);
}
}  // namespace
