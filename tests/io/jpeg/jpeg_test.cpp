#include "io/jpeg/jpeg.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "io/image/photo.hpp"
#include "io/jpeg/jpeg_file.hpp"
#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::bytes_of;
using test::expect_error;
using test::Folder;
using test::jpeg_file;
using test::spill;

TEST(Jpeg, AGradientComesBackWithinTheCompressionsError) {
    const Folder folder;
    spill(folder / "photo.jpg", jpeg_file());
    const Array photo = read_photo(folder / "photo.jpg");
    ASSERT_EQ(photo.shape(), (std::vector<std::size_t>{16, 24, 3}));
    for (std::size_t y = 0; y < 16; ++y)
        for (std::size_t x = 0; x < 24; ++x) {
            const std::uint8_t* const rgb = photo.data_as<std::uint8_t>() + (y * 24 + x) * 3;
            EXPECT_NEAR(rgb[0], 10.0 * static_cast<double>(x), 6);
            EXPECT_NEAR(rgb[1], 15.0 * static_cast<double>(y), 6);
            EXPECT_NEAR(rgb[2], 100, 6);
        }
}

TEST(Jpeg, AnOrientationInTheFileIsNotApplied) {
    // An EXIF segment that says "turn by 90 degrees", right after the start of the file.
    const std::string exif(
        "\xff\xe1\x00\x22"
        "Exif\0\0"
        "MM\0*\0\0\0\x08"
        "\0\x01"
        "\x01\x12\0\x03\0\0\0\x01\0\x06\0\0"
        "\0\0\0\0",
        36);
    std::string file = jpeg_file();
    file.insert(2, exif);
    const Array turned = decode_jpeg(bytes_of(file), "turned.jpg");
    const std::string plain = jpeg_file();
    EXPECT_EQ(turned.shape(), (std::vector<std::size_t>{16, 24, 3}));
    EXPECT_EQ(test::elements(turned.view()), test::elements(decode_jpeg(bytes_of(plain), "plain").view()));
}

TEST(Jpeg, EveryTruncationIsRefused) {
    const std::string whole = jpeg_file();
    for (std::size_t length = 0; length < whole.size(); ++length)
        expect_error(ErrorKind::data, {"cut.jpg"},
                     [&] { (void)decode_jpeg(bytes_of(whole.substr(0, length)), "cut.jpg"); });
}

TEST(Jpeg, ChangedBytesNeverCrash) {
    const std::string whole = jpeg_file();
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (const int flip : {0x01, 0x80, 0xff}) {
            std::string damaged = whole;
            damaged[at] = static_cast<char>(damaged[at] ^ flip);
            try {
                (void)decode_jpeg(bytes_of(damaged), "bad.jpg");
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), ErrorKind::data);
            }
        }
}

TEST(Jpeg, OtherFilesAreRefusedByName) {
    const Folder folder;
    spill(folder / "a.jpg", "GIF89a");
    expect_error(ErrorKind::data, {"a.jpg", "neither"}, [&] { (void)read_photo(folder / "a.jpg"); });
    spill(folder / "a.jpg", "");
    expect_error(ErrorKind::data, {"a.jpg", "neither"}, [&] { (void)read_photo(folder / "a.jpg"); });
}

}  // namespace
}  // namespace kandinsky
