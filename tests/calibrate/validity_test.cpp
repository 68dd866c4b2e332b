#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/math/distributions/binomial.hpp>
#include <cstdio>
#include <cstdlib>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/predictor.hpp>
#include <kandinsky/threads.hpp>

#include "core/base/random.hpp"
#include "support/exchangeable.hpp"
#include "support/fewer.hpp"

/// Checks that every rule with a guarantee keeps it. Each draw makes exchangeable groups of images with
/// dependent pixels, calibrates on all groups except one and checks ONE pixel of the last. Draws are
/// independent, so the number of covered draws is exactly binomial, with a success probability of at least 1
/// - alpha if that is guaranteed. A rule fails if its count or a smaller one has probability below
/// kFalseAlarm / (number of rules) for success probability 1 - alpha. Over all rules a correct program fails
/// for at most one seed in a million. The pixel to check follows from the sentence that guarantee() states
/// and `inspect` prints.
namespace kandinsky {
namespace {

using test::Exchangeable;

constexpr double kAlpha = 0.2, kFalseAlarm = 1e-6;
constexpr std::uint64_t kSeed = 20231120;
constexpr std::size_t kJudged = 1;  // the class to check if each class has its curve

struct Rule {
    std::string name;
    CalibrateOptions options{.score = {}};
    bool grouped = false;
    std::size_t draws = 0;
    bool slow = false;
    bool unequal = false;  ///< groups of one image or of twelve
};

/// The subject of a sentence.
enum class Subject { nothing, pixel, region, image };

Subject subject_of(const std::string& sentence) {
    if (sentence.starts_with("No ")) return Subject::nothing;
    if (sentence.starts_with("Take a pixel, and a new image")) return Subject::pixel;
    if (sentence.starts_with("Take a region")) return Subject::region;
    if (sentence.starts_with("Take a new ")) return Subject::image;
    ADD_FAILURE() << "a sentence that this test does not know: " << sentence;
    return Subject::nothing;
}

/// The part of the sentence about the class to check.
std::string sentence_for(const Calibrator& calibrator) {
    const std::string all = guarantee(calibrator), own = fmt::format("Class {}: ", kJudged);
    const std::size_t at = all.find(own);
    return at == std::string::npos ? all : all.substr(at + own.size());
}

/// KANDINSKY_VALIDITY_DRAWS multiplies the draws, for more exact figures.
std::size_t draw_factor() {
    const char* const factor = std::getenv("KANDINSKY_VALIDITY_DRAWS");
    return factor != nullptr ? std::strtoul(factor, nullptr, 10) : 1;
}

CalibrateOptions options_for(const std::string& method, Pooling pooling, double split) {
    CalibrateOptions options{.score = {}};
    options.method.name = method;
    options.pooling = pooling;
    options.split = split;
    options.promise = split > 0 ? Promise::split : Promise::none;
    options.rungs = 100;
    // The smallest possible searches, because the guarantee does not depend on the quality of the regions.
    options.method.settings.text = {{"kmeans-clusters", "3"},
                                    {"kmeans-restarts", "1"},
                                    {"genann-shape", "circle"},
                                    {"genann-radii", "1"},
                                    {"genann-population", "4"},
                                    {"genann-generations", "2"},
                                    {"genann-metric", "sqeuclidean"},
                                    {"fcc-curves", "1"},
                                    {"fcc-order", "1"},
                                    {"fcc-angles", "8"},
                                    {"fcc-nodes", "3"},
                                    {"fcc-starts", "1"},
                                    {"fcc-iterations", "2"},
                                    {"field-folds", "2"},
                                    {"field-bandwidths", "2"},
                                    {"field-bins", "8"},
                                    {"field-rings", "off"},
                                    {"field-mirror", "off"}};
    if (method == "mask") options.method.settings.arrays["mask"] = Exchangeable::rings();
    return options;
}

/// Every method, with either pooling, with and without a split, with and without groups.
std::vector<Rule> all_rules() {
    std::vector<Rule> rules;
    for (const std::string& name : method_names())
        for (const Pooling pooling : {Pooling::groups, Pooling::pixels})
            for (const double split : {0.0, 0.5})
                for (const bool grouped : {false, true}) {
                    const bool fixed =
                        name == "image" || name == "pixel" || name == "mask" || name == "kmeans";
                    // Slow methods run once per pooling and split: with groups if pooling by groups.
                    if (!fixed && grouped != (pooling == Pooling::groups)) continue;
                    rules.push_back(
                        {.name = fmt::format("{}, pooling {}{}{}", name, name_of(pooling),
                                             split > 0 ? ", split" : "", grouped ? ", grouped" : ""),
                         .options = options_for(name, pooling, split),
                         .grouped = grouped,
                         .draws = fixed                        ? 3000u
                                  : name != kAutoMethod        ? 2000u
                                  : pooling == Pooling::groups ? 1000u
                                                               : 100u,
                         .slow = !fixed});
                }
    // Rules that learn again without each group. The second k-means has a region for every few pixels, so
    // that it overfits.
    for (const char* const name : {"kmeans", "kmeans by heart", "kmeans of unequal groups", "genann", "fcc",
                                   "field", "field of unequal groups", "auto"}) {
        const std::string method = std::string(name).substr(0, std::string(name).find(' '));
        const bool quick = method == "kmeans" || method == "field";
        Rule rule{fmt::format("{}, loo, grouped", name), options_for(method, Pooling::groups, 0), true,
                  quick ? 400u : 100u, true};
        rule.options.promise = Promise::leave_one_out;
        if (rule.name.find("by heart") != std::string::npos)
            rule.options.method.settings.text["kmeans-clusters"] = "12";
        rule.unequal = rule.name.find("unequal") != std::string::npos;
        rules.push_back(rule);
    }
    // Levels that follow the image, which must not break the guarantee.
    for (const char* const name :
         {"field, loo, adapt", "field of unequal groups, loo, adapt", "field, split, adapt",
          "image, loo, adapt", "image of unequal groups, loo, adapt", "kmeans, loo, adapt",
          "kmeans, split, adapt"}) {
        const std::string words = name;
        const bool split = words.find("split") != std::string::npos;
        const std::string method = words.substr(0, words.find_first_of(" ,"));
        Rule rule{name, options_for(method, Pooling::groups, split ? 0.5 : 0), true, 400u, true};
        if (!split) rule.options.promise = Promise::leave_one_out;
        rule.options.adapt = Adapt::image;
        rule.unequal = rule.name.find("unequal") != std::string::npos;
        rules.push_back(rule);
    }
    Rule joint{"image, pooling groups, condition none", options_for("image", Pooling::groups, 0), true, 3000};
    joint.options.condition = Condition::none;
    Rule ranked{"image, pooling groups, aps randomized", options_for("image", Pooling::groups, 0), true,
                3000};
    ranked.options.score.kind = ScoreKind::aps;
    ranked.options.score.randomized = true;
    Rule margin{"mask, pooling groups, margin", options_for("mask", Pooling::groups, 0), false, 3000};
    margin.options.score.kind = ScoreKind::margin;
    Rule released{"pixel, released code", options_for("pixel", Pooling::pixels, 0), false, 3000};
    released.options.released = true;
    rules.insert(rules.end(), {joint, ranked, margin, released});
    return rules;
}

/// The number of draws and of successes.
struct Tally {
    std::size_t counted = 0, covered = 0;
    [[nodiscard]] double share() const { return static_cast<double>(covered) / static_cast<double>(counted); }
    /// The probability of this count or a smaller one if the success probability is 1 - alpha.
    [[nodiscard]] double tail() const {
        const boost::math::binomial law(static_cast<double>(counted), 1 - kAlpha);
        return boost::math::cdf(law, static_cast<double>(covered));
    }
};

/// The draws of a rule. The guarantee follows from the method, which `auto` may choose again in each draw,
/// with images that neither set the thresholds nor are checked. The draws with a guarantee and those without
/// are therefore separate samples.
struct Tallies {
    Tally promised, silent;
    Subject subject = Subject::nothing;  ///< of the last draw with a guarantee
};

/// `worse`: added to alpha at prediction, so that the rule covers too little.
Tallies measure(const Rule& rule, double worse = 0) {
    Tallies tallies;
    // Without a guarantee the coverage is only printed, so fewer draws are enough.
    std::size_t draws = rule.draws * draw_factor();
    for (std::size_t draw = 0; draw < draws; ++draw) {
        Random random(kSeed, 77, draw);
        // Nine groups set the thresholds, so that (9 + 1) (1 - alpha) is whole and the quantile has no slack.
        const Exchangeable data(random, rule.options.split > 0 ? 18 : 9, rule.grouped, rule.unequal);
        const Calibrator calibrator = calibrate(data.calibration(), rule.options);
        const Subject subject = subject_of(sentence_for(calibrator));
        const bool promises = subject != Subject::nothing,
                   may_promise = rule.options.promise != Promise::none;
        if (draw == 0 && !promises && rule.slow && !(rule.options.method.name == kAutoMethod && may_promise))
            draws /= 10;
        if (promises) tallies.subject = subject;
        const bool joint = rule.options.condition == Condition::none;
        const Partition& partition = calibrator.partitions[joint ? 0 : kJudged];
        const std::uint64_t pixel = random.below(Exchangeable::kPixels),
                            region = random.below(partition.regions);
        const auto judged = data.new_pixels([&](std::size_t p, std::size_t label) {
            return (joint || label == kJudged) && (subject != Subject::pixel || p == pixel) &&
                   (subject != Subject::region || partition.region[p] == region);
        });
        if (judged.empty()) continue;
        const auto [image, place] = judged[random.below(judged.size())];
        const Predictor predictor(calibrator, kAlpha + worse, EmptySets::keep);
        std::vector<std::uint8_t> sets(Exchangeable::kClasses * Exchangeable::kPixels);
        predictor.sets(data.new_probs(image), sets);
        Tally& tally = promises ? tallies.promised : tallies.silent;
        ++tally.counted;
        tally.covered += sets[data.new_label(image, place) * Exchangeable::kPixels + place];
    }
    EXPECT_TRUE(tallies.promised.counted == 0 || tallies.silent.counted == 0 ||
                rule.options.method.name == kAutoMethod)
        << rule.name << " promises something in some draws only";
    return tallies;
}

TEST(Validity, EveryRuleThatStatesAGuaranteeKeepsIt) {
    const ThreadLimit limit(1);  // the images are too small to divide among threads
    std::vector<Rule> rules = all_rules();
    for (Rule& rule : rules) rule.draws /= test::kFewer;
    std::size_t kept = 0;
    fmt::print("coverage at 1 - alpha = {}\n| rule | promised of | draws | coverage |\n|---|---|---|---|\n",
               1 - kAlpha);
    for (const Rule& rule : rules) {
        const auto [tally, silent, subject] = measure(rule);
        ASSERT_GT(tally.counted + silent.counted, rule.draws / 40) << rule.name;
        constexpr const char* kSubjects[] = {"nothing", "each pixel", "each region", "an image"};
        const auto print = [&](const Tally& one, Subject of) {
            if (one.counted > 0)
                fmt::print("| {} | {} | {} | {:.3f} |\n", rule.name, kSubjects[static_cast<int>(of)],
                           one.counted, one.share());
        };
        print(tally, subject);
        print(silent, Subject::nothing);
        std::fflush(stdout);
        if (tally.counted == 0) continue;
        ++kept;
        EXPECT_GE(tally.tail(), kFalseAlarm / static_cast<double>(rules.size()))
            << rule.name << " covers " << tally.covered << " of " << tally.counted;
    }
    EXPECT_GE(kept, 24u);
}

TEST(Validity, TheTestDetectsARankThatIsTooLow) {
    // Without the finite-sample correction the quantile of nine groups would be one rank too low. The test
    // of the right rule must then fail.
    for (const char* method : {"image", "mask"}) {
        const Rule rule{method, options_for(method, Pooling::groups, 0), true, 3000};
        EXPECT_LT(measure(rule, 0.1).promised.tail(), kFalseAlarm / 100) << method;
        EXPECT_GE(measure(rule).promised.tail(), kFalseAlarm / 100) << method;
    }
}

TEST(Validity, TheTestDetectsPooledPixelsAndTheReleasedCode) {
    const Rule pooled{"pooled", options_for("image", Pooling::pixels, 0), true, 3000};
    EXPECT_EQ(measure(pooled).promised.counted, 0u);
    EXPECT_LT(measure(pooled).silent.tail(), kFalseAlarm / 100);
    Rule released{"released", options_for("pixel", Pooling::pixels, 0), false, 3000};
    released.options.released = true;
    EXPECT_EQ(measure(released).promised.counted, 0u);
    EXPECT_LT(measure(released).silent.tail(), kFalseAlarm / 100);
}

}  // namespace
}  // namespace kandinsky
