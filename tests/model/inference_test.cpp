#include "model/inference.hpp"

#include <gtest/gtest.h>

#include <kandinsky/npz.hpp>
#include <limits>

#include "fake_network.hpp"
#include "io/support.hpp"

namespace kandinsky {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                kInfinity = std::numeric_limits<float>::infinity();

/// The network adds nothing and multiplies by 1, so its outputs are its inputs.
void check(const std::vector<float>& input, const std::vector<float>& output) {
    const test::Folder folder;
    test::FakeNetwork network(1, 1);
    const float one = 1;
    network.write(0, &one);
    const std::vector<std::size_t> shape{1, 1, 1, input.size()};
    write_npz(folder / "net.check.npz", {{"input", Array::copy_of(input, shape).view()},
                                         {"output", Array::copy_of(output, shape).view()}});
    check_against_pair(network, folder / "net.onnx");
}

TEST(CheckAgainstPair, AcceptsTheStoredOutputsUpToRounding) {
    check({1, 2, -300, kInfinity}, {1, 2.0005f, -300.2f, kInfinity});
}

TEST(CheckAgainstPair, RefusesOtherOutputsAndThoseThatAreNoNumbers) {
    const auto refuse = [](const std::vector<float>& input, const std::vector<float>& output) {
        test::expect_error(ErrorKind::data, {"net.onnx does not reproduce", "net.check.npz"},
                           [&] { check(input, output); });
    };
    refuse({1, 2, 3}, {1, 2.1f, 3});
    refuse({kNan, 2, 3}, {1, 2, 3});
    refuse({1, 2, kNan}, {1, 2, 3});
    refuse({1, kNan, 3}, {1, 2, 3.1f});
    refuse({1, 2, 3}, {1, kNan, 3});
    refuse({1, 2, 3}, {1, 2, kInfinity});
}

}  // namespace
}  // namespace kandinsky
