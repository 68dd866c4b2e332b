#include "calibrate/confidence.hpp"
#include "core/data/dataset_access.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <kandinsky/predictor.hpp>
#include <kandinsky/threads.hpp>
#include <map>
#include <numeric>

#include "calibrate/betting.hpp"
#include "calibrate/empty_rule.hpp"
#include "calibrate/nested_sets.hpp"
#include "core/base/random.hpp"
#include "io/support.hpp"
#include "support/exchangeable.hpp"
#include "support/fewer.hpp"
#include "support/synthetic.hpp"
#include "support/thread_ranks.hpp"

namespace kandinsky {
namespace {

using namespace kandinsky::test;

CalibrateOptions options_for(const std::string& method, Risk risk = Risk::recall) {
    CalibrateOptions options{.score = {}};
    options.method.name = method;
    options.confidence = 0.9;
    options.risk = risk;
    options.rungs = 20;
    options.method.settings.text = short_searches();
    if (method == "kmeans") options.method.settings.text["kmeans-clusters"] = "3";
    return options;
}

void expect_same(const Calibrator& one, const Calibrator& other) {
    for (const double alpha : {0.1, 0.3, 0.6, 0.95}) {
        std::vector<double> least{alpha};
        for (const RiskLevels& risk : one.risks) least.push_back(std::min(1.0, risk.least_alpha));
        const double asked = *std::max_element(least.begin(), least.end());
        EXPECT_EQ(score_thresholds(one, asked), score_thresholds(other, asked)) << alpha;
    }
    EXPECT_EQ(one.fingerprint, other.fingerprint);
    EXPECT_EQ(one.counts, other.counts);
    EXPECT_EQ(guarantee(one), guarantee(other));
}

/// The threshold for recall by the formulas of docs/risk.md alone, for the method image with groups.
float naive_threshold(const Made& made, const CalibrateOptions& options, std::size_t c, double alpha) {
    const std::size_t pixels = made.pixels();
    std::map<std::uint64_t, std::vector<float>> by_ticket;  // scores of each group, in the order of the test
    for (std::size_t n = 0; n < made.recipe.images; ++n) {
        const auto who = static_cast<std::uint64_t>(made.group(n));
        const std::uint64_t ticket = mix(mix(mix(options.seed) ^ 0x62657474696E67) ^ mix(who));
        for (std::size_t p = 0; p < pixels; ++p)
            if (made.has(n, c, p)) by_ticket[ticket].push_back(1 - made.prob(n, c, p));
    }
    const Calibrator fixed = fixed_steps(options, made.recipe.grid, made.recipe.classes, made.recipe.classes);
    const std::span<const float> steps = fixed.curves[c].values(0);
    const BettingTest test(alpha, 1 - options.confidence, by_ticket.size());
    std::size_t step = steps.size();
    for (; step > 0; --step) {
        std::vector<double> losses;
        for (const auto& [ticket, scores] : by_ticket) {
            const auto missed =
                std::count_if(scores.begin(), scores.end(), [&](float s) { return s > steps[step - 1]; });
            losses.push_back(
                std::ceil(static_cast<double>(missed) / static_cast<double>(scores.size()) * (1 << 24) -
                          1e-6) /
                (1 << 24));
        }
        if (!test.passes(losses)) break;
    }
    return step == steps.size() ? std::numeric_limits<float>::infinity() : steps[step];
}

TEST(Confidence, TheMethodImageTestsThresholdsThatDoNotDependOnData) {
    const Made made = make({.images = 90, .classes = 3, .seed = 5, .groups = 45, .ignored = 0.1});
    for (const std::uint64_t seed : {0, 1, 2}) {
        CalibrateOptions options = options_for("image");
        options.seed = seed;
        const Calibrator calibrator = calibrate(made.dataset(), options);
        EXPECT_EQ(calibrator.options.promise, Promise::none);
        for (const double alpha : {0.05, 0.1, 0.25, 0.5, 0.8}) {
            const std::vector<float> found = score_thresholds(calibrator, alpha);
            for (std::size_t c = 0; c < 3; ++c)
                EXPECT_EQ(found[c * made.pixels()], naive_threshold(made, options, c, alpha))
                    << seed << " " << alpha << " " << c;
        }
    }
}

TEST(Confidence, DoesNotDependOnOrderThreadsMemoryOrRanks) {
    const Made made = make({.images = 60, .classes = 2, .grid = {6, 5}, .seed = 8});
    std::vector<std::uint32_t> order(60);
    std::iota(order.begin(), order.end(), 0u);
    std::reverse(order.begin() + 3, order.end());
    for (const char* method : {"image", "pixel", "kmeans", "field", "auto"})
        for (const Risk risk : {Risk::recall, Risk::precision, Risk::both}) {
            SCOPED_TRACE(std::string(method) + " " + std::string(name_of(risk)));
            CalibrateOptions options = options_for(method, risk);
            const Calibrator once = calibrate(made.dataset(), options);
            expect_same(once, calibrate(made.permuted(order).dataset(), options));
            {
                const ThreadLimit one(1);
                options.memory = 1 << 20;
                expect_same(once, calibrate(made.dataset(), options));
            }
            if (risk == Risk::precision || std::string(method) == "auto") continue;
            const auto by_rank = on_ranks<Calibrator>(3, [&](std::shared_ptr<const Team> team) {
                return calibrate(dealt(made.dataset(), std::move(team)), options);
            });
            for (const Calibrator& one : by_rank) expect_same(once, one);
        }
}

TEST(Confidence, SetsGrowWithConfidenceAndShrinkWithAlpha) {
    const Made made = make({.images = 200, .classes = 2, .grid = {6, 5}, .seed = 9});
    for (const char* method : {"image", "pixel", "kmeans", "field"}) {
        std::vector<float> last;
        for (const double confidence : {0.5, 0.9, 0.99}) {
            CalibrateOptions options = options_for(method);
            options.confidence = confidence;
            const Calibrator calibrator = calibrate(made.dataset(), options);
            const std::vector<float> now = score_thresholds(calibrator, 0.3);
            for (std::size_t i = 0; i < last.size(); ++i) EXPECT_LE(last[i], now[i]) << method;
            const std::vector<float> smaller = score_thresholds(calibrator, 0.5);
            for (std::size_t i = 0; i < now.size(); ++i) EXPECT_LE(smaller[i], now[i]) << method;
            EXPECT_TRUE(std::isfinite(now.front())) << method;
            last = now;
        }
    }
}

TEST(Confidence, TooFewGroupsPutEveryClassIntoEverySet) {
    // 13 groups reach alpha 0.162 with confidence 0.9, and 14 reach 0.152.
    for (const std::size_t images : {13, 14}) {
        const Made made = make({.images = images, .classes = 2, .seed = 4, .steps = 1});
        Made sure = made;  // the label's probability is 1, so there is no loss
        for (std::size_t n = 0; n < images; ++n)
            for (std::size_t c = 0; c < 2; ++c)
                for (std::size_t p = 0; p < made.pixels(); ++p)
                    sure.probs[(n * 2 + c) * made.pixels() + p] = made.has(n, c, p) ? 1.0f : 0.0f;
        CalibrateOptions options = options_for("image");
        options.rungs = 1000;
        const float found = score_thresholds(calibrate(sure.dataset(), options), 0.16).front();
        EXPECT_EQ(std::isinf(found), images == 13) << found;
    }
}

/// The p-value of "each of the draws breaks alpha with probability at most 0.1": the chance of at least so
/// many.
double chance_of(std::size_t broken, std::size_t draws) {
    if (broken == 0) return 1;
    const boost::math::binomial law(static_cast<double>(draws), 0.1);
    return boost::math::cdf(boost::math::complement(law, static_cast<double>(broken) - 1));
}

/// Every pixel of an image has the same score, uniform in [0, 1], so pixels are fully dependent. The true
/// risk of a threshold t is 1 - t, so each draw shows whether its threshold keeps alpha. The number of
/// thresholds that do not is binomial with probability at most 1 - confidence. A correct program fails for
/// at most eight seeds in a million: four for each number of images.
TEST(Confidence, HoldsInAtLeastTheStatedShareOfDraws) {
    constexpr double kAlpha = 0.2;
    const std::size_t draws = 600 / kFewer;
    for (const std::size_t images : {25, 60}) {
        std::size_t broken = 0;
        double mean = 0;
        for (std::size_t draw = 0; draw < draws; ++draw) {
            Random random(23, images, draw);
            std::vector<float> probs;
            for (std::size_t n = 0; n < images; ++n) {
                const auto p = static_cast<float>(random.uniform());
                probs.insert(probs.end(), 8, 1 - p);
                probs.insert(probs.end(), 8, p);
            }
            const Dataset data(Array::copy_of(probs, {images, 2, 2, 4}),
                               Array::copy_of(std::vector<std::uint8_t>(images * 8, 1), {images, 2, 4}), {});
            CalibrateOptions options = options_for("image");
            options.seed = draw;
            const double risk = 1 - std::min(1.0f, score_thresholds(calibrate(data, options), kAlpha)[8]);
            broken += risk > kAlpha;
            mean += risk / static_cast<double>(draws);
        }
        EXPECT_GT(chance_of(broken, draws), 4e-6)
            << broken << " of " << draws << " draws with " << images << " images";
        EXPECT_GT(mean, 0.05) << "the thresholds are far too cautious";
    }
}

/// Groups with dependent images and pixels, and methods whose learning could break the guarantee. The true
/// risk of a draw is measured on 400 new groups. A correct program fails for at most one seed in a thousand:
/// one in five thousand for each of five cases.
TEST(Confidence, TheGuaranteeHoldsWithLearning) {
    const std::size_t draws = std::max<std::size_t>(4, 24 / kFewer);
    Random fresh(99);
    const Exchangeable unseen(fresh, 400, true);
    const Dataset test = unseen.calibration();
    const std::size_t pixels = test.grid().pixels();
    for (const auto& [method, risk] : std::vector<std::pair<std::string, Risk>>{{"field", Risk::recall},
                                                                                {"kmeans", Risk::recall},
                                                                                {"pixel", Risk::recall},
                                                                                {"image", Risk::precision},
                                                                                {"field", Risk::precision}}) {
        const double kAlpha = risk == Risk::recall ? 0.3 : 0.6;
        std::size_t broken = 0, promised = 0;
        for (std::size_t draw = 0; draw < draws; ++draw) {
            Random random(31, 5, draw);
            CalibrateOptions options = options_for(method, risk);
            options.seed = draw;
            const Calibrator made = calibrate(Exchangeable(random, 80, true).calibration(), options);
            // Only class 1 is evaluated, so the other class must not refuse the alpha.
            Calibrator calibrator = made;
            if (risk == Risk::precision) {
                if (made.risks[1].least_alpha > kAlpha) continue;
                calibrator.risks[0] = made.risks[1];
            }
            ++promised;
            const Predictor predictor(calibrator, kAlpha, EmptySets::keep);
            std::vector<float> probs(2 * pixels);
            std::vector<std::uint8_t> sets(2 * pixels), member(2 * pixels), valid(pixels);
            struct Counts {
                double right = 0, held = 0, in = 0;
            };
            std::map<std::uint32_t, Counts> groups;
            for (std::size_t image = 0; image < test.images(); ++image) {
                test.read_probs(image, {0, pixels}, probs);
                test.read_truth(image, {0, pixels}, member, valid);
                predictor.sets(probs, sets);
                Counts& own = groups[test.group_of(image)];
                for (std::size_t i = pixels; i < 2 * pixels; ++i)
                    own.right += member[i], own.held += member[i] & sets[i], own.in += sets[i];
            }
            double sum = 0, count = 0;
            for (const auto& [who, own] : groups) {
                if (risk == Risk::recall && own.right == 0) continue;
                count += 1;
                if (risk == Risk::recall)
                    sum += 1 - own.held / own.right;
                else if (own.in > 0)
                    sum += 1 - own.held / own.in;
            }
            broken += sum / count > kAlpha;
        }
        EXPECT_GT(chance_of(broken, draws), 2e-4)
            << method << " " << name_of(risk) << ": " << broken << " of " << draws;
        EXPECT_GT(promised, 0u) << method << " " << name_of(risk) << " promises nothing in any draw";
    }
}

TEST(Confidence, RefusesImpossibleOptionsWithAReason) {
    const Made made = make({.images = 40, .classes = 2, .seed = 6});
    const auto refuse = [&](const std::vector<std::string>& parts, const auto& change) {
        CalibrateOptions options = options_for("field");
        change(options);
        expect_error(ErrorKind::usage, parts, [&] { (void)calibrate(made.dataset(), options); });
    };
    refuse({"`promise loo`", "split"}, [](auto& o) { o.promise = Promise::leave_one_out; });
    refuse({"`promise none`"}, [](auto& o) { o.promise = Promise::none; });
    refuse({"`pooling pixels`"}, [](auto& o) { o.pooling = Pooling::pixels; });
    refuse({"`sketch`"}, [](auto& o) { o.sketch = 0.01; });
    refuse({"`confidence` is 1"}, [](auto& o) { o.confidence = 1; });
    refuse({"`confidence` is -0.5"}, [](auto& o) { o.confidence = -0.5; });
    refuse({"`risk precision` needs `confidence`"},
           [](auto& o) { o.confidence = 0, o.risk = Risk::precision; });
    refuse({"`condition none`"}, [](auto& o) { o.condition = Condition::none, o.risk = Risk::both; });
    refuse({"leaves one side empty"}, [](auto& o) { o.split = 0.001; });
}

TEST(Precision, LargerAlphasGiveLargerSetsAndSmallOnesAreRefused) {
    Random random(7);
    const Dataset data = Exchangeable(random, 150, true).calibration();
    for (const char* method : {"image", "field", "pixel"}) {
        SCOPED_TRACE(method);
        const Calibrator calibrator = calibrate(data, options_for(method, Risk::precision));
        ASSERT_EQ(calibrator.risks.size(), 2u);
        const double least = std::max(calibrator.risks[0].least_alpha, calibrator.risks[1].least_alpha);
        ASSERT_LT(least, 0.9);
        const std::vector<float> small = score_thresholds(calibrator, least),
                                 large = score_thresholds(calibrator, 0.95);
        for (std::size_t i = 0; i < small.size(); ++i) EXPECT_LE(small[i], large[i]);
        expect_error(ErrorKind::usage, {"class ", "false-discovery rate", "smallest possible alpha"},
                     [&] { (void)score_thresholds(calibrator, least / 2); });
        EXPECT_EQ(empty_rule(EmptySets::automatic, calibrator), EmptySets::keep);
        expect_error(ErrorKind::usage, {"`empty fill`"},
                     [&] { (void)empty_rule(EmptySets::fill, calibrator); });
    }
}

TEST(Precision, TogetherWithRecallSetsAreNeverSmallerThanForRecall) {
    Random random(7);
    const Dataset data = Exchangeable(random, 300, true).calibration();
    // The recall has half of the probability of failure; field divides the groups in the same way for one or
    // both.
    CalibrateOptions both = options_for("field", Risk::both), recall = options_for("field");
    both.confidence = 0.9, recall.confidence = 0.95;
    const Calibrator one = calibrate(data, both), other = calibrate(data, recall);
    const double least = std::max(one.risks[0].least_alpha, one.risks[1].least_alpha);
    ASSERT_LT(least, 0.9);
    for (const double alpha : {least, 0.9}) {
        const std::vector<float> own = score_thresholds(one, alpha), alone = score_thresholds(other, alpha);
        for (std::size_t i = 0; i < own.size(); ++i) EXPECT_GE(own[i], alone[i]) << alpha;
    }
    const std::vector<float> strict = score_thresholds(one, least), loose = score_thresholds(one, 0.9);
    for (std::size_t i = 0; i < strict.size(); ++i) EXPECT_GE(strict[i], loose[i]);
    expect_error(ErrorKind::usage, {"false-negative and false-discovery rate"},
                 [&] { (void)score_thresholds(one, 0.01); });
}

}  // namespace
}  // namespace kandinsky
