#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <kandinsky/error.hpp>
#include <kandinsky/npz.hpp>

namespace kandinsky {
namespace {

class Npz : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "npz-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string text(const std::string& name) const {
        std::ifstream file(folder_ / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }

    std::filesystem::path folder_;
    const Array probs_ = Array::copy_of(std::vector<float>{0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f}, {2, 3});
    const Array labels_ = Array::copy_of(std::vector<std::uint8_t>{0, 1, 255}, {3});
};

TEST_F(Npz, ArraysComeBackByName) {
    write_npz(folder_ / "a.npz", {{"probs", probs_.view()}, {"labels", labels_.view()}});
    const Array probs = read_npz(folder_ / "a.npz", "probs"),
                labels = read_npz(folder_ / "a.npz", "labels.npy");
    EXPECT_EQ(probs.dtype(), DType::float32);
    EXPECT_EQ(probs.shape(), (std::vector<std::size_t>{2, 3}));
    EXPECT_EQ(probs.to_vector<float>(), probs_.to_vector<float>());
    EXPECT_EQ(labels.to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 1, 255}));
}

TEST_F(Npz, SeveralArraysNeedAKeyAndTheMessageListsThem) {
    write_npz(folder_ / "a.npz", {{"probs", probs_.view()}, {"labels", labels_.view()}});
    try {
        (void)read_npz(folder_ / "a.npz");
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::data);
        EXPECT_NE(std::string(error.what()).find("probs"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("labels"), std::string::npos) << error.what();
    }
}

TEST_F(Npz, EqualContentGivesEqualBytes) {
    write_npz(folder_ / "a.npz", {{"probs", probs_.view()}});
    write_npz(folder_ / "b.npz", {{"probs", probs_.view()}});
    EXPECT_EQ(text("a.npz"), text("b.npz"));
    EXPECT_FALSE(text("a.npz").empty());
}

TEST_F(Npz, AFolderThatIsNotThereIsAFileError) {
    try {
        write_npz(folder_ / "none" / "a.npz", {{"probs", probs_.view()}});
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::file);
    }
}

TEST_F(Npz, TwoArraysOfOneNameAreRefusedBeforeAnythingIsWritten) {
    try {
        write_npz(folder_ / "a.npz",
                  {{"probs", probs_.view()}, {"x", labels_.view()}, {"probs", labels_.view()}});
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_NE(std::string(error.what()).find("'probs'"), std::string::npos) << error.what();
    }
    EXPECT_FALSE(std::filesystem::exists(folder_ / "a.npz"));
}

}  // namespace
}  // namespace kandinsky
