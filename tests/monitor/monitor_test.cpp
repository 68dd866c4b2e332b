#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <kandinsky/kcal.hpp>
#include <kandinsky/monitor.hpp>
#include <kandinsky/threads.hpp>
#include <numeric>

#include "core/data/dataset_access.hpp"
#include "io/support.hpp"
#include "support/synthetic.hpp"
#include "support/thread_ranks.hpp"

namespace kandinsky {
namespace {

using namespace test;
namespace fs = std::filesystem;

/// Images with a blob of the class 1 whose odds are shifted by `shift` bits; labels agree with the unshifted
/// odds, up to noise. Groups of three images where asked.
Made stream(std::size_t images, std::uint64_t seed, double shift = 0, bool grouped = false) {
    Made made = make({.images = images, .classes = 2, .grid = {12, 16}, .seed = seed});
    const std::size_t pixels = made.pixels();
    for (std::size_t n = 0; n < images; ++n) {
        Random random(seed, 99, n);
        const double size = 3 + 2 * random.uniform(), sharp = 1 + random.uniform();
        for (std::size_t p = 0; p < pixels; ++p) {
            const double y = static_cast<double>(p / 16) - 6, x = static_cast<double>(p % 16) - 8;
            const double odds = sharp * (size - std::sqrt(x * x + y * y)) + 0.5 * random.normal();
            const auto prob = static_cast<float>(1 / (1 + std::exp2(-(odds + shift))));
            made.probs[(2 * n + 1) * pixels + p] = prob;
            made.probs[2 * n * pixels + p] = 1 - prob;
            made.truth[n * pixels + p] = odds + random.normal() > 0 ? 1 : 0;
        }
    }
    if (grouped) {
        made.recipe.groups = (images + 2) / 3;
        for (std::size_t n = 0; n < images; ++n) made.groups.push_back(static_cast<std::int32_t>(n / 3));
    }
    return made;
}

Dataset without_labels(const Dataset& data) {
    return Dataset(stored_probs(data), Array(), Array(), data.options()).subset([&] {
        std::vector<std::uint32_t> rows;
        for (std::size_t i = 0; i < data.images(); ++i)
            rows.push_back(static_cast<std::uint32_t>(row_of(data, i)));
        return rows;
    }());
}

std::vector<std::uint32_t> numbers(std::uint32_t first, std::uint32_t last) {
    std::vector<std::uint32_t> out(last - first);
    std::iota(out.begin(), out.end(), first);
    return out;
}

struct Calibrated {
    Made made;
    Calibrator calibrator;
    Reference reference;

    explicit Calibrated(bool grouped = false) : made(stream(60, 5, 0, grouped)) {
        CalibrateOptions options;
        options.method.name = "image";
        calibrator = calibrate(made.dataset(), options);
        reference = make_reference(calibrator, made.dataset());
    }
};

class MonitorFiles : public ::testing::Test {
  protected:
    fs::path folder_ = fs::temp_directory_path() / ("kandinsky_monitor_" + std::to_string(::getpid()));
    void SetUp() override { fs::create_directories(folder_); }
    void TearDown() override { fs::remove_all(folder_); }
    [[nodiscard]] std::string bytes(const Monitor& monitor) const {
        monitor.save(folder_ / "bytes");
        std::ifstream in(folder_ / "bytes", std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
};

TEST(MakeReference, DependsOnTheImagesAlone) {
    const Calibrated one;
    EXPECT_EQ(one.reference.units, 60u);
    EXPECT_EQ(one.reference.classes, (std::vector<std::uint32_t>{1}));
    EXPECT_EQ(one.reference.values.size(), one.reference.features() * 60);
    for (const std::size_t threads : {1, 3}) {
        const ThreadLimit limit(threads);
        const Made other = one.made.permuted(shuffled(60, threads));
        EXPECT_EQ(make_reference(one.calibrator, other.dataset()), one.reference);
    }
}

TEST(MakeReference, TakesASampleOfManyImagesThatDoesNotFollowTheirPlace) {
    const Made many = stream(1100, 6);
    const Calibrated one;
    const Reference all = make_reference(one.calibrator, many.dataset());
    EXPECT_EQ(all.units, 1024u);
    EXPECT_EQ(make_reference(one.calibrator, many.permuted(shuffled(1100, 3)).dataset()), all);
}

TEST(MakeReference, OfGroupsHasMeansOfTheirImages) {
    const Calibrated one(true);
    EXPECT_EQ(one.reference.units, 20u);
}

TEST(MakeReference, WithWeightsIsLikeTheNewPopulation) {
    const Calibrated one;
    const Made many = stream(900, 6);
    GroupWeights weights{.of_row = std::vector<double>(900, 0.5), .bound = 0.5};
    const auto with = [&] { return make_reference(one.calibrator, many.dataset(), silent(), weights); };
    EXPECT_EQ(with(), make_reference(one.calibrator, many.dataset())) << "equal weights at the bound";
    weights.bound = 1;
    const std::size_t half = with().units;
    EXPECT_NEAR(static_cast<double>(half), 450, 70) << "false alarm with probability below 1e-5";
    const Made other = many.permuted(shuffled(900, 3));
    EXPECT_EQ(make_reference(one.calibrator, other.dataset(), silent(), weights), with());
    weights.of_row.assign(900, 0);
    std::fill(weights.of_row.begin(), weights.of_row.begin() + 40, 1.0);
    EXPECT_EQ(with(), make_reference(one.calibrator, many.dataset().subset(numbers(0, 40))));
    weights.bound = 1e12;  // hardly any group would be taken
    EXPECT_EQ(with().units, 1u);
    weights.of_row[7] = -1;
    EXPECT_THROW(with(), Error);
}

TEST(MakeReference, WithWeightsIsTheSameForAnyNumberOfRanks) {
    const Calibrated one;
    const Made some = stream(12, 6);
    const ThreadLimit limit(1);  // ranks are threads already
    for (const double bound : {1.0, 1e12}) {
        const GroupWeights weights{.of_row = std::vector<double>(12, 0.5), .bound = bound};
        const Reference alone = make_reference(one.calibrator, some.dataset(), silent(), weights);
        if (bound > 1) {
            EXPECT_EQ(alone.units, 1u) << "no group is drawn, so one of the heaviest is taken";
        }
        for (const std::size_t ranks : {2u, 5u, 15u})
            for (const Reference& found : on_ranks<Reference>(ranks, [&](std::shared_ptr<const Team> team) {
                     return make_reference(one.calibrator, dealt(some.dataset(), team), silent(), weights);
                 }))
                EXPECT_EQ(found, alone) << ranks << " ranks, bound " << bound;
    }
}

// The monitor with the weights alarms falsely with probability at most 0.01 (delta).
TEST(Monitor, OfAWeightedCalibratorIsQuietWhereItsWeightsAreRightAndElseAlarms) {
    // New images tend to have large areas: an image is taken with its weight as probability.
    const Made pool = stream(1200, 11);
    std::vector<double> ratio(1200);
    std::vector<std::uint32_t> fresh;
    Random random(12, 1);
    for (std::uint32_t n = 0; n < 1200; ++n) {
        double area = 0;
        for (std::size_t p = 0; p < pool.pixels(); ++p) area += pool.probs[(2 * n + 1) * pool.pixels() + p];
        ratio[n] = std::min(1.0, std::exp(6 * (area / static_cast<double>(pool.pixels()) - 0.45)));
        if (n >= 600 && random.uniform() < ratio[n]) fresh.push_back(n);
    }
    const Dataset all = pool.dataset(), old = all.subset(numbers(0, 600)),
                  seen = without_labels(all.subset(fresh));
    CalibrateOptions options;
    options.method.name = "image";
    options.weights = {.of_row = ratio, .bound = 1};
    const Calibrator calibrator = calibrate(old, options);
    Monitor weighted(calibrator, make_reference(calibrator, old, silent(), options.weights)),
        plain(calibrator, make_reference(calibrator, old));
    weighted.update(seen);
    plain.update(seen);
    EXPECT_FALSE(weighted.verdict().alarm()) << describe(weighted.verdict()).front();
    EXPECT_TRUE(plain.verdict().alarm());
}

TEST_F(MonitorFiles, ReferencesAreKeptInTheCalibratorsFile) {
    const Calibrated one;
    save(one.calibrator, one.reference, folder_ / "with.kcal");
    save(one.calibrator, folder_ / "without.kcal");
    EXPECT_EQ(load_reference(folder_ / "with.kcal"), one.reference);
    EXPECT_EQ(load_reference(folder_ / "without.kcal"), std::nullopt);
    EXPECT_EQ(describe(load(folder_ / "with.kcal")), describe(one.calibrator));
    EXPECT_LT(fs::file_size(folder_ / "with.kcal") - fs::file_size(folder_ / "without.kcal"), 20000u);
}

// A correct program alarms falsely with probability at most 0.01 (delta) for outputs and 0.01 for labels. The
// bounds of coverage hold with probability 0.99.
TEST(Monitor, StaysQuietOnImagesOfTheSameKindAndAlarmsSoonOnOthers) {
    const Calibrated one;
    Monitor quiet(one.calibrator, one.reference);
    quiet.update(stream(200, 7).dataset());
    EXPECT_FALSE(quiet.verdict().alarm()) << describe(quiet.verdict()).front();
    EXPECT_EQ(quiet.verdict().units, 200u);
    ASSERT_EQ(quiet.verdict().coverage.size(), 2u);
    EXPECT_LE(quiet.verdict().coverage[1].low, quiet.verdict().coverage[1].coverage);
    EXPECT_GE(quiet.verdict().coverage[1].high, 0.9);

    Monitor shifted(one.calibrator, one.reference);
    shifted.update(without_labels(stream(100, 8, -2).dataset()));
    const MonitorVerdict verdict = shifted.verdict();
    ASSERT_TRUE(verdict.outputs);
    EXPECT_LE(verdict.outputs->unit, 30u);
    EXPECT_EQ(verdict.features[verdict.outputs->what].cls, 1u);
    EXPECT_NE(describe(verdict).front().find("ALARM"), std::string::npos);
    EXPECT_TRUE(verdict.coverage.empty());
    const std::vector<float> map = shifted.change_map();
    EXPECT_TRUE(std::isnan(map[0]));  // class 0 mirrors class 1
    const double middle = static_cast<double>(map[one.made.pixels() + 6 * 16 + 8]);
    EXPECT_LT(middle, -0.1);
}

TEST(Monitor, LabelsTellWhenThePromiseIsBroken) {
    const Calibrated one;
    Monitor monitor(one.calibrator, one.reference);
    Made broken = stream(150, 9, -4);
    monitor.update(broken.dataset());
    const MonitorVerdict verdict = monitor.verdict();
    ASSERT_TRUE(verdict.labels);
    const WatchedCoverage& which = verdict.coverage[verdict.labels->what];
    EXPECT_EQ(which.cls, 1u);
    EXPECT_LT(which.high, 0.9);
    EXPECT_LT(which.limit, 0.9);
}

TEST(Monitor, HasNoBoundsOfACoverageThatChanged) {
    const Calibrated one;
    Monitor monitor(one.calibrator, one.reference);
    monitor.update(stream(200, 11).dataset());
    EXPECT_LE(monitor.verdict().coverage[1].low, monitor.verdict().coverage[1].high);
    monitor.update(stream(200, 12, -4).dataset());
    const MonitorVerdict verdict = monitor.verdict();
    const WatchedCoverage& which = verdict.coverage[1];
    EXPECT_TRUE(std::isnan(which.low) && std::isnan(which.high)) << which.low << " " << which.high;
    const std::string text = describe(verdict)[2];
    EXPECT_NE(text.find("in 400 images, its true value has changed: no constant one is possible"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("nan"), std::string::npos) << text;
    const MonitorCourse course = monitor.labels_course();
    ASSERT_EQ(course.columns[4], "low of class 1");
    for (const std::vector<float>& row : course.rows) {
        EXPECT_EQ(std::isnan(row[4]), std::isnan(row[5]));
        EXPECT_FALSE(row[4] > row[5]) << row[4] << " " << row[5];
    }
    EXPECT_FALSE(std::isnan(course.rows.front()[4]));
    EXPECT_TRUE(std::isnan(course.rows.back()[4]));
}

TEST(Monitor, AfterRecalibrationTheLimitOfCoverageIsThatOfTheNewGroups) {
    // With fewer groups the coverage of a calibrator varies more, so the alarm has a lower limit.
    const Calibrated old;
    const Dataset fresh = stream(15, 21).dataset(), seen = stream(3, 22).dataset();
    const auto limits = [&](const Calibrator& calibrator) {
        Monitor monitor(calibrator, make_reference(calibrator, fresh));
        monitor.update(seen);
        std::vector<double> out;
        for (const WatchedCoverage& one : monitor.verdict().coverage) out.push_back(one.limit);
        return out;
    };
    CalibrateOptions options;
    options.method.name = "image";
    const std::vector<double> renewed = limits(recalibrate(old.calibrator, fresh)),
                              before = limits(old.calibrator);
    EXPECT_EQ(renewed, limits(calibrate(fresh, options)));
    ASSERT_EQ(renewed.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_LT(renewed[i], before[i]);
}

TEST(MakeReference, HasShortfallsOfTheClassesOnlyWithLabels) {
    const Calibrated one;
    EXPECT_EQ(one.reference.labelled, (std::vector<std::uint32_t>{0, 1}));
    ASSERT_EQ(one.reference.shortfalls.size(), 2 * Reference::kShares.size());
    EXPECT_EQ(one.reference.shortfalls.front().size(), 60u);
    const Reference without = make_reference(one.calibrator, without_labels(one.made.dataset()));
    EXPECT_TRUE(without.labelled.empty() && without.shortfalls.empty());
    EXPECT_EQ(without.values, one.reference.values);
}

TEST(MakeReference, CountsAGroupOnlyWhereItHasTheClass) {
    Made made = stream(60, 5);
    for (std::size_t n = 0; n < 60; n += 2)
        std::fill_n(made.truth.begin() + static_cast<std::ptrdiff_t>(n * made.pixels()), made.pixels(), 0);
    const Reference reference = make_reference(Calibrated().calibrator, made.dataset());
    EXPECT_EQ(reference.shortfalls[0].size(), 60u);
    EXPECT_EQ(reference.shortfalls[Reference::kShares.size()].size(), 30u);
}

// The quiet monitor alarms falsely with probability at most 0.005 (delta / 2).
TEST(Monitor, LabelsTellWhenAClassLosesOddsInItsOwnPixels) {
    const Calibrated one;
    Monitor quiet(one.calibrator, one.reference), fell(one.calibrator, one.reference),
        rose(one.calibrator, one.reference);
    quiet.update(stream(200, 7).dataset());
    EXPECT_FALSE(quiet.verdict().odds);
    fell.update(stream(60, 9, -2).dataset());
    const MonitorVerdict verdict = fell.verdict();
    ASSERT_TRUE(verdict.odds);
    EXPECT_LE(verdict.odds->unit, 30u);
    const WatchedCoverage& which = verdict.coverage[verdict.odds->what];
    EXPECT_EQ(which.cls, 1u);
    EXPECT_LT(which.odds_now, which.odds_before - 1);
    EXPECT_GE(which.odds_evidence, 100);
    EXPECT_NE(describe(verdict).back().find("less sure of the class"), std::string::npos);
    rose.update(stream(60, 9, 2).dataset());  // class 0 loses what class 1 wins
    ASSERT_TRUE(rose.verdict().odds);
    EXPECT_EQ(rose.verdict().coverage[rose.verdict().odds->what].cls, 0u);
}

TEST(Monitor, WithoutLabelsInTheReferenceSaysSo) {
    const Calibrated one;
    Monitor monitor(one.calibrator, make_reference(one.calibrator, without_labels(one.made.dataset())));
    monitor.update(stream(60, 9, -2).dataset());
    EXPECT_FALSE(monitor.verdict().odds);
    EXPECT_TRUE(std::isnan(monitor.verdict().coverage.front().odds_evidence));
    EXPECT_NE(describe(monitor.verdict()).back().find("no odds for comparison"), std::string::npos);
}

TEST_F(MonitorFiles, OldStatesAndCalibratorsGoOn) {
    // The reference has no labels. These files must never be written again. The older wording of the
    // guarantee in the .kcal does not change which calibrator the state belongs to.
    const fs::path data = fs::path(KANDINSKY_SOURCE_DIR) / "tests" / "monitor" / "data";
    const Calibrator calibrator = load(data / "version_1.kcal");
    const Reference reference = load_reference(data / "version_1.kcal").value();
    Monitor monitor(calibrator, reference, data / "version_1.state");
    EXPECT_EQ(monitor.verdict().images, 9u);
    ASSERT_EQ(monitor.verdict().coverage.size(), 2u);
    EXPECT_NEAR(monitor.verdict().coverage[1].coverage, 0.969, 0.001);
    monitor.update(make({.images = 4, .classes = 2, .grid = calibrator.grid}).dataset());
    EXPECT_EQ(monitor.verdict().labelled_units, 13u);
    monitor.save(folder_ / "state");
    EXPECT_EQ(bytes(Monitor(calibrator, reference, folder_ / "state")), bytes(monitor));
}

TEST_F(MonitorFiles, HoweverTheStreamIsCutTheStateIsTheSame) {
    for (const bool grouped : {false, true}) {
        const Calibrated one(grouped);
        const Dataset data = stream(90, 10, -0.5, grouped).dataset();
        Monitor whole(one.calibrator, one.reference);
        whole.update(data);
        Monitor parts(one.calibrator, one.reference);
        for (const auto& [first, last] : {std::pair{0u, 1u}, {1u, 35u}, {35u, 36u}, {36u, 90u}}) {
            const ThreadLimit limit(1 + last % 3);
            parts.update(data.subset(numbers(first, last)));
            parts.save(folder_ / "state");
            parts = Monitor(one.calibrator, one.reference, folder_ / "state");
        }
        EXPECT_EQ(bytes(parts), bytes(whole));
        EXPECT_LT(bytes(whole).size(), std::size_t{1} << 20);
        EXPECT_EQ(whole.verdict().units, grouped ? 29u : 90u);  // the last group is open
        whole.complete();
        EXPECT_EQ(whole.verdict().units, grouped ? 30u : 90u);
    }
}

TEST(Monitor, ImagesThatComeAgainAreNamedAndSkippedOnRequestButNewLabelsCount) {
    const Calibrated one;
    const Dataset data = stream(20, 11).dataset();
    Monitor monitor(one.calibrator, one.reference);
    monitor.update(without_labels(data));
    MonitorUpdate again = monitor.update(data, Seen::skip);
    EXPECT_EQ(again.seen, 20u);
    EXPECT_EQ(again.units, 0u);
    EXPECT_EQ(again.labelled, 20u);
    EXPECT_EQ(monitor.verdict().units, 20u);
    again = monitor.update(data, Seen::skip);
    EXPECT_EQ(again.labelled, 0u);
    again = monitor.update(data);
    EXPECT_EQ(again.seen, 20u);
    EXPECT_EQ(again.units, 20u);
}

TEST(Monitor, GroupsThatComeBackAfterTheyWereJudgedAreLeftOut) {
    const Calibrated one(true);
    const Dataset data = stream(9, 12, 0, true).dataset();
    Monitor monitor(one.calibrator, one.reference);
    monitor.update(data);
    const MonitorUpdate late = monitor.update(data.subset({0, 1}));
    EXPECT_EQ(late.late, 2u);
    EXPECT_EQ(late.units, 1u);  // the open one was closed by another group
}

TEST(Monitor, ImagesOfOneGroupBelongTogetherInAnyOrderOfTheCall) {
    const Calibrated one(true);
    const Dataset data = stream(9, 13, 0, true).dataset();
    Monitor sorted(one.calibrator, one.reference), mixed(one.calibrator, one.reference);
    sorted.update(data);
    mixed.update(data.subset({0, 3, 6, 1, 4, 7, 2, 5, 8}));
    sorted.complete(), mixed.complete();
    EXPECT_EQ(sorted.verdict().units, 3u);
    EXPECT_EQ(describe(sorted.verdict()), describe(mixed.verdict()));
}

template <class Body>
std::string message_of(Body&& body) {
    try {
        body();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

TEST_F(MonitorFiles, WhatDoesNotFitIsNamedAndChangesNothing) {
    const Calibrated one, grouped(true);
    Monitor monitor(one.calibrator, one.reference), by_group(grouped.calibrator, grouped.reference);
    const std::string before = bytes(monitor);
    EXPECT_NE(message_of([&] {
                  monitor.update(make({.classes = 3, .grid = {12, 16}}).dataset());
              }).find("3 classes"),
              std::string::npos);
    EXPECT_NE(message_of([&] {
                  monitor.update(make({.grid = {11, 16}}).dataset());
              }).find("11 x 16"),
              std::string::npos);
    EXPECT_NE(message_of([&] { monitor.update(stream(9, 1, 0, true).dataset()); }).find("`groups`"),
              std::string::npos);
    EXPECT_NE(message_of([&] { by_group.update(stream(9, 1).dataset()); }).find("`groups`"),
              std::string::npos);
    Made logits = stream(9, 1);
    logits.probs[2 * 3 * logits.pixels()] = 7.5f;
    EXPECT_NE(message_of([&] { monitor.update(logits.dataset()); }).find("7.5"), std::string::npos);
    EXPECT_EQ(bytes(monitor), before);
    monitor.save(folder_ / "state");
    EXPECT_NE(message_of([&] {
                  Monitor(grouped.calibrator, grouped.reference, folder_ / "state");
              }).find("another"),
              std::string::npos);
    EXPECT_NE(message_of([&] { Monitor(one.calibrator, one.reference, {.delta = 0}); }).find("`delta`"),
              std::string::npos);
}

TEST_F(MonitorFiles, EveryDamagedByteOfAStateIsFound) {
    const Calibrated one;
    Monitor monitor(one.calibrator, one.reference);
    monitor.update(stream(12, 14).dataset());
    const std::string good = bytes(monitor);
    Random random(1, 2);
    for (int round = 0; round < 150; ++round) {
        std::string bad = good;
        if (round % 5 == 0)
            bad.resize(random.below(bad.size()));
        else
            bad[random.below(bad.size())] ^= static_cast<char>(1 + random.below(255));
        std::ofstream(folder_ / "bad", std::ios::binary) << bad;
        EXPECT_THROW(Monitor(one.calibrator, one.reference, folder_ / "bad"), Error);
    }
}

}  // namespace
}  // namespace kandinsky
