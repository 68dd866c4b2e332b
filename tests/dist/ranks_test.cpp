#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <kandinsky/compare.hpp>
#include <kandinsky/kcal.hpp>
#include <kandinsky/threads.hpp>
#include <sstream>

#include "core/data/dataset_access.hpp"
#include "partition/folds.hpp"
#include "report/table/result_json.hpp"
#include "support/fewer.hpp"
#include "support/synthetic.hpp"
#include "support/thread_ranks.hpp"

namespace kandinsky {
namespace {

using test::make;
using test::on_ranks;

/// The bytes of the file that a calibrator makes.
std::string bytes_of_file(const Calibrator& calibrator) {
    static std::atomic<int> number{0};
    const auto path = std::filesystem::temp_directory_path() /
                      ("kandinsky-ranks-" + std::to_string(::getpid()) + "-" + std::to_string(++number));
    save(calibrator, path.string());
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    std::filesystem::remove(path);
    return text.str();
}

/// Small random images of three classes.
Dataset scene(std::size_t images, std::size_t groups, bool overlapping, std::size_t steps,
              std::uint64_t seed) {
    return make({.images = images,
                 .classes = 3,
                 .grid = {6, 7},
                 .seed = seed,
                 .groups = groups,
                 .ignored = 0.1,
                 .overlapping = overlapping,
                 .steps = steps})
        .dataset();
}

/// The same with probabilities in bytes, whose scores take few values.
Dataset byte_scene(std::size_t images, std::size_t groups, bool overlapping, std::uint64_t seed) {
    const test::Made made = make({.images = images,
                                  .classes = 2,
                                  .grid = {6, 7},
                                  .seed = seed,
                                  .groups = groups,
                                  .overlapping = overlapping});
    std::vector<std::uint8_t> probs;
    for (const float p : made.probs) probs.push_back(static_cast<std::uint8_t>(p * 255));
    std::vector<std::size_t> shape{images, 6, 7};
    if (overlapping) shape.insert(shape.begin() + 1, 2);
    return {Array::copy_of(probs, {images, 2, 6, 7}), Array::copy_of(made.truth, shape),
            groups > 0 ? Array::copy_of(made.groups, {images}) : Array{}};
}

void expect_same_bytes(const Dataset& data, const CalibrateOptions& options, const std::string& what,
                       const std::vector<std::size_t>& ranks = {2, 5}) {
    const ThreadLimit limit(1);  // ranks are threads already
    const std::string alone = bytes_of_file(calibrate(data, options));
    for (const std::size_t n : ranks) {
        const auto made = on_ranks<std::string>(n, [&](std::shared_ptr<const Team> team) {
            return bytes_of_file(calibrate(dealt(data, team), options));
        });
        for (std::size_t r = 0; r < n; ++r)
            EXPECT_TRUE(made[r] == alone) << what << ": rank " << r << " of " << n << " differs";
    }
}

CalibrateOptions options_for(const std::string& method, Pooling pooling) {
    CalibrateOptions options;
    options.method.name = method;
    options.pooling = pooling;
    options.method.settings.text = test::short_searches({{"genann-generations", "12"}});
    options.seed = 3;
    return options;
}

TEST(Ranks, EveryMethodMakesTheBytesOfOneProcess) {
    for (const std::string method : {"image", "pixel", "kmeans", "genann", "field"})
        for (const Pooling pooling : {Pooling::pixels, Pooling::groups})
            for (const std::size_t groups : {0, 6})
                expect_same_bytes(scene(19, groups, false, 0, 5), options_for(method, pooling),
                                  method + (groups > 0 ? " grouped" : " ungrouped") +
                                      (pooling == Pooling::groups ? ", groups pooled" : ", pixels pooled"),
                                  groups > 0 ? std::vector<std::size_t>{3} : std::vector<std::size_t>{5});
}

TEST(Ranks, FourierCurvesAreTheSame) {
    expect_same_bytes(scene(19, 6, false, 0, 5), options_for("fcc", Pooling::groups), "fcc", {3});
}

TEST(Ranks, TiesOverlapsAndScoresOfFewValuesMakeNoDifference) {
    for (const bool overlapping : {false, true})
        for (const std::string method : {"pixel", "kmeans", "field"}) {
            expect_same_bytes(scene(17, 5, overlapping, 8, 9), options_for(method, Pooling::groups),
                              method + (overlapping ? " overlapping" : ""));
            for (const std::size_t groups : {0, 5})
                expect_same_bytes(byte_scene(17, groups, overlapping, 9),
                                  options_for(method, Pooling::groups),
                                  method + (overlapping ? " bytes, overlapping" : " bytes"));
        }
}

TEST(Ranks, TheChoiceOfAMethodIsTheSame) {
    CalibrateOptions options = options_for("auto", Pooling::groups);
    expect_same_bytes(scene(14, 7, false, 0, 11), options, "auto", {3});
}

TEST(Ranks, SplitsFallbacksPooledClassesAndTheReleasedCodeAreTheSame) {
    CalibrateOptions split = options_for("kmeans", Pooling::groups);
    split.split = 0.5;
    expect_same_bytes(scene(21, 9, false, 0, 2), split, "split");
    expect_same_bytes(scene(21, 0, false, 3, 2), split, "split without groups");
    split.method.name = "field";
    expect_same_bytes(scene(21, 9, false, 0, 2), split, "field split");
    CalibrateOptions fallback = options_for("pixel", Pooling::groups);
    fallback.fallback = Fallback::image;
    fallback.min_count = 6;
    expect_same_bytes(scene(13, 0, false, 0, 4), fallback, "fallback");
    CalibrateOptions pooled = options_for("kmeans", Pooling::pixels);
    pooled.condition = Condition::none;
    expect_same_bytes(scene(13, 4, true, 0, 4), pooled, "classes pooled");
    CalibrateOptions released = options_for("kmeans", Pooling::pixels);
    released.released = true;
    expect_same_bytes(scene(13, 0, false, 0, 6), released, "released");
    CalibrateOptions randomized = options_for("image", Pooling::groups);
    randomized.score.kind = ScoreKind::aps;
    randomized.score.randomized = true;
    expect_same_bytes(scene(13, 4, false, 0, 6), randomized, "randomized aps");
}

TEST(Ranks, LittleMemoryMeansMoreRoundsAndTheSameBytes) {
    for (const std::string method : {"pixel", "kmeans"}) {
        CalibrateOptions options = options_for(method, Pooling::groups);
        const std::string plenty = bytes_of_file(calibrate(scene(30, 8, false, 0, 8), options));
        options.memory = 1 << 14;
        const auto made = on_ranks<std::string>(3, [&](std::shared_ptr<const Team> team) {
            CalibrateOptions own = options;
            own.memory <<= team->comm.rank();  // ranks may have different amounts of memory
            Calibrator made_here = calibrate(dealt(scene(30, 8, false, 0, 8), team), own);
            made_here.options.memory = CalibrateOptions{}.memory;
            return bytes_of_file(made_here);
        });
        for (const std::string& one : made) EXPECT_TRUE(one == plenty) << method;
    }
}

TEST(Ranks, WhatIsLearntAgainWithoutEachGroupIsTheSame) {
    for (const char* const method : {"field", "kmeans", "auto"}) {
        CalibrateOptions options = options_for(method, Pooling::groups);
        options.promise = Promise::leave_one_out;
        options.method.settings.text = {{"kmeans-clusters", "3"},   {"genann-radii", "1"},
                                        {"genann-population", "4"}, {"genann-generations", "2"},
                                        {"fcc-curves", "1"},        {"fcc-starts", "1"},
                                        {"fcc-iterations", "2"}};
        expect_same_bytes(scene(9, 5, false, 0, 3), options, method, {2, 4});
    }
}

TEST(Ranks, MoreRanksThanGroupsLeaveSomeWithoutImages) {
    expect_same_bytes(scene(8, 2, false, 0, 1), options_for("kmeans", Pooling::groups), "two groups", {8});
    expect_same_bytes(scene(1, 0, false, 0, 1), options_for("image", Pooling::pixels), "one image", {3});
}

std::string judged(const Dataset& data, const Calibrator& calibrator, std::size_t bootstrap) {
    const EvaluationReport report = evaluate(data, {&calibrator}, {.bootstrap = bootstrap, .seed = 4});
    std::string text = evaluation_json(calibrator, report, {}, 0).dump();
    for (const StratumEvaluation& one : report.calibrators.front().strata)
        text.append(reinterpret_cast<const char*>(one.ce_map.data()), one.ce_map.size() * sizeof(double));
    for (const std::vector<double>& one : report.probabilities.ece_map)
        text.append(reinterpret_cast<const char*>(one.data()), one.size() * sizeof(double));
    return text;
}

TEST(Ranks, AnEvaluationIsTheSameToTheLastBit) {
    for (const std::size_t groups : {0, 5})
        for (const std::size_t bootstrap : {0, 40})
            for (const bool released : {false, true}) {
                CalibrateOptions options = options_for("kmeans", Pooling::pixels);
                options.released = released;
                const Calibrator calibrator = calibrate(scene(15, groups, false, 0, 21), options);
                const Dataset test = scene(23, groups, false, 0, 22);
                const std::string alone = judged(test, calibrator, bootstrap);
                const ThreadLimit limit(1);
                for (const std::size_t n : {2, 7})
                    for (const std::string& one :
                         on_ranks<std::string>(n, [&](std::shared_ptr<const Team> team) {
                             return judged(dealt(test, team), calibrator, bootstrap);
                         }))
                        EXPECT_EQ(one, alone) << n << " ranks, " << groups << " groups, " << bootstrap;
            }
}

TEST(Ranks, AComparisonOnSamplesIsTheSame) {
    const Dataset cal = scene(24, 0, false, 5, 31), test = scene(12, 4, false, 5, 32);
    CompareOptions options;
    options.methods = {"image", "kmeans", "pixel"};
    options.sample = 9;
    options.draws = 3;
    const auto text = [&](const Dataset& a, const Dataset& b) {
        Comparison comparison = compare(a, b, options);
        for (CompareRow& row : comparison.rows) row.fit_seconds = row.evaluate_seconds = 0;
        return comparison_json(comparison, {}).dump();
    };
    const std::string alone = text(cal, test);
    for (const std::size_t n : {2, 5})
        for (const std::string& one : on_ranks<std::string>(n, [&](std::shared_ptr<const Team> team) {
                 return text(dealt(cal, team), dealt(test, team));
             }))
            EXPECT_EQ(one, alone);
}

/// The largest number of bytes that one of three ranks exchanges during calibration.
std::uint64_t bytes_said(std::size_t images, const CalibrateOptions& options) {
    const ThreadLimit limit(1);
    const Dataset data = make({.images = images, .classes = 2, .grid = {4, 5}}).dataset();
    const auto said = on_ranks<std::uint64_t>(3, [&](std::shared_ptr<const Team> team) {
        (void)calibrate(dealt(data, team), options);
        return team->comm.traffic().bytes;
    });
    return *std::max_element(said.begin(), said.end());
}

TEST(Ranks, NetworkVolumeDoesNotDependOnTheImages) {
    for (const Pooling pooling : {Pooling::pixels, Pooling::groups})
        for (const std::string method : {"image", "pixel", "kmeans", "field", "field by runs"}) {
            CalibrateOptions options = options_for(method.substr(0, method.find(' ')), pooling);
            options.rungs = 40;
            options.promise = Promise::none;                        // with loo, ranks share all scores
            options.method.settings.text["kmeans-clusters"] = "4";  // otherwise the data choose the number
            if (method == "field by runs") options.method.settings.text["field-fold-order"] = "contiguous";
            const std::uint64_t few = bytes_said(30, options);
            EXPECT_GT(few, 1000u);
            EXPECT_EQ(bytes_said(300, options), few) << method;
            EXPECT_EQ(bytes_said(19'200, options), few) << method;
            options.memory = 1 << 14;  // more rounds, the same numbers
            EXPECT_EQ(bytes_said(19'200, options), few) << method << ", little memory";
        }
}

TEST(Ranks, NetworkVolumeOfAnEvaluationDoesNotDependOnTheImages) {
    const ThreadLimit limit(1);
    const Calibrator calibrator = calibrate(make({.images = 50, .classes = 2, .grid = {4, 5}}).dataset(),
                                            options_for("kmeans", Pooling::pixels));
    const auto said = [&](std::size_t images, std::size_t bootstrap) {
        const Dataset test = make({.images = images, .classes = 2, .grid = {4, 5}, .seed = 9}).dataset();
        const auto bytes = on_ranks<std::uint64_t>(3, [&](std::shared_ptr<const Team> team) {
            (void)judged(dealt(test, team), calibrator, bootstrap);
            return team->comm.traffic().bytes;
        });
        return bytes.front();
    };
    EXPECT_EQ(said(30, 0), said(4'000, 0));
    EXPECT_EQ(said(30, 20), said(4'000, 20));
}

TEST(Ranks, FoldsOfRunsAreTheSameAndCostNoMoreForManyGroups) {
    const auto sent = [](std::size_t images) {
        const Dataset data =
            make({.images = images, .classes = 2, .grid = {1, 1}, .groups = images / 2}).dataset();
        const std::vector<std::uint64_t> nothing(images);
        using partition::FoldOrder;
        std::vector<std::uint8_t> alone(images);
        const auto all = partition::make_folds(data, nothing, 5, FoldOrder::contiguous, 0);
        for (std::size_t i = 0; i < images; ++i) alone[row_of(data, i)] = all.of_image[i];
        const auto bytes = on_ranks<std::uint64_t>(3, [&](std::shared_ptr<const Team> team) {
            const Dataset own = dealt(data, team);
            const auto folds = partition::make_folds(own, nothing, 5, FoldOrder::contiguous, 0);
            EXPECT_EQ(folds.count, 5u);
            for (std::size_t i = 0; i < own.images(); ++i)
                EXPECT_EQ(folds.of_image[i], alone[row_of(own, i)]) << "image " << row_of(own, i);
            return team->comm.traffic().bytes;
        });
        return bytes.front();
    };
    EXPECT_EQ(sent(14), sent(140'000));
}

TEST(Ranks, ResamplesOfManyGroupsAreTheSameAndCostNoMoreThanThoseOfFewer) {
    const ThreadLimit limit(1);
    const Calibrator calibrator = calibrate(make({.images = 50, .classes = 2, .grid = {1, 2}}).dataset(),
                                            options_for("image", Pooling::pixels));
    std::vector<std::uint64_t> bytes;
    for (const std::size_t images : {66'000, 99'000}) {
        const Dataset test = make({.images = images, .classes = 2, .grid = {1, 2}, .seed = 9}).dataset();
        const std::string alone = judged(test, calibrator, 5);
        const auto told =
            on_ranks<std::pair<std::string, std::uint64_t>>(3, [&](std::shared_ptr<const Team> team) {
                std::string text = judged(dealt(test, team), calibrator, 5);
                return std::pair{std::move(text), team->comm.traffic().bytes};
            });
        for (const auto& [text, sent] : told) EXPECT_EQ(text, alone) << images;
        bytes.push_back(told.front().second);
    }
    EXPECT_EQ(bytes[0], bytes[1]);
    EXPECT_LT(bytes[0], 100'000u);
}

}  // namespace
}  // namespace kandinsky
