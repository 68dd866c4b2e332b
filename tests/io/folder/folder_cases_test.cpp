#include "io/folder/folder_cases.hpp"

#include <gtest/gtest.h>

#include <kandinsky/npy.hpp>

#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::expect_error;
using Bytes = std::vector<std::uint8_t>;

/// Files probs/NAME.npy and labels/NAME.npy of 1 x 3 pixels.
class FolderCasesTest : public ::testing::Test {
  protected:
    FolderCasesTest() {
        for (const char* const name : {"probs", "labels"}) std::filesystem::create_directory(folder_ / name);
    }
    template <class T>
    void file(const std::string& name, const std::vector<T>& values, std::vector<std::size_t> shape) const {
        write_npy(folder_ / name, Array::copy_of(values, std::move(shape)).view());
    }
    [[nodiscard]] FolderCasesOptions options() const {
        FolderCasesOptions out;
        out.predictions = (folder_ / "probs").string();
        out.labels = (folder_ / "labels").string();
        return out;
    }

    test::Folder folder_;
    const std::vector<float> front_{0.25f, 0.5f, 1};  // the probability of class 1 of 2
};

TEST_F(FolderCasesTest, MasksOfAnotherNumberOfClassesAreRefused) {
    file("probs/a.npy", front_, {1, 3});
    Bytes masks(15, 0);
    masks[13] = 1;
    file("labels/a.npy", masks, {5, 1, 3});
    expect_error(ErrorKind::data, {"labels/a.npy has masks of 5 classes, but ", "probs/a.npy has 2 classes"},
                 [&] { const FolderCases cases(options()); });
}

TEST_F(FolderCasesTest, MasksOfEveryClassAndTheMaskOfClass1SayTheSame) {
    file("probs/a.npy", front_, {1, 3});
    file("labels/a.npy", Bytes{1, 0, 0, 0, 1, 1}, {2, 1, 3});
    EXPECT_EQ(FolderCases(options()).read(0).member, (Bytes{1, 0, 0, 0, 1, 1}));
    file("labels/a.npy", Bytes{0, 1, 1}, {1, 1, 3});
    EXPECT_EQ(FolderCases(options()).read(0).member, (Bytes{1, 0, 0, 0, 1, 1}));
}

TEST_F(FolderCasesTest, ALabelBeyondTheClassesIsRefused) {
    file("probs/a.npy", front_, {1, 3});
    file("labels/a.npy", Bytes{0, 1, 2}, {1, 3});
    expect_error(ErrorKind::data, {"labels/a.npy: label 2", "column 2 is not one of the 2 classes"},
                 [&] { (void)FolderCases(options()).read(0); });
    FolderCasesOptions hard = options();
    hard.hard = true;
    hard.classes = 2;
    file("probs/a.npy", Bytes{0, 1, 2}, {1, 3});
    expect_error(ErrorKind::data, {"probs/a.npy: label 2", "column 2 is not one of the 2 classes"},
                 [&] { (void)FolderCases(hard).read(0); });
}

TEST_F(FolderCasesTest, ALabelThatIsNoClassIsRefusedUnlessItIsIgnored) {
    file("probs/a.npy", std::vector<std::int32_t>{0, 1, 4096}, {1, 3});
    file("labels/a.npy", Bytes{0, 1, 1}, {1, 3});
    FolderCasesOptions hard = options();
    hard.hard = true;
    expect_error(ErrorKind::data, {"probs/a.npy has label 4096", "at most 4095", "`ignore`"},
                 [&] { const FolderCases cases(hard); });
    hard.folder.ignore = {4096};
    EXPECT_EQ(FolderCases(hard).classes(), 2u);
}

TEST_F(FolderCasesTest, TrueMasksGiveTheClassesOfPredictedLabels) {
    FolderCasesOptions hard = options();
    hard.hard = true;
    file("probs/a.npy", Bytes{0, 1, 1}, {1, 3});
    file("labels/a.npy", Bytes{1, 0, 0, 0, 1, 1, 0, 0, 1}, {3, 1, 3});
    const FolderCases cases(hard);
    EXPECT_EQ(cases.classes(), 3u);
    EXPECT_EQ(cases.read(0).member, (Bytes{1, 0, 0, 0, 1, 1, 0, 0, 1}));
    EXPECT_EQ(cases.read(0).probs, (std::vector<float>{1, 0, 0, 0, 1, 1, 0, 0, 0}));
    hard.classes = 2;
    expect_error(ErrorKind::data, {"has masks of 3 classes", "has 2 classes"},
                 [&] { const FolderCases fewer(hard); });
}

TEST_F(FolderCasesTest, ARefusalNamesNoOptionToSkipFiles) {
    file("probs/a.npy", front_, {1, 3});
    file("probs/b.npy", front_, {1, 3});
    file("labels/a.npy", Bytes{0, 1, 1}, {1, 3});
    try {
        const FolderCases cases(options());
        FAIL() << "accepted";
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("b.npy has no label file of that name; correct them"), std::string::npos) << text;
        EXPECT_EQ(text.find("skip"), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace kandinsky
