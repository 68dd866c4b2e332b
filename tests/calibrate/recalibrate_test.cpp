#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/kcal.hpp>
#include <kandinsky/predictor.hpp>
#include <kandinsky/threads.hpp>
#include <map>

#include "calibrate/sample.hpp"
#include "curve/curve_storage.hpp"
#include "io/support.hpp"
#include "support/exchangeable.hpp"
#include "support/fewer.hpp"
#include "support/naive.hpp"

namespace kandinsky {
namespace {

using namespace kandinsky::test;

CalibrateOptions options_for(const std::string& method) {
    CalibrateOptions options{.score = {}};
    options.method.name = method;
    options.rungs = 20;
    options.method.settings.text = {{"kmeans-clusters", "2"}, {"kmeans-restarts", "1"}, {"field-folds", "2"}};
    return options;
}

TEST(Recalibrate, SetsTheLevelsByTheNewGroupsAlone) {
    for (const char* const method : {"image", "pixel", "kmeans", "field"})
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
            const Made old = make({.images = 40, .grid = {4, 5}, .seed = seed});
            const Made fresh = make({.images = 30, .grid = {4, 5}, .seed = 50 + seed, .groups = 19});
            const Calibrator before = calibrate(old.dataset(), options_for(method));
            const Calibrator after = recalibrate(before, fresh.dataset());
            EXPECT_EQ(after.renewal.images, 30u);
            const std::size_t groups = fresh.dataset().groups();
            EXPECT_EQ(after.renewal.groups, groups);
            EXPECT_NE(guarantee(after).find(std::to_string(groups) + " groups that set its levels"),
                      std::string::npos);
            // `share`: the share of each group's scores that the sets cover. At a rung the sum over groups
            // must be at least (1 - alpha)(G + 1).
            for (const double alpha : {0.1, 0.3, 0.5}) {
                const std::vector<float> limits = score_thresholds(after, alpha);
                for (std::size_t c = 0; c < 2; ++c) {
                    std::map<std::int64_t, std::pair<double, double>> share;  // covered, all
                    for (std::size_t n = 0; n < 30; ++n)
                        for (std::size_t p = 0; p < fresh.pixels(); ++p)
                            if (fresh.has(n, c, p)) {
                                auto& [in, all] = share[fresh.group(n)];
                                in += 1.0f - fresh.prob(n, c, p) <= limits[c * fresh.pixels() + p];
                                ++all;
                            }
                    double sum = 0;
                    for (const auto& [group, one] : share) sum += one.first / one.second;
                    EXPECT_GE(sum, (1 - alpha) * static_cast<double>(share.size() + 1) - 1e-9)
                        << method << " seed " << seed << " class " << c << " alpha " << alpha;
                }
            }
            // Sets are nested along alpha, and p-values agree with them.
            std::vector<float> probs(fresh.probs.begin(),
                                     fresh.probs.begin() + static_cast<std::ptrdiff_t>(2 * fresh.pixels())),
                p(probs.size());
            p_values(after, probs, p);
            for (const double alpha : {0.1, 0.3, 0.5}) {
                std::vector<std::uint8_t> sets(probs.size());
                Predictor(after, alpha, EmptySets::keep).sets(probs, sets);
                for (std::size_t i = 0; i < sets.size(); ++i)
                    EXPECT_EQ(sets[i] != 0, static_cast<double>(p[i]) > alpha) << method << " value " << i;
            }
        }
}

TEST(Recalibrate, EqualsASplitWhoseLevelPartIsNew) {
    // A split learns from some images and sets levels with the others; a calibrator of the learning part
    // alone has the same curves, so that recalibrating it with the other part gives the same thresholds.
    const Made made = make({.images = 60, .grid = {6, 6}, .seed = 4});
    const Dataset all = made.dataset();
    CalibrateOptions options = options_for("field");
    options.split = 0.5;
    const Calibrator split = calibrate(all, options);
    const DataSplit parts = split_groups(all, options, 60, silent());
    options.split = 0;
    options.promise = Promise::none;
    const Calibrator learnt = calibrate(all.subset(parts.learn), options);
    const Calibrator after = recalibrate(learnt, all.subset(parts.level));
    for (std::size_t s = 0; s < 2; ++s) {
        EXPECT_EQ(storage_of(after.smooth[s]).cumulative, storage_of(split.smooth[s]).cumulative);
        EXPECT_EQ(storage_of(after.smooth[s]).levels, storage_of(split.smooth[s]).levels);
        EXPECT_NE(storage_of(after.smooth[s]).levels, storage_of(learnt.smooth[s]).levels);
        EXPECT_EQ(storage_of(after.smooth[s]).groups, 30u);
    }
    EXPECT_EQ(score_thresholds(after, 0.2), score_thresholds(split, 0.2));
    const ThreadLimit limit(1);
    EXPECT_EQ(score_thresholds(recalibrate(learnt, all.subset(parts.level)), 0.2),
              score_thresholds(after, 0.2));
}

TEST(Recalibrate, KeepsThePromiseForAnotherPopulation) {
    // The old images are of another kind: their calibrator covers too little for the new ones. A correct
    // program fails for at most three seeds in ten million: one for each method.
    constexpr double kAlpha = 0.2;
    const ThreadLimit limit(1);
    for (const char* const method : {"image", "kmeans", "field"}) {
        std::size_t thrown = 0, covered = 0;
        const Calibrator old = calibrate(make({.images = 12, .grid = {8, 8}}).dataset(), options_for(method));
        for (std::size_t draw = 0; draw < 1200 / kFewer; ++draw) {
            Random random(20261118, 79, draw);
            const Exchangeable fresh(random, 9, true);
            const Calibrator after = recalibrate(old, fresh.calibration());
            const auto judged = fresh.new_pixels([](std::size_t, std::size_t label) { return label == 1; });
            if (judged.empty()) continue;
            const auto [image, place] = judged[random.below(judged.size())];
            std::vector<std::uint8_t> sets(Exchangeable::kClasses * Exchangeable::kPixels);
            Predictor(after, kAlpha, EmptySets::keep).sets(fresh.new_probs(image), sets);
            ++thrown;
            covered += sets[Exchangeable::kPixels + place];
        }
        ASSERT_GT(thrown, 600 / kFewer);
        EXPECT_GE(boost::math::cdf(boost::math::binomial(static_cast<double>(thrown), 1 - kAlpha),
                                   static_cast<double>(covered)),
                  1e-7)
            << method << " covers " << covered << " of " << thrown;
    }
}

TEST(Recalibrate, RefusesTheOldImagesImagesThatDoNotFitAndPooledPixels) {
    const Made made = make({.images = 20, .grid = {4, 5}});
    const Calibrator calibrator = calibrate(made.dataset(), options_for("image"));
    EXPECT_THROW((void)recalibrate(calibrator, made.dataset()), Error);
    EXPECT_THROW((void)recalibrate(calibrator, make({.images = 20, .grid = {5, 5}}).dataset()), Error);
    CalibrateOptions pooled = options_for("image");
    pooled.pooling = Pooling::pixels;
    EXPECT_THROW(
        (void)recalibrate(calibrate(made.dataset(), pooled), make({.grid = {4, 5}, .seed = 8}).dataset()),
        Error);
}

TEST(Recalibrate, TheRenewalAndTheWeightsAreStoredInTheFile) {
    const Folder folder;
    const Made made = make({.images = 30, .grid = {4, 5}}),
               fresh = make({.images = 12, .grid = {4, 5}, .seed = 3});
    CalibrateOptions options = options_for("field");
    options.weights.of_row.assign(30, 1);
    options.weights.of_row[3] = 2;
    options.weights.learnt = R"({"new_groups":7})";
    const Calibrator weighted = calibrate(made.dataset(), options);
    save(weighted, folder / "w.kcal");
    const Calibrator back = load(folder / "w.kcal");
    EXPECT_EQ(back.weighting.groups, weighted.weighting.groups);
    EXPECT_EQ(back.weighting.effective, weighted.weighting.effective);
    EXPECT_EQ(back.weighting.at_infinity, weighted.weighting.at_infinity);
    EXPECT_EQ(back.weighting.least, weighted.weighting.least);
    EXPECT_EQ(back.weighting.learnt, weighted.weighting.learnt);
    EXPECT_EQ(guarantee(back), guarantee(weighted));
    EXPECT_NE(guarantee(back).find("estimated from images without labels"), std::string::npos);
    const Calibrator renewed = recalibrate(weighted, fresh.dataset());
    save(renewed, folder / "r.kcal");
    const Calibrator again = load(folder / "r.kcal");
    EXPECT_EQ(again.renewal.images, 12u);
    EXPECT_EQ(again.renewal.fingerprint, renewed.renewal.fingerprint);
    EXPECT_TRUE(again.weighting.none());
    EXPECT_EQ(guarantee(again), guarantee(renewed));
    EXPECT_EQ(score_thresholds(again, 0.2), score_thresholds(renewed, 0.2));
}

}  // namespace
}  // namespace kandinsky
