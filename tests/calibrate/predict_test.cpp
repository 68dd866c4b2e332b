#include <gtest/gtest.h>

#include <cstring>
#include <kandinsky/predict.hpp>
#include <kandinsky/threads.hpp>

#include "core/kernel/half.hpp"
#include "io/support.hpp"
#include "support/synthetic.hpp"

namespace kandinsky {
namespace {

using namespace test;

/// Images whose width is no multiple of eight, and a calibrator for them.
class Prediction : public testing::Test {
  protected:
    Prediction() {
        CalibrateOptions options;
        options.method.name = "pixel";
        options.pooling = Pooling::pixels;
        calibrator_ = calibrate(data_, options);
    }

    [[nodiscard]] std::size_t values() const { return 3 * made_.pixels(); }
    /// Bytes of one image.
    [[nodiscard]] std::size_t bytes(SetForm form) const {
        return form == SetForm::bytes ? values() : std::size_t{3} * 5 * 2;
    }
    [[nodiscard]] std::span<const float> image(std::size_t n) const {
        return std::span(made_.probs).subspan(n * values(), values());
    }
    /// All sets by the predictor itself, image by image.
    [[nodiscard]] std::vector<std::uint8_t> one_by_one(const Predictor& predictor, SetForm form) const {
        std::vector<std::uint8_t> out(30 * bytes(form));
        for (std::size_t n = 0; n < 30; ++n) {
            const std::span<std::uint8_t> to = std::span(out).subspan(n * bytes(form), bytes(form));
            if (form == SetForm::bits)
                predictor.packed_sets(image(n), to);
            else
                predictor.sets(image(n), to);
        }
        return out;
    }
    [[nodiscard]] std::vector<std::uint8_t> predicted(const Predictor& predictor, const Dataset& data,
                                                      SetForm form = SetForm::bytes) const {
        std::vector<std::uint8_t> out(data.images() * bytes(form), 9);
        predict_sets(predictor, data, std::as_writable_bytes(std::span(out)), {.form = form});
        return out;
    }

    const Made made_ =
        make({.images = 30, .classes = 3, .grid = {5, 11}, .seed = 1, .groups = 0, .steps = 40});
    const Dataset data_ = made_.dataset();
    Calibrator calibrator_;
};

/// Probabilities as halves, the planes of the classes `gap` elements apart.
Dataset halves_of(const Made& made, std::size_t gap = 0, std::uint16_t at_1000 = 0) {
    const std::size_t n = made.recipe.images, classes = made.recipe.classes, pixels = made.pixels();
    const std::size_t plane = pixels + gap;
    Array all = Array::zeros(DType::float16, {n, classes, plane});
    std::vector<std::uint16_t> halves(n * classes * plane, 0x7E00);  // NaN in the gaps
    for (std::size_t i = 0; i < n * classes; ++i)
        for (std::size_t p = 0; p < pixels; ++p)
            halves[i * plane + p] = float_to_half(made.probs[i * pixels + p]);
    if (at_1000 != 0) halves[1000] = at_1000;
    std::memcpy(all.mutable_data(), halves.data(), halves.size() * 2);
    ArrayView view = all.view();
    const auto step = static_cast<std::ptrdiff_t>(2 * plane);
    view.shape = {n, classes, made.recipe.grid.height, made.recipe.grid.width};
    view.strides = {step * static_cast<std::ptrdiff_t>(classes), step,
                    2 * static_cast<std::ptrdiff_t>(made.recipe.grid.width), 2};
    return Dataset(Array(view, std::make_shared<Array>(all)));
}

TEST_F(Prediction, BlocksOfAnySizeAndMemoryGiveTheSetsOfImageByImage) {
    const Predictor predictor(calibrator_, 0.2, EmptySets::keep);
    const ThreadLimit one(1);  // otherwise a block has an image for each thread
    for (const SetForm form : {SetForm::bytes, SetForm::bits}) {
        const std::vector<std::uint8_t> expected = one_by_one(predictor, form);
        EXPECT_EQ(predicted(predictor, data_, form), expected);
        const std::size_t each = bytes(form);
        for (const std::size_t block :
             {std::size_t{1}, each, 7 * each + 1, 30 * each, std::size_t{1} << 30}) {
            std::vector<std::uint8_t> got;
            std::size_t calls = 0;
            const Predicted done = predict_sets(predictor, data_,
                                                [&](std::span<const std::byte> images) {
                                                    EXPECT_EQ(images.size() % each, 0u);
                                                    EXPECT_LE(images.size(), std::max(block, each));
                                                    const auto* const first =
                                                        reinterpret_cast<const std::uint8_t*>(images.data());
                                                    got.insert(got.end(), first, first + images.size());
                                                    ++calls;
                                                },
                                                {.form = form, .block = block});
            EXPECT_EQ(got, expected) << block;
            EXPECT_EQ(calls, block <= each ? 30u : block < 30 * each ? 5u : 1u);
            EXPECT_EQ(done.images, 30u);
            EXPECT_EQ(done.sets, 30u * 55);
            EXPECT_EQ(done.filled, 0u);
        }
    }
}

TEST_F(Prediction, PValuesAreThoseOfImageByImageInBlocksOfAnySize) {
    std::vector<float> expected(30 * values()), got(expected.size());
    for (std::size_t n = 0; n < 30; ++n)
        p_values(calibrator_, image(n), std::span(expected).subspan(n * values(), values()));
    predict_p_values(calibrator_, data_, std::as_writable_bytes(std::span(got)));
    EXPECT_EQ(got, expected);
    for (const std::size_t block : {1u, 2000u, 1u << 30}) {
        std::size_t at = 0;
        const Predicted done = predict_p_values(
            calibrator_, data_,
            [&](std::span<const std::byte> images) {
                ASSERT_LE(at + images.size(), expected.size() * 4);
                EXPECT_EQ(std::memcmp(images.data(), expected.data() + at / 4, images.size()), 0);
                at += images.size();
            },
            {.block = block});
        EXPECT_EQ(at, expected.size() * 4);
        EXPECT_EQ(done.images, 30u);
    }
}

TEST_F(Prediction, BitsAreTheBytesPackedAlongRowsWithTheFirstColumnHighest) {
    for (const EmptySets empty : {EmptySets::keep, EmptySets::fill}) {
        const Predictor predictor(calibrator_, 0.6, empty);
        const std::vector<std::uint8_t> sets = predicted(predictor, data_),
                                        bits = predicted(predictor, data_, SetForm::bits);
        for (std::size_t row = 0; row < std::size_t{30} * 3 * 5; ++row)
            for (std::size_t x = 0; x < 16; ++x)
                ASSERT_EQ(bits[row * 2 + x / 8] >> (7 - x % 8) & 1, x < 11 ? sets[row * 11 + x] : 0)
                    << row << " " << x;
    }
}

TEST_F(Prediction, FilledSetsAreCountedOnceForEachEmptyOne) {
    const std::vector<std::uint8_t> kept = predicted(Predictor(calibrator_, 0.6, EmptySets::keep), data_);
    std::uint64_t empty = 0;
    for (std::size_t n = 0; n < 30; ++n)
        for (std::size_t p = 0; p < 55; ++p) {
            const std::uint8_t* const set = kept.data() + n * values() + p;
            empty += set[0] + set[55] + set[110] == 0;
        }
    ASSERT_GT(empty, 0u);
    const Predictor fill(calibrator_, 0.6);
    for (const SetForm form : {SetForm::bytes, SetForm::bits})
        EXPECT_EQ(predict_sets(fill, data_, [](auto) {}, {.form = form, .block = 1}).filled, empty);
    EXPECT_EQ(predict_sets(fill, halves_of(made_), [](auto) {}).filled,
              predict_sets(fill, halves_of(made_, 3), [](auto) {}).filled);
}

TEST_F(Prediction, StoredHalvesGiveTheSetsOfTheFloatsTheyStandFor) {
    Made rounded = made_;
    for (float& p : rounded.probs) p = half_to_float(float_to_half(p));
    for (const EmptySets empty : {EmptySets::keep, EmptySets::fill})
        for (const double alpha : {0.0, 0.1, 0.6}) {
            const Predictor predictor(calibrator_, alpha, empty);
            const std::vector<std::uint8_t> expected = predicted(predictor, rounded.dataset());
            EXPECT_EQ(predicted(predictor, halves_of(made_)), expected) << alpha;
            EXPECT_EQ(predicted(predictor, halves_of(made_, 3)), expected) << alpha;
            const Dataset some = halves_of(made_).subset({7, 3});
            EXPECT_EQ(predicted(predictor, some), predicted(predictor, rounded.dataset().subset({7, 3})));
        }
}

TEST_F(Prediction, ABadValueIsNamedByImageClassRowAndColumn) {
    const Predictor predictor(calibrator_, 0.1);
    // Value 1000 is in image 6 (of 165 values), class 0, row 0, column 10.
    const std::vector<std::string> place{"image 6, class 0, row 0, column 10", "not in [0, 1]"};
    Made bad = made_;
    bad.probs[1000] = 1.5f;
    for (const Dataset& data : {bad.dataset(), halves_of(made_, 0, 0x7E00), halves_of(made_, 0, 0xBC00)})
        for (const SetForm form : {SetForm::bytes, SetForm::bits})
            expect_error(ErrorKind::data, place, [&] { (void)predicted(predictor, data, form); });
    expect_error(ErrorKind::data, place, [&] { predict_p_values(calibrator_, bad.dataset(), [](auto) {}); });
}

TEST_F(Prediction, DataOfAnotherShapeAndMemoryOfAnotherSizeAreRefused) {
    const Predictor predictor(calibrator_, 0.1);
    const Dataset turned = make({.classes = 3, .grid = {11, 5}}).dataset();
    const Dataset fewer = make({.classes = 2, .grid = {5, 11}}).dataset();
    const auto nobody = [](auto) { ADD_FAILURE() << "nothing is to be predicted"; };
    expect_error(ErrorKind::data, {"11 x 5", "5 x 11"}, [&] { predict_sets(predictor, turned, nobody); });
    expect_error(ErrorKind::data, {"2 classes", "for 3"},
                 [&] { predict_p_values(calibrator_, fewer, nobody); });
    std::vector<std::byte> memory(30 * values() - 1);
    expect_error(ErrorKind::usage, {"4949 bytes", "4950"},
                 [&] { predict_sets(predictor, data_, std::span(memory)); });
}

/// Records the progress, and cancels after some images.
struct Stop : Progress {
    std::vector<std::size_t> told;
    std::size_t after = 99999;
    mutable std::size_t asked = 0;
    void update(std::string_view /*stage*/, std::size_t done, std::size_t total) override {
        EXPECT_EQ(total, 30u);
        told.push_back(done);
    }
    [[nodiscard]] bool cancelled() const override { return asked++ >= after; }
};

TEST_F(Prediction, ReportsProgressAndStopsWhenCancelled) {
    const Predictor predictor(calibrator_, 0.1);
    const ThreadLimit one(1);
    Stop progress;
    predict_sets(
        predictor, data_, [](auto) {}, {.block = 10 * values()}, progress);
    EXPECT_EQ(progress.told, (std::vector<std::size_t>{0, 10, 20, 30}));
    const std::size_t questions = progress.asked;
    ASSERT_GE(questions, 30u);
    for (const std::size_t after : {std::size_t{0}, std::size_t{15}, questions - 1}) {
        Stop stop;
        stop.after = after;
        std::size_t images = 0;
        const auto count = [&](std::span<const std::byte> block) { images += block.size() / values(); };
        EXPECT_THROW(predict_sets(predictor, data_, count, {.block = 10 * values()}, stop), Interrupted);
        EXPECT_EQ(images, after / 10 * 10) << after;
    }
}

TEST_F(Prediction, AnExceptionOfTheSinkEndsTheWork) {
    std::size_t calls = 0;
    const auto full = [&](std::span<const std::byte>) {
        ++calls;
        throw Error(ErrorKind::file, "no space");
    };
    expect_error(ErrorKind::file, {"no space"},
                 [&] { predict_sets(Predictor(calibrator_, 0.1), data_, full, {.block = 1}); });
    EXPECT_EQ(calls, 1u);
}

}  // namespace
}  // namespace kandinsky
