#pragma once

#include <filesystem>
#include <functional>
#include <kandinsky/progress.hpp>
#include <memory>
#include <string>
#include <vector>

#include "model/augment.hpp"
#include "model/network.hpp"
#include "model/samples.hpp"
#include "model/schedule.hpp"

namespace kandinsky {

struct TrainOptions {
    UNetShape shape;
    Schedule schedule;
    Augmentation augmentation;
    std::string intensity = "none";  ///< written into the model
    std::uint64_t epochs = 100;
    std::size_t batch = 8;
    double decay = 1e-4;
    bool decoupled = true;  ///< AdamW
    std::uint64_t seed = 0;
    std::filesystem::path checkpoint;    ///< empty: none
    std::uint64_t checkpoint_every = 1;  ///< epochs
};

/// One line of the log.
struct EpochRow {
    std::uint64_t epoch = 0, step = 0;  ///< done
    double rate = 0, share = 0, loss = 0;
    std::vector<double> dice;      ///< per output, on the validation images or a few training images
    double images_per_second = 0;  ///< not in the log, which does not depend on the machine
};

struct TrainResult {
    std::unique_ptr<Network> network;
    std::string log;  ///< CSV with a head line
    std::uint64_t step = 0;
    bool resumed = false;
    double images_per_second = 0;
};

/// Trains a U-Net from its first weights, or goes on where options.checkpoint stopped: on a CPU to the same
/// weights, bit for bit, as a run that was never stopped. A checkpoint made with other options or other data
/// is refused.
[[nodiscard]] TrainResult train(const Samples& samples, const Samples* validation,
                                const TrainOptions& options, std::unique_ptr<Network> network,
                                const std::function<void(const EpochRow&)>& on_epoch = {},
                                Progress& progress = silent());

/// What tells two trainings apart, as it stands in the model file.
[[nodiscard]] std::string training_text(const Samples& samples, const TrainOptions& options);

/// Writes the finished model: weights, header, log.
void write_trained(const std::filesystem::path& path, const Samples& samples, const TrainOptions& options,
                   const TrainResult& result);

}  // namespace kandinsky
