#include "model/train.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/random.hpp"
#include "fake_network.hpp"
#include "io/support.hpp"
#include "model/inference.hpp"
#include "model/model_file.hpp"

namespace kandinsky {
namespace {

using test::expect_error;
using test::FakeNetwork;
using test::Folder;
using test::slurp;

/// Bright pixels are the foreground, with noise.
Samples made(std::size_t count) {
    std::vector<float> pixels;
    std::vector<std::uint8_t> labels;
    Random random(1);
    for (std::size_t i = 0; i < count * 64; ++i) {
        const bool inside = random.uniform() < 0.4;
        labels.push_back(inside ? 1 : 0);
        pixels.push_back(static_cast<float>((inside ? 1.0 : -1.0) + 0.3 * random.normal()));
    }
    return {Array::copy_of(pixels, {count, 8, 8}),
            Array::copy_of(labels, {count, 8, 8}),
            {},
            Intensity::none,
            {}};
}

TrainOptions quick(std::uint64_t epochs) {
    TrainOptions options;
    options.shape = {.inputs = 1, .outputs = 1};
    options.schedule.rate = 3;
    options.schedule.last_rate = 0.1;
    options.epochs = epochs;
    options.batch = 4;
    options.augmentation = Augmentation::none();  // these pixels have nothing to do with their neighbours
    return options;
}

std::unique_ptr<Network> fake() {
    return std::make_unique<FakeNetwork>(1, 1);
}

TEST(Train, TheLossFallsAndTheDiceRises) {
    std::vector<EpochRow> rows;
    const TrainResult result =
        train(made(18), nullptr, quick(60), fake(), [&](const EpochRow& row) { rows.push_back(row); });
    ASSERT_EQ(rows.size(), 60U);
    EXPECT_EQ(result.step, 60U * 4);  // the last two images of an epoch do not fill a batch
    EXPECT_LT(rows.back().loss, 0.5 * rows.front().loss);
    EXPECT_GT(rows.back().dice[0], 0.9);
    EXPECT_EQ(std::count(result.log.begin(), result.log.end(), '\n'), 61);
    EXPECT_EQ(result.log.substr(0, result.log.find('\n')), "epoch,step,rate,share,loss,dice_0");
}

TEST(Train, AStoppedRunGoesOnToTheSameBytes) {
    const Folder folder;
    const Samples samples = made(12);
    TrainOptions options = quick(7);
    AtomicFile whole(folder / "whole"), resumed(folder / "resumed");
    write_trained(whole, samples, options, train(samples, nullptr, options, fake()));
    whole.commit();

    struct Stop {};
    options.checkpoint = folder / "state";
    options.checkpoint_every = 2;
    EXPECT_THROW((void)train(samples, nullptr, options, fake(),
                             [](const EpochRow& row) {
                                 if (row.epoch == 5) throw Stop();
                             }),
                 Stop);
    EXPECT_EQ(read_model_header(folder / "state").step, 4U * 3);
    const TrainResult second = train(samples, nullptr, options, fake());
    EXPECT_TRUE(second.resumed);
    write_trained(resumed, samples, options, second);
    resumed.commit();
    EXPECT_EQ(slurp(folder / "whole"), slurp(folder / "resumed"));
}

TEST(Train, ACheckpointOfAnotherTrainingIsRefused) {
    const Folder folder;
    TrainOptions options = quick(2);
    options.checkpoint = folder / "state";
    (void)train(made(12), nullptr, options, fake());
    TrainOptions seeded = options, prepared = options;
    seeded.seed = 1;
    prepared.intensity = "byte";
    for (const TrainOptions& other : {seeded, prepared})
        expect_error(ErrorKind::usage, {"state", "other options or images"},
                     [&] { (void)train(made(12), nullptr, other, fake()); });
    EXPECT_TRUE(train(made(12), nullptr, options, fake()).resumed);
}

TEST(Train, AFullDeviceDuringValidationIsADataError) {
    auto network = std::make_unique<FakeNetwork>(1, 1);
    network->full = true;
    const Samples samples = made(12), validation = made(3);
    expect_error(ErrorKind::data,
                 {"cannot run on 3 images of 8 x 8 pixels", "the device is full; try a smaller `batch`"},
                 [&] { (void)train(samples, &validation, quick(1), std::move(network)); });
}

TEST(ModelFile, WeightsComeBackAndDamageIsNoticed) {
    const Folder folder;
    FakeNetwork network(3, 2), other(3, 2);
    initialise(network, 5);
    ModelHeader header;
    header.shape = {.inputs = 3, .outputs = 2};
    header.intensity = "byte";
    write_model(folder / "m", header, network, false);
    EXPECT_TRUE(is_model_file(folder / "m"));
    EXPECT_EQ(read_model_header(folder / "m").intensity, "byte");
    read_model(folder / "m", other, false);
    std::vector<float> a(6), b(6);
    network.read(0, a.data());
    other.read(0, b.data());
    EXPECT_EQ(a, b);
    EXPECT_NE(a, std::vector<float>(6, 0.0F));
    expect_error(ErrorKind::data, {"lacks the weights", "first_moment.weight"},
                 [&] { read_model(folder / "m", other, true); });

    std::string bytes = slurp(folder / "m");
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    test::spill(folder / "m", bytes);
    expect_error(ErrorKind::data, {"m"}, [&] { read_model(folder / "m", other, false); });
}

TEST(Inference, ImagesArePaddedToTheMultipleAndCroppedBack) {
    auto network = std::make_unique<FakeNetwork>(1, 2);
    FakeNetwork& seen = *network;
    const float weights[] = {1, -1};
    network->write(0, weights);
    OpenedModel model;
    model.network = std::move(network);
    model.activation = Activation::sigmoid;
    model.multiple = 8;
    std::vector<float> pixels(5 * 3 * 10);
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i) / 50;
    const Samples samples(Array::copy_of(pixels, {5, 3, 10}), {}, {}, Intensity::none, {});
    std::size_t outputs = 0;
    std::vector<float> all;
    infer(
        model, samples, 2, [&](std::size_t n) { outputs = n; },
        [&](std::size_t sample, const float* p) {
            EXPECT_EQ(all.size(), sample * 60);
            all.insert(all.end(), p, p + 60);
        });
    EXPECT_EQ(outputs, 2U);
    EXPECT_EQ(seen.last_height, 8U);
    EXPECT_EQ(seen.last_width, 16U);
    EXPECT_EQ(seen.largest_batch, 2U);
    EXPECT_EQ(seen.predictions, 3U);
    ASSERT_EQ(all.size(), 300U);
    for (std::size_t n = 0; n < 5; ++n)
        for (std::size_t p = 0; p < 30; ++p) {
            EXPECT_FLOAT_EQ(all[n * 60 + p], 1 / (1 + std::exp(-pixels[n * 30 + p])));
            EXPECT_FLOAT_EQ(all[n * 60 + 30 + p], 1 / (1 + std::exp(pixels[n * 30 + p])));
        }
}

TEST(Inference, OnlyTheFirstBatchOfANetworkWithManyOutputsRunsTwice) {
    auto network = std::make_unique<FakeNetwork>(1, 9);
    FakeNetwork& seen = *network;
    std::vector<float> weights(9);
    for (std::size_t c = 0; c < 9; ++c) weights[c] = static_cast<float>(c);
    network->write(0, weights.data());
    OpenedModel model;
    model.network = std::move(network);
    const std::vector<float> pixels{1, 2, 3};
    const Samples samples(Array::copy_of(pixels, {3, 1, 1}), {}, {}, Intensity::none, {});
    for (const std::size_t calls : {4U, 7U}) {
        std::size_t outputs = 0;
        infer(
            model, samples, 1, [&](std::size_t n) { outputs = n; },
            [&](std::size_t sample, const float* p) {
                for (std::size_t c = 0; c < 9; ++c) EXPECT_EQ(p[c], weights[c] * pixels[sample]);
            });
        EXPECT_EQ(outputs, 9U);
        EXPECT_EQ(seen.predictions, calls);
    }
}

TEST(Inference, SoftmaxSumsToOneForLargeLogitsToo) {
    std::vector<float> values{1000, 0, 1001, 0};  // two classes, two pixels
    activate(Activation::softmax, 1, 2, 2, values.data());
    EXPECT_FLOAT_EQ(values[0] + values[2], 1);
    EXPECT_FLOAT_EQ(values[0], 1 / (1 + std::exp(1.0F)));
    EXPECT_FLOAT_EQ(values[1], 0.5);
}

TEST(Schedule, OneCycleFallsFromTheFirstRateToTheLast) {
    const Schedule schedule{.rate = 1, .last_rate = 0.1};
    EXPECT_DOUBLE_EQ(schedule.rate_at(0, 101), 1);
    EXPECT_DOUBLE_EQ(schedule.rate_at(50, 101), 0.55);
    EXPECT_DOUBLE_EQ(schedule.rate_at(100, 101), 0.1);
    for (std::uint64_t step = 1; step < 101; ++step)
        EXPECT_LT(schedule.rate_at(step, 101), schedule.rate_at(step - 1, 101));
}

TEST(Schedule, RestartsComeAfterCyclesThatGrow) {
    const Schedule schedule{.rate = 1, .last_rate = 0, .cycle = 10, .growth = 2};
    EXPECT_DOUBLE_EQ(schedule.rate_at(9, 70), 0);
    EXPECT_DOUBLE_EQ(schedule.rate_at(10, 70), 1);
    EXPECT_DOUBLE_EQ(schedule.rate_at(29, 70), 0);
    EXPECT_DOUBLE_EQ(schedule.rate_at(30, 70), 1);
    EXPECT_DOUBLE_EQ(schedule.rate_at(69, 70), 0);
}

TEST(Schedule, ACycleThatTheEndCutsStillEndsLow) {
    const Schedule schedule{.rate = 1, .last_rate = 0, .cycle = 10, .growth = 2};
    EXPECT_DOUBLE_EQ(schedule.rate_at(17, 18), 0);
}

TEST(Schedule, WarmUpRisesLinearly) {
    const Schedule schedule{.rate = 1, .last_rate = 0, .warm_up = 4};
    EXPECT_DOUBLE_EQ(schedule.rate_at(0, 100), 0.25);
    EXPECT_DOUBLE_EQ(schedule.rate_at(3, 100), 1);
    EXPECT_DOUBLE_EQ(schedule.rate_at(4, 100), 1);
}

TEST(Schedule, TheShareFallsDuringTheAnnealing) {
    const Schedule schedule{.share = 0.1, .first_share = 1, .anneal = 0.5};
    EXPECT_DOUBLE_EQ(schedule.share_at(0, 100), 1);
    EXPECT_DOUBLE_EQ(schedule.share_at(25, 100), 0.55);
    EXPECT_DOUBLE_EQ(schedule.share_at(50, 100), 0.1);
    EXPECT_DOUBLE_EQ(schedule.share_at(99, 100), 0.1);
    EXPECT_DOUBLE_EQ((Schedule{.share = 0.1, .anneal = 0}).share_at(0, 100), 0.1);
}

TEST(Dice, OneOutputBelongsFromOneHalfOn) {
    Dice dice(1);
    const float p[] = {0.9F, 0.5F, 0.4F, 0.1F};
    const std::uint8_t truth[] = {1, 0, 1, 0}, valid[] = {1, 1, 1, 1};
    dice.add(4, p, truth, valid);
    EXPECT_DOUBLE_EQ(dice.value(0), 0.5);
}

TEST(Dice, SeveralOutputsCompete) {
    Dice dice(3);
    //             pixel 0..2 of output 0, 1, 2
    const float p[] = {0.1F, 0.2F, 0.9F, 0.8F, 0.3F, 0.2F, 0.2F, 0.7F, 0.1F};
    const std::uint8_t truth[] = {0, 0, 1, 1, 1, 0, 0, 0, 0}, valid[] = {1, 1, 1};
    dice.add(3, p, truth, valid);
    EXPECT_DOUBLE_EQ(dice.value(0), 1);
    EXPECT_DOUBLE_EQ(dice.value(1), 2.0 / 3);
    EXPECT_DOUBLE_EQ(dice.value(2), 0);
}

TEST(Dice, PixelsThatDoNotCountAreLeftOut) {
    Dice dice(1);
    const float p[] = {0.9F, 0.9F};
    const std::uint8_t truth[] = {1, 0}, valid[] = {1, 0};
    dice.add(2, p, truth, valid);
    EXPECT_DOUBLE_EQ(dice.value(0), 1);
}

TEST(Dice, NothingOnEitherSideIsNoNumber) {
    EXPECT_TRUE(std::isnan(Dice(2).value(1)));
}

TEST(Dice, CountsAddUp) {
    Dice a(1), b(1), both(1);
    const float p[] = {0.9F}, q[] = {0.1F};
    const std::uint8_t truth[] = {1}, valid[] = {1};
    a.add(1, p, truth, valid);
    b.add(1, q, truth, valid);
    both.add(a);
    both.add(b);
    EXPECT_DOUBLE_EQ(both.value(0), 2.0 / 3);
}

}  // namespace
}  // namespace kandinsky
