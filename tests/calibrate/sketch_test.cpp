#include <gtest/gtest.h>

#include <atomic>
#include <kandinsky/error.hpp>
#include <kandinsky/kcal.hpp>
#include <kandinsky/sketch.hpp>
#include <kandinsky/threads.hpp>

#include "curve/curve_storage.hpp"
#include "io/support.hpp"
#include "support/fewer.hpp"
#include "support/synthetic.hpp"

namespace kandinsky {
namespace {

using namespace test;

CalibrateOptions options_for(const std::string& method, double error) {
    CalibrateOptions options{.score = {}};
    options.method.name = method;
    options.pooling = Pooling::pixels;
    options.sketch = error;
    return options;
}

/// All images in one batch.
Calibrator sketched_by(const Dataset& data, const CalibrateOptions& options) {
    Sketch sketch(data.grid(), data.classes(), options);
    sketch.add(data);
    return sketch.finish();
}

std::vector<std::uint32_t> numbers(std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> out;
    for (std::size_t i = begin; i < end; ++i) out.push_back(static_cast<std::uint32_t>(i));
    return out;
}

void expect_equal(const Calibrator& a, const Calibrator& b) {
    EXPECT_EQ(describe(a), describe(b));
    EXPECT_EQ(a.counts, b.counts);
    ASSERT_EQ(a.curves.size(), b.curves.size());
    for (std::size_t s = 0; s < a.curves.size(); ++s) {
        EXPECT_EQ(a.partitions[s].region, b.partitions[s].region);
        EXPECT_EQ(storage_of(a.curves[s]).values, storage_of(b.curves[s]).values);
        EXPECT_EQ(storage_of(a.curves[s]).scores, storage_of(b.curves[s]).scores);
    }
}

/// Methods whose regions do not depend on the curves, so that both calibrators have the same regions.
TEST(Sketch, ThresholdsExceedTheExactOnesByAtMostTheStatedError) {
    for (const ScoreKind kind : {ScoreKind::lac, ScoreKind::margin, ScoreKind::aps})
        for (const Condition condition : {Condition::by_class, Condition::none})
            for (const std::string name : {"pixel", "image"})
                for (const double error : {0.3, 0.01, 0.0007}) {
                    const Made made =
                        make({.images = 50, .classes = 3, .grid = {5, 6}, .seed = 2, .ignored = 0.1});
                    CalibrateOptions options = options_for(name, error);
                    options.score.kind = kind;
                    options.condition = condition;
                    const Calibrator sketched = sketched_by(made.dataset(), options);
                    options.sketch = 0;
                    const Calibrator exact = calibrate(made.dataset(), options);
                    EXPECT_LE(sketched.sketch_error, error);
                    EXPECT_EQ(exact.sketch_error, 0);
                    EXPECT_EQ(sketched.fingerprint, exact.fingerprint);
                    EXPECT_EQ(sketched.counts, exact.counts);
                    for (const double alpha : {0.0, 0.05, 0.1, 0.33, 0.5, 0.9, 1.0}) {
                        const auto above = score_thresholds(sketched, alpha);
                        const auto wanted = score_thresholds(exact, alpha);
                        for (std::size_t i = 0; i < above.size(); ++i) {
                            ASSERT_GE(above[i], wanted[i]);
                            if (std::isinf(wanted[i]))
                                ASSERT_EQ(above[i], wanted[i]);
                            else
                                ASSERT_LE(static_cast<double>(above[i]) - wanted[i], sketched.sketch_error);
                        }
                    }
                }
}

TEST(Sketch, WorksForEveryHardMethod) {
    const Made made = make({.images = 60, .classes = 2, .grid = {12, 16}, .seed = 3});
    for (const std::string name : {"pixel", "image", "kmeans", "genann", "fcc"}) {
        CalibrateOptions options = options_for(name, 0.01);
        options.fallback = Fallback::image;
        options.min_count = 3;
        options.method.settings.text = short_searches();
        const Calibrator sketched = sketched_by(made.dataset(), options);
        EXPECT_EQ(sketched.options.method.name, name);
        EXPECT_EQ(sketched.counts.size(), 2 * 12 * 16);
        EXPECT_GT(sketched.sketch_error, 0);
    }
}

TEST(Sketch, DoesNotDependOnBatchesTheirOrderOrThreads) {
    const Made made = make({.images = 40, .classes = 2, .grid = {6, 7}, .seed = 4, .ignored = 0.1});
    const Dataset data = made.dataset();
    const CalibrateOptions options = options_for("kmeans", 0.02);
    const Calibrator whole = sketched_by(data, options);
    Sketch batches(data.grid(), data.classes(), options);
    for (const auto& [begin, end] : {std::pair{25, 40}, std::pair{0, 1}, std::pair{1, 25}})
        batches.add(data.subset(numbers(static_cast<std::size_t>(begin), static_cast<std::size_t>(end))));
    expect_equal(batches.finish(), whole);
    const ThreadLimit limit(1);
    expect_equal(sketched_by(data, options), whole);
}

TEST(Sketch, RefusesOptionsThatNeedMoreThanOnePass) {
    const Grid grid{6, 7};
    const auto refused = [&](CalibrateOptions options) { EXPECT_THROW(Sketch(grid, 2, options), Error); };
    for (const std::string name : {"field", "auto"}) refused(options_for(name, 0.01));
    for (const std::string name : {"image", "kmeans"}) {
        CalibrateOptions weighed = options_for(name, 0.01);
        weighed.pooling = Pooling::groups;
        refused(weighed);
    }
    CalibrateOptions split = options_for("pixel", 0.01);
    split.split = 0.5;
    refused(split);
    CalibrateOptions released = options_for("pixel", 0.01);
    released.released = true;
    refused(released);
    CalibrateOptions adapting = options_for("pixel", 0.01);
    adapting.pooling = Pooling::groups;
    adapting.adapt = Adapt::image;
    expect_error(ErrorKind::usage, {"`sketch`", "`adapt image`"}, [&] { Sketch(grid, 2, adapting); });
    refused(options_for("pixel", 1e-9));
    CalibrateOptions small = options_for("pixel", 0.001);
    small.memory = 1 << 16;
    refused(small);
    CalibrateOptions single = options_for("pixel", 0.01);
    single.pooling = Pooling::groups;  // every image has one score at a pixel
    EXPECT_NO_THROW(Sketch(grid, 2, single));
}

TEST(Sketch, IsNotForImagesThatCanBeReadAgain) {
    const Made made = make({.images = 10, .classes = 2, .grid = {6, 7}, .seed = 5});
    EXPECT_THROW((void)calibrate(made.dataset(), options_for("pixel", 0.01)), Error);
}

TEST(Sketch, ChecksItsOptionsAsCalibrateDoes) {
    CalibrateOptions options = options_for("kmeans", 0.01);
    options.quantiles = {1.5};
    EXPECT_THROW(Sketch({6, 7}, 2, options), Error);
    options = options_for("kmeans", 0.01);
    options.rungs = 1;
    EXPECT_THROW(Sketch({6, 7}, 2, options), Error);
}

/// Stops the work once it reports a stage.
class StopIn final : public Progress {
  public:
    explicit StopIn(std::string_view stage) : stage_(stage) {}
    void update(std::string_view stage, std::size_t, std::size_t) override {
        if (stage == stage_) stop_ = true;
    }
    [[nodiscard]] bool cancelled() const override { return stop_; }

  private:
    std::string_view stage_;
    std::atomic<bool> stop_{false};
};

TEST(Sketch, RefusesToGoOnWithAPartOfTheImages) {
    const Made made = make({.images = 20, .classes = 2, .grid = {6, 7}, .seed = 6});
    const Dataset data = made.dataset();
    const CalibrateOptions options = options_for("pixel", 0.01);
    Sketch sketch(data.grid(), data.classes(), options);
    StopIn reading("reading"), counting("sketching");
    EXPECT_THROW(sketch.add(data, reading), Interrupted);
    Made bad = made;
    bad.probs[5] = 7;
    EXPECT_THROW(sketch.add(bad.dataset()), Error);
    sketch.add(data);
    expect_equal(sketch.finish(), sketched_by(data, options));  // nothing was counted before
    EXPECT_THROW(sketch.add(data, counting), Interrupted);
    expect_error(ErrorKind::usage, {"new sketch"}, [&] { sketch.add(data); });
    expect_error(ErrorKind::usage, {"new sketch"}, [&] { (void)sketch.finish(); });
}

}  // namespace
}  // namespace kandinsky
