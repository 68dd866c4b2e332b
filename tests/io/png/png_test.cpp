#include "io/png/png.hpp"

#include <gtest/gtest.h>

#include "core/base/random.hpp"
#include "io/image/photo.hpp"
#include "io/png/png_files.hpp"
#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::expect_error;
using test::Folder;
using test::PngFile;
using test::spill;

PngFile random_file(std::uint32_t height, std::uint32_t width, int depth, int colour, bool interlaced) {
    PngFile file{.width = width,
                 .height = height,
                 .depth = static_cast<std::uint8_t>(depth),
                 .colour = static_cast<std::uint8_t>(colour),
                 .interlaced = interlaced,
                 .samples = {},
                 .before_data = {}};
    Random random(7, 1, static_cast<std::uint64_t>(depth * 100 + colour));
    for (std::size_t i = 0; i < std::size_t{height} * width * file.channels(); ++i)
        file.samples.push_back(static_cast<std::uint16_t>(random.below(std::uint64_t{1} << depth)));
    return file;
}

std::vector<std::uint16_t> words(const Array& array) {
    return array.to_vector<std::uint16_t>();
}

TEST(Png, LabelsAreTheStoredNumbersForEveryDepthOfGreyAndPalette) {
    const Folder folder;
    for (const int colour : {0, 3})
        for (const int depth : {1, 2, 4, 8, 16})
            for (const bool interlaced : {false, true})
                for (const std::uint32_t width : {1u, 3u, 8u, 21u}) {
                    if (colour == 3 && depth == 16) continue;
                    const PngFile file = random_file(13, width, depth, colour, interlaced);
                    spill(folder / "a.png", file.bytes());
                    const Array labels = read_png(folder / "a.png", Role::labels);
                    EXPECT_EQ(labels.shape(), (std::vector<std::size_t>{13, width}));
                    EXPECT_EQ(labels.dtype(), depth == 16 ? DType::uint16 : DType::uint8);
                    EXPECT_EQ(words(labels), file.samples)
                        << "colour " << colour << " depth " << depth << " interlaced " << interlaced;
                }
}

TEST(Png, GammaAndTransparencyDoNotChangeLabels) {
    const Folder folder;
    PngFile file = random_file(9, 11, 8, 0, false);
    file.before_data =
        test::chunk("gAMA", test::big_endian(45455)) + test::chunk("tRNS", std::string(2, '\0'));
    spill(folder / "a.png", file.bytes());
    EXPECT_EQ(words(read_png(folder / "a.png", Role::labels)), file.samples);
}

TEST(Png, APaletteShorterThanTheNumbersInUseKeepsThem) {
    const Folder folder;
    PngFile file = random_file(9, 11, 8, 3, false);
    file.colours = 2;
    spill(folder / "a.png", file.bytes());
    EXPECT_EQ(words(read_png(folder / "a.png", Role::labels)), file.samples);
}

TEST(Png, ColourAndAlphaAreRefusedAsLabelsWithAdvice) {
    const Folder folder;
    for (const int colour : {2, 4, 6}) {
        spill(folder / "a.png", random_file(4, 5, 8, colour, false).bytes());
        expect_error(ErrorKind::data, {"a.png", "palette or grey"},
                     [&] { (void)read_png(folder / "a.png", Role::labels); });
    }
}

TEST(Png, ProbabilitiesAreBytesOrFractionsOfSixteenBits) {
    const Folder folder;
    PngFile file = random_file(6, 7, 8, 0, true);
    spill(folder / "a.png", file.bytes());
    EXPECT_EQ(read_png(folder / "a.png", Role::probabilities).dtype(), DType::uint8);
    EXPECT_EQ(words(read_png(folder / "a.png", Role::probabilities)), file.samples);
    file = random_file(6, 7, 16, 0, false);
    file.samples[0] = 0;
    file.samples[1] = 65535;
    spill(folder / "a.png", file.bytes());
    const Array wide = read_png(folder / "a.png", Role::probabilities);
    ASSERT_EQ(wide.dtype(), DType::float32);
    for (std::size_t i = 0; i < file.samples.size(); ++i)
        EXPECT_EQ(wide.data_as<float>()[i], static_cast<float>(file.samples[i]) / 65535.0f);
    for (const auto& [depth, colour] : {std::pair{4, 0}, {8, 3}, {8, 2}, {8, 4}}) {
        spill(folder / "a.png", random_file(4, 5, depth, colour, false).bytes());
        expect_error(ErrorKind::data, {"a.png", "8 or 16 bits"},
                     [&] { (void)read_png(folder / "a.png", Role::probabilities); });
    }
}

TEST(Png, PhotosAreRedGreenBlueWhateverIsStored) {
    const Folder folder;
    for (const int colour : {0, 2, 3, 4, 6})
        for (const int depth : {8, 16}) {
            if (colour == 3 && depth == 16) continue;
            const PngFile file = random_file(5, 6, depth, colour, true);
            spill(folder / "photo", file.bytes());
            const Array photo = read_photo(folder / "photo");
            ASSERT_EQ(photo.shape(), (std::vector<std::size_t>{5, 6, 3}));
            for (std::size_t pixel = 0; pixel < 30; ++pixel)
                for (std::size_t c = 0; c < 3; ++c) {
                    const std::size_t n = file.channels();
                    const unsigned stored = file.samples[pixel * n + (n >= 3 ? c : 0)];
                    unsigned expected = depth == 16 ? stored >> 8 : stored;
                    if (colour == 3) expected = c == 0 ? 255 - stored : c == 1 ? stored * 7 & 255 : stored;
                    EXPECT_EQ(photo.data_as<std::uint8_t>()[pixel * 3 + c], expected)
                        << colour << " " << depth;
                }
        }
}

TEST(Png, EveryTruncationIsRefused) {
    const Folder folder;
    for (const bool interlaced : {false, true}) {
        const std::string whole = random_file(9, 10, 8, 3, interlaced).bytes();
        for (std::size_t length = 0; length < whole.size(); ++length) {
            spill(folder / "cut.png", whole.substr(0, length));
            expect_error(ErrorKind::data, {"cut.png"},
                         [&] { (void)read_png(folder / "cut.png", Role::labels); });
        }
    }
}

TEST(Png, EveryFlippedBitIsRefused) {
    const Folder folder;
    PngFile file = random_file(5, 6, 4, 3, false);
    file.before_data = test::chunk("tEXt", std::string("a\0b", 3));
    const std::string whole = file.bytes();
    for (std::size_t at = 8; at < whole.size(); ++at)
        for (int bit = 0; bit < 8; ++bit) {
            std::string damaged = whole;
            damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit);
            spill(folder / "bad.png", damaged);
            expect_error(ErrorKind::data, {"bad.png"},
                         [&] { (void)read_png(folder / "bad.png", Role::labels); });
        }
}

TEST(Png, PixelsWhoseOwnChecksumIsWrongAreRefused) {
    const Folder folder;
    const std::string whole = random_file(5, 6, 8, 0, false).bytes();
    // The last data chunk lies before the 12 bytes of IEND. Its content ends with the checksum of the pixels;
    // chunk() adds a new CRC.
    const std::size_t type = whole.rfind("IDAT");
    std::string content = whole.substr(type + 4, whole.size() - 12 - 4 - type - 4);
    spill(folder / "good.png",
          whole.substr(0, type - 4) + test::chunk("IDAT", content) + test::chunk("IEND", ""));
    EXPECT_NO_THROW((void)read_png(folder / "good.png", Role::labels));
    content.back() = static_cast<char>(content.back() ^ 1);
    spill(folder / "bad.png",
          whole.substr(0, type - 4) + test::chunk("IDAT", content) + test::chunk("IEND", ""));
    expect_error(ErrorKind::data, {"bad.png", "damaged"},
                 [&] { (void)read_png(folder / "bad.png", Role::labels); });
}

TEST(Png, ImpossibleSizesAreRefusedBeforeMemoryIsTaken) {
    const Folder folder;
    PngFile file = random_file(2, 2, 8, 0, false);
    file.samples.resize(4);
    std::string bytes = file.bytes();
    const auto with_size = [&](std::uint32_t width, std::uint32_t height) {
        std::string header = test::big_endian(width) + test::big_endian(height);
        header += std::string("\x08\x00\x00\x00\x00", 5);
        std::string out = bytes;
        out.replace(8, 25, test::chunk("IHDR", header));
        spill(folder / "big.png", out);
    };
    with_size(65535, 65535);
    expect_error(ErrorKind::data, {"big.png", "bytes can hold"},
                 [&] { (void)read_png(folder / "big.png", Role::labels); });
    with_size(70000, 2);
    expect_error(ErrorKind::data, {"big.png", "65535"},
                 [&] { (void)read_png(folder / "big.png", Role::labels); });
    with_size(0, 2);
    expect_error(ErrorKind::data, {"big.png"}, [&] { (void)read_png(folder / "big.png", Role::labels); });
}

TEST(Png, OtherFilesAreRefusedByName) {
    const Folder folder;
    spill(folder / "a.png", "GIF89a");
    expect_error(ErrorKind::data, {"a.png"}, [&] { (void)read_png(folder / "a.png", Role::labels); });
    spill(folder / "a.png", "");
    expect_error(ErrorKind::data, {"a.png"}, [&] { (void)read_png(folder / "a.png", Role::labels); });
    expect_error(ErrorKind::file, {"none.png"}, [&] { (void)read_png(folder / "none.png", Role::labels); });
}

}  // namespace
}  // namespace kandinsky
