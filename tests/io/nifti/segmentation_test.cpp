#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>

#include "io/nifti/format.hpp"
#include "io/support.hpp"

namespace kandinsky {
namespace {

class JoinedLabelMaps : public ::testing::Test {
  protected:
    /// A label map of 2 x 1 x 3 voxels whose sform turns and shifts it, by the standard's table of offsets.
    void map(const std::string& name, const std::string& voxels) const {
        std::string bytes(352, '\0');
        const auto put = [&](std::size_t at, const auto& value) {
            std::memcpy(&bytes[at], &value, sizeof(value));
        };
        put(0, std::int32_t{348});
        const std::int16_t extents[] = {3, 2, 1, 3, 1, 1, 1, 1};
        put(40, extents);
        put(70, std::int16_t{2});
        put(72, std::int16_t{8});
        put(108, 352.0f);
        put(254, std::int16_t{1});
        const float rows[] = {0, -2, 0, 10, 1.5f, 0, 0, -20, 0, 0, 3, 30};
        put(280, rows);
        std::memcpy(&bytes[344], "n+1", 4);
        test::spill(folder_ / (name + ".nii"), bytes + voxels);
    }
    /// All that the file holds, unpacked.
    [[nodiscard]] std::string read(const std::string& name) const {
        const std::string bytes = test::slurp(folder_ / name);
        const std::size_t end = bytes.find("\n\n") + 2;
        std::string values(100, '\0');
        z_stream z{};
        EXPECT_EQ(::inflateInit2(&z, 31), Z_OK);
        z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + end));
        z.avail_in = static_cast<uInt>(bytes.size() - end);
        z.next_out = reinterpret_cast<Bytef*>(values.data());
        z.avail_out = static_cast<uInt>(values.size());
        EXPECT_EQ(::inflate(&z, Z_FINISH), Z_STREAM_END);
        values.resize(z.total_out);
        ::inflateEnd(&z);
        return bytes.substr(0, end) + values;
    }

    test::Folder folder_;
};

TEST_F(JoinedLabelMaps, LieSideBySideInTheGeometryOfTheirFiles) {
    map("a", "abcdef");
    map("b", "ABCDEF");
    join_label_maps(folder_.path(), "case", {"a", "b"}, {{1, 7, "left\\right", {255, 0, 51}}});
    const std::string text = read("case.seg.nrrd");
    const auto has = [&](const char* line) { return text.find(line) != std::string::npos; };
    EXPECT_TRUE(has("\nsizes: 2 2 1 3\n"));
    EXPECT_TRUE(has("\nspace directions: none (0,-1.5,0) (2,0,0) (0,0,3)\n")) << text;
    EXPECT_TRUE(has("\nspace origin: (-10,20,30)\n")) << text;
    EXPECT_TRUE(has("\nSegment0_Name:=left\\\\right\n"));  // NRRD's escape
    EXPECT_TRUE(has("\nSegment0_Color:=1.000000 0.000000 0.200000\n"));
    EXPECT_TRUE(has("\nSegment0_LabelValue:=7\nSegment0_Layer:=1\n"));
    EXPECT_TRUE(has("\n\naAbBcCdDeEfF"));
}

TEST_F(JoinedLabelMaps, AreNotWrittenWhereAMapIsNoNiftiFile) {
    map("a", "abcdef");
    join_label_maps(folder_.path(), "case", {"a", "b"}, {{0, 1, "one", {}}});
    EXPECT_FALSE(std::filesystem::exists(folder_ / "case.seg.nrrd"));
}

TEST_F(JoinedLabelMaps, KeepEveryNameOnItsLine) {
    map("a", "abcdef");
    join_label_maps(folder_.path(), "case", {"a"}, {{0, 1, "two\nlines\r", {}}});
    const std::string text = read("case.seg.nrrd");
    EXPECT_NE(text.find("\nSegment0_Name:=two\\nlines \nSegment0_Color:="), std::string::npos) << text;
}

}  // namespace
}  // namespace kandinsky
