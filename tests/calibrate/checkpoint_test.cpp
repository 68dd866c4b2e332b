#include <gtest/gtest.h>

#include <algorithm>
#include <kandinsky/kcal.hpp>
#include <kandinsky/threads.hpp>

#include "core/data/dataset_access.hpp"
#include "core/team/team.hpp"
#include "support/memory_checkpoint.hpp"
#include "support/synthetic.hpp"

namespace kandinsky {
namespace {

using namespace test;

struct Case {
    const char* method;
    Promise promise;
    std::size_t groups;
    const char* longest;  ///< the stage that takes most of the time
};

CalibrateOptions options_of(const Case& one) {
    CalibrateOptions options;
    options.method.name = one.method;
    options.promise = one.promise;
    if (options.method.name == "kmeans") options.method.settings.text["kmeans-clusters"] = "2";
    return options;
}

std::vector<float> curves_of(const Calibrator& calibrator) {
    std::vector<float> out;
    for (int m = 1; m < 20; ++m)
        for (const float threshold : score_thresholds(calibrator, m / 20.0)) out.push_back(threshold);
    return out;
}

/// Calibrates with a checkpoint; nothing if it was stopped.
std::optional<Calibrator> run(const Dataset& data, const CalibrateOptions& options,
                              MemoryCheckpoint& checkpoint) {
    const Dataset own =
        dealt(data, std::make_shared<const Team>(Team{.comm = alone(), .checkpoint = &checkpoint}));
    try {
        return calibrate(own, options);
    } catch (const Interrupted&) {
        return std::nullopt;
    }
}

class Checkpoints : public testing::TestWithParam<Case> {};

TEST_P(Checkpoints, ARunThatIsStoppedAfterAnySaveContinuesToTheSameCurves) {
    const ThreadLimit limit(2);
    const Case one = GetParam();
    const Dataset data =
        make({.images = 40, .grid = {4, 5}, .seed = 3, .groups = one.groups, .steps = 50}).dataset();
    const CalibrateOptions options = options_of(one);
    const Calibrator whole = calibrate(data, options);
    MemoryCheckpoint all;
    const auto saved_whole = run(data, options, all);
    ASSERT_TRUE(saved_whole);
    EXPECT_EQ(curves_of(*saved_whole), curves_of(whole));
    const auto inside = [&](const MemoryCheckpoint::Saved& saved) {
        return saved.name == one.longest && saved.done > 0 && saved.done < one.groups;
    };
    EXPECT_GE(std::count_if(all.saved().begin(), all.saved().end(), inside), 2)
        << one.longest << " is saved at its end only";
    for (std::size_t saves = 1; saves <= all.saved().size(); ++saves) {
        MemoryCheckpoint first(nullptr, saves);
        ASSERT_FALSE(run(data, options, first)) << "it was to be stopped after " << saves;
        MemoryCheckpoint second(&first);
        const auto made = run(data, options, second);
        ASSERT_TRUE(made);
        EXPECT_EQ(curves_of(*made), curves_of(whole)) << "stopped after " << saves;
        // Saved results are not computed again.
        EXPECT_EQ(second.saved().size() + saves, all.saved().size()) << "stopped after " << saves;
    }
}

TEST(Checkpoint, ARunThatIsStoppedContinuesToTheSameCurvesWithAnotherNumberOfThreads) {
    const Dataset data = make({.images = 40, .grid = {4, 5}, .seed = 3, .groups = 20, .steps = 50}).dataset();
    CalibrateOptions options = options_of({"kmeans", Promise::none, 20, ""});
    // The counters of two threads and one region take about as much as those of one thread and two regions.
    options.memory = std::size_t{6} << 20;
    const Calibrator whole = calibrate(data, options);
    for (const auto& [before, after] : {std::pair<std::size_t, std::size_t>{1, 2}, {2, 1}}) {
        for (std::size_t saves = 1;; ++saves) {
            MemoryCheckpoint first(nullptr, saves);
            {
                const ThreadLimit limit(before);
                if (run(data, options, first)) break;  // it ended before
            }
            const ThreadLimit limit(after);
            MemoryCheckpoint next(&first);
            const auto made = run(data, options, next);
            ASSERT_TRUE(made);
            EXPECT_EQ(curves_of(*made), curves_of(whole)) << "stopped after " << saves;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Methods, Checkpoints,
                         testing::Values(Case{"field", Promise::leave_one_out, 20,
                                              "field: leaving groups out"},
                                         Case{"field", Promise::automatic, 40, "field: leaving groups out"},
                                         Case{"kmeans", Promise::leave_one_out, 10, "leaving groups out"}),
                         [](const auto& one) { return one.param.method + std::to_string(one.index); });

}  // namespace
}  // namespace kandinsky
