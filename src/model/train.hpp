#pragma once

#include <filesystem>
#include <functional>
#include <kandinsky/progress.hpp>

#include "io/file/atomic_file.hpp"
#include "model/augment.hpp"
#include "model/network.hpp"
#include "model/samples.hpp"

namespace kandinsky {

/// The schedule of the learning rate and of the share of hard pixels.
struct Schedule {
    double rate = 1e-4;         ///< at the start of each cycle
    double last_rate = 1e-6;    ///< at its end
    std::uint64_t warm_up = 0;  ///< steps of linear increase at the very start
    std::uint64_t cycle = 0;    ///< steps of the first cosine cycle; 0: one cycle over all steps
    double growth = 2;          ///< length of a cycle relative to the one before
    double share = 0.1;         ///< share of the pixels that counts at the end
    double first_share = 1;     ///< the same at the start
    double anneal = 0;          ///< share of all steps until first_share has fallen to share; 0: at once

    /// The rate and share of steps 0 .. steps-1.
    [[nodiscard]] double rate_at(std::uint64_t step, std::uint64_t steps) const;
    [[nodiscard]] double share_at(std::uint64_t step, std::uint64_t steps) const;
};

struct TrainOptions {
    UNetShape shape;
    Schedule schedule;
    Augmentation augmentation;
    std::string intensity = "none";  ///< written into the model
    std::uint64_t epochs = 100;      ///< at least 1
    /// At least 1; larger than the number of images: one batch of all images. Images that remain after the
    /// last full batch are left out of the epoch.
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
    std::vector<double> dice;      ///< [output] on the validation images, or on a few training images
    double images_per_second = 0;  ///< not in the log, which does not depend on the machine
};

struct TrainResult {
    std::unique_ptr<Network> network;
    std::string log;  ///< CSV with a header line
    std::uint64_t step = 0;
    bool resumed = false;
    double images_per_second = 0;
};

/// Trains a U-Net from its initial weights, or continues from options.checkpoint. On a CPU the weights are
/// bit for bit those of an uninterrupted run. A checkpoint with another training_text() or another shape of
/// the network is refused. `validation`: null, or images for the Dice coefficients of the log.
[[nodiscard]] TrainResult train(const Samples& samples, const Samples* validation,
                                const TrainOptions& options, std::unique_ptr<Network> network,
                                const std::function<void(const EpochRow&)>& on_epoch = {},
                                Progress& progress = silent());

/// The identity of a training as the model file stores it.
[[nodiscard]] std::string training_text(const Samples& samples, const TrainOptions& options);

/// Writes the finished model into an open file, which the caller commits: weights, header, log.
void write_trained(AtomicFile& file, const Samples& samples, const TrainOptions& options,
                   const TrainResult& result);

/// The Dice coefficient of each output over all added pixels, 2 |A and B| / (|A| + |B|), from integer counts.
class Dice {
  public:
    explicit Dice(std::size_t outputs) : both_(outputs, 0), sum_(outputs, 0) {}

    /// Adds one image: probabilities and targets [outputs][pixels], valid [pixels]. With one output a pixel
    /// belongs to it from probability 1/2 on; with several, a pixel belongs to the most probable output.
    void add(std::size_t pixels, const float* probabilities, const std::uint8_t* targets,
             const std::uint8_t* valid);
    void add(const Dice& other);
    /// NaN if neither side has a pixel.
    [[nodiscard]] double value(std::size_t output) const;

  private:
    std::vector<std::uint64_t> both_, sum_;
};

}  // namespace kandinsky
