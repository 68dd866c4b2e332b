#include "evaluate/image_coverage.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/random.hpp"
#include "support/thread_ranks.hpp"

namespace kandinsky {
namespace {

struct Images {
    std::vector<std::uint64_t> tested, covered;
    std::vector<ImageFeatures> features;

    [[nodiscard]] Images part(std::size_t rank, std::size_t ranks) const {
        Images out;
        for (std::size_t i = rank; i < tested.size(); i += ranks)
            out.add(tested[i], covered[i], features[i].values[0]);
        return out;
    }
    void add(std::uint64_t samples, std::uint64_t hits, double doubt) {
        tested.push_back(samples);
        covered.push_back(hits);
        features.push_back({{doubt, -1 - doubt / 2, 0, doubt / -12}});
    }
    [[nodiscard]] ImageCoverage judged(Communicator& comm) const {
        return image_coverage(comm, tested, covered, features, 0.1);
    }
};

TEST(ImageCoverage, CountsImagesThatHaveSamplesAndTheHardestTenthOfThem) {
    Images images;
    images.add(10, 10, -3.0);
    images.add(0, 0, 0.0);  // looks hardest, but has no sample
    images.add(10, 9, -2.0);
    images.add(10, 8, -1.0);  // 0.1 below the level is not more than 0.1 below
    images.add(10, 7, -1.0);  // as hard as the one before: both count
    const ImageCoverage found = images.judged(alone());
    EXPECT_EQ(found.images, 4u);
    EXPECT_DOUBLE_EQ(found.below, 0.5);
    EXPECT_DOUBLE_EQ(found.far_below, 0.25);
    EXPECT_NEAR(found.spread, (0.1 + 0 + 0.1 + 0.2) / 4, 1e-9);
    EXPECT_NEAR(found.hardest, 0.75, 1e-9);
    EXPECT_DOUBLE_EQ(found.quantiles[2], 0.85);
}

TEST(ImageCoverage, ImagesStandInTenthsByEachFeatureAndEqualOnesTogether) {
    Images images;
    for (std::uint64_t i = 0; i < 40; ++i) images.add(100, 60 + i, -0.25 * static_cast<double>(i));
    const ImageCoverage found = images.judged(alone());
    for (std::size_t t = 0; t < 10; ++t) {
        const double first = static_cast<double>(4 * t), mean = first + 1.5;
        EXPECT_EQ(found.tenths[0][t].images, 4u);
        EXPECT_NEAR(found.tenths[0][t].value, -0.25 * (39 - mean), 1e-8);
        EXPECT_NEAR(found.tenths[0][t].coverage, (99 - mean) / 100, 1e-8);
        EXPECT_NEAR(found.tenths[1][t].coverage, (60 + mean) / 100, 1e-8) << "this one ascends";
        EXPECT_EQ(found.tenths[2][t].images, t == 9 ? 40u : 0u) << "all have the same";
        EXPECT_EQ(std::isnan(found.tenths[2][t].coverage), t < 9);
    }
    EXPECT_EQ(found.hardest, found.tenths[0][9].coverage);
}

TEST(ImageCoverage, IsUnknownWithoutImages) {
    const ImageCoverage found = Images{}.judged(alone());
    EXPECT_EQ(found.images, 0u);
    EXPECT_TRUE(std::isnan(found.spread));
    EXPECT_TRUE(std::isnan(found.hardest));
}

TEST(ImageCoverage, DoesNotDependOnTheRankThatHasAnImage) {
    Images images;
    Random random(7);
    for (std::size_t i = 0; i < 57; ++i) {
        const std::uint64_t samples = random.below(20);
        images.add(samples, samples == 0 ? 0 : random.below(samples + 1),
                   -static_cast<double>(random.below(8)));
    }
    const ImageCoverage whole = images.judged(alone());
    const auto ranks = test::on_ranks<ImageCoverage>(3, [&](std::shared_ptr<const Team> team) {
        return images.part(team->comm.rank(), 3).judged(team->comm);
    });
    for (const ImageCoverage& one : ranks) {
        EXPECT_EQ(one.images, whole.images);
        EXPECT_EQ(one.below, whole.below);
        EXPECT_EQ(one.far_below, whole.far_below);
        EXPECT_EQ(one.spread, whole.spread);
        EXPECT_EQ(one.hardest, whole.hardest);
        for (std::size_t k = 0; k < ImageFeatures::kCount; ++k)
            for (std::size_t t = 0; t < 10; ++t) {
                EXPECT_EQ(one.tenths[k][t].images, whole.tenths[k][t].images);
                if (whole.tenths[k][t].images == 0) continue;
                EXPECT_EQ(one.tenths[k][t].value, whole.tenths[k][t].value);
                EXPECT_EQ(one.tenths[k][t].coverage, whole.tenths[k][t].coverage);
            }
        for (std::size_t k = 0; k < whole.quantiles.size(); ++k)
            EXPECT_NEAR(one.quantiles[k], whole.quantiles[k], 1e-15);
    }
}

}  // namespace
}  // namespace kandinsky
