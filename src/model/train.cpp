#include "model/train.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <numbers>
#include <numeric>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/base/random.hpp"
#include "core/base/stopwatch.hpp"
#include "io/file/printable.hpp"
#include "model/inference.hpp"
#include "model/model_file.hpp"
#include "model/plugin.hpp"

namespace kandinsky {

using nlohmann::ordered_json;

double Schedule::rate_at(std::uint64_t step, std::uint64_t steps) const {
    if (step < warm_up) return rate * static_cast<double>(step + 1) / static_cast<double>(warm_up);
    double begin = static_cast<double>(warm_up);
    double length = cycle > 0 ? static_cast<double>(cycle) : static_cast<double>(steps) - begin;
    const auto at = static_cast<double>(step);
    while (at >= begin + length && length > 0) {
        begin += length;
        length *= std::max(growth, 1.0);
    }
    // The last cycle is shortened to end with the training, so that the last steps have the smallest rate.
    length = std::min(length, static_cast<double>(steps) - begin);
    const double part = length > 1 ? (at - begin) / (length - 1) : 1;
    const double cosine = (1 + std::cos(std::numbers::pi * std::min(part, 1.0))) / 2;
    return last_rate + (rate - last_rate) * cosine;
}

double Schedule::share_at(std::uint64_t step, std::uint64_t steps) const {
    const double length = anneal * static_cast<double>(steps);
    if (static_cast<double>(step) >= length) return share;
    return first_share + (share - first_share) * static_cast<double>(step) / length;
}

namespace {
constexpr std::uint64_t kOrder = 0x6F72646572;  // "order"
constexpr std::size_t kDiceImages = 64;         ///< training images that replace a missing validation set

/// The order of the samples in an epoch.
std::vector<std::size_t> order_of(std::size_t count, std::uint64_t seed, std::uint64_t epoch) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    Random random(seed, kOrder, epoch);
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

/// The memory of one batch, which all threads fill while the network works on another batch.
struct Prepared {
    std::vector<float> pixels;
    std::vector<std::uint8_t> targets, valid;
    Batch batch;
};

Prepared prepare(const Samples& samples, const TrainOptions& options, std::uint64_t epoch,
                 const std::vector<std::size_t>& order, std::size_t first, std::size_t count) {
    const Grid grid = samples.grid();
    const std::size_t area = grid.pixels(), channels = samples.channels(), outputs = options.shape.outputs;
    Prepared made;
    made.pixels.resize(count * channels * area);
    made.targets.resize(count * outputs * area);
    made.valid.resize(count * area);
    parallel_for(count, [&](std::size_t i) {
        const std::size_t sample = order[first + i];
        std::vector<float> pixels(channels * area);
        std::vector<std::uint8_t> targets(outputs * area), valid(area);
        samples.read_pixels(sample, pixels.data());
        samples.read_targets(sample, outputs, targets.data(), valid.data());
        const Warp warp(options.augmentation, grid, options.seed, epoch, sample);
        warp.pixels(channels, pixels.data(), made.pixels.data() + i * channels * area);
        warp.mask(outputs, targets.data(), made.targets.data() + i * outputs * area, 0);
        // Pixels from outside the image have no label.
        warp.mask(1, valid.data(), made.valid.data() + i * area, 0);
    });
    made.batch = {.images = count,
                  .channels = channels,
                  .height = grid.height,
                  .width = grid.width,
                  .pixels = made.pixels.data(),
                  .targets = made.targets.data(),
                  .valid = made.valid.data()};
    return made;
}

/// Calls the network with a batch. Errors of the library, such as a full GPU, become one line.
template <class Call>
auto on_batch(const Batch& batch, const char* verb, const Call& call) {
    try {
        return call();
    } catch (const std::exception& error) {
        fail(ErrorKind::data, "the network cannot {} {} images of {} x {} pixels: {}; try a smaller `batch`",
             verb, batch.images, batch.height, batch.width, first_line(error));
    }
}

std::vector<double> dice_of(Network& network, const Samples& samples, const TrainOptions& options,
                            std::size_t most) {
    const std::size_t area = samples.grid().pixels(), outputs = options.shape.outputs;
    const std::size_t count = std::min(most, samples.size());
    Dice dice(outputs);
    std::vector<float> out(std::min<std::size_t>(options.batch, count) * outputs * area);
    std::vector<std::uint8_t> targets(outputs * area), valid(area);
    for (std::size_t first = 0; first < count; first += options.batch) {
        const std::size_t now = std::min(options.batch, count - first);
        std::vector<float> pixels(now * samples.channels() * area);
        parallel_for(now, [&](std::size_t i) {
            samples.read_pixels(first + i, pixels.data() + i * samples.channels() * area);
        });
        const Batch batch{.images = now,
                          .channels = samples.channels(),
                          .height = samples.grid().height,
                          .width = samples.grid().width,
                          .pixels = pixels.data()};
        on_batch(batch, "run on", [&] { return network.predict(batch, out.data(), out.size()); });
        activate(Activation::sigmoid, now, outputs, area, out.data());
        for (std::size_t i = 0; i < now; ++i) {
            samples.read_targets(first + i, outputs, targets.data(), valid.data());
            dice.add(area, out.data() + i * outputs * area, targets.data(), valid.data());
        }
    }
    std::vector<double> values;
    for (std::size_t c = 0; c < outputs; ++c) values.push_back(dice.value(c));
    return values;
}

std::string head_line(std::size_t outputs) {
    std::string line = "epoch,step,rate,share,loss";
    for (std::size_t c = 0; c < outputs; ++c) line += fmt::format(",dice_{}", c);
    return line + "\n";
}

std::string line_of(const EpochRow& row) {
    std::string line =
        fmt::format("{},{},{:.6g},{:.4g},{:.6g}", row.epoch, row.step, row.rate, row.share, row.loss);
    for (const double dice : row.dice) line += std::isfinite(dice) ? fmt::format(",{:.4f}", dice) : ",";
    return line + "\n";
}

ModelHeader header_of(const Samples& samples, const TrainOptions& options, std::uint64_t step,
                      std::uint64_t steps, const std::string& log) {
    return {.shape = options.shape,
            .intensity = options.intensity,
            .step = step,
            .steps = steps,
            .training = ordered_json::parse(training_text(samples, options)),
            .log = log};
}

std::uint64_t steps_per_epoch(const Samples& samples, const TrainOptions& options) {
    return std::max<std::uint64_t>(1, samples.size() / options.batch);
}
}  // namespace

std::string training_text(const Samples& samples, const TrainOptions& options) {
    const Schedule& s = options.schedule;
    const Augmentation& a = options.augmentation;
    return ordered_json{{"images", samples.size()},
                        {"channels", samples.channels()},
                        {"grid", {samples.grid().height, samples.grid().width}},
                        {"intensity", options.intensity},
                        {"epochs", options.epochs},
                        {"batch", options.batch},
                        {"seed", options.seed},
                        {"optimizer", options.decoupled ? "adamw" : "adam"},
                        {"decay", options.decay},
                        {"rate", {s.rate, s.last_rate}},
                        {"warm_up", s.warm_up},
                        {"cycle", {s.cycle, s.growth}},
                        {"share", {s.first_share, s.share, s.anneal}},
                        {"augment", {a.mirror, a.shift, a.zoom, a.turn, a.brightness, a.contrast}}}
        .dump();
}

TrainResult train(const Samples& samples, const Samples* validation, const TrainOptions& options,
                  std::unique_ptr<Network> network, const std::function<void(const EpochRow&)>& on_epoch,
                  Progress& progress) {
    const std::uint64_t per_epoch = steps_per_epoch(samples, options), steps = per_epoch * options.epochs;
    const std::size_t batch = std::min(options.batch, samples.size());
    TrainResult result;
    std::error_code ignored;
    if (!options.checkpoint.empty() && std::filesystem::exists(options.checkpoint, ignored)) {
        const ModelHeader header = read_model_header(options.checkpoint);
        if (header.training.dump() != training_text(samples, options))
            fail(ErrorKind::usage,
                 "{} belongs to a training with other options or images; remove it to start again",
                 printable(options.checkpoint.string()));
        read_model(options.checkpoint, *network, true);
        result.step = header.step;
        result.log = header.log;
        result.resumed = true;
    } else {
        initialise(*network, options.seed);
        result.log = head_line(options.shape.outputs);
    }
    const Stopwatch whole;
    const std::uint64_t begun = result.step;
    for (std::uint64_t epoch = result.step / per_epoch; epoch < options.epochs; ++epoch) {
        const std::vector<std::size_t> order = order_of(samples.size(), options.seed, epoch);
        const auto make = [&](std::uint64_t k) {
            return prepare(samples, options, epoch, order, k * batch, batch);
        };
        const Stopwatch watch;
        double loss = 0;
        // While the network works on one batch, the next is prepared; the order of batches does not depend on
        // timing.
        std::future<Prepared> next = std::async(std::launch::async, make, 0);
        for (std::uint64_t k = 0; k < per_epoch; ++k) {
            const Prepared now = next.get();
            if (k + 1 < per_epoch) next = std::async(std::launch::async, make, k + 1);
            const StepOptions step{.rate = options.schedule.rate_at(result.step, steps),
                                   .decay = options.decay,
                                   .decoupled = options.decoupled,
                                   .share = options.schedule.share_at(result.step, steps),
                                   .number = result.step + 1};
            loss += on_batch(now.batch, "learn from", [&] { return network->step(now.batch, step).loss; });
            ++result.step;
            if (!std::isfinite(loss))
                fail(ErrorKind::data,
                     "the loss is no longer finite in epoch {}: lower `rate`, or anneal with `anneal 0.2`",
                     epoch + 1);
            progress.update("training", result.step, steps);
            if (progress.cancelled()) throw Interrupted();
        }
        EpochRow row;
        row.epoch = epoch + 1;
        row.step = result.step;
        row.rate = options.schedule.rate_at(result.step - 1, steps);
        row.share = options.schedule.share_at(result.step - 1, steps);
        row.loss = loss / static_cast<double>(per_epoch);
        row.images_per_second = static_cast<double>(per_epoch * batch) / watch.seconds();
        row.dice = validation != nullptr ? dice_of(*network, *validation, options, validation->size())
                                         : dice_of(*network, samples, options, kDiceImages);
        result.log += line_of(row);
        if (on_epoch) on_epoch(row);
        if (!options.checkpoint.empty() &&
            ((epoch + 1) % std::max<std::uint64_t>(1, options.checkpoint_every) == 0 ||
             epoch + 1 == options.epochs))
            write_model(options.checkpoint, header_of(samples, options, result.step, steps, result.log),
                        *network, true);
    }
    const double seconds = whole.seconds();
    if (result.step > begun)
        result.images_per_second = static_cast<double>((result.step - begun) * batch) / seconds;
    result.network = std::move(network);
    return result;
}

void write_trained(AtomicFile& file, const Samples& samples, const TrainOptions& options,
                   const TrainResult& result) {
    const std::uint64_t steps = steps_per_epoch(samples, options) * options.epochs;
    write_model(file, header_of(samples, options, result.step, steps, result.log), *result.network, false);
}

void Dice::add(std::size_t pixels, const float* probabilities, const std::uint8_t* targets,
               const std::uint8_t* valid) {
    const std::size_t outputs = both_.size();
    for (std::size_t p = 0; p < pixels; ++p) {
        if (valid[p] == 0) continue;
        std::size_t best = 0;
        for (std::size_t c = 1; c < outputs; ++c)
            if (probabilities[c * pixels + p] > probabilities[best * pixels + p]) best = c;
        for (std::size_t c = 0; c < outputs; ++c) {
            const bool taken = outputs == 1 ? probabilities[p] >= 0.5F : c == best;
            const bool true_there = targets[c * pixels + p] != 0;
            both_[c] += taken && true_there ? 2 : 0;
            sum_[c] += static_cast<std::uint64_t>(taken) + static_cast<std::uint64_t>(true_there);
        }
    }
}

void Dice::add(const Dice& other) {
    for (std::size_t c = 0; c < both_.size(); ++c) {
        both_[c] += other.both_[c];
        sum_[c] += other.sum_[c];
    }
}

double Dice::value(std::size_t output) const {
    return sum_[output] == 0 ? std::numeric_limits<double>::quiet_NaN()
                             : static_cast<double>(both_[output]) / static_cast<double>(sum_[output]);
}

}  // namespace kandinsky
