#include "io/image/photo.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "io/support.hpp"

namespace kandinsky {
namespace {

/// Height, width, top, left.
std::vector<long> placed(std::uint32_t height, std::uint32_t width, Grid grid = {240, 320}) {
    const Letterbox box = letterbox({height, width}, grid);
    return {box.scaled.height, box.scaled.width, box.top, box.left};
}

TEST(Letterbox, PhotosOfTheUsualSizesLieWhereTheReleasedCodePutsThem) {
    EXPECT_EQ(placed(480, 640), (std::vector<long>{240, 320, 0, 0}));
    EXPECT_EQ(placed(427, 640), (std::vector<long>{213, 320, 13, 0}));
    EXPECT_EQ(placed(640, 480), (std::vector<long>{240, 180, 0, 70}));
    EXPECT_EQ(placed(500, 500), (std::vector<long>{240, 240, 0, 40}));
    EXPECT_EQ(placed(512, 640), (std::vector<long>{256, 320, -8, 0}));
    EXPECT_EQ(placed(511, 640), (std::vector<long>{255, 320, -8, 0}));
    EXPECT_EQ(placed(1, 5000), (std::vector<long>{1, 320, 119, 0}));
}

TEST(Letterbox, LabelsTakeTheNearestPixelAndThePadding) {
    const std::vector<std::uint8_t> own{1, 2, 3, 4, 5, 6, 7, 8};  // 2 x 4
    std::vector<std::uint8_t> out(4 * 2);
    letterbox_labels(own.data(), letterbox({2, 4}, {4, 2}), 9, out.data());
    EXPECT_EQ(out, (std::vector<std::uint8_t>{9, 9, 1, 3, 9, 9, 9, 9}));
    out.assign(2 * 4, 0);
    letterbox_labels(own.data(), letterbox({2, 4}, {2, 4}), 9, out.data());
    EXPECT_EQ(out, own);
}

TEST(Letterbox, ImagesThatAreTooHighAreCroppedAtBothEnds) {
    std::vector<std::uint8_t> own(5 * 6);
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = static_cast<std::uint8_t>(i / 6);
    std::vector<std::uint8_t> out(3 * 6);
    letterbox_labels(own.data(), letterbox({5, 6}, {3, 6}), 9, out.data());
    for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i / 6 + 1);
}

Array pattern() {
    std::vector<std::uint8_t> values(5 * 7 * 3);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i * 37);
    return Array::copy_of(values, {5, 7, 3});
}

/// Bytes by Pillow 11: resize((width, height), BILINEAR) of that pattern.
TEST(ResizePhoto, BytesAreThoseOfPillow) {
    const auto smaller = resize_photo(pattern(), {3, 4}).to_vector<std::uint8_t>();
    EXPECT_EQ(smaller, (std::vector<std::uint8_t>{62, 87,  124, 163, 67, 104, 132, 169, 73,  112, 149, 174,
                                                  76, 101, 138, 177, 81, 118, 146, 183, 87,  126, 163, 188,
                                                  83, 115, 152, 115, 95, 132, 160, 121, 101, 140, 170, 126}));
    const auto larger = resize_photo(pattern(), {9, 11}).to_vector<std::uint8_t>();
    EXPECT_EQ(std::accumulate(larger.begin(), larger.end(), 0), 37176);
    const auto narrower = resize_photo(pattern(), {5, 3}).to_vector<std::uint8_t>();
    EXPECT_EQ(std::accumulate(narrower.begin(), narrower.end(), 0), 5618);
    EXPECT_EQ(resize_photo(pattern(), {5, 7}).to_vector<std::uint8_t>(), pattern().to_vector<std::uint8_t>());
}

TEST(LetterboxPhoto, IsPaddedWithBlackAtThePlaceOfItsLabels) {
    const Array out = letterbox_photo(pattern(), {8, 7});
    ASSERT_EQ(out.shape(), (std::vector<std::size_t>{8, 7, 3}));
    const auto values = out.to_vector<std::uint8_t>();
    const auto inside = pattern().to_vector<std::uint8_t>();
    for (std::size_t y = 0; y < 8; ++y)
        for (std::size_t i = 0; i < 21; ++i)
            EXPECT_EQ(values[y * 21 + i], y < 1 || y > 5 ? 0 : inside[(y - 1) * 21 + i]);
}

TEST(ResizePhoto, WhatIsNoPhotoIsRefused) {
    test::expect_error(ErrorKind::internal, {"[2, 2]"}, [] {
        (void)resize_photo(Array::zeros(DType::uint8, {2, 2}), {2, 2});
    });
    test::expect_error(ErrorKind::internal, {"0 x 5"}, [] { (void)letterbox({0, 5}, {2, 2}); });
}

}  // namespace
}  // namespace kandinsky
