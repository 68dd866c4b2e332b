#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include <kandinsky/error.hpp>

#include "model/model_file.hpp"
#include "model/plugin.hpp"

namespace kandinsky {
namespace {

/// The plug-in lies beside the tests where libtorch was found.
bool has_plugin() {
    return std::filesystem::exists(std::filesystem::read_symlink("/proc/self/exe").parent_path() /
                                   "libkandinsky_torch.so");
}

class UNet : public testing::Test {
  protected:
    void SetUp() override {
        if (!has_plugin()) GTEST_SKIP() << "built without libtorch: no network to test";
    }
    static std::unique_ptr<Network> make(const UNetShape& shape) {
        return make_unet(shape, {.device = "cpu", .threads = 1});
    }
};

constexpr UNetShape kSmall{.inputs = 1, .outputs = 1, .width = 2, .depth = 1};

/// The loss of a network that yields `logit` everywhere, on 2 x 10 pixels of which the first `ones` have the
/// class and the last `ignored` do not count.
double loss_of(Network& network, float logit, std::size_t ones, std::size_t ignored, double share) {
    for (std::size_t i = 0; i < network.tensors(); ++i)
        if (std::string(network.tensor(i).name) == "last.bias") network.write(i, &logit);
    const std::vector<float> pixels(20, 0.5F);
    std::vector<std::uint8_t> targets(20, 0), valid(20, 1);
    std::fill_n(targets.begin(), ones, std::uint8_t{1});
    std::fill_n(valid.rbegin(), ignored, std::uint8_t{0});
    return network
        .step({.images = 1,
               .channels = 1,
               .height = 2,
               .width = 10,
               .pixels = pixels.data(),
               .targets = targets.data(),
               .valid = valid.data()},
              {.rate = 0, .share = share})
        .loss;
}

TEST_F(UNet, HasThePapersNumberOfWeights) {
    EXPECT_EQ(count_parameters(*make({.inputs = 3, .outputs = 1, .width = 128, .depth = 4})), 53'530'113U);
}

TEST_F(UNet, IsAsWideAndDeepAsAsked) {
    const auto network = make({.inputs = 1, .outputs = 3, .width = 4, .depth = 2});
    // Down 1-4-4, 4-8-8, 8-8-8; up 16-4-4, 8-4-4; last 4-3 with its biases.
    const std::uint64_t wanted = 9 * (4 + 16 + 32 + 64 + 64 + 64 + 16 * 4 + 16 + 8 * 4 + 16) + 4 * 3 + 3;
    EXPECT_EQ(count_parameters(*network), wanted);
}

TEST_F(UNet, TheLossIsCrossEntropyOfTheHardestShare) {
    const auto network = make(kSmall);  // zero weights: the bias of the last layer is the logit
    const auto entropy = [](double logit) { return std::log1p(std::exp(logit)); };
    EXPECT_NEAR(loss_of(*network, 0, 7, 0, 1), std::log(2), 1e-6);
    // 5 of 20 pixels have the class: each has the loss softplus(-2), the others softplus(2).
    EXPECT_NEAR(loss_of(*network, 2, 5, 0, 1), 0.25 * entropy(-2) + 0.75 * entropy(2), 1e-6);
    EXPECT_NEAR(loss_of(*network, 2, 5, 0, 0.5), entropy(2), 1e-6);
    EXPECT_NEAR(loss_of(*network, 2, 15, 0, 0.5), 0.5 * entropy(2) + 0.5 * entropy(-2), 1e-6);
    // Pixels that do not count have no loss.
    EXPECT_NEAR(loss_of(*network, 2, 0, 15, 1), 0.25 * entropy(2), 1e-6);
}

TEST_F(UNet, TensorsComeBackAsWritten) {
    const auto network = make(kSmall);
    initialise(*network, 3);
    for (std::size_t i = 0; i < network->tensors(); ++i) {
        std::vector<float> before(network->tensor(i).elements()), after(before.size());
        network->read(i, before.data());
        for (float& value : before) value += 0.25F;
        network->write(i, before.data());
        network->read(i, after.data());
        EXPECT_EQ(before, after) << network->tensor(i).name;
    }
}

TEST_F(UNet, AnImageDoesNotDependOnItsBatch) {
    const auto network = make({.inputs = 1, .outputs = 2, .width = 2, .depth = 1});
    initialise(*network, 4);
    std::vector<float> pixels(3 * 64);
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = std::sin(static_cast<float>(i * i));
    std::vector<float> together(3 * 2 * 64), alone(2 * 64);
    const auto run = [&](const float* from, std::size_t images, std::vector<float>& out) {
        return network->predict({.images = images, .channels = 1, .height = 8, .width = 8, .pixels = from},
                                out.data(), out.size());
    };
    EXPECT_EQ(run(pixels.data(), 3, together), 2U);
    for (std::size_t n = 0; n < 3; ++n) {
        run(pixels.data() + n * 64, 1, alone);
        for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(alone[i], together[n * 128 + i], 1e-5);
    }
}

TEST_F(UNet, ImpossibleShapesAreRefused) {
    EXPECT_THROW((void)make({.inputs = 1, .outputs = 0, .width = 2, .depth = 1}), Error);
    EXPECT_THROW((void)make({.inputs = 1, .outputs = 1, .width = 2, .depth = 20}), Error);
}

}  // namespace
}  // namespace kandinsky
