#include <gtest/gtest.h>

#include <kandinsky/calibrator.hpp>

#include "support/synthetic.hpp"

namespace kandinsky {
namespace {

using namespace test;

std::string text_for(std::size_t groups, const auto& change) {
    CalibrateOptions options{.score = {}};
    options.method.name = "image";
    options.promise = Promise::none;
    change(options);
    return guarantee(calibrate(make({.images = 12, .seed = 1, .groups = groups}).dataset(), options));
}

void expect_says(const std::string& text, const std::vector<std::string>& parts,
                 const std::vector<std::string>& not_these = {}) {
    for (const std::string& part : parts)
        EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
    for (const std::string& part : not_these)
        EXPECT_EQ(text.find(part), std::string::npos) << text << "\nhas " << part;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(Guarantee, ReleasedCodeHasNoGuarantee) {
    expect_says(text_for(0, [](auto& o) { o.released = true, o.method.name = "pixel"; }),
                {"No finite-sample guarantee", "released code"});
}

TEST(Guarantee, PixelwiseHoldsAtEachPixelWithEitherPooling) {
    for (const Pooling pooling : {Pooling::pixels, Pooling::groups})
        expect_says(text_for(0, [&](auto& o) { o.method.name = "pixel", o.pooling = pooling; }),
                    {"Take a pixel", "new image", "at least 1 - alpha", "exchangeable"},
                    {"No finite-sample"});
    // With labels, a pixel of an image has one score, whatever the class.
    expect_says(text_for(0,
                         [](auto& o) {
                             o.pooling = Pooling::pixels, o.method.name = "pixel",
                             o.condition = Condition::none;
                         }),
                {"Take a pixel", "with a label at that pixel"}, {"No finite-sample"});
}

TEST(Guarantee, PooledPixelsAreNoSampleSize) {
    expect_says(text_for(0, [](auto& o) { o.pooling = Pooling::pixels; }),
                {"No finite-sample guarantee", "not independent"});
    // Several images of one patient at the same pixel are dependent too.
    expect_says(text_for(4, [](auto& o) { o.pooling = Pooling::pixels, o.method.name = "pixel"; }),
                {"No finite-sample guarantee"});
}

TEST(Guarantee, HierarchicalPoolingHoldsForARandomPixelOfANewImageOrGroup) {
    expect_says(text_for(0, [](auto&) {}),
                {"Take a new", "random pixel of the class", "new image", "at least 1 - alpha"},
                {"No finite-sample", "group"});
    expect_says(text_for(4, [](auto&) {}), {"Take a new", "new group", "new groups are exchangeable"},
                {"new image"});
    expect_says(text_for(4, [](auto& o) { o.condition = Condition::none; }), {"random labelled pixel"});
}

TEST(Guarantee, RegionsFoundOnTheSameImagesLoseIt) {
    expect_says(text_for(0, [](auto& o) { o.method.name = "kmeans"; }),
                {"No finite-sample guarantee", "same images", "hierarchical"});
    expect_says(text_for(4, [](auto& o) { o.method.name = "kmeans"; }), {"same groups"});
}

TEST(Guarantee, LearningWithoutEachGroupOrOnOtherGroupsKeepsIt) {
    for (const char* const method : {"kmeans", "field"})
        for (const Promise promise : {Promise::leave_one_out, Promise::split, Promise::automatic})
            expect_says(text_for(4, [&](auto& o) { o.method.name = method, o.promise = promise; }),
                        {"random pixel of the class", "new group", "at least 1 - alpha", "exchangeable",
                         "expected to miss at most a share alpha"},
                        {"No finite-sample"});
    expect_says(text_for(0, [](auto& o) { o.method.name = "kmeans", o.promise = Promise::leave_one_out; }),
                {"Take a new image", "new image"}, {"Take a region"});
}

TEST(Guarantee, FallbackCurvesHaveNoGuarantee) {
    expect_says(text_for(0, [](auto& o) { o.fallback = Fallback::image, o.min_count = 7; }),
                {"fewer than 7 scores", "no guarantee of their own"});
    expect_says(text_for(0, [](auto&) {}), {}, {"borrow"});
}

TEST(Fallback, NamesConvertToValuesAndBack) {
    for (const Fallback fallback : {Fallback::none, Fallback::image, Fallback::automatic})
        EXPECT_EQ(fallback_of(name_of(fallback)), fallback);
    EXPECT_ANY_THROW((void)fallback_of("back"));
}

}  // namespace
}  // namespace kandinsky
