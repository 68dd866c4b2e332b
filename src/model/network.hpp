#pragma once

#include <cstddef>
#include <cstdint>

// The interface of a deep-learning library. Implementations are plug-ins (one shared library each), so that
// the command neither links nor loads such a library unless it needs a network. Only plain data cross this
// interface, so a plug-in may be built by another compiler against any version of the library.
namespace kandinsky {

constexpr std::uint32_t kDeepestUNet = 8;

/// The paper's U-Net. The image is halved and doubled `depth` times; there are `width` channels at full size
/// and a logit per output.
struct UNetShape {
    std::uint32_t inputs = 3;
    std::uint32_t outputs = 1;
    std::uint32_t width = 128;
    std::uint32_t depth = 4;  ///< 1 to kDeepestUNet
};

/// Images [n][channels][height][width]. For training also targets [n][outputs][height][width] of 0 and 1, and
/// valid [n][height][width], 0 where a pixel does not count.
struct Batch {
    std::size_t images = 0, channels = 0, height = 0, width = 0;
    const float* pixels = nullptr;
    const std::uint8_t* targets = nullptr;
    const std::uint8_t* valid = nullptr;
};

struct StepOptions {
    double rate = 1e-4;        ///< learning rate
    double decay = 0;          ///< weight decay
    bool decoupled = true;     ///< AdamW; false: Adam with L2
    double share = 1;          ///< in each image, only this share of the losses counts: the largest
    std::uint64_t number = 1;  ///< number of this step from 1, for Adam's bias correction
};

struct StepResult {
    double loss = 0;
};

/// The role of a tensor, which determines its initial values.
enum class TensorRole : std::uint32_t { weight, bias, first_moment, second_moment };

struct TensorInfo {
    const char* name = nullptr;  ///< lives as long as the network
    TensorRole role = TensorRole::weight;
    std::uint32_t rank = 0;
    std::uint64_t shape[4] = {0, 0, 0, 0};

    [[nodiscard]] std::uint64_t elements() const {
        std::uint64_t n = 1;
        for (std::uint32_t axis = 0; axis < rank; ++axis) n *= shape[axis];
        return n;
    }
};

/// A network on some device. Every function may throw std::exception; the first line of its text is the
/// message.
class Network {
  public:
    virtual ~Network() = default;
    [[nodiscard]] virtual const char* device() const = 0;
    /// Writes the network's outputs [n][outputs][height][width] without an activation. The outputs of our
    /// U-Net are logits; the meaning of other networks' outputs is unknown. Returns the number of outputs. If
    /// they need more than `capacity` floats, `out` is incomplete.
    virtual std::uint32_t predict(const Batch& batch, float* out, std::size_t capacity) = 0;

    /// One step of training on the batch.
    virtual StepResult step(const Batch& batch, const StepOptions& options) = 0;
    /// The number of tensors that training changes: weights, then the optimiser's moments.
    [[nodiscard]] virtual std::size_t tensors() const = 0;
    [[nodiscard]] virtual TensorInfo tensor(std::size_t index) const = 0;
    virtual void read(std::size_t index, float* out) const = 0;
    virtual void write(std::size_t index, const float* values) = 0;
};

struct EngineOptions {
    const char* device = "auto";  ///< auto, cpu or cuda; ONNX models always use the CPU
    std::uint32_t threads = 0;    ///< 0: the library's own choice
    bool mixed = false;           ///< bfloat16 where the precision is sufficient; for make_unet() on a GPU
};

/// A deep-learning library. The caller deletes the networks.
class Engine {
  public:
    virtual ~Engine() = default;
    [[nodiscard]] virtual const char* library() const = 0;  ///< name and version
    /// A U-Net with all weights zero, or null if the library cannot train.
    [[nodiscard]] virtual Network* make_unet(const UNetShape& shape, const EngineOptions& options) = 0;
    /// A network from the library's own file format (TorchScript, ONNX); forward only.
    [[nodiscard]] virtual Network* open(const char* path, const EngineOptions& options) = 0;
};

/// Raised with every change of this interface; a plug-in of another version is refused.
inline constexpr std::uint32_t kEngineVersion = 1;

/// The two functions that a plug-in exports, with C names: kandinsky_engine_version, kandinsky_engine.
using EngineFunction = Engine*();

}  // namespace kandinsky
