#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <kandinsky/dataset.hpp>
#include <limits>

#include "core/kernel/half.hpp"
#include "io/support.hpp"
#include "support/synthetic.hpp"

namespace kandinsky {
namespace {

using test::expect_error;
constexpr std::size_t kN = 2, kC = 3, kH = 3, kW = 5, kPixels = kH * kW;

/// Strided memory that holds element(i) at index i of a C-order shape. `order` lists the axes from the
/// slowest to the fastest in memory; -1 - a is axis a backwards.
struct Laid {
    std::vector<std::byte> memory;
    Array array;
};
template <class T, class Element>
Laid lay(DType dtype, const std::vector<std::size_t>& shape, const std::vector<int>& order, std::size_t gap,
         Element&& element) {
    std::vector<std::ptrdiff_t> strides(shape.size());
    auto step = static_cast<std::ptrdiff_t>(sizeof(T) * gap);
    std::size_t offset = 1;  // never aligned
    for (std::size_t k = order.size(); k-- > 0;) {
        const auto axis = static_cast<std::size_t>(order[k] < 0 ? -order[k] - 1 : order[k]);
        strides[axis] = order[k] < 0 ? -step : step;
        if (order[k] < 0) offset += static_cast<std::size_t>(step) * (shape[axis] - 1);
        step *= static_cast<std::ptrdiff_t>(shape[axis]);
    }
    Laid laid{std::vector<std::byte>(static_cast<std::size_t>(step) + 1), {}};
    ArrayView view{laid.memory.data() + offset, dtype, shape, strides};
    for (std::size_t i = 0; i < view.size(); ++i) {
        std::ptrdiff_t at = 0;
        std::size_t rest = i;
        for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
            at += static_cast<std::ptrdiff_t>(rest % shape[axis]) * strides[axis];
        const T value = element(i);
        std::memcpy(laid.memory.data() + static_cast<std::ptrdiff_t>(offset) + at, &value, sizeof(T));
    }
    laid.array = Array(view, nullptr);
    return laid;
}

/// Float, because clang 14's Half cannot be made from a double.
float value_at(std::size_t i) {
    return static_cast<float>(i % 64) / 64;
}

const std::vector<std::vector<int>> kOrders{{0, 1, 2, 3},   {3, 2, 1, 0},   {0, 2, 3, 1},  {0, 1, 3, 2},
                                            {-1, 1, -3, 3}, {0, -2, 2, -4}, {1, 0, -3, -4}};

template <class T>
void expect_reads_the_same(DType dtype, float scale) {
    for (const auto& order : kOrders)
        for (const std::size_t gap : {1u, 2u}) {
            const Laid laid = lay<T>(dtype, {kN, kC, kH, kW}, order, gap,
                                     [&](std::size_t i) { return static_cast<T>(value_at(i) * scale); });
            const Dataset data(laid.array);
            for (const PixelRange range : {PixelRange{0, kPixels}, {3, 11}, {6, 7}, {4, 5}, {7, 7}})
                for (std::size_t n = 0; n < kN; ++n) {
                    std::vector<float> out(kC * range.size());
                    data.read_probs(n, range, out);
                    for (std::size_t c = 0; c < kC; ++c)
                        for (std::size_t i = 0; i < range.size(); ++i) {
                            const T stored =
                                static_cast<T>(value_at((n * kC + c) * kPixels + range.begin + i) * scale);
                            ASSERT_EQ(out[c * range.size() + i], static_cast<float>(stored) / scale)
                                << name_of(dtype);
                        }
                }
        }
}

TEST(Dataset, ReadsEveryTypeInEveryMemoryOrder) {
    expect_reads_the_same<Half>(DType::float16, 1);
    expect_reads_the_same<float>(DType::float32, 1);
    expect_reads_the_same<double>(DType::float64, 1);
    expect_reads_the_same<std::uint8_t>(DType::uint8, 255);
}

template <class T>
void expect_positive_zeros(DType dtype) {
    for (const auto& order : kOrders) {
        const Laid laid = lay<T>(dtype, {kN, kC, kH, kW}, order, 1, [](std::size_t i) {
            return static_cast<T>(i % 3 == 0 ? -0.0f : value_at(i));
        });
        const Dataset data(laid.array);
        std::vector<float> out(kC * kPixels);
        data.read_probs(1, {0, kPixels}, out);
        EXPECT_EQ(out[0], 0.0f);
        for (const float p : out) ASSERT_FALSE(std::signbit(p)) << name_of(dtype);
    }
}

TEST(Dataset, ReadsNegativeZeroAsZero) {
    expect_positive_zeros<Half>(DType::float16);
    expect_positive_zeros<float>(DType::float32);
    expect_positive_zeros<double>(DType::float64);
}

TEST(Dataset, ReadsTheCallersMemoryWithoutACopy) {
    std::vector<float> memory(4, 0.25f);
    const Dataset data(Array(
        {reinterpret_cast<const std::byte*>(memory.data()), DType::float32, {1, 2, 1, 2}, {16, 8, 8, 4}},
        nullptr));
    memory[3] = 0.75f;
    float out[4];
    data.read_probs(0, {0, 2}, out);
    EXPECT_EQ(out[3], 0.75f);
}

TEST(Dataset, SeesOneClassAsBackgroundAndForeground) {
    const Dataset data(Array::copy_of(std::vector<float>{0.25f, 1.0f}, {1, 1, 1, 2}),
                       Array::copy_of(std::vector<std::uint8_t>{1, 0}, {1, 1, 1, 2}), {});
    EXPECT_EQ(data.classes(), 2u);
    float probs[4];
    data.read_probs(0, {0, 2}, probs);
    EXPECT_EQ(std::vector<float>(probs, probs + 4), (std::vector<float>{0.75f, 0.0f, 0.25f, 1.0f}));
    std::uint8_t member[4], valid[2];
    data.read_truth(0, {0, 2}, member, valid);
    EXPECT_EQ(std::vector<int>(member, member + 4), (std::vector<int>{0, 1, 1, 0}));
    EXPECT_EQ(valid[0] + valid[1], 2);
}

TEST(Dataset, TurnsLogitsIntoProbabilities) {
    const std::vector<float> logits{0.0f, 3.0f, -200.0f, 1.0f, 3.0f, 200.0f};
    const Array array = Array::copy_of(logits, {1, 2, 1, 3});
    float out[6];
    Dataset(array, {.logits = Logits::sigmoid}).read_probs(0, {0, 3}, out);
    EXPECT_EQ(out[0], 0.5f);
    EXPECT_NEAR(out[1], 1 / (1 + std::exp(-3.0)), 1e-7);
    EXPECT_EQ(out[2], 0.0f);
    EXPECT_EQ(out[5], 1.0f);
    Dataset(array, {.logits = Logits::softmax}).read_probs(0, {0, 3}, out);
    EXPECT_NEAR(out[0], 1 / (1 + std::exp(1.0)), 1e-7);
    EXPECT_NEAR(out[0] + out[3], 1, 1e-7);
    EXPECT_EQ(out[1], 0.5f);
    EXPECT_EQ(out[2], 0.0f);
    EXPECT_EQ(out[5], 1.0f);
}

template <class T>
void expect_labels(DType dtype) {
    const std::vector<int> labels{0, 1, 2, 77, 1, 0};
    const Laid laid =
        lay<T>(dtype, {1, 2, 3}, {0, 2, 1}, 1, [&](std::size_t i) { return static_cast<T>(labels[i]); });
    const Dataset data(Array::zeros(DType::float32, {1, 3, 2, 3}), laid.array, {}, {.ignore = {255, 77}});
    std::vector<std::uint8_t> member(18), valid(6);
    data.read_truth(0, {0, 6}, member, valid);
    for (std::size_t p = 0; p < 6; ++p) {
        EXPECT_EQ(valid[p], labels[p] == 77 ? 0 : 1) << name_of(dtype);
        for (std::size_t c = 0; c < 3; ++c)
            EXPECT_EQ(member[c * 6 + p], labels[p] == static_cast<int>(c)) << name_of(dtype);
    }
}

TEST(Dataset, ReadsLabelsOfEveryIntegerTypeAndOmitsIgnoredOnes) {
    expect_labels<std::int8_t>(DType::int8);
    expect_labels<std::uint8_t>(DType::uint8);
    expect_labels<std::int16_t>(DType::int16);
    expect_labels<std::uint16_t>(DType::uint16);
    expect_labels<std::int32_t>(DType::int32);
    expect_labels<std::uint32_t>(DType::uint32);
    expect_labels<std::int64_t>(DType::int64);
    expect_labels<std::uint64_t>(DType::uint64);
}

TEST(Dataset, IgnoresTheLargestUnsignedLabelsByTheirSignedNumber) {
    const Dataset data(Array::zeros(DType::float32, {1, 2, 1, 2}),
                       Array::copy_of(std::vector<std::uint64_t>{1, ~std::uint64_t{0}}, {1, 1, 2}), {},
                       {.ignore = {-1}});
    EXPECT_EQ(data.truth(0).valid, (std::vector<std::uint8_t>{1, 0}));
}

TEST(Dataset, MasksMayOverlapAndGiveAPixelNoClass) {
    const std::vector<std::uint8_t> masks{1, 1, 0, 0, 1, 0};  // [class][pixel]
    const Dataset data(Array::zeros(DType::float32, {1, 2, 1, 3}), Array::copy_of(masks, {1, 2, 1, 3}), {});
    EXPECT_TRUE(data.overlapping());
    std::vector<std::uint8_t> member(6), valid(3);
    data.read_truth(0, {0, 3}, member, valid);
    EXPECT_EQ(member, masks);
    EXPECT_EQ(valid, (std::vector<std::uint8_t>{1, 1, 1}));
}

TEST(Dataset, AnyByteExceptZeroIsTrue) {
    const std::vector<std::uint8_t> stored{0, 1, 2, 255};
    const ArrayView view{
        reinterpret_cast<const std::byte*>(stored.data()), DType::boolean, {1, 1, 4}, {4, 4, 1}};
    const Dataset data(Array::zeros(DType::float32, {1, 2, 1, 4}), Array(view, nullptr), {});
    std::vector<std::uint8_t> member(8), valid(4);
    data.read_truth(0, {0, 4}, member, valid);
    EXPECT_EQ(member, (std::vector<std::uint8_t>{1, 0, 0, 0, 0, 1, 1, 1}));
}

TEST(Dataset, NumbersGroupsByTheirIds) {
    const Array probs = Array::zeros(DType::float32, {5, 2, 1, 1}),
                labels = Array::zeros(DType::uint8, {5, 1, 1});
    const Dataset data(probs, labels, Array::copy_of(std::vector<std::int64_t>{7, -3, 7, 100, -3}, {5}));
    EXPECT_EQ(data.groups(), 3u);
    const std::vector<std::uint32_t> expected{1, 0, 1, 2, 0};
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(data.group_of(i), expected[i]);
    EXPECT_EQ(data.group_id(3), 100);
    const Dataset part = data.subset({3, 0});
    EXPECT_EQ(part.images(), 2u);
    EXPECT_EQ(part.groups(), 2u);
    EXPECT_EQ(part.group_of(0), 1u);
    EXPECT_EQ(part.group_id(1), 7);
    const Dataset alone(probs, labels, {});
    EXPECT_EQ(alone.groups(), 5u);
    EXPECT_EQ(alone.group_of(4), 4u);
}

TEST(Dataset, ASubsetOfASubsetReadsTheRightImages) {
    const test::Made made = test::make({.images = 6});
    const Dataset part = made.dataset().subset({5, 1, 3}).subset({2, 0});
    std::vector<float> out(2 * 12);
    part.read_probs(0, {0, 12}, out);
    EXPECT_EQ(out[0], made.prob(3, 0, 0));
    part.read_probs(1, {0, 12}, out);
    EXPECT_EQ(out[12 + 7], made.prob(5, 1, 7));
}

TEST(Dataset, NamesThePlaceOfABadProbability) {
    for (const float bad : {1.5f, -0.25f, std::numeric_limits<float>::quiet_NaN()}) {
        std::vector<float> probs(2 * 2 * 3 * 4, 0.5f);
        probs[((1 * 2 + 1) * 3 + 2) * 4 + 1] = bad;
        const Dataset data(Array::copy_of(probs, {2, 2, 3, 4}), {.probs_name = "p.npy"});
        std::vector<float> out(2 * 12);
        data.read_probs(0, {0, 12}, out);
        expect_error(ErrorKind::data,
                     {"p.npy", fmt::format("{}", bad), "image 1", "class 1", "row 2", "column 1",
                      std::isnan(bad) ? "correct" : "`logits sigmoid`"},
                     [&] {
                         data.read_probs(1, {8, 12}, out);
                     });
        // A subset still names the image by its place in the file.
        expect_error(ErrorKind::data, {"image 1"}, [&] { data.subset({1}).read_probs(0, {0, 12}, out); });
    }
}

TEST(Dataset, NamesThePlaceOfABadLogit) {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    float out[4];
    for (const Logits logits : {Logits::sigmoid, Logits::softmax}) {
        const Dataset data(Array::copy_of(std::vector<float>{0, 0, 0, nan}, {1, 2, 1, 2}),
                           {.logits = logits});
        expect_error(ErrorKind::data, {"nan", "image 0", "class 1", "row 0", "column 1"}, [&] {
            data.read_probs(0, {0, 2}, out);
        });
    }
    const Array infinite = Array::copy_of(std::vector<float>{0, 0, inf, -inf}, {1, 2, 1, 2});
    expect_error(ErrorKind::data, {"inf", "class 1", "column 0"}, [&] {
        Dataset(infinite, {.logits = Logits::softmax}).read_probs(0, {0, 2}, out);
    });
    Dataset(infinite, {.logits = Logits::sigmoid}).read_probs(0, {0, 2}, out);
    EXPECT_EQ(out[2], 1.0f);
    EXPECT_EQ(out[3], 0.0f);
}

TEST(Dataset, NamesThePlaceOfABadLabel) {
    std::vector<std::uint8_t> member(8), valid(4);
    for (const int bad : {2, -1, 300}) {
        const Dataset data(Array::zeros(DType::float32, {2, 2, 2, 2}),
                           Array::copy_of(std::vector<std::int32_t>{0, 0, 0, 0, 1, 1, bad, 1}, {2, 2, 2}), {},
                           {.labels_name = "y.npy"});
        expect_error(
            ErrorKind::data,
            {"y.npy", fmt::format("label {}", bad), "image 1", "row 1", "column 0", "2 classes", "`ignore`"},
            [&] {
                data.read_truth(1, {2, 4}, member, valid);
            });
    }
    const Dataset masks(Array::zeros(DType::float32, {1, 2, 2, 2}),
                        Array::copy_of(std::vector<std::uint8_t>{0, 1, 0, 1, 0, 1, 0, 2}, {1, 2, 2, 2}), {});
    expect_error(ErrorKind::data, {"mask value 2", "image 0", "class 1", "row 1", "column 1"}, [&] {
        masks.read_truth(0, {0, 4}, member, valid);
    });
}

TEST(Dataset, RefusesInvalidShapesAndTypes) {
    const auto refuse = [](ErrorKind kind, const std::vector<std::string>& parts, const Array& probs,
                           const Array& labels = {}, const Array& groups = {}, Logits logits = Logits::none) {
        expect_error(kind, parts, [&] { Dataset(probs, labels, groups, {.logits = logits}); });
    };
    const auto zeros = [](DType type, std::vector<std::size_t> shape) { return Array::zeros(type, shape); };
    const DType f = DType::float32, u = DType::uint8;
    const Array good = zeros(f, {4, 2, 3, 5});
    refuse(ErrorKind::data, {"[2, 3, 5]", "four axes"}, zeros(f, {2, 3, 5}));
    refuse(ErrorKind::data, {"int32"}, zeros(DType::int32, {4, 2, 3, 5}));
    refuse(ErrorKind::data, {"no image"}, zeros(f, {0, 2, 3, 5}));
    refuse(ErrorKind::data, {"empty"}, zeros(f, {4, 2, 0, 5}));
    refuse(ErrorKind::data, {"too large"},
           Array({good.view().data, f, {1, 5000, 1, 1}, {0, 0, 0, 0}}, nullptr));
    refuse(ErrorKind::usage, {"uint8"}, zeros(u, {4, 2, 3, 5}), {}, {}, Logits::sigmoid);
    refuse(ErrorKind::usage, {"sigmoid"}, zeros(f, {4, 1, 3, 5}), {}, {}, Logits::softmax);
    refuse(ErrorKind::data, {"labels", "[4, 15]"}, good, zeros(u, {4, 15}));
    refuse(ErrorKind::data, {"float32", "integers"}, good, zeros(f, {4, 3, 5}));
    refuse(ErrorKind::data, {"3 images", "has 4"}, good, zeros(u, {3, 3, 5}));
    refuse(ErrorKind::data, {"5 x 3", "3 x 5"}, good, zeros(u, {4, 5, 3}));
    refuse(ErrorKind::data, {"masks of 3 classes", "2 classes"}, good, zeros(u, {4, 3, 3, 5}));
    refuse(ErrorKind::data, {"groups", "float32"}, good, zeros(u, {4, 3, 5}), zeros(f, {4}));
    refuse(ErrorKind::data, {"3 groups", "4 images"}, good, zeros(u, {4, 3, 5}), zeros(u, {3}));
}

}  // namespace
}  // namespace kandinsky
