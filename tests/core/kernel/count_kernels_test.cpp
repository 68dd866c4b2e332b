#include "core/kernel/count_kernels_scalar.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/base/random.hpp"
#include "support/targets.hpp"

namespace kandinsky {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 3, 15, 16, 17, 31, 32, 63, 64, 65, 130, 512, 20000};

std::vector<std::uint8_t> bytes_below(std::size_t n, std::uint64_t most, std::uint64_t seed) {
    Random random(seed, n, most);
    std::vector<std::uint8_t> out(n);
    for (auto& one : out) one = static_cast<std::uint8_t>(random.below(most));
    return out;
}

TEST(CountKernels, FlagsAreAddedAndCountedAsDefinedOnEveryVectorUnit) {
    test::for_each_target([] {
        for (const std::size_t n : kSizes) {
            const auto a = bytes_below(n, 2, 1), b = bytes_below(n, 2, 2), values = bytes_below(n, 4, 3);
            auto got = bytes_below(n + 1, 256, 4), expected = got;
            add_both(a.data(), b.data(), n, got.data());
            add_both_scalar(a.data(), b.data(), n, expected.data());
            ASSERT_EQ(got, expected) << n;
            ASSERT_EQ(count_both(a.data(), b.data(), n), count_both_scalar(a.data(), b.data(), n)) << n;
            for (std::uint8_t value = 0; value < 5; ++value)
                ASSERT_EQ(count_equal(values.data(), value, a.data(), b.data(), n),
                          count_equal_scalar(values.data(), value, a.data(), b.data(), n))
                    << n;
        }
        // More than a byte can hold in each lane.
        const std::vector<std::uint8_t> ones(100000, 1);
        EXPECT_EQ(count_both(ones.data(), ones.data(), ones.size()), ones.size());
    });
}

TEST(CountKernels, RanksOfClassesAreSortedInAsDefinedOnEveryVectorUnit) {
    test::for_each_target([] {
        for (const std::size_t n : kSizes) {
            std::vector<std::uint8_t> got[4], expected[4];
            for (std::size_t k = 0; k < 4; ++k)
                expected[k] = got[k] = std::vector<std::uint8_t>(n + 1, k < 2 ? 9 : 0);
            for (std::uint64_t c = 0; c < 6; ++c) {
                const auto ranks = bytes_below(n, 10, 10 + c), flag = bytes_below(n, 2, 20 + c);
                rank_sets(ranks.data(), flag.data(), n, got[0].data(), got[1].data(), got[2].data(),
                          got[3].data());
                rank_sets_scalar(ranks.data(), flag.data(), n, expected[0].data(), expected[1].data(),
                                 expected[2].data(), expected[3].data());
                for (std::size_t k = 0; k < 4; ++k) ASSERT_EQ(got[k], expected[k]) << n << " " << k;
            }
        }
    });
}

TEST(CountKernels, CoveredLevelsAreCountedAsDefinedOnEveryVectorUnit) {
    test::for_each_target([] {
        for (const std::size_t n : kSizes)
            for (const std::size_t levels : {0u, 1u, 19u, 20u, 99u, 255u}) {
                const auto ranks = bytes_below(n, levels + 1, 5), flag = bytes_below(n, 2, 6);
                auto got = bytes_below(levels * n + 1, 256, 7), expected = got;
                add_covered(ranks.data(), flag.data(), levels, n, got.data());
                add_covered_scalar(ranks.data(), flag.data(), levels, n, expected.data());
                ASSERT_EQ(got, expected) << n << " places, " << levels << " levels";
                std::vector<std::uint64_t> totals(levels + 2, 3), wanted = totals;
                count_ranks(ranks.data(), flag.data(), levels, n, totals.data());
                count_ranks_scalar(ranks.data(), flag.data(), levels, n, wanted.data());
                ASSERT_EQ(totals, wanted) << n << " places, " << levels << " levels";
            }
    });
}

TEST(CountKernels, ResamplesAreAddedAsDefinedToTheBitOnEveryVectorUnit) {
    test::for_each_target([] {
        for (const std::size_t n : kSizes) {
            Random random(8, n);
            std::vector<std::uint16_t> from(n), got(n + 1), expected;
            for (auto& one : from) one = static_cast<std::uint16_t>(random.below(65536));
            for (auto& one : got) one = static_cast<std::uint16_t>(random.below(65536));
            expected = got;
            add_words(from.data(), n, got.data());
            add_words_scalar(from.data(), n, expected.data());
            ASSERT_EQ(got, expected) << n;
            std::vector<double> share(n), covered(n + 1), error(n + 1);
            for (auto& one : share) one = random.uniform();
            for (auto& one : covered) one = static_cast<double>(random.below(1000));
            for (auto& one : error) one = random.uniform();
            std::vector<double> covered_too = covered, error_too = error;
            add_errors(from.data(), share.data(), 0.35, n, covered.data(), error.data());
            add_errors_scalar(from.data(), share.data(), 0.35, n, covered_too.data(), error_too.data());
            ASSERT_EQ(covered, covered_too) << n;
            ASSERT_EQ(error, error_too) << n;
        }
    });
}

}  // namespace
}  // namespace kandinsky
