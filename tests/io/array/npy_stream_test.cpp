#include "io/array/npy_stream.hpp"

#include <gtest/gtest.h>

#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::expect_error;
using test::Folder;
using test::slurp;
using test::spill;

TEST(NpyStream, RowsComeInOrderAndThenNone) {
    const Folder folder;
    const Array all = Array::copy_of(std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}, {3, 2});
    write_npy(folder / "a.npy", all.view());
    NpyStream stream((folder / "a.npy").string());
    EXPECT_EQ(stream.shape(), (std::vector<std::size_t>{3, 2}));
    EXPECT_EQ(stream.next(2).to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 1, 2, 3}));
    EXPECT_EQ(stream.next(2).to_vector<std::int32_t>(), (std::vector<std::int32_t>{4, 5}));
    EXPECT_TRUE(stream.next(2).empty());
}

TEST(NpyStream, BytesAfterTheLastRowAreRefusedAlsoWithoutRows) {
    const Folder folder;
    for (const std::size_t rows : {0, 2}) {
        write_npy(folder / "a.npy", Array::zeros(DType::uint8, {rows, 3}).view());
        const auto read = [&] {
            NpyStream stream((folder / "a.npy").string());
            (void)stream.next(5);
        };
        EXPECT_NO_THROW(read());
        spill(folder / "a.npy", slurp(folder / "a.npy") + "x");
        expect_error(ErrorKind::data, {"a.npy", "bytes after its " + std::to_string(rows) + " rows"}, read);
    }
}

}  // namespace
}  // namespace kandinsky
