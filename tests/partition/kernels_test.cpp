#include "partition/kernels.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/base/random.hpp"
#include "support/targets.hpp"

namespace kandinsky::partition {
namespace {

std::vector<float> numbers(std::size_t n, std::uint64_t seed) {
    Random random(seed);
    std::vector<float> out(n);
    for (float& x : out) x = static_cast<float>(random.uniform(-1, 1));
    return out;
}

void expect_the_scalar_sum() {
    for (std::size_t n = 0; n < 100; n += n < 40 ? 1 : 7) {
        const std::size_t terms = n % 6;
        const std::vector<float> values = numbers(terms * n + 1, n), weights = numbers(terms, n + 1);
        std::vector<const float*> rows;
        for (std::size_t t = 0; t < terms; ++t) rows.push_back(values.data() + t * n);
        std::vector<float> found(n, 7);
        weighted_sum(rows.data(), weights.data(), terms, n, found.data());
        for (std::size_t i = 0; i < n; ++i) {
            float expected = 0;
            for (std::size_t t = 0; t < terms; ++t) expected += rows[t][i] * weights[t];
            EXPECT_EQ(found[i], expected) << n << " " << i;
        }
    }
}

TEST(WeightedSum, IsTheScalarSumToTheBitAtEveryLengthOnEveryVectorUnit) {
    test::for_each_target(expect_the_scalar_sum);
}

void expect_the_products_of_all_pairs() {
    constexpr std::size_t kRows = 6, kLength = 72;
    const std::vector<float> left = numbers(kRows * kLength, 1), right = numbers(kRows * kLength, 2);
    std::vector<double> sums(kRows * kRows, 0.5);
    add_products(left.data(), right.data(), kRows, kLength, sums.data());
    for (std::size_t j = 0; j < kRows; ++j)
        for (std::size_t k = j; k < kRows; ++k) {
            double expected = 0.5;
            for (std::size_t i = 0; i < kLength; ++i)
                expected += static_cast<double>(left[j * kLength + i]) * right[k * kLength + i];
            EXPECT_NEAR(sums[j * kRows + k], expected, 1e-5);
        }
}

TEST(AddProducts, AddsTheProductsOfAllPairsOnEveryVectorUnit) {
    test::for_each_target(expect_the_products_of_all_pairs);
}

}  // namespace
}  // namespace kandinsky::partition
