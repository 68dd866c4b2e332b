#include "report/data/example_images.hpp"

#include <gtest/gtest.h>

#include <kandinsky/predictor.hpp>

#include "support/tested.hpp"

namespace kandinsky {
namespace {

using namespace test;

TEST(SetCodes, GiveThePredictorsSetsAtEveryPositionOfTheSlider) {
    const Tested it;
    const std::size_t pixels = it.data.grid().pixels();
    std::vector<float> probs(3 * pixels);
    std::vector<std::uint8_t> sets(3 * pixels);
    it.data.read_probs(7, {0, pixels}, probs);
    for (const Calibrator& calibrator : it.calibrators) {
        const std::vector<std::uint8_t> codes = set_codes(calibrator, it.data, 7);
        for (int percent = 1; percent <= 99; ++percent) {
            Predictor(calibrator, percent / 100.0, EmptySets::keep).sets(probs, sets);
            for (std::size_t i = 0; i < sets.size(); ++i)
                ASSERT_EQ(codes[i] >= percent, sets[i] != 0)
                    << calibrator.options.method.name << " " << percent;
        }
    }
}

TEST(ExampleImages, GoFromEasyToHardAmongThoseWithTheMostClasses) {
    Tally counts;
    counts.undecided = {50, 10, 40, 30, 20, 0};
    counts.kinds = {2, 2, 2, 2, 2, 1};
    EXPECT_EQ(example_images(counts, 3), (std::vector<std::size_t>{1, 3, 0}));
    counts.kinds.assign(6, 1);
    EXPECT_EQ(example_images(counts, 1), std::vector<std::size_t>{3});
    counts.undecided = {4};
    counts.kinds = {1};
    EXPECT_EQ(example_images(counts, 3), std::vector<std::size_t>{0});
}

}  // namespace
}  // namespace kandinsky
