#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <kandinsky/evaluate.hpp>
#include <kandinsky/threads.hpp>
#include <map>
#include <set>

#include "evaluate/bootstrap.hpp"
#include "evaluate/reliability.hpp"
#include "evaluate/sampling_floor.hpp"
#include "score/scoring.hpp"
#include "support/naive.hpp"

namespace kandinsky {
namespace {

using namespace test;

Calibrator calibrator_of(const Made& made, const std::string& method, Condition condition,
                         const ScoreOptions& score = {}) {
    CalibrateOptions options{.score = {}};
    options.method.name = method;
    options.condition = condition;
    options.pooling = Pooling::pixels;
    options.rungs = 20;
    options.score = score;
    options.method.settings.arrays["mask"] =
        Array::copy_of(stripes(made.pixels(), 3), {made.recipe.grid.height, made.recipe.grid.width});
    return calibrate(made.dataset(), options);
}

double share(std::uint64_t part, std::uint64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : std::nan("");
}

void expect_same(double a, double b, const std::string& what) {
    if (std::isnan(b))
        EXPECT_TRUE(std::isnan(a)) << what;
    else
        EXPECT_NEAR(a, b, 1e-9) << what;
}

/// The number of samples of a region, block, size or image, and how many of them are covered.
struct Count {
    std::uint64_t samples = 0, covered = 0;
    void add(bool hit) { ++samples, covered += hit; }
    [[nodiscard]] double coverage() const { return share(covered, samples); }
};

double worst(const std::map<std::size_t, Count>& places) {
    double out = std::nan("");
    for (const auto& [place, count] : places)
        if (count.samples >= 30 && !(count.coverage() >= out)) out = count.coverage();
    return out;
}

void expect_images(const ImageCoverage& found, const std::map<std::size_t, Count>& images, double level) {
    std::vector<double> shares;
    std::uint64_t below = 0;
    for (const auto& [image, count] : images) {
        shares.push_back(count.coverage());
        below += shares.back() < level;
    }
    EXPECT_EQ(found.images, shares.size());
    expect_same(found.below, share(below, shares.size()), "images below");
    for (std::size_t k = 0; k < 5; ++k)
        expect_same(found.quantiles[k], quantile(shares, ImageCoverage::kLevels[k]), "image quantile");
}

/// The contents of sets, counted for each set.
struct Held {
    std::uint64_t sets = 0, members = 0, wrong = 0, empty = 0, single = 0, right = 0, full = 0;
    void add(const std::vector<bool>& in, const std::vector<bool>& has) {
        std::size_t size = 0, hits = 0;
        for (std::size_t c = 0; c < in.size(); ++c) size += in[c], hits += in[c] && has[c];
        ++sets, members += size, wrong += size - hits;
        empty += size == 0, single += size == 1, right += size == 1 && hits == 1, full += size == in.size();
    }
    void expect(const SetFigures& found, const std::string& what) const {
        expect_same(found.size, share(members, sets), what + ": size");
        expect_same(found.false_classes, share(wrong, sets), what + ": false classes");
        expect_same(found.empty, share(empty, sets), what + ": empty");
        expect_same(found.single, share(single, sets), what + ": single");
        expect_same(found.single_right, share(right, single), what + ": single and right");
        expect_same(found.full, share(full, sets), what + ": full");
    }
};

/// The contents of the sets at the levels of the coverage error, before filling.
void expect_at_levels(const Made& made, const Calibrator& calibrator, const Evaluation& found) {
    const std::size_t pixels = made.pixels(), classes = made.recipe.classes;
    ASSERT_EQ(found.level_sets.size(), 19u);
    for (std::size_t l = 0; l < 19; ++l) {
        const auto limits = score_thresholds(calibrator, static_cast<double>(19 - l) / 20);
        Held held;
        std::vector<Count> wrong(calibrator.strata());
        for (std::size_t n = 0; n < made.recipe.images; ++n) {
            std::vector<float> scores(classes * pixels);
            score(calibrator.options.score, classes, pixels, made.probs.data() + n * classes * pixels,
                  scores.data());
            for (std::size_t p = 0; p < pixels; ++p) {
                if (!made.valid(n, p)) continue;
                std::vector<bool> in, has;
                for (std::size_t c = 0; c < classes; ++c) {
                    in.push_back(scores[c * pixels + p] <= limits[c * pixels + p]);
                    has.push_back(made.has(n, c, p));
                    if (!has[c]) wrong[calibrator.stratum_of(c)].add(in[c]);
                }
                held.add(in, has);
            }
        }
        held.expect(found.level_sets[l], "level " + std::to_string(l));
        for (std::size_t s = 0; s < calibrator.strata(); ++s)
            expect_same(found.strata[s].false_shares[l], wrong[s].coverage(), "false share at a level");
    }
}

/// Everything at alpha, sample by sample.
void expect_at_alpha(const Made& made, const Calibrator& calibrator, EmptySets empty,
                     const Evaluation& found) {
    const double alpha = 0.25;
    const std::size_t pixels = made.pixels(), classes = made.recipe.classes, width = made.recipe.grid.width;
    const auto limits = score_thresholds(calibrator, alpha);
    std::map<std::size_t, Count> sizes, images;
    std::vector<std::map<std::size_t, Count>> regions(calibrator.strata()), blocks(calibrator.strata()),
        of_class(calibrator.strata());
    Count plain, all;
    std::uint64_t valid = 0, filled = 0;
    Held held, plain_held;
    std::vector<Count> wrong(classes);
    // [stratum][group] pixels whose set has the class; `covered` counts those with another label.
    std::vector<std::map<std::int64_t, Count>> marked(calibrator.strata());
    std::set<std::int64_t> groups;
    for (std::size_t n = 0; n < made.recipe.images; ++n) {
        const auto group = static_cast<std::int64_t>(made.groups.empty() ? n : made.groups[n]);
        groups.insert(group);
        std::vector<float> scores(classes * pixels);
        score(calibrator.options.score, classes, pixels, made.probs.data() + n * classes * pixels,
              scores.data());
        for (std::size_t p = 0; p < pixels; ++p) {
            std::vector<bool> in(classes), before;
            std::size_t size = 0, best = 0;
            for (std::size_t c = 0; c < classes; ++c) {
                in[c] = scores[c * pixels + p] <= limits[c * pixels + p];
                size += in[c];
                if (made.prob(n, c, p) > made.prob(n, best, p)) best = c;
            }
            before = in;
            if (size == 0 && empty == EmptySets::fill) {
                in[best] = true;
                size = 1;
                filled += made.valid(n, p);
            }
            if (made.valid(n, p)) {
                ++valid;
                std::vector<bool> has;
                for (std::size_t c = 0; c < classes; ++c) has.push_back(made.has(n, c, p));
                held.add(in, has);
                plain_held.add(before, has);
                for (std::size_t c = 0; c < classes; ++c) {
                    if (!has[c]) wrong[c].add(in[c]);
                    if (in[c]) marked[calibrator.stratum_of(c)][group].add(!has[c]);
                }
            }
            for (std::size_t c = 0; c < classes; ++c) {
                if (!made.has(n, c, p)) continue;
                const std::size_t s = calibrator.stratum_of(c);
                const std::size_t row = p / width * 4 / made.recipe.grid.height,
                                  column = p % width * 4 / width;
                plain.add(before[c]);
                all.add(in[c]);
                sizes[size].add(in[c]);
                images[n].add(before[c]);
                of_class[s][n].add(before[c]);
                regions[s][calibrator.partitions[s].region[p]].add(before[c]);
                blocks[s][row * 4 + column].add(before[c]);
            }
        }
    }
    expect_same(found.coverage_at_alpha, plain.coverage(), "coverage");
    expect_same(found.filled_coverage, all.coverage(), "coverage once filled");
    held.expect(found.sets, "sets");
    plain_held.expect(found.plain_sets, "plain sets");
    Count pooled;
    for (std::size_t c = 0; c < classes; ++c) {
        expect_same(found.class_false_share[c], wrong[c].coverage(), "false share of a class");
        if (calibrator.strata() > 1)
            expect_same(found.strata[c].false_share, wrong[c].coverage(), "false share");
        pooled.samples += wrong[c].samples, pooled.covered += wrong[c].covered;
    }
    if (calibrator.strata() == 1)
        expect_same(found.strata[0].false_share, pooled.coverage(), "false share of all");
    expect_same(found.filled_share, share(filled, valid), "filled");
    for (std::size_t k = 0; k <= classes; ++k) {
        EXPECT_EQ(found.size_samples[k], sizes[k].samples);
        expect_same(found.size_coverage[k], sizes[k].coverage(), "coverage by size");
    }
    sizes.erase(0);
    expect_same(found.worst_size.coverage, worst(sizes), "worst size");
    expect_images(found.image_coverage, images, 1 - alpha);
    for (std::size_t s = 0; s < calibrator.strata(); ++s) {
        expect_same(found.strata[s].worst_region.coverage, worst(regions[s]), "worst region");
        expect_same(found.strata[s].worst_block.coverage, worst(blocks[s]), "worst block");
        expect_images(found.strata[s].image_coverage, of_class[s], 1 - alpha);
        double discovered = 0;
        for (const auto& [group, count] : marked[s]) discovered += count.coverage();
        EXPECT_NEAR(found.strata[s].false_discovery, discovered / static_cast<double>(groups.size()), 1e-9);
        Count total;
        for (const auto& [region, count] : regions[s])
            total.samples += count.samples, total.covered += count.covered;
        expect_same(found.strata[s].coverage_at_alpha, total.coverage(), "stratum's coverage");
    }
}

TEST(Metrics, EqualCountsOfSingleSamples) {
    // More than eight classes are counted in another way; class 1 is absent from the labels of some.
    for (const std::size_t classes : {2u, 3u, 11u})
        for (const bool overlapping : {false, true}) {
            Recipe recipe{.images = 40,
                          .classes = classes,
                          .grid = {6, 7},
                          .seed = 2,
                          .ignored = overlapping ? 0 : 0.1,
                          .overlapping = overlapping,
                          .steps = 20};
            const Made cal = make(recipe);
            recipe.seed = 3;
            if (!overlapping && classes > 2) recipe.absent = 1;
            const Made test = make(recipe);
            for (const std::string method : {"pixel", "mask"})
                for (const Condition condition : {Condition::by_class, Condition::none})
                    for (const ScoreKind kind : {ScoreKind::lac, ScoreKind::margin}) {
                        const Calibrator calibrator = calibrator_of(cal, method, condition, {.kind = kind});
                        for (const EmptySets empty : {EmptySets::keep, EmptySets::fill}) {
                            const auto report = evaluate(test.dataset(), {&calibrator},
                                                         {.alpha = 0.25, .maps = false, .empty = empty});
                            expect_at_alpha(test, calibrator, empty, report.calibrators.front());
                            expect_at_levels(test, calibrator, report.calibrators.front());
                        }
                    }
        }
}

TEST(Metrics, OfPixelsThatAllHaveTheClassHaveNoFalseShare) {
    Made test = make({.images = 5, .classes = 2, .grid = {2, 3}, .seed = 4});
    std::fill(test.truth.begin(), test.truth.end(), std::uint8_t{1});
    const Calibrator calibrator = calibrator_of(make({.images = 20, .classes = 2, .grid = {2, 3}, .seed = 5}),
                                                "pixel", Condition::by_class);
    const Evaluation found = evaluate(test.dataset(), {&calibrator}, {}).calibrators.front();
    EXPECT_TRUE(std::isnan(found.strata[1].false_share));
    EXPECT_TRUE(std::isnan(found.strata[1].false_shares[3]));
    EXPECT_TRUE(std::isfinite(found.strata[0].false_share));
}

TEST(Metrics, FalseDiscoveryIsAMeanOverGroupsOfWhichAllCount) {
    Recipe recipe{.images = 30, .classes = 3, .grid = {4, 5}, .seed = 9, .groups = 6};
    const Calibrator calibrator = calibrator_of(make(recipe), "image", Condition::by_class);
    recipe.seed = 10;
    const Made test = make(recipe);
    const auto report =
        evaluate(test.dataset(), {&calibrator}, {.alpha = 0.25, .maps = false, .empty = EmptySets::fill});
    expect_at_alpha(test, calibrator, EmptySets::fill, report.calibrators.front());
}

TEST(Metrics, WeightedErrorsAreMeansOfTheMap) {
    // A class has about 30 samples at a pixel: some pixels have at least 30, and others have fewer.
    Made made = make({.images = 90, .classes = 3, .grid = {5, 6}, .seed = 6});
    const Dataset data = made.dataset();
    const Calibrator calibrator = calibrator_of(made, "image", Condition::by_class);
    const auto report = evaluate(data, {&calibrator}, {});
    bool some = false, none = false;
    for (std::size_t s = 0; s < 3; ++s) {
        const StratumEvaluation& found = report.calibrators.front().strata[s];
        double weighted = 0, samples = 0, enough = 0, floor = 0;
        std::uint64_t pixels = 0;
        for (std::size_t p = 0; p < made.pixels(); ++p) {
            std::uint64_t n = 0;
            for (std::size_t image = 0; image < 90; ++image) n += made.has(image, s, p);
            if (n == 0) continue;
            weighted += static_cast<double>(n) * found.ce_map[p];
            samples += static_cast<double>(n);
            none = none || n < 30;
            if (n < 30) continue;
            some = true;
            ++pixels;
            enough += found.ce_map[p];
            for (int m = 1; m < 20; ++m) floor += sampling_floor(n, m / 20.0, m / 20.0) / 19;
        }
        expect_same(found.weighted_ce, weighted / samples, "weighted");
        EXPECT_EQ(found.pixels_enough, pixels);
        expect_same(found.ce_enough, enough / static_cast<double>(pixels), "enough");
        expect_same(found.floor_enough, floor / static_cast<double>(pixels), "floor");
    }
    EXPECT_TRUE(some && none) << "the sample does not tell the two apart";
}

/// The smooth calibration error by its definition: without bins, with many reflections and fine steps.
double naive_smooth_ece_at(const std::vector<double>& p, const std::vector<int>& y, double width) {
    constexpr int kSteps = 2000;
    double sum = 0;
    for (int j = 0; j < kSteps; ++j) {
        const double t = (j + 0.5) / kSteps;
        double here = 0;
        for (std::size_t i = 0; i < p.size(); ++i)
            for (int fold = -4; fold <= 4; ++fold)
                for (const double at : {2.0 * fold + p[i], 2.0 * fold - p[i]}) {
                    const double x = (t - at) / width;
                    here += std::exp(-0.5 * x * x) * (y[i] - p[i]);
                }
        sum += std::abs(here) / (width * std::sqrt(2 * M_PI)) / kSteps;
    }
    return sum / static_cast<double>(p.size());
}

TEST(SmoothEce, IsTheDefinitionUpToTheBins) {
    Random random(4);
    for (const double slope : {1.0, 0.5}) {
        std::vector<double> p;
        std::vector<int> y;
        std::vector<std::int64_t> residuals(kSmoothBins);
        for (int i = 0; i < 400; ++i) {
            p.push_back(random.uniform());
            y.push_back(random.uniform() < 0.5 + slope * (p.back() - 0.5));
            residuals[static_cast<std::size_t>(p.back() * kSmoothBins)] +=
                std::llround((p.back() - y.back()) * 0x1.0p32);
        }
        for (const double width : {0.02, 0.1, 0.4})
            EXPECT_NEAR(smooth_ece_at(residuals, 400, 0x1.0p32, width), naive_smooth_ece_at(p, y, width),
                        1e-3);
        const double found = smooth_ece(residuals, 400, 0x1.0p32);
        EXPECT_NEAR(naive_smooth_ece_at(p, y, found), found, 2e-3);
        EXPECT_EQ(found > 0.08, slope < 1) << found;
    }
    EXPECT_TRUE(std::isnan(smooth_ece(std::vector<std::int64_t>(kSmoothBins), 0, 1)));
    EXPECT_NEAR(smooth_ece(std::vector<std::int64_t>(kSmoothBins), 9, 1), 0, 1e-4);
}

/// The images of one resample, each as often as its group was drawn.
Made resampled(const Made& made, const Dataset& data, const Resamples& resamples, std::size_t b) {
    std::vector<std::uint32_t> images;
    for (std::uint32_t n = 0; n < made.recipe.images; ++n)
        for (int k = 0; k < resamples.times(data.group_of(n))[b]; ++k) images.push_back(n);
    return made.permuted(images);
}

TEST(Bootstrap, IntervalsAreThoseOfEvaluatingEveryResample) {
    for (const std::size_t groups : {0u, 6u})
        for (const Condition condition : {Condition::by_class, Condition::none}) {
            const Made cal = make({.images = 30, .classes = 2, .grid = {4, 5}, .seed = 8, .steps = 30});
            const Made test = make({.images = 25,
                                    .classes = 2,
                                    .grid = {4, 5},
                                    .seed = 9,
                                    .groups = groups,
                                    .ignored = 0.1,
                                    .steps = 30});
            const Dataset data = test.dataset();
            const Calibrator calibrator = calibrator_of(cal, "mask", condition);
            const EvaluateOptions options{.alpha = 0.2, .maps = false, .bootstrap = 9, .seed = 3};
            const auto report = evaluate(data, {&calibrator}, options);
            const Evaluation& found = report.calibrators.front();
            const Resamples resamples(data, 9, 3, silent());
            std::vector<double> ce, coverage, stratum, ece, wrong;
            std::vector<SetFigures> sets;
            std::vector<double> empty;
            for (std::size_t b = 0; b < 9; ++b) {
                const auto one = evaluate(resampled(test, data, resamples, b).dataset(), {&calibrator},
                                          {.alpha = 0.2, .maps = false});
                ce.push_back(one.calibrators[0].strata[0].mean_ce);
                stratum.push_back(one.calibrators[0].strata[0].coverage_at_alpha);
                coverage.push_back(one.calibrators[0].coverage_at_alpha);
                wrong.push_back(one.calibrators[0].strata[0].false_share);
                sets.push_back(one.calibrators[0].sets);
                empty.push_back(one.calibrators[0].plain_sets.empty);
                ece.push_back(one.probabilities.classes[0].ece);
            }
            const auto expect_interval = [](const Interval& interval, const std::vector<double>& values,
                                            double shift) {
                EXPECT_NEAR(interval.low, quantile(values, 0.05) - shift, 1e-8);
                EXPECT_NEAR(interval.high, quantile(values, 0.95) - shift, 1e-8);
            };
            const auto bias = [](const std::vector<double>& values, double figure) {
                double sum = 0;
                for (const double value : values) sum += value;
                return sum / static_cast<double>(values.size()) - figure;
            };
            const StratumEvaluation& own = found.strata[0];
            EXPECT_NEAR(own.mean_ce_bias, bias(ce, own.mean_ce), 1e-8);
            EXPECT_GT(own.mean_ce_bias, 0) << "repeated samples raise the error";
            expect_interval(own.mean_ce_interval, ce, own.mean_ce_bias);
            expect_interval(own.coverage_interval, stratum, 0);
            expect_interval(found.coverage_interval, coverage, 0);
            expect_interval(own.false_interval, wrong, 0);
            const auto expect_sets = [&](const Interval& interval, double SetFigures::*figure) {
                std::vector<double> values;
                for (const SetFigures& one : sets) values.push_back(one.*figure);
                expect_interval(interval, values, 0);
            };
            expect_sets(found.set_intervals.size, &SetFigures::size);
            expect_sets(found.set_intervals.false_classes, &SetFigures::false_classes);
            expect_sets(found.set_intervals.single, &SetFigures::single);
            expect_sets(found.set_intervals.single_right, &SetFigures::single_right);
            expect_sets(found.set_intervals.full, &SetFigures::full);
            expect_interval(found.set_intervals.empty, empty, 0);
            const Reliability& honest = report.probabilities.classes[0];
            expect_interval(honest.ece_interval, ece, bias(ece, honest.ece));
        }
}

TEST(Bootstrap, DoesNotDependOnOrderThreadsOrTheNumberOfCalibrators) {
    const Made made = make({.images = 50, .classes = 3, .grid = {30, 40}, .seed = 8, .groups = 12});
    Made nameless = made;
    nameless.groups.clear();
    for (const Made& test : {made, nameless}) {
        const Calibrator pixel = calibrator_of(made, "pixel", Condition::by_class),
                         image = calibrator_of(made, "image", Condition::by_class);
        const EvaluateOptions options{.alpha = 0.2, .maps = true, .bootstrap = 20, .seed = 1};
        const auto first = evaluate(test.dataset(), {&image}, options);
        const ThreadLimit limit(1);
        const auto second = evaluate(test.permuted(shuffled(50, 1)).dataset(), {&pixel, &image}, options);
        const Evaluation &a = first.calibrators[0], &b = second.calibrators[1];
        EXPECT_EQ(a.coverage_interval.low, b.coverage_interval.low);
        EXPECT_EQ(a.set_intervals.size.high, b.set_intervals.size.high);
        for (std::size_t s = 0; s < 3; ++s) {
            EXPECT_EQ(a.strata[s].mean_ce_interval.low, b.strata[s].mean_ce_interval.low);
            EXPECT_EQ(a.strata[s].mean_ce_interval.high, b.strata[s].mean_ce_interval.high);
            EXPECT_EQ(a.strata[s].image_coverage.quantiles, b.strata[s].image_coverage.quantiles);
            EXPECT_EQ(a.strata[s].mean_ce, b.strata[s].mean_ce);
            EXPECT_EQ(first.probabilities.classes[s].ece_interval.low,
                      second.probabilities.classes[s].ece_interval.low);
        }
        const auto other =
            evaluate(test.dataset(), {&image}, {.alpha = 0.2, .maps = true, .bootstrap = 20, .seed = 2});
        EXPECT_NE(other.calibrators[0].coverage_interval.low, a.coverage_interval.low);
    }
}

TEST(Bootstrap, OfManyImagesCountsBeyondSixteenBits) {
    // One pixel and 70000 images of one class in four groups: the pixel's counts exceed 16 bits.
    Made made = make({.images = 70000, .classes = 2, .grid = {1, 1}, .seed = 5, .groups = 4, .absent = 1});
    const Calibrator calibrator = calibrator_of(made, "image", Condition::by_class);
    const auto report = evaluate(made.dataset(), {&calibrator}, {.bootstrap = 3});
    const StratumEvaluation& own = report.calibrators[0].strata[0];
    EXPECT_LT(own.mean_ce_interval.high, 0.05);
    EXPECT_LT(std::abs(own.mean_ce_bias), 0.02);
}

TEST(Bootstrap, OfMoreGroupsThanAreOrderedDrawsEachForItself) {
    const Made made = make({.images = 70000, .classes = 2, .grid = {1, 1}, .seed = 8});
    const Dataset data = made.dataset();
    ASSERT_GT(data.groups(), kRankedGroups);
    constexpr std::size_t kCount = 64;
    const Resamples resamples(data, kCount, 3, silent());
    // As with replacement: a share 1/e of the groups is never drawn, 1/e once, 1/(2e) twice.
    std::array<double, 17> seen{};
    std::uint64_t most = 0;
    for (std::size_t b = 0; b < kCount; ++b) {
        std::uint64_t size = 0;
        for (std::uint32_t g = 0; g < data.groups(); ++g) {
            ASSERT_LE(resamples.times(g)[b], 16);
            ++seen[resamples.times(g)[b]];
            size += resamples.times(g)[b];
        }
        EXPECT_NEAR(static_cast<double>(size), 70000.0, 6 * std::sqrt(70000.0));
        most = std::max(most, size);
    }
    EXPECT_EQ(resamples.most_images(), most);
    const double all = 70000.0 * kCount;
    double share = std::exp(-1.0);
    for (int k = 0; k < 5; share /= ++k)
        EXPECT_NEAR(seen[k] / all, share, 6 * std::sqrt(share * (1 - share) / all)) << k << " times";
    // The interval is that of a proportion: 1.645 standard errors to either side.
    const Calibrator calibrator = calibrator_of(made, "image", Condition::none);
    const auto own = evaluate(data, {&calibrator}, {.alpha = 0.2, .bootstrap = 200}).calibrators[0].strata[0];
    const double error = std::sqrt(0.16 / 70000.0);
    EXPECT_NEAR(own.coverage_interval.high - own.coverage_interval.low, 2 * 1.645 * error, 0.8 * error);
}

}  // namespace
}  // namespace kandinsky
