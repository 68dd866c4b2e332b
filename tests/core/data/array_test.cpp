#include <gtest/gtest.h>

#include <kandinsky/array.hpp>

#include "core/kernel/half.hpp"
#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::expect_error;
using test::kAllTypes;
using Ints = std::vector<std::int32_t>;

Ints counting(std::size_t n) {
    Ints out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::int32_t>(i);
    return out;
}

TEST(DType, SizesAndNamesAreNumpys) {
    const std::string_view names[] = {"bool",   "int8",  "uint8",  "int16",   "uint16",  "int32",
                                      "uint32", "int64", "uint64", "float16", "float32", "float64"};
    const std::size_t sizes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};
    for (std::size_t i = 0; i < 12; ++i) {
        EXPECT_EQ(name_of(kAllTypes[i]), names[i]);
        EXPECT_EQ(size_of(kAllTypes[i]), sizes[i]);
        EXPECT_EQ(is_floating(kAllTypes[i]), names[i].starts_with("float"));
        EXPECT_NE(is_floating(kAllTypes[i]), is_integer(kAllTypes[i]));
    }
}

TEST(DType, OfACppTypeHasItsSize) {
    EXPECT_EQ(dtype_of<std::int8_t>(), DType::int8);
    EXPECT_EQ(dtype_of<std::uint16_t>(), DType::uint16);
    EXPECT_EQ(dtype_of<std::int64_t>(), DType::int64);
    EXPECT_EQ(dtype_of<float>(), DType::float32);
    EXPECT_EQ(dtype_of<double>(), DType::float64);
}

TEST(Array, CStridesMultiplyUpFromTheLastAxis) {
    EXPECT_EQ(c_strides({2, 3, 4}, DType::float32), (std::vector<std::ptrdiff_t>{48, 16, 4}));
    EXPECT_EQ(c_strides({}, DType::float32), std::vector<std::ptrdiff_t>{});
    EXPECT_EQ(c_strides({5}, DType::float16), std::vector<std::ptrdiff_t>{2});
}

TEST(Array, CopyKeepsValuesInOrderAndIsContiguous) {
    const Array array = Array::copy_of(counting(24), {2, 3, 4});
    EXPECT_EQ(array.to_vector<std::int32_t>(), counting(24));
    EXPECT_TRUE(array.view().is_c_contiguous());
    EXPECT_EQ(array.view().size(), 24u);
    EXPECT_EQ(array.view().shape_text(), "[2, 3, 4]");
    EXPECT_EQ(*reinterpret_cast<const std::int32_t*>(array.view().at(1)), 12);
}

TEST(Array, CopiesShareTheMemory) {
    Array first = Array::zeros(DType::int32, {3});
    const Array second = first;
    reinterpret_cast<std::int32_t*>(first.mutable_data())[1] = 9;
    EXPECT_EQ(second.to_vector<std::int32_t>(), (Ints{0, 9, 0}));
}

TEST(Array, ReadsFortranOrder) {
    // The element (i, j, k) of shape [2, 3, 4] lies at i + 2 j + 6 k.
    const Array base = Array::copy_of(counting(24), {24});
    const Array array({base.view().data, DType::int32, {2, 3, 4}, {4, 8, 24}}, nullptr);
    EXPECT_FALSE(array.view().is_c_contiguous());
    const Ints values = array.to_vector<std::int32_t>();
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 4; ++k)
                EXPECT_EQ(values[static_cast<std::size_t>(i * 12 + j * 4 + k)], i + 2 * j + 6 * k);
}

TEST(Array, IsContiguousForAnyStrideOfAnAxisOfOneElement) {
    const Array base = Array::copy_of(counting(6), {6});
    const auto contiguous = [&](std::vector<std::size_t> shape, std::vector<std::ptrdiff_t> strides) {
        return ArrayView{base.view().data, DType::int32, std::move(shape), std::move(strides)}
            .is_c_contiguous();
    };
    EXPECT_TRUE(contiguous({1, 2, 1, 3}, {7, 12, -5, 4}));
    EXPECT_FALSE(contiguous({1, 2, 1, 3}, {24, 16, 12, 4}));
    EXPECT_TRUE(contiguous({2, 0, 3}, {1, 2, 3}));
}

TEST(Array, ReadsNegativeAndRepeatedStrides) {
    const Array base = Array::copy_of(counting(6), {6});
    const Array backwards({base.view().data + 20, DType::int32, {2, 3}, {-12, -4}}, nullptr);
    EXPECT_EQ(backwards.to_vector<std::int32_t>(), (Ints{5, 4, 3, 2, 1, 0}));
    const Array repeated({base.view().data, DType::int32, {2, 3}, {0, 4}}, nullptr);
    EXPECT_EQ(repeated.to_vector<std::int32_t>(), (Ints{0, 1, 2, 0, 1, 2}));
    const Array skipping({base.view().data, DType::int32, {3}, {8}}, nullptr);
    EXPECT_EQ(skipping.to_vector<std::int32_t>(), (Ints{0, 2, 4}));
}

TEST(Array, ConvertsEveryTypeFromAnyAlignment) {
    for (const DType dtype : kAllTypes) {
        // One byte off, so that nothing is aligned.
        std::vector<std::byte> memory(1 + 3 * size_of(dtype));
        const auto put = [&](std::size_t at, int value) {
            std::byte* const to = memory.data() + 1 + at * size_of(dtype);
            const auto as = [&](auto typed) { std::memcpy(to, &typed, sizeof typed); };
            if (dtype == DType::float64) as(static_cast<double>(value));
            if (dtype == DType::float32) as(static_cast<float>(value));
            if (dtype == DType::float16) as(float_to_half(static_cast<float>(value)));
            const auto number = static_cast<std::uint64_t>(value);
            if (is_integer(dtype)) std::memcpy(to, &number, size_of(dtype));  // little-endian
        };
        put(0, 1);
        put(1, 0);
        put(2, dtype == DType::boolean ? 1 : 100);
        const Array array({memory.data() + 1, dtype, {3}, c_strides({3}, dtype)}, nullptr);
        EXPECT_EQ(array.to_vector<double>(),
                  (std::vector<double>{1, 0, dtype == DType::boolean ? 1.0 : 100.0}))
            << name_of(dtype);
        EXPECT_EQ(array.to_vector<std::int64_t>().front(), 1) << name_of(dtype);
    }
}

TEST(Array, KeepsSignsAndLargeNumbers) {
    const Array negative = Array::copy_of(std::vector<std::int8_t>{-128, 127}, {2});
    EXPECT_EQ(negative.to_vector<float>(), (std::vector<float>{-128, 127}));
    const std::vector<std::uint64_t> large{~std::uint64_t{0}, std::uint64_t{1} << 53};
    EXPECT_EQ(Array::copy_of(large, {2}).to_vector<std::uint64_t>(), large);
}

TEST(Array, HoldsNothingAndSingleValues) {
    EXPECT_TRUE(Array{}.empty());
    EXPECT_TRUE(Array::zeros(DType::float32, {3, 0}).to_vector<float>().empty());
    EXPECT_FALSE(Array::zeros(DType::float32, {3, 0}).empty());
    EXPECT_EQ(Array::copy_of(Ints{7}, {}).to_vector<std::int32_t>(), Ints{7});
}

TEST(Array, KeepsItsOwnerAlive) {
    auto owner = std::make_shared<Ints>(Ints{1, 2});
    const std::weak_ptr<Ints> watch = owner;
    {
        const Array array({reinterpret_cast<const std::byte*>(owner->data()), DType::int32, {2}, {4}}, owner);
        owner.reset();
        EXPECT_EQ(array.to_vector<std::int32_t>(), (Ints{1, 2}));
        EXPECT_FALSE(watch.expired());
    }
    EXPECT_TRUE(watch.expired());
}

TEST(Array, RefusesToWriteToMemoryThatItDoesNotOwnAndShapesOfAnotherSize) {
    const Ints values{1, 2};
    Array view({reinterpret_cast<const std::byte*>(values.data()), DType::int32, {2}, {4}}, nullptr);
    expect_error(ErrorKind::internal, {"read-only"}, [&] { (void)view.mutable_data(); });
    expect_error(ErrorKind::internal, {"2 values", "[3]"}, [&] { (void)Array::copy_of(values, {3}); });
}

}  // namespace
}  // namespace kandinsky
