#include "partition/field/candidates.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "partition/field/cross_validation.hpp"
#include "partition/samples.hpp"

namespace kandinsky::partition::field {
namespace {

/// Votes, kernels and normalisation of one spatial candidate, from the definition.
std::vector<double> naive(const Grid& grid, const FoldHistograms& h, std::size_t fold, std::size_t pixel,
                          double sd, bool mirror) {
    std::vector<double> sum(h.bins());
    std::vector<std::uint32_t> own(h.bins());
    const double row = static_cast<double>(pixel / grid.width),
                 column = static_cast<double>(pixel % grid.width);
    for (std::size_t r = 0; r < grid.pixels(); ++r) {
        const double n = h.without(r, fold, own);
        const auto weight = [&](double x) {
            const double dy = static_cast<double>(r / grid.width) - row, dx = x - column;
            return std::exp(-(dy * dy + dx * dx) / (2 * sd * sd));
        };
        const double x = static_cast<double>(r % grid.width);
        const double w = weight(x) + (mirror ? weight(grid.width - 1 - x) : 0.0);
        double running = 0;
        for (std::size_t b = 0; b < h.bins(); ++b) sum[b] += w * (running += own[b]) / (n + 2);
    }
    const double whole = sum.back();
    for (double& value : sum) value /= whole;
    return sum;
}

struct Small {
    Sample sample;
    Given given;
    ScoreGrid grid;
    Folds folds;
    FoldHistograms histograms;

    explicit Small(Sample from)
        : sample(from.draw()),
          given(sample),
          grid(score_grid_of(given.input(), 16)),
          folds(make_folds(given.data, given.census.image_hash, 3, FoldOrder::content, 0)),
          histograms(counts_of(given.input(), grid, folds, Cells(given.data.grid()))) {}
};

TEST(Candidates, AreTheImageThenSpaceThenRingsAtBandwidthsByTheHeight) {
    const std::vector<Candidate> all = make_candidates({120, 160}, {});
    EXPECT_EQ(all.size(), 1u + 2 * 9 + 8);
    EXPECT_EQ(all[0].kind, Candidate::Kind::image);
    EXPECT_DOUBLE_EQ(all[1].bandwidth, 1.0);
    EXPECT_NEAR(all[17].bandwidth, 25.6, 0.1);
    EXPECT_EQ(all[pilot_of(all, {120, 160})].bandwidth, 3.375);
    EXPECT_EQ(make_candidates({120, 160}, {.bandwidths = {2, 4}, .mirror = false, .rings = false}).size(),
              3u);
    EXPECT_GE(make_candidates({1, 1}, {}).size(), 2u);
}

TEST(CandidateFields, AgreeWithTheDefinition) {
    const Small small(Sample{.height = 9, .width = 11, .images = 12});
    const Grid grid = small.given.data.grid();
    const std::vector<Candidate> candidates =
        make_candidates(grid, {.bandwidths = {0.8, 2.0}, .rings = false});
    for (const std::size_t fold : {std::size_t{1}, std::size_t{3}}) {
        const CandidateFields fields(Cells(grid), small.histograms, fold, candidates);
        const std::size_t bins = small.grid.bins();
        std::vector<float> found(candidates.size() * bins);
        for (std::size_t p = 0; p < grid.pixels(); p += 5) {
            for (std::size_t k = 0; k < candidates.size(); ++k) fields.at(p, k, found.data() + k * bins);
            for (std::size_t k = 1; k < candidates.size(); ++k) {
                const std::vector<double> expected =
                    naive(grid, small.histograms, fold, p, candidates[k].bandwidth, candidates[k].mirror);
                for (std::size_t b = 0; b < bins; ++b)
                    ASSERT_NEAR(found[k * bins + b], expected[b], 1e-3)
                        << "pixel " << p << " candidate " << k;
            }
        }
    }
}

TEST(CandidateFields, MirrorAboutTheMiddleOfTheImageWhereTheBorderCutsOffCells) {
    const Cells cells({20, 97}, 300);
    const Grid grid = cells.grid();
    ASSERT_EQ(cells.side(), 3u);
    // The share of the first bin is the relative column, so the mean of a pixel and its mirror image is 1/2.
    FoldHistograms histograms(grid.pixels(), 2, 2);
    for (std::uint32_t p = 0; p < 20 * 97; ++p) {
        histograms.at(cells.of(p), 0)[0] += p % 97;
        histograms.at(cells.of(p), 0)[1] += 96 - p % 97;
    }
    const std::vector<Candidate> candidates = make_candidates(grid, {.bandwidths = {0.8}, .rings = false});
    ASSERT_TRUE(candidates.back().mirror);
    const CandidateFields fields(cells, histograms, 2, candidates);
    for (std::size_t column = 5; column < 28; ++column) {
        float found[2];
        fields.at(3 * grid.width + column, candidates.size() - 1, found);
        EXPECT_NEAR(found[0], 0.5, 1e-3) << column;
    }
}

TEST(CandidateFields, AscendToOneEverywhereAlsoWithoutVotes) {
    const Small small(Sample{.height = 20, .width = 24, .images = 10, .share = [](double, double u) {
                                 return u < 0.2 ? 0.5 : 0.0;
                             }});
    const Grid grid = small.given.data.grid();
    const std::vector<Candidate> candidates = make_candidates(grid, {.bandwidths = {0.5, 1.0}});
    const CandidateFields fields(Cells(grid), small.histograms, 0, candidates);
    const std::size_t bins = small.grid.bins();
    std::vector<float> found(candidates.size() * bins);
    for (std::size_t p = 0; p < grid.pixels(); ++p) {
        std::fill(found.begin(), found.end(), -1.0f);
        for (std::size_t k = 0; k < candidates.size(); ++k) fields.at(p, k, found.data() + k * bins);
        for (std::size_t k = 0; k < candidates.size(); ++k) {
            const float* const own = found.data() + k * bins;
            ASSERT_GE(own[0], 0.0f);
            for (std::size_t b = 1; b < bins; ++b) ASSERT_LE(own[b - 1], own[b]) << "candidate " << k;
            ASSERT_EQ(own[bins - 1], 1.0f);
        }
    }
    // Far from any vote the image's distribution is used.
    fields.at(11, 0, found.data());
    fields.at(11, 1, found.data() + bins);
    for (std::size_t b = 0; b < bins; ++b) EXPECT_EQ(found[bins + b], found[b]);
}

TEST(CrossValidation, LossAgreesWithTheDefinition) {
    const Small small(Sample{.height = 8, .width = 10, .images = 9});
    const Grid grid = small.given.data.grid();
    const std::vector<Candidate> candidates =
        make_candidates(grid, {.bandwidths = {0.6, 1.5}, .mirror = false, .rings = false});
    const Cells cells(grid);
    const ErrorProducts found = cross_validate(cells, small.histograms, candidates,
                                               fold_fields(cells, small.histograms, candidates), silent());
    ASSERT_EQ(found.folds, 3u);
    const std::size_t pilot = pilot_of(candidates, grid);
    ASSERT_EQ(pilot, 1u);
    double expected[2][2] = {};
    for (std::size_t fold = 0; fold < 3; ++fold) {
        double sum[2][2] = {};
        std::size_t judged = 0;
        for (std::size_t p = 0; p < grid.pixels(); ++p) {
            const auto judge = small.histograms.at(p, fold);
            double n = 0;
            for (const std::uint32_t c : judge) n += c;
            if (n == 0) continue;
            ++judged;
            const std::vector<double> f[2] = {naive(grid, small.histograms, fold, p, 0.6, false),
                                              naive(grid, small.histograms, fold, p, 1.5, false)};
            double v = 0;
            for (std::size_t b = 0; b < small.grid.bins(); ++b) {
                v += judge[b] / n;
                const double weight = f[0][b] - (b > 0 ? f[0][b - 1] : 0);
                for (int j = 0; j < 2; ++j)
                    for (int k = 0; k < 2; ++k) sum[j][k] += weight * (f[j][b] - v) * (f[k][b] - v);
            }
        }
        for (int j = 0; j < 2; ++j)
            for (int k = 0; k < 2; ++k) expected[j][k] += sum[j][k] / static_cast<double>(judged) / 3;
    }
    for (std::size_t j = 0; j < 2; ++j)
        for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(found.at(j + 1, k + 1), expected[j][k], 2e-4);
}

}  // namespace
}  // namespace kandinsky::partition::field
