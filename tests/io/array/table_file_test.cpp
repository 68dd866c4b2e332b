#include "io/array/table_file.hpp"

#include <gtest/gtest.h>

#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::expect_error;

TEST(TableFile, ANameOccursAgainOnlyWithTheSameValue) {
    const test::Folder folder;
    const std::string path = (folder / "t.csv").string();
    test::spill(path, "name,group\na,1\nb,2\na,1\n");
    EXPECT_EQ(read_table(path, "group").cases, (std::vector<std::string>{"a", "b", "a"}));
    test::spill(path, "name,group\na,1\nb,2\na,3\n");
    expect_error(ErrorKind::data, {"t.csv: line 4 gives a the group 3, but an earlier line 1"},
                 [&] { (void)read_table(path, "group"); });
    test::spill(path, "1\n2\n1\n");
    EXPECT_EQ(read_table(path, "group").values.size(), 3u);  // without names
}

}  // namespace
}  // namespace kandinsky
