#include "calibrate/set_tally.hpp"

#include <gtest/gtest.h>

#include "core/base/random.hpp"
#include "support/naive.hpp"

namespace kandinsky {
namespace {

using namespace test;

/// The contents of sets [class][pixel], counted for each set.
Predicted counted(const std::vector<std::uint8_t>& sets, std::size_t classes) {
    const std::size_t pixels = sets.size() / classes;
    Predicted out{.images = 1, .sets = pixels, .members = std::vector<std::uint64_t>(classes)};
    for (std::size_t p = 0; p < pixels; ++p) {
        std::size_t size = 0;
        for (std::size_t c = 0; c < classes; ++c) {
            size += sets[c * pixels + p];
            out.members[c] += sets[c * pixels + p];
        }
        out.empty += size == 0, out.single += size == 1, out.full += size == classes;
    }
    return out;
}

void expect_same(const Predicted& a, const Predicted& b) {
    EXPECT_EQ(a.images, b.images);
    EXPECT_EQ(a.sets, b.sets);
    EXPECT_EQ(a.filled, b.filled);
    EXPECT_EQ(a.empty, b.empty);
    EXPECT_EQ(a.single, b.single);
    EXPECT_EQ(a.full, b.full);
    EXPECT_EQ(a.members, b.members);
}

TEST(SetTally, CountsTheContentsOfEachSet) {
    // 300 classes do not fit into bytes: 256 of them would look empty.
    for (const std::size_t classes : {1u, 2u, 3u, 255u, 300u})
        for (const std::size_t pixels : {1u, 63u, 5000u}) {
            Random random(classes, pixels);
            std::vector<std::uint8_t> sets(classes * pixels);
            for (std::size_t p = 0; p < pixels; ++p) {
                const std::uint64_t kind = random.below(5);
                for (std::size_t c = 0; c < classes; ++c)
                    sets[c * pixels + p] = kind == 0   ? 0
                                           : kind == 1 ? c == p % classes
                                           : kind == 2 ? 1
                                           : kind == 3 ? c < 256
                                                       : static_cast<std::uint8_t>(random.below(2));
            }
            SetTally tally(classes), twice(classes);
            tally.add(sets.data(), pixels, 0);
            expect_same(tally.counts(), counted(sets, classes));
            twice.add(tally.counts());
            expect_same(twice.counts(), tally.counts());
        }
}

TEST(SetTally, IsWhatPredictSetsReturnsForEveryFormTypeAndFilling) {
    const Made made = make({.images = 20, .classes = 3, .grid = {5, 11}, .seed = 7, .steps = 9});
    CalibrateOptions options{.score = {}};
    options.method.name = "image";
    const Calibrator calibrator = calibrate(made.dataset(), options);
    for (const EmptySets empty : {EmptySets::keep, EmptySets::fill})
        for (const SetForm form : {SetForm::bytes, SetForm::bits}) {
            const Predictor predictor(calibrator, 0.5, empty);
            SetTally wanted(3);
            std::vector<std::uint8_t> sets(3 * 55);
            for (std::size_t n = 0; n < 20; ++n) {
                const std::uint64_t filled =
                    predictor.sets(std::span(made.probs).subspan(n * 165, 165), sets);
                wanted.add(sets.data(), 55, filled);
            }
            const Predicted found = predict_sets(predictor, made.dataset(), [](auto) {}, {.form = form});
            expect_same(found, wanted.counts());
            EXPECT_EQ(found.empty > 0, empty == EmptySets::keep);
            EXPECT_EQ(found.filled > 0, empty == EmptySets::fill);
        }
}

}  // namespace
}  // namespace kandinsky
