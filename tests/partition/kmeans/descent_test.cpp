// The steps below the clustering: seeding, nearest centres, descent, exchange.
#include "partition/kmeans/descent.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/base/random.hpp"
#include "partition/kmeans/nearest_reference.hpp"
#include "support/targets.hpp"

namespace kandinsky::partition::kmeans {
namespace {

TEST(KMeansExchange, EscapesALocalOptimumOfTheDescent) {
    // 0 | 3 7: the point 3 is nearer to its own centre 5 than to 0 (2 against 3), yet {0, 3} {7} is better.
    const Points points(std::vector<float>{0, 3, 7}, 1);
    const Solution stuck = descend(points, {0.0, 5.0}, 10, silent());
    ASSERT_TRUE(stuck.summary.converged);
    ASSERT_EQ(stuck.labels, (std::vector<std::uint32_t>{0, 1, 1}));
    const Solution better = exchange(points, stuck, 10, silent());
    EXPECT_EQ(better.labels, (std::vector<std::uint32_t>{0, 0, 1}));
    EXPECT_EQ(better.summary.inertia, 4.5);
    EXPECT_EQ(exchange(points, stuck, stuck.summary.iterations, silent()).labels, stuck.labels)
        << "no iterations left";
}

TEST(KMeansDescent, GivesAnEmptyClusterTheFarthestPoint) {
    const Points points(std::vector<float>{0, 1, 2, 9}, 1);
    // No point is nearest to either of the last two centres.
    const Solution found = descend(points, {1.0, 100.0, 200.0}, 1, silent());
    EXPECT_EQ(found.labels, (std::vector<std::uint32_t>{0, 1, 1, 2}));
    EXPECT_EQ(found.centres, (std::vector<double>{0.0, 1.5, 9.0}));
}

TEST(KMeansDescent, NeverRaisesTheInertiaFromOneIterationToTheNext) {
    Random random(1);
    std::vector<float> rows(4 * 1000);
    for (float& value : rows) value = static_cast<float>(random.uniform());
    const Points points(rows, 4);
    const std::vector<double> start = seed_centres(points, 8, {}, random);
    double previous = std::numeric_limits<double>::infinity();
    for (std::size_t limit = 1; limit < 40; ++limit) {
        const double inertia = descend(points, start, limit, silent()).summary.inertia;
        EXPECT_LE(inertia, previous * (1.0 + 1e-14));
        previous = inertia;
    }
}

TEST(KMeansSeeding, ChoosesDistinctPointsAndNoMoreThanThereAre) {
    std::vector<float> rows;
    for (std::size_t i = 0; i < 900; ++i) rows.push_back(static_cast<float>(i % 9));
    const Points points(rows, 1);
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Random random(seed);
        std::vector<double> centres = seed_centres(points, 12, {}, random);
        std::sort(centres.begin(), centres.end());
        EXPECT_EQ(centres, (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
    }
}

TEST(KMeansSeeding, KeepsTheCentresItIsGiven) {
    const Points points(std::vector<float>{0, 0, 10, 10, 20, 20, 0, 0, 10, 10, 20, 20}, 2);
    Random random(1);
    const std::vector<double> centres = seed_centres(points, 3, {0.0, 0.0, 20.0, 20.0}, random);
    EXPECT_EQ(centres, (std::vector<double>{0, 0, 20, 20, 10, 10}));
}

TEST(KMeansNearest, EveryVectorTargetAgreesWithTheReference) {
    test::for_each_target([] {
        for (std::size_t trial = 0; trial < 60; ++trial) {
            Random random(31, trial);
            const std::size_t dimension = 1 + random.below(6), size = 1 + random.below(100),
                              clusters = 1 + random.below(9);
            std::vector<float> rows(size * dimension);
            std::vector<double> centres(clusters * dimension);
            // A coarse lattice makes exact ties; every third trial is tiny enough for denormals.
            const double scale = trial % 3 == 0 ? 1e-42 : 0.25;
            for (float& value : rows)
                value = static_cast<float>(scale * static_cast<double>(random.below(5)));
            for (double& value : centres) value = scale * static_cast<double>(random.below(5));
            const Points points(rows, dimension);
            std::vector<std::uint32_t> labels(points.stride(), kUnassigned);
            for (std::size_t i = 0; i < size; ++i)
                if (random.below(2) == 0) labels[i] = static_cast<std::uint32_t>(random.below(clusters));
            std::vector<std::uint32_t> expected_labels = labels;
            std::vector<Move> moves(points.stride()), expected(points.stride());
            const std::size_t begin = size > 16 ? 16 : 0;
            const std::size_t count = assign_nearest_reference(points, centres, begin, size,
                                                               expected_labels.data(), expected.data());
            std::vector<double> slack(points.stride());
            ASSERT_EQ(
                assign_nearest(points, centres, begin, size, labels.data(), moves.data(), slack.data(), 0.0),
                count)
                << "trial " << trial;
            for (std::size_t m = 0; m < count; ++m) ASSERT_EQ(moves[m], expected[m]);
            for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(labels[i], expected_labels[i]);
        }
    });
}

TEST(KMeansNearest, SkipsOnlyPointsThatKeepTheirCluster) {
    test::for_each_target([] {
        for (std::size_t trial = 0; trial < 30; ++trial) {
            Random random(32, trial);
            const std::size_t dimension = 1 + random.below(5), size = 1 + random.below(300),
                              clusters = 1 + random.below(12);
            std::vector<float> rows(size * dimension);
            std::vector<double> centres(clusters * dimension);
            for (float& value : rows) value = static_cast<float>(random.uniform());
            for (double& value : centres) value = random.uniform();
            const Points points(rows, dimension);
            std::vector<std::uint32_t> labels(points.stride(), kUnassigned), expected_labels = labels;
            std::vector<Move> moves(points.stride()), expected(points.stride());
            std::vector<double> slack(points.stride());
            double moved = 0, step = 0.3;
            for (int round = 0; round < 25; ++round, step *= 0.8) {
                const std::size_t count = assign_nearest_reference(points, centres, 0, size,
                                                                   expected_labels.data(), expected.data());
                ASSERT_EQ(assign_nearest(points, centres, 0, size, labels.data(), moves.data(), slack.data(),
                                         2 * moved),
                          count)
                    << "trial " << trial << " round " << round;
                for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(labels[i], expected_labels[i]);
                moved = 0;
                for (std::size_t c = 0; c < clusters; ++c) {
                    double sum = 0;
                    for (std::size_t j = 0; j < dimension; ++j) {
                        const double by = random.uniform(-step, step);
                        centres[c * dimension + j] += by;
                        sum += by * by;
                    }
                    moved = std::max(moved, std::sqrt(sum) * (1 + 1e-9));
                }
            }
        }
    });
}

}  // namespace
}  // namespace kandinsky::partition::kmeans
