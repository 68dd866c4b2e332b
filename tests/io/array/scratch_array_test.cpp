#include "io/array/scratch_array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/base/parallel.hpp"
#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::expect_error;
using test::Folder;

std::vector<std::int32_t> counted(std::size_t n, std::int32_t first) {
    std::vector<std::int32_t> values(n);
    std::iota(values.begin(), values.end(), first);
    return values;
}

TEST(ScratchArray, ItemsComeBackInTheOrderOfAppending) {
    ScratchArray scratch(DType::int32, {2, 3});
    scratch.append(Array::copy_of(counted(6, 0), {2, 3}).view());
    scratch.append(Array::copy_of(counted(12, 6), {2, 2, 3}).view());
    const Array all = scratch.array();
    EXPECT_EQ(all.shape(), (std::vector<std::size_t>{3, 2, 3}));
    EXPECT_EQ(all.to_vector<std::int32_t>(), counted(18, 0));
}

TEST(ScratchArray, StridedItemsAreStoredInCOrder) {
    const Array source = Array::copy_of(counted(6, 0), {2, 3});
    ArrayView turned = source.view();
    std::swap(turned.shape[0], turned.shape[1]);
    std::swap(turned.strides[0], turned.strides[1]);
    ScratchArray scratch(DType::int32, {3, 2});
    scratch.append(turned);
    EXPECT_EQ(scratch.array().to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 3, 1, 4, 2, 5}));
}

TEST(ScratchArray, AnEarlierArrayIsNotChangedByLaterAppends) {
    ScratchArray scratch(DType::uint8, {4});
    scratch.append(Array::copy_of(std::vector<std::uint8_t>{1, 2, 3, 4}, {4}).view());
    const Array before = scratch.array();
    for (int i = 0; i < 5000; ++i)
        scratch.append(Array::copy_of(std::vector<std::uint8_t>{9, 9, 9, 9}, {4}).view());
    EXPECT_EQ(before.shape(), (std::vector<std::size_t>{1, 4}));
    EXPECT_EQ(before.to_vector<int>(), (std::vector<int>{1, 2, 3, 4}));
    EXPECT_EQ(scratch.array().shape()[0], 5001U);
}

TEST(ScratchArray, TheArrayOutlivesTheScratch) {
    Array kept;
    {
        ScratchArray scratch(DType::uint8, {3});
        scratch.append(Array::copy_of(std::vector<std::uint8_t>{7, 8, 9}, {3}).view());
        kept = scratch.array();
    }
    EXPECT_EQ(kept.to_vector<int>(), (std::vector<int>{7, 8, 9}));
}

TEST(ScratchArray, TruncatingRemovesTheLastItemsAndOthersMayFollow) {
    ScratchArray scratch(DType::int32, {2});
    scratch.append(Array::copy_of(counted(6, 0), {3, 2}).view());
    const Array before = scratch.array();
    scratch.append(Array::copy_of(counted(8, 90), {4, 2}).view());
    scratch.truncate(3);
    EXPECT_EQ(scratch.items(), 3U);
    EXPECT_EQ(before.to_vector<std::int32_t>(), counted(6, 0));
    scratch.append(Array::copy_of(counted(2, 6), {2}).view());
    EXPECT_EQ(scratch.array().to_vector<std::int32_t>(), counted(8, 0));
    expect_error(ErrorKind::internal, {"4 items, not 5"}, [&] { scratch.truncate(5); });
}

TEST(ScratchArray, ThreadsMayPutDifferentItems) {
    ScratchArray scratch(DType::int32, {100});
    EXPECT_EQ(scratch.extend(10), 0U);
    EXPECT_EQ(scratch.extend(190), 10U);
    parallel_for(
        200, [&](std::size_t i) { scratch.put(i, counted(100, static_cast<std::int32_t>(100 * i)).data()); });
    EXPECT_EQ(scratch.array().to_vector<std::int32_t>(), counted(20000, 0));
}

TEST(ScratchArray, NoNameIsLeftInTheFolder) {
    const Folder folder;
    ScratchArray scratch(DType::uint8, {3}, folder.path());
    scratch.append(Array::copy_of(std::vector<std::uint8_t>{7, 8, 9}, {3}).view());
    EXPECT_EQ(folder.entries(), 0U);
}

TEST(ScratchArray, WithoutItemsTheArrayIsEmpty) {
    const ScratchArray scratch(DType::float32, {2, 2});
    EXPECT_EQ(scratch.array().shape(), (std::vector<std::size_t>{0, 2, 2}));
}

TEST(ScratchArray, AFolderThatIsNotThereIsAFileError) {
    expect_error(ErrorKind::file, {"cannot store temporary data in", "/nowhere/at/all", "TMPDIR"},
                 [] { ScratchArray scratch(DType::uint8, {3}, "/nowhere/at/all"); });
}

TEST(ScratchArray, MoreThanAFileHoldsIsRefused) {
    expect_error(ErrorKind::data, {"too large"}, [] {
        ScratchArray scratch(DType::float64, {1U << 31U, 1U << 31U});
    });
}

}  // namespace
}  // namespace kandinsky
