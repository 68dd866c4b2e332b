#include <gtest/gtest.h>

#include <cmath>
#include <kandinsky/evaluate.hpp>
#include <kandinsky/threads.hpp>

#include "evaluate/sampling_floor.hpp"
#include "io/support.hpp"
#include "support/naive.hpp"

namespace kandinsky {
namespace {

using namespace test;

Calibrator calibrator_of(const Made& made, const std::string& method, Condition condition) {
    CalibrateOptions options{.score = {}};
    options.method.name = method;
    options.condition = condition;
    options.pooling = Pooling::pixels;
    options.rungs = 20;
    options.method.settings.arrays["mask"] =
        Array::copy_of(stripes(made.pixels(), 3), {made.recipe.grid.height, made.recipe.grid.width});
    return calibrate(made.dataset(), options);
}

double share(std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
}

/// Equal up to rounding, NaN only to NaN.
void expect_near(double ours, double naive, const char* what) {
    if (std::isnan(naive))
        ASSERT_TRUE(std::isnan(ours)) << what;
    else
        ASSERT_NEAR(ours, naive, 1e-12) << what;
}

/// Everything about coverage, counted sample by sample.
void expect_coverage(const Made& made, const Calibrator& calibrator, const Evaluation& found) {
    const std::size_t pixels = made.pixels(), classes = made.recipe.classes, strata = calibrator.strata();
    ASSERT_EQ(found.targets.size(), 19u);
    ASSERT_EQ(found.strata.size(), strata);
    std::vector<std::vector<double>> error(strata, std::vector<double>(pixels, 0));
    std::vector<std::vector<std::uint64_t>> count(strata, std::vector<std::uint64_t>(pixels, 0));
    for (std::size_t l = 0; l < 19; ++l) {
        const auto m = static_cast<double>(l + 1);
        expect_near(found.targets[l], m / 20, "target");
        const auto limit = score_thresholds(calibrator, (20 - m) / 20);
        std::uint64_t valid = 0, in_sets = 0, empty = 0;
        for (std::size_t n = 0; n < made.recipe.images; ++n)
            for (std::size_t p = 0; p < pixels; ++p) {
                if (!made.valid(n, p)) continue;
                std::uint64_t size = 0;
                for (std::size_t c = 0; c < classes; ++c)
                    size += 1.0f - made.prob(n, c, p) <= limit[c * pixels + p];
                ++valid, in_sets += size, empty += size == 0;
            }
        expect_near(found.level_sets[l].size, share(in_sets, valid), "set size");
        expect_near(found.level_sets[l].empty, share(empty, valid), "empty share");
        for (std::size_t s = 0; s < strata; ++s) {
            const Partition& partition = calibrator.partitions[s];
            std::vector<std::uint64_t> total(partition.regions, 0), covered(partition.regions, 0);
            for (std::size_t p = 0; p < pixels; ++p) {
                std::uint64_t here = 0, hit = 0;
                for (std::size_t n = 0; n < made.recipe.images; ++n)
                    for (std::size_t c = 0; c < classes; ++c)
                        if ((strata == 1 || c == s) && made.has(n, c, p))
                            ++here, hit += 1.0f - made.prob(n, c, p) <= limit[c * pixels + p];
                count[s][p] = here;
                if (here > 0) error[s][p] += std::abs(share(hit, here) - m / 20) / 19;
                total[partition.region[p]] += here;
                covered[partition.region[p]] += hit;
            }
            std::uint64_t all = 0, all_covered = 0;
            for (std::size_t r = 0; r < partition.regions; ++r) {
                all += total[r], all_covered += covered[r];
                expect_near(found.strata[s].region_coverage[r][l], share(covered[r], total[r]), "region");
                ASSERT_EQ(found.strata[s].region_samples[r], total[r]);
            }
            expect_near(found.strata[s].coverage[l], share(all_covered, all), "coverage");
            ASSERT_EQ(found.strata[s].samples, all);
        }
    }
    for (std::size_t s = 0; s < strata; ++s) {
        std::vector<double> errors;
        double sum = 0, floor = 0;
        for (std::size_t p = 0; p < pixels; ++p) {
            const bool any = count[s][p] > 0;
            expect_near(found.strata[s].ce_map[p], any ? error[s][p] : NAN, "CE map");
            if (!any) continue;
            errors.push_back(error[s][p]);
            sum += error[s][p];
            for (int m = 1; m < 20; ++m) floor += sampling_floor(count[s][p], m / 20.0, m / 20.0) / 19;
        }
        const auto n = static_cast<double>(errors.size());
        ASSERT_EQ(found.strata[s].pixels, errors.size());
        ASSERT_EQ(found.strata[s].pixels_without_data, pixels - errors.size());
        expect_near(found.strata[s].mean_ce, errors.empty() ? NAN : sum / n, "mean CE");
        expect_near(found.strata[s].floor, errors.empty() ? NAN : floor / n, "floor");
        expect_near(found.strata[s].q05, quantile(errors, 0.05), "q05");
        expect_near(found.strata[s].q95, quantile(errors, 0.95), "q95");
    }
}

/// The measures at alpha.
void expect_at_alpha(const Made& made, const Calibrator& calibrator, const Evaluation& found, double alpha) {
    const auto limit = score_thresholds(calibrator, alpha);
    std::uint64_t valid = 0, in_sets = 0, empty = 0, samples = 0, covered = 0, infinite = 0;
    for (const float t : limit) infinite += t == kInfinity;
    for (std::size_t n = 0; n < made.recipe.images; ++n)
        for (std::size_t p = 0; p < made.pixels(); ++p) {
            std::uint64_t size = 0;
            for (std::size_t c = 0; c < made.recipe.classes; ++c) {
                const bool in = 1.0f - made.prob(n, c, p) <= limit[c * made.pixels() + p];
                size += in;
                samples += made.has(n, c, p);
                covered += made.has(n, c, p) && in;
            }
            if (made.valid(n, p)) ++valid, in_sets += size, empty += size == 0;
        }
    for (std::size_t s = 0; s < calibrator.strata(); ++s) {
        double errors = 0;
        std::uint64_t places = 0;
        for (std::size_t p = 0; p < made.pixels(); ++p) {
            std::uint64_t here = 0, hits = 0;
            for (std::size_t n = 0; n < made.recipe.images; ++n)
                for (std::size_t c = 0; c < made.recipe.classes; ++c)
                    if (calibrator.stratum_of(c) == s && made.has(n, c, p)) {
                        ++here;
                        hits += 1.0f - made.prob(n, c, p) <= limit[c * made.pixels() + p];
                    }
            if (here >= 3) errors += std::abs(share(hits, here) - (1 - alpha)), ++places;
        }
        expect_near(found.strata[s].place_error,
                    places > 0 ? errors / static_cast<double>(places) : std::nan(""), "place error");
    }
    ASSERT_EQ(found.alpha, alpha);
    ASSERT_EQ(found.infinite, infinite);
    expect_near(found.plain_sets.size, share(in_sets, valid), "set size at alpha");
    expect_near(found.plain_sets.empty, share(empty, valid), "empty share at alpha");
    expect_near(found.coverage_at_alpha, share(covered, samples), "coverage at alpha");
}

void expect_reliability(const Made& made, const ProbabilityEvaluation& found) {
    for (std::size_t c = 0; c < made.recipe.classes; ++c) {
        double gaps = 0;
        std::uint64_t total = 0;
        std::vector<std::vector<double>> gap(made.pixels(), std::vector<double>(20, 0));
        std::vector<std::uint64_t> seen(made.pixels(), 0);
        for (std::size_t b = 0; b < 20; ++b) {
            std::uint64_t count = 0, hits = 0;
            double confidence = 0;
            for (std::size_t n = 0; n < made.recipe.images; ++n)
                for (std::size_t p = 0; p < made.pixels(); ++p) {
                    const float prob = made.prob(n, c, p);
                    if (!made.valid(n, p) ||
                        std::min(19, static_cast<int>(prob * 20.0f)) != static_cast<int>(b))
                        continue;
                    ++count, hits += made.has(n, c, p), confidence += prob;
                    gap[p][b] += static_cast<double>(prob) - made.has(n, c, p);
                    ++seen[p];
                }
            ASSERT_EQ(found.classes[c].count[b], count);
            total += count;
            gaps += std::abs(confidence - static_cast<double>(hits));
            if (count == 0) continue;
            ASSERT_NEAR(found.classes[c].confidence[b], confidence / static_cast<double>(count), 1e-9);
            ASSERT_NEAR(found.classes[c].accuracy[b], share(hits, count), 1e-12);
        }
        ASSERT_NEAR(found.classes[c].ece, gaps / static_cast<double>(total), 1e-9);
        for (std::size_t p = 0; p < made.pixels(); ++p) {
            double sum = 0;
            for (const double one : gap[p]) sum += std::abs(one);
            if (seen[p] == 0)
                ASSERT_TRUE(std::isnan(found.ece_map[c][p]));
            else
                ASSERT_NEAR(found.ece_map[c][p], sum / static_cast<double>(seen[p]), 1e-9);
        }
    }
}

std::vector<Made> test_sets() {
    return {make({.images = 30, .classes = 3, .seed = 1, .ignored = 0.2, .steps = 16}),
            make({.images = 6, .classes = 2, .seed = 2, .ignored = 0.6}),
            make({.images = 10, .classes = 3, .seed = 3, .overlapping = true}),
            make({.images = 3, .classes = 2, .grid = {20, 31}, .seed = 4, .ignored = 0.3}),
            make({.images = 5, .classes = 3, .seed = 5, .absent = 2})};
}

TEST(Evaluate, CountsFollowTheDefinitions) {
    for (const Made& test : test_sets()) {
        Recipe other = test.recipe;
        other.seed += 100;
        const Made calibration = make(other);
        for (const std::string method : {"pixel", "image", "mask"})
            for (const Condition condition : {Condition::by_class, Condition::none}) {
                SCOPED_TRACE(method + " on set " + std::to_string(test.recipe.seed));
                const Calibrator calibrator = calibrator_of(calibration, method, condition);
                for (const double alpha : {0.05, 0.1, 0.5}) {
                    const auto report = evaluate(test.dataset(), {&calibrator}, {.alpha = alpha});
                    expect_at_alpha(test, calibrator, report.calibrators[0], alpha);
                    if (alpha != 0.1) continue;
                    EXPECT_EQ(report.images, test.recipe.images);
                    expect_coverage(test, calibrator, report.calibrators[0]);
                    expect_reliability(test, report.probabilities);
                }
            }
    }
}

void expect_same(const EvaluationReport& a, const EvaluationReport& b) {
    ASSERT_EQ(a.calibrators.size(), b.calibrators.size());
    const auto same = [](const std::vector<double>& x, const std::vector<double>& y) {
        ASSERT_EQ(x.size(), y.size());
        for (std::size_t i = 0; i < x.size(); ++i)
            ASSERT_TRUE(x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i])));
    };
    for (std::size_t k = 0; k < a.calibrators.size(); ++k) {
        const Evaluation &x = a.calibrators[k], &y = b.calibrators[k];
        for (std::size_t l = 0; l < x.level_sets.size(); ++l)
            same({x.level_sets[l].size, x.level_sets[l].single_right, x.level_sets[l].full},
                 {y.level_sets[l].size, y.level_sets[l].single_right, y.level_sets[l].full});
        EXPECT_EQ(x.sets.size, y.sets.size);
        EXPECT_EQ(x.sets.false_classes, y.sets.false_classes);
        same(x.class_false_share, y.class_false_share);
        EXPECT_EQ(x.coverage_at_alpha, y.coverage_at_alpha);
        for (std::size_t s = 0; s < x.strata.size(); ++s) {
            same(x.strata[s].ce_map, y.strata[s].ce_map);
            same(x.strata[s].coverage, y.strata[s].coverage);
            same({x.strata[s].mean_ce, x.strata[s].q05, x.strata[s].floor, x.strata[s].false_discovery},
                 {y.strata[s].mean_ce, y.strata[s].q05, y.strata[s].floor, y.strata[s].false_discovery});
        }
    }
    for (std::size_t c = 0; c < a.probabilities.classes.size(); ++c) {
        EXPECT_EQ(a.probabilities.classes[c].ece, b.probabilities.classes[c].ece);
        same(a.probabilities.ece_map[c], b.probabilities.ece_map[c]);
    }
}

TEST(Evaluate, DoesNotDependOnTheOrderOfImagesOrThreads) {
    const Made made = make({.images = 12, .classes = 2, .grid = {30, 50}, .seed = 6, .ignored = 0.1});
    const Calibrator calibrator = calibrator_of(made, "mask", Condition::by_class);
    const auto expected = evaluate(made.dataset(), {&calibrator});
    for (const std::size_t threads : {1u, 2u, 4u}) {
        const ThreadLimit limit(threads);
        expect_same(evaluate(made.permuted(shuffled(12, threads)).dataset(), {&calibrator}), expected);
    }
}

TEST(Evaluate, EvaluatesSeveralCalibratorsLikeEachAlone) {
    const Made made = make({.images = 12, .classes = 3, .seed = 7});
    const Calibrator a = calibrator_of(made, "pixel", Condition::by_class),
                     b = calibrator_of(made, "image", Condition::none);
    const auto together = evaluate(made.dataset(), {&a, &b});
    auto alone = evaluate(made.dataset(), {&a});
    alone.calibrators.push_back(evaluate(made.dataset(), {&b}).calibrators[0]);
    expect_same(together, alone);
}

TEST(Evaluate, EvaluatesCalibratorsOfDifferentScoresEachWithItsScore) {
    const Made made = make({.images = 12, .classes = 3, .seed = 21});
    std::vector<Calibrator> calibrators;
    for (const ScoreKind kind : {ScoreKind::near, ScoreKind::lac, ScoreKind::aps, ScoreKind::near}) {
        CalibrateOptions options{.score = {.kind = kind}};
        options.method.name = calibrators.size() == 3 ? "pixel" : "image";
        calibrators.push_back(calibrate(made.dataset(), options));
    }
    std::vector<const Calibrator*> pointers;
    EvaluationReport alone;
    for (const Calibrator& one : calibrators) {
        pointers.push_back(&one);
        const EvaluationReport own = evaluate(made.dataset(), {&one});
        alone.probabilities = own.probabilities;
        alone.calibrators.push_back(own.calibrators[0]);
    }
    expect_same(evaluate(made.dataset(), pointers), alone);
}

TEST(Evaluate, LeavesTheMapsOutWhenNotAsked) {
    const Made made = make({.images = 4, .seed = 8});
    const Calibrator calibrator = calibrator_of(made, "image", Condition::by_class);
    const auto report = evaluate(made.dataset(), {&calibrator}, {.alpha = 0.1, .maps = false});
    EXPECT_TRUE(report.calibrators[0].strata[0].ce_map.empty());
    EXPECT_TRUE(report.probabilities.ece_map.empty());
    EXPECT_EQ(report.calibrators[0].strata[0].mean_ce,
              evaluate(made.dataset(), {&calibrator}).calibrators[0].strata[0].mean_ce);
}

TEST(Evaluate, RefusesDataThatItCannotEvaluate) {
    Made made = make({.images = 4, .seed = 9});
    const Calibrator calibrator = calibrator_of(made, "image", Condition::by_class);
    expect_error(ErrorKind::usage, {"no calibrator"},
                 [&] { (void)evaluate(made.dataset(), std::vector<const Calibrator*>{}); });
    expect_error(ErrorKind::usage, {"alpha is 2"},
                 [&] { (void)evaluate(made.dataset(), {&calibrator}, {.alpha = 2}); });
    expect_error(ErrorKind::data, {"3 classes"},
                 [&] { (void)evaluate(make({.classes = 3}).dataset(), {&calibrator}); });
    std::fill(made.truth.begin(), made.truth.end(), std::uint8_t{255});
    expect_error(ErrorKind::data, {"every pixel is ignored"},
                 [&] { (void)evaluate(made.dataset(), {&calibrator}); });
}

}  // namespace
}  // namespace kandinsky
