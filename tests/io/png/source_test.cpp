#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/random.hpp"
#include "io/folder/folder_dataset.hpp"
#include "io/png/png.hpp"
#include "io/png/png_files.hpp"
#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::expect_error;
using test::Folder;
using test::PngFile;
using test::spill;

PngFile grey(std::uint32_t height, std::uint32_t width, std::uint8_t depth, std::uint64_t seed,
             std::uint64_t most) {
    PngFile file{.width = width, .height = height, .depth = depth, .samples = {}, .before_data = {}};
    Random random(seed, 21);
    for (std::size_t i = 0; i < std::size_t{height} * width; ++i)
        file.samples.push_back(static_cast<std::uint16_t>(random.below(most + 1)));
    return file;
}

/// Folders probs and labels with two images of 3 x 4.
class PngFolder : public testing::Test {
  protected:
    void SetUp() override {
        std::filesystem::create_directory(folder_ / "probs");
        std::filesystem::create_directory(folder_ / "labels");
    }
    FolderData read(const FolderOptions& options = {}) const {
        const auto labels = open_images(folder_ / "labels", Role::labels, options);
        const auto probs = open_images(folder_ / "probs", Role::probabilities, options);
        return read_images(probs.get(), labels.get(), options);
    }
    Folder folder_;
};

TEST_F(PngFolder, ForegroundProbabilitiesAndLabelsPairByName) {
    const PngFile a = grey(3, 4, 8, 1, 255), b = grey(3, 4, 16, 2, 65535), truth = grey(3, 4, 8, 3, 1);
    spill(folder_ / "probs/a.png", a.bytes());
    spill(folder_ / "probs/b.PNG", b.bytes());
    spill(folder_ / "labels/b.png", truth.bytes());
    spill(folder_ / "labels/a.png", truth.bytes());
    const FolderData data = read();
    EXPECT_EQ(data.probs.shape(), (std::vector<std::size_t>{2, 1, 3, 4}));
    const auto probs = data.probs.to_vector<float>();
    for (std::size_t i = 0; i < 12; ++i) {
        EXPECT_FLOAT_EQ(probs[i], static_cast<float>(a.samples[i]) / 255.0f);
        EXPECT_FLOAT_EQ(probs[12 + i], static_cast<float>(b.samples[i]) / 65535.0f);
        EXPECT_EQ(data.labels.to_vector<int>()[i], truth.samples[i]);
    }
}

TEST_F(PngFolder, OneFilePerClassMakesOneImage) {
    const PngFile truth = grey(3, 4, 8, 3, 2);
    std::vector<PngFile> planes;
    for (std::uint64_t c = 0; c < 3; ++c) {
        planes.push_back(grey(3, 4, 8, 10 + c, 255));
        spill(folder_ / fmt::format("probs/case_class{}.png", c), planes.back().bytes());
    }
    spill(folder_ / "labels/case.png", truth.bytes());
    FolderOptions options;
    options.class_files = true;
    const FolderData data = read(options);
    ASSERT_EQ(data.probs.shape(), (std::vector<std::size_t>{1, 3, 3, 4}));
    for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t i = 0; i < 12; ++i)
            EXPECT_FLOAT_EQ(data.probs.data_as<float>()[c * 12 + i],
                            static_cast<float>(planes[c].samples[i]) / 255.0f);
}

TEST_F(PngFolder, FilesThatCannotBeUsedAreListed) {
    PngFile colour = grey(3, 12, 8, 1, 255);
    colour.width = 4;
    colour.colour = 2;
    spill(folder_ / "probs/a.png", grey(3, 4, 8, 1, 255).bytes());
    spill(folder_ / "labels/a.png", colour.bytes());
    expect_error(ErrorKind::data, {"labels/a.png", "palette or grey"}, [&] { (void)read(); });
    spill(folder_ / "labels/a.png", grey(3, 4, 8, 1, 1).bytes().substr(0, 60));
    expect_error(ErrorKind::data, {"labels/a.png", "truncated"}, [&] { (void)read(); });
}

TEST_F(PngFolder, SetsAreWrittenAsMasksOrBits) {
    spill(folder_ / "probs/a.png", grey(3, 4, 8, 1, 255).bytes());
    const auto source = open_images(folder_ / "probs", Role::probabilities, {});
    std::vector<std::uint8_t> sets(9 * 12);
    for (std::size_t i = 0; i < sets.size(); ++i) sets[i] = i % 5 == 0 || i / 12 == 8;
    ItemSets out{.name = "a", .values = sets.data(), .classes = 2, .coding = SetCoding::planes};
    source->write_sets(0, out, folder_.path());
    for (std::size_t c = 0; c < 2; ++c) {
        const auto plane =
            read_png(folder_ / fmt::format("a_{}.png", c), Role::labels).to_vector<std::uint8_t>();
        for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(plane[i], sets[c * 12 + i] * 255);
    }
    for (const std::size_t classes : {2, 9}) {
        out.classes = classes;
        out.coding = SetCoding::bits;
        source->write_sets(0, out, folder_.path());
        const Array bits = read_png(folder_ / "a.png", Role::labels);
        EXPECT_EQ(bits.dtype(), classes > 8 ? DType::uint16 : DType::uint8);
        for (std::size_t i = 0; i < 12; ++i)
            for (std::size_t c = 0; c < classes; ++c)
                EXPECT_EQ(bits.to_vector<unsigned>()[i] >> c & 1, sets[c * 12 + i]);
    }
    out.classes = 17;
    expect_error(ErrorKind::usage, {"16 classes", "`coding planes`"},
                 [&] { source->write_sets(0, out, folder_.path()); });
}

}  // namespace
}  // namespace kandinsky
