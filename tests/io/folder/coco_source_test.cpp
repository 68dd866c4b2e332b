#include "io/folder/folder.hpp"

#include <gtest/gtest.h>

#include <kandinsky/npy.hpp>

#include "io/folder/folder_dataset.hpp"
#include "io/support.hpp"
#include "support/formats.hpp"

namespace kandinsky {
namespace {

using test::expect_error;
using test::Folder;
using test::spill;

#define NEEDS_COCO() \
    if (!test::has_format("coco")) GTEST_SKIP() << "skipped: this build has no simdjson"

/// Three images of 4 x 8 pixels, listed out of order; the left half of image 1 is a person.
std::string annotations(const std::string& third = "val/b.jpg") {
    return R"({"images": [{"id": 3, "file_name": "val/c.jpg", "height": 4, "width": 8},
                          {"id": 1, "file_name": "val/a.jpg", "height": 4, "width": 8},
                          {"id": 2, "file_name": ")" +
           third + R"(", "height": 4, "width": 8}],
        "annotations": [{"id": 5, "image_id": 1, "category_id": 1, "iscrowd": 0,
                         "segmentation": [[0, 0, 4, 0, 4, 4, 0, 4]]},
                        {"id": 6, "image_id": 3, "category_id": 1, "iscrowd": 0,
                         "segmentation": {"counts": [33], "size": [4, 8]}}],
        "categories": [{"id": 1, "name": "person"}]})";
}

class CocoFolder : public testing::Test {
  protected:
    void SetUp() override {
        spill(folder_ / "a.json", annotations());
        options_.coco.options.categories = {"person"};
        std::filesystem::create_directory(folder_ / "probs");
    }
    void probabilities(const std::string& name, std::size_t height, std::size_t width) {
        write_npy(folder_ / ("probs/" + name + ".npy"),
                  Array::copy_of(std::vector<float>(2 * height * width, 0.5f), {2, height, width}).view());
    }
    FolderData read() const {
        const auto labels = open_images(folder_ / "a.json", Role::labels, options_);
        const auto probs = open_images(folder_ / "probs", Role::probabilities, options_);
        return read_images(probs.get(), labels.get(), options_);
    }
    Folder folder_;
    FolderOptions options_;
};

TEST_F(CocoFolder, ProbabilitiesPairWithImagesByTheStemOfTheirName) {
    NEEDS_COCO();
    probabilities("b", 4, 8);
    probabilities("a", 4, 8);
    const FolderData data = read();  // c has no probabilities, which is no fault
    ASSERT_EQ(data.labels.shape(), (std::vector<std::size_t>{2, 4, 8}));
    EXPECT_EQ(data.origins[0].name, "a");
    for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(data.labels.to_vector<int>()[i], i < 32 && i % 8 < 4);
}

TEST_F(CocoFolder, LabelsComeOntoTheModelsGridWithPadding) {
    NEEDS_COCO();
    probabilities("a", 4, 4);
    options_.coco.letterbox = {4, 4};
    // 4 x 8 becomes 2 x 4 with a row of padding above and below.
    EXPECT_EQ(read().labels.to_vector<int>(),
              (std::vector<int>{0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0}));
    options_.coco.ignore_padding = true;
    EXPECT_EQ(read().labels.to_vector<int>(),
              (std::vector<int>{255, 255, 255, 255, 1, 1, 0, 0, 1, 1, 0, 0, 255, 255, 255, 255}));
    options_.coco.options.overlap = CocoOverlap::masks;
    EXPECT_EQ(read().labels.to_vector<int>(),
              (std::vector<int>{1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1,
                                0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0}));
}

TEST_F(CocoFolder, AnotherSizeThanTheImagesIsRefused) {
    NEEDS_COCO();
    probabilities("a", 4, 4);
    expect_error(ErrorKind::data, {"a.npy", "a.json, image val/a.jpg", "4 x 8"}, [&] { (void)read(); });
}

TEST_F(CocoFolder, DamageIsReportedWithImageAndAnnotation) {
    NEEDS_COCO();
    probabilities("c", 4, 8);
    expect_error(ErrorKind::data, {"a.json, image val/c.jpg", "annotation 6", "run 0 is 33"},
                 [&] { (void)read(); });
}

TEST_F(CocoFolder, ProbabilitiesWithoutAnImageAreRefused) {
    NEEDS_COCO();
    probabilities("a", 4, 8);
    probabilities("z", 4, 8);
    expect_error(ErrorKind::data, {"z.npy", "no label"}, [&] { (void)read(); });
}

TEST_F(CocoFolder, TwoImagesOfOneNameAreRefused) {
    NEEDS_COCO();
    spill(folder_ / "a.json", annotations("train/a.png"));
    expect_error(ErrorKind::data, {"a.json", "1 and 2", "'a'"},
                 [&] { (void)open_coco(folder_ / "a.json", options_.coco); });
}

}  // namespace
}  // namespace kandinsky
