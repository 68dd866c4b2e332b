#include "model/samples.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::expect_error;

Array floats(const std::vector<float>& values, std::vector<std::size_t> shape) {
    return Array::copy_of(values, std::move(shape));
}
Array bytes(const std::vector<std::uint8_t>& values, std::vector<std::size_t> shape) {
    return Array::copy_of(values, std::move(shape));
}

TEST(Samples, BytesAreDividedAndChannelsKept) {
    const Samples samples(bytes({0, 51, 102, 255}, {1, 2, 1, 2}), {}, {}, Intensity::byte, {});
    std::vector<float> out(4);
    samples.read_pixels(0, out.data());
    EXPECT_EQ(samples.channels(), 2U);
    EXPECT_FLOAT_EQ(out[1], 0.2F);
    EXPECT_FLOAT_EQ(out[3], 1);
}

TEST(Samples, PercentilesAreTheScansNotTheSlices) {
    std::vector<float> values(2 * 1000);
    for (std::size_t i = 0; i < 1000; ++i) {
        values[i] = 1 + static_cast<float>(i);            // slice 0 of the scan: 1 .. 1000
        values[1000 + i] = 1001 + static_cast<float>(i);  // slice 1: 1001 .. 2000
    }
    const Array groups = Array::copy_of(std::vector<std::int64_t>{7, 7}, {2});
    const Samples samples(floats(values, {2, 10, 100}), {}, groups, Intensity::percentile, {});
    std::vector<float> out(1000);
    samples.read_pixels(0, out.data());
    EXPECT_FLOAT_EQ(out[0], 0);
    EXPECT_NEAR(out[999], 0.5, 0.001);
    samples.read_pixels(1, out.data());
    EXPECT_FLOAT_EQ(out[999], 1);
}

TEST(Samples, ALabelThatIsIgnoredIsNotValidAndNoTarget) {
    const Samples samples(floats({0, 0, 0}, {1, 1, 3}), bytes({0, 2, 255}, {1, 1, 3}), {}, Intensity::none,
                          {255});
    EXPECT_EQ(samples.classes(), 3U);
    std::vector<std::uint8_t> targets(9), valid(3);
    samples.read_targets(0, 3, targets.data(), valid.data());
    EXPECT_EQ(targets, (std::vector<std::uint8_t>{1, 0, 0, 0, 0, 0, 0, 1, 0}));
    EXPECT_EQ(valid, (std::vector<std::uint8_t>{1, 1, 0}));
}

TEST(Samples, OneOutputMeansAnythingButClassZero) {
    const Samples samples(floats({0, 0, 0}, {1, 1, 3}), bytes({0, 2, 1}, {1, 1, 3}), {}, Intensity::none, {});
    std::vector<std::uint8_t> targets(3), valid(3);
    samples.read_targets(0, 1, targets.data(), valid.data());
    EXPECT_EQ(targets, (std::vector<std::uint8_t>{0, 1, 1}));
}

TEST(Samples, BadValuesAndShapesAreNamed) {
    expect_error(ErrorKind::data, {"images", "image 0", "channel 0", "row 1", "column 0"}, [] {
        const Samples samples(floats({0, 0, std::nanf(""), 0}, {1, 2, 2}), {}, {}, Intensity::none, {});
        std::vector<float> out(4);
        samples.read_pixels(0, out.data());
    });
    expect_error(ErrorKind::data, {"labels", "image 0", "row 0", "column 1", "label 5", "2 classes"}, [] {
        const Samples samples(floats({0, 0}, {1, 1, 2}), bytes({0, 5}, {1, 1, 2}), {}, Intensity::none, {});
        std::vector<std::uint8_t> targets(4), valid(2);
        samples.read_targets(0, 2, targets.data(), valid.data());
    });
    expect_error(ErrorKind::data, {"images", "[4]"}, [] {
        Samples(floats({0, 0, 0, 0}, {4}), {}, {}, Intensity::none, {});
    });
    expect_error(ErrorKind::data, {"labels", "[1, 1, 2]"}, [] {
        Samples(floats({0, 0}, {1, 2, 1}), bytes({0, 0}, {1, 1, 2}), {}, Intensity::none, {});
    });
}

}  // namespace
}  // namespace kandinsky
