#include <gtest/gtest.h>

#include <kandinsky/kandinsky.hpp>
#include <numeric>

// Calls of the public interface alone, as a program outside the project makes them.

namespace {

using namespace kandinsky;

/// Your arrays: C order, no copy.
struct Mine {
    static constexpr std::size_t n = 12, c = 2, h = 4, w = 5;
    std::vector<float> probs = std::vector<float>(n * c * h * w);
    std::vector<std::uint8_t> labels = std::vector<std::uint8_t>(n * h * w);

    Mine() {
        for (std::size_t image = 0; image < n; ++image)
            for (std::size_t p = 0; p < h * w; ++p) {
                const float own = static_cast<float>((7 * image + 3 * p) % 11) / 10.0f;
                probs[image * c * h * w + p] = own;
                probs[(image * c + 1) * h * w + p] = 1 - own;
                labels[image * h * w + p] = (image + p) % 3 == 0;
            }
    }
    [[nodiscard]] Dataset data() const {
        return Dataset(view_of(probs.data(), {n, c, h, w}), view_of(labels.data(), {n, h, w}));
    }
};

TEST(Api, APointerWithAShapeIsAnArrayWithoutACopy) {
    const Mine mine;
    const ArrayView view = view_of(mine.probs.data(), {mine.n, mine.c, mine.h, mine.w});
    EXPECT_EQ(view.data, reinterpret_cast<const std::byte*>(mine.probs.data()));
    EXPECT_EQ(view.dtype, dtype_of<float>());
    EXPECT_TRUE(is_floating(view.dtype));
    EXPECT_TRUE(view.is_c_contiguous());
    EXPECT_EQ(view.shape_text(), "[12, 2, 4, 5]");
    const std::vector<std::uint16_t> words(6);
    EXPECT_EQ(view_of(words.data(), {2, 3}, DType::float16).dtype, DType::float16);
    EXPECT_EQ(view_of(words.data(), {2, 3}).dtype, DType::uint16);
}

TEST(Api, AnImageIsReadAsAValueOrIntoASpan) {
    const Mine mine;
    const Dataset data = mine.data();
    const std::size_t pixels = data.grid().pixels();
    std::vector<float> probs(2 * pixels);
    data.read_probs(3, {0, pixels}, probs);
    EXPECT_EQ(data.probs(3), probs);
    std::vector<std::uint8_t> member(2 * pixels), valid(pixels);
    data.read_truth(3, {0, pixels}, member, valid);
    const Truth truth = data.truth(3);
    EXPECT_EQ(truth.member, member);
    EXPECT_EQ(truth.valid, valid);
}

TEST(Api, ASpanThatIsTooShortIsAUsageError) {
    const Mine mine;
    const Dataset data = mine.data(),
                  unlabelled(view_of(mine.probs.data(), {mine.n, mine.c, mine.h, mine.w}));
    std::vector<float> probs(2 * 20 - 1);
    std::vector<std::uint8_t> member(2 * 20), valid(19);
    const auto kind = [](auto&& call) {
        try {
            call();
        } catch (const Error& error) {
            return error.kind();
        }
        return ErrorKind::internal;
    };
    EXPECT_EQ(kind([&] { data.read_probs(0, {0, 20}, probs); }), ErrorKind::usage);
    EXPECT_EQ(kind([&] { data.read_truth(0, {0, 20}, member, valid); }), ErrorKind::usage);
    EXPECT_EQ(kind([&] { (void)unlabelled.truth(0); }), ErrorKind::usage);
}

TEST(Api, TypedOptionsGiveWhatWordsGive) {
    const Mine mine;
    CalibrateOptions typed, words;
    typed.method = KmeansOptions{.clusters = 2, .restarts = 3};
    words.method.name = "kmeans";
    words.method.settings.text = {{"kmeans-clusters", "2"}, {"kmeans-restarts", "3"}};
    const Calibrator one = calibrate(mine.data(), typed), other = calibrate(mine.data(), words);
    EXPECT_EQ(one.method_of(0), "kmeans");
    EXPECT_EQ(describe(one), describe(other));
    EXPECT_EQ(score_thresholds(one, 0.2), score_thresholds(other, 0.2));
    EXPECT_THROW((void)calibrate(mine.data(), {.method = KmeansOptions{.clusters = 0}}), Error);
}

TEST(Api, MethodsAreCalibratedTogetherWithTheirTimes) {
    const Mine mine;
    const std::vector<TimedCalibrator> made =
        calibrate_all(mine.data(), {{.method = PixelOptions{}}, {.method = ImageOptions{}}});
    ASSERT_EQ(made.size(), 2u);
    EXPECT_EQ(made[1].calibrator.method_of(0), "image");
    EXPECT_GT(made[1].seconds, 0);
}

TEST(Api, OneCallPredictsAllImages) {
    const Mine mine;
    const Dataset data = mine.data();
    const Predictor predictor(calibrate(data, {.method = ImageOptions{}}), 0.2);
    std::vector<std::byte> all(data.images() * data.classes() * data.grid().pixels());
    const PredictOptions options{.form = SetForm::bytes};
    const Predicted counts = predict_sets(predictor, data, std::span(all), options);
    EXPECT_EQ(counts.images, data.images());
    std::vector<std::uint8_t> sets(predictor.thresholds().size());
    predictor.sets(data.probs(5), sets);
    for (std::size_t i = 0; i < sets.size(); ++i) ASSERT_EQ(all[5 * sets.size() + i], std::byte{sets[i]});
}

TEST(Api, LoadsAndPredictsWithoutExceptions) {
    const Mine mine;
    const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "api_test.kcal";
    save(calibrate(mine.data(), {.method = ImageOptions{}}), path);
    const Result<Calibrator> loaded = try_load(path);
    std::filesystem::remove(path);
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded.value().classes, 2u);
    EXPECT_TRUE(try_predictor(loaded.value(), 0.1).has_value());

    const Result<Predictor> wrong = try_predictor(loaded.value(), 1.5);
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().kind(), ErrorKind::usage);
    const Result<Calibrator> missing = try_load(path);
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().kind(), ErrorKind::file);
    EXPECT_THROW((void)missing.value(), Error);
    EXPECT_NE(std::string(missing.error().what()).find("api_test.kcal"), std::string::npos);
}

TEST(Api, ThreadsAreLimitedWhileTheLimitExists) {
    const std::size_t before = threads_in_use();
    {
        const ThreadLimit limit(1);
        EXPECT_EQ(threads_in_use(), 1u);
    }
    EXPECT_EQ(threads_in_use(), before);
}

}  // namespace
