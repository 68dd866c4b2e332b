#include "partition/kmeans/lloyd.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <kandinsky/error.hpp>
#include <kandinsky/threads.hpp>
#include <limits>
#include <numeric>
#include <set>

#include "core/base/random.hpp"

namespace kandinsky::partition::kmeans {
namespace {

/// Points around `blobs` centres 10 apart on a diagonal, with deviation `noise`; point i belongs to blob i %
/// blobs.
std::vector<float> blobs_of(std::size_t size, std::size_t dimension, std::size_t blobs, double noise,
                            std::uint64_t seed) {
    Random random(seed, 1);
    std::vector<float> rows;
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < dimension; ++j)
            rows.push_back(
                static_cast<float>(10.0 * static_cast<double>(i % blobs) + noise * random.normal()));
    return rows;
}

std::vector<float> uniform_rows(std::size_t values, std::uint64_t seed) {
    Random random(seed, 2);
    std::vector<float> rows(values);
    for (float& value : rows) value = static_cast<float>(random.uniform());
    return rows;
}

double squared_distance(std::span<const float> rows, std::size_t dimension, std::size_t point,
                        const double* centre) {
    double sum = 0.0;
    for (std::size_t j = 0; j < dimension; ++j) {
        const double gap = static_cast<double>(rows[point * dimension + j]) - centre[j];
        sum += gap * gap;
    }
    return sum;
}

/// Recomputes from the points what a clustering promises. Only in a converged one is every point nearest to
/// its own centre.
void expect_consistent(std::span<const float> rows, std::size_t dimension, const Clustering& found) {
    const std::size_t size = rows.size() / dimension;
    ASSERT_EQ(found.assignment.size(), size);
    ASSERT_EQ(found.centres.size(), found.clusters * dimension);
    double inertia = 0.0;
    std::vector<double> sums(found.centres.size(), 0.0);
    std::vector<std::size_t> counts(found.clusters, 0);
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint32_t own = found.assignment[i];
        ASSERT_LT(own, found.clusters);
        const double distance = squared_distance(rows, dimension, i, found.centres.data() + own * dimension);
        inertia += distance;
        ++counts[own];
        for (std::size_t j = 0; j < dimension; ++j)
            sums[own * dimension + j] += static_cast<double>(rows[i * dimension + j]);
        for (std::size_t c = 0; found.converged && c < found.clusters; ++c)
            ASSERT_LE(distance, squared_distance(rows, dimension, i, found.centres.data() + c * dimension))
                << "point " << i << " is nearer to cluster " << c << " than to its own, " << own;
    }
    EXPECT_NEAR(found.inertia, inertia, 1e-12 * inertia);
    double previous = -std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < found.clusters; ++c) {
        ASSERT_GT(counts[c], 0u) << "cluster " << c << " is empty";
        double mean = 0.0;
        for (std::size_t j = 0; j < dimension; ++j) {
            const double centre = found.centres[c * dimension + j];
            EXPECT_NEAR(centre, sums[c * dimension + j] / static_cast<double>(counts[c]),
                        1e-12 * (1.0 + std::abs(centre)));
            mean += centre;
        }
        EXPECT_LE(previous, mean) << "clusters are not numbered by their mean";
        previous = mean;
    }
}

ErrorKind kind_of_error(std::span<const float> rows, std::size_t dimension, const ClusterOptions& options) {
    try {
        (void)cluster(rows, dimension, options);
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.kind();
    }
    ADD_FAILURE() << "accepted";
    return ErrorKind::internal;
}

TEST(KMeansLloyd, RefusesArgumentsOutOfRange) {
    const std::vector<float> rows = uniform_rows(12, 1);
    EXPECT_EQ(kind_of_error(rows, 0, {}), ErrorKind::usage);
    EXPECT_EQ(kind_of_error(rows, 5, {}), ErrorKind::usage);
    EXPECT_EQ(kind_of_error(rows, 4, {.clusters = 0}), ErrorKind::usage);
    EXPECT_EQ(kind_of_error(rows, 4, {.restarts = 0}), ErrorKind::usage);
    EXPECT_EQ(kind_of_error(rows, 4, {.max_iterations = 0}), ErrorKind::usage);
}

TEST(KMeansLloyd, RefusesValuesThatAreNotFinite) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
        std::vector<float> rows = uniform_rows(12, 1);
        rows[7] = bad;
        EXPECT_EQ(kind_of_error(rows, 4, {}), ErrorKind::data);
    }
}

TEST(KMeansLloyd, HasSensibleDefaults) {
    const ClusterOptions options;
    EXPECT_EQ(options.clusters, 4u);
    EXPECT_EQ(options.restarts, 10u);
    EXPECT_EQ(options.max_iterations, 300u);
}

TEST(KMeansLloyd, RepeatsItselfUnderAFixedSeedAndNotUnderAnother) {
    const std::vector<float> rows = uniform_rows(4 * 500, 3);
    const Clustering first = cluster(rows, 4, {.clusters = 7, .seed = 5});
    EXPECT_EQ(first, cluster(rows, 4, {.clusters = 7, .seed = 5}));
    EXPECT_NE(first.restarts, cluster(rows, 4, {.clusters = 7, .seed = 6}).restarts);
    ASSERT_EQ(first.restarts.size(), 10u);
    EXPECT_NE(first.restarts[0], first.restarts[1]) << "restarts share their random stream";
}

TEST(KMeansLloyd, IsTheSameOnOneThreadAndOnTwo) {
    const std::vector<float> rows = uniform_rows(4 * 40000, 4);
    for (const std::size_t sample : {std::size_t{0}, std::size_t{1000}}) {
        const ClusterOptions options{
            .clusters = 5, .restarts = 3, .max_iterations = 30, .sample = sample, .seed = 9};
        Clustering one, two;
        {
            const ThreadLimit limit(1);
            one = cluster(rows, 4, options);
        }
        {
            const ThreadLimit limit(2);
            two = cluster(rows, 4, options);
        }
        EXPECT_EQ(one, two) << "sample " << sample;
    }
}

TEST(KMeansLloyd, StopsWhenNoPointChangesItsCluster) {
    const std::vector<float> rows = uniform_rows(2 * 300, 5);
    const Clustering found = cluster(rows, 2, {.seed = 1});
    EXPECT_TRUE(found.converged);
    EXPECT_LT(found.iterations, 300u);
    const Clustering again = cluster(rows, 2, {.max_iterations = 3000, .seed = 1});
    EXPECT_EQ(found, again) << "more iterations changed a converged result";
}

TEST(KMeansLloyd, StopsAtTheIterationLimitWithConsistentCentres) {
    const std::vector<float> rows = uniform_rows(3 * 800, 6);
    for (const std::size_t limit : {1u, 2u, 3u}) {
        const Clustering found =
            cluster(rows, 3, {.clusters = 9, .restarts = 4, .max_iterations = limit, .seed = 1});
        EXPECT_FALSE(found.converged);
        EXPECT_EQ(found.iterations, limit);
        expect_consistent(rows, 3, found);
    }
}

TEST(KMeansLloyd, StopsWhenTheCallerAsksForIt) {
    struct Impatient : Progress {
        [[nodiscard]] bool cancelled() const override { return true; }
    } impatient;
    EXPECT_THROW((void)cluster(uniform_rows(400, 1), 4, {}, impatient), Interrupted);
}

TEST(KMeansLloyd, KeepsTheBestRestart) {
    const std::vector<float> rows = uniform_rows(2 * 400, 7);
    const Clustering found = cluster(rows, 2, {.clusters = 12, .restarts = 20, .seed = 3});
    std::set<double> values;
    for (const Descent& descent : found.restarts) values.insert(descent.inertia);
    EXPECT_GT(values.size(), 1u) << "data too easy for this test";
    EXPECT_LE(found.inertia, *values.begin());
    EXPECT_GT(found.inertia, 0.95 * *values.begin());
}

TEST(KMeansLloyd, IsAValidClusteringOnRandomData) {
    EXPECT_TRUE(rc::check("clusterings are consistent", [] {
        const auto dimension = *rc::gen::inRange<std::size_t>(1, 7);
        const auto size = *rc::gen::inRange<std::size_t>(1, 200);
        const auto clusters = *rc::gen::inRange<std::size_t>(1, 12);
        // Few distinct values make ties and duplicates frequent.
        const auto grain = *rc::gen::element(2.0, 5.0, 1e6);
        Random random(*rc::gen::arbitrary<std::uint64_t>());
        std::vector<float> rows(size * dimension);
        for (float& value : rows) value = static_cast<float>(std::floor(grain * random.uniform()) / grain);
        const Clustering found =
            cluster(rows, dimension, {.clusters = clusters, .restarts = 3, .seed = random.bits()});
        std::set<std::vector<float>> distinct;
        for (std::size_t i = 0; i < size; ++i)
            distinct.insert({rows.begin() + static_cast<std::ptrdiff_t>(i * dimension),
                             rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * dimension)});
        RC_ASSERT(found.clusters == std::min(clusters, distinct.size()));
        RC_ASSERT(found.converged);
        expect_consistent(rows, dimension, found);
        RC_ASSERT(!::testing::Test::HasFailure());
    }));
}

TEST(KMeansLloyd, NeverGetsWorseWithMoreClustersOnEasyData) {
    EXPECT_TRUE(rc::check("inertia falls with the clusters", [] {
        const auto blobs = *rc::gen::inRange<std::size_t>(2, 6);
        const auto seed = *rc::gen::arbitrary<std::uint64_t>();
        const std::vector<float> rows = blobs_of(150, 2, blobs, 0.3, seed);
        double previous = std::numeric_limits<double>::infinity();
        for (std::size_t clusters = 1; clusters <= blobs; ++clusters) {
            const double inertia = cluster(rows, 2, {.clusters = clusters, .seed = seed}).inertia;
            RC_ASSERT(inertia <= previous);
            previous = inertia;
        }
    }));
}

TEST(KMeansLloyd, TreatsDuplicatesAlikeInAnyOrder) {
    EXPECT_TRUE(rc::check("the order of points does not matter on easy data", [] {
        const auto seed = *rc::gen::arbitrary<std::uint64_t>();
        std::vector<float> rows = blobs_of(60, 1, 3, 0.2, seed);
        const std::size_t distinct = rows.size();
        for (std::size_t i = 0; i < distinct; ++i) rows.push_back(rows[i]);
        std::vector<std::size_t> order(rows.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        Random random(seed, 77);
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
        std::vector<float> shuffled;
        for (const std::size_t from : order) shuffled.push_back(rows[from]);

        const ClusterOptions options{.clusters = 3, .seed = seed};
        const Clustering straight = cluster(rows, 1, options), mixed = cluster(shuffled, 1, options);
        for (std::size_t i = 0; i < distinct; ++i)
            RC_ASSERT(straight.assignment[i] == straight.assignment[i + distinct]);
        for (std::size_t i = 0; i < order.size(); ++i)
            RC_ASSERT(mixed.assignment[i] == straight.assignment[order[i]]);
    }));
}

TEST(KMeansLloyd, RecoversWellSeparatedBlobsNumberedByTheirMean) {
    const std::vector<float> rows = blobs_of(2000, 4, 6, 0.5, 11);
    const Clustering found = cluster(rows, 4, {.clusters = 6, .seed = 2});
    ASSERT_EQ(found.clusters, 6u);
    for (std::size_t i = 0; i < 2000; ++i) ASSERT_EQ(found.assignment[i], i % 6);
}

TEST(KMeansLloyd, BreaksTiesOfTheMeanByTheFirstCoordinate) {
    const std::vector<float> rows{1, 0, 0, 1, 0.5f, 0.5f, 1, 0, 0, 1, 0.5f, 0.5f};
    const Clustering found = cluster(rows, 2, {.clusters = 3, .seed = 4});
    EXPECT_EQ(found.centres, (std::vector<double>{0, 1, 0.5, 0.5, 1, 0}));
    EXPECT_EQ(found.assignment, (std::vector<std::uint32_t>{2, 0, 1, 2, 0, 1}));
}

TEST(KMeansLloyd, CopesWithDegenerateData) {
    const Clustering none = cluster({}, 4, {});
    EXPECT_EQ(none.clusters, 0u);
    EXPECT_TRUE(none.assignment.empty());

    const Clustering equal = cluster(std::vector<float>(400, 0.1f), 4, {});
    EXPECT_EQ(equal.clusters, 1u);
    EXPECT_EQ(equal.inertia, 0.0);
    EXPECT_EQ(equal.assignment, std::vector<std::uint32_t>(100, 0));

    const Clustering few = cluster(std::vector<float>{3, 1}, 1, {.clusters = 5});
    EXPECT_EQ(few.clusters, 2u);
    EXPECT_EQ(few.centres, (std::vector<double>{1, 3}));
    EXPECT_EQ(few.assignment, (std::vector<std::uint32_t>{1, 0}));

    const std::vector<float> rows = uniform_rows(3 * 50, 1);
    const Clustering one = cluster(rows, 3, {.clusters = 1});
    EXPECT_EQ(one.clusters, 1u);
    expect_consistent(rows, 3, one);

    // Neighbouring floats far from zero, whose squares are too close for single precision.
    const float big = 1e6f, next = std::nextafter(big, 2e6f);
    EXPECT_EQ(cluster(std::vector<float>{big, next, big, next}, 1, {.clusters = 2}).assignment,
              (std::vector<std::uint32_t>{0, 1, 0, 1}));
}

TEST(KMeansLloyd, FindsTheOptimumOfOneDimensionalDataThatSearchingAllSplitsFinds) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        std::vector<float> rows = uniform_rows(30, seed);
        std::sort(rows.begin(), rows.end());
        const auto spread = [&](std::size_t begin, std::size_t end) {
            double sum = 0.0, squares = 0.0;
            for (std::size_t i = begin; i < end; ++i) sum += static_cast<double>(rows[i]);
            const double mean = sum / static_cast<double>(end - begin);
            for (std::size_t i = begin; i < end; ++i)
                squares += std::pow(static_cast<double>(rows[i]) - mean, 2);
            return squares;
        };
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t a = 1; a < 29; ++a)
            for (std::size_t b = a + 1; b < 30; ++b)
                best = std::min(best, spread(0, a) + spread(a, b) + spread(b, 30));
        EXPECT_NEAR(cluster(rows, 1, {.clusters = 3, .restarts = 30, .seed = seed}).inertia, best, 1e-12)
            << seed;
    }
}

TEST(KMeansLloyd, SamplingIsAsGoodAsRestartingOnAllPoints) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const std::vector<float> rows = blobs_of(20000, 4, 5, 6.0, seed);  // overlapping
        const Clustering sampled = cluster(rows, 4, {.clusters = 4, .sample = 2000, .seed = seed});
        const Clustering full = cluster(rows, 4, {.clusters = 4, .sample = 0, .seed = seed});
        EXPECT_LE(sampled.inertia, full.inertia * (1.0 + 1e-3));
        EXPECT_TRUE(full.refinements.empty());
        ASSERT_FALSE(sampled.refinements.empty());
        EXPECT_EQ(sampled.restarts.front().points, 2000u);
        EXPECT_EQ(sampled.refinements.front().points, 20000u);
        expect_consistent(rows, 4, sampled);
    }
}

TEST(KMeansLloyd, FindsRarePointsThatTheSampleMissed) {
    std::vector<float> rows(5000, 0.0f);
    rows[1234] = 1.0f;
    rows[4321] = 2.0f;
    const Clustering found = cluster(rows, 1, {.clusters = 3, .sample = 100, .seed = 1});
    EXPECT_EQ(found.clusters, 3u);
    EXPECT_EQ(found.inertia, 0.0);
    EXPECT_EQ(found.assignment[1234], 1u);
    EXPECT_EQ(found.assignment[4321], 2u);
}

TEST(KMeansLloyd, RestartsOnAllPointsWhenTheSampleMissedHeavyOnes) {
    std::vector<float> rows = uniform_rows(5000, 12);
    for (float& value : rows) value *= 0.1f;
    rows[1234] = 50.0f;
    rows[4321] = -50.0f;
    const Clustering found = cluster(rows, 1, {.clusters = 3, .sample = 100, .seed = 1});
    EXPECT_TRUE(found.refinements.empty());
    EXPECT_EQ(found.restarts.front().points, 5000u);
    EXPECT_EQ(found.assignment[4321], 0u);
    EXPECT_EQ(found.assignment[1234], 2u);
}

TEST(KMeansLloyd, LeavesNoSinglePointWhoseMoveWouldHelp) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const std::vector<float> rows = uniform_rows(2 * 60, seed);
        const Clustering found = cluster(rows, 2, {.clusters = 5, .restarts = 1, .seed = seed});
        std::vector<double> counts(found.clusters, 0.0);
        for (const std::uint32_t label : found.assignment) counts[label] += 1.0;
        for (std::size_t i = 0; i < 60; ++i) {
            const std::uint32_t own = found.assignment[i];
            if (counts[own] < 2.0) continue;
            const double saved = squared_distance(rows, 2, i, found.centres.data() + 2 * own) * counts[own] /
                                 (counts[own] - 1);
            for (std::uint32_t c = 0; c < found.clusters; ++c) {
                if (c == own) continue;
                ASSERT_GE(
                    squared_distance(rows, 2, i, found.centres.data() + 2 * c) * counts[c] / (counts[c] + 1),
                    saved * (1 - 1e-9))
                    << "seed " << seed << " point " << i;
            }
        }
    }
}

}  // namespace
}  // namespace kandinsky::partition::kmeans
