#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "io/file/atomic_file.hpp"
#include "model/network.hpp"

namespace kandinsky {

/// The fields of a trained U-Net's file besides its weights.
struct ModelHeader {
    UNetShape shape;
    std::string intensity = "none";                                      ///< how images were prepared
    std::uint64_t step = 0, steps = 0;                                   ///< training steps: done and planned
    nlohmann::ordered_json training = nlohmann::ordered_json::object();  ///< options of the training
    std::string log;                                                     ///< the rows of the CSV log so far
};

/// Whether a file is that of a trained U-Net, by its content. Throws a file error if it cannot be read.
[[nodiscard]] bool is_model_file(const std::filesystem::path& path);

/// Writes weights (and, to continue training, the optimiser's moments) as a .npz with meta.json. numpy.load
/// opens it, and it does not depend on the version of a library. The file appears complete or not at all.
void write_model(const std::filesystem::path& path, const ModelHeader& header, const Network& network,
                 bool with_moments);
/// The same into an open file, which the caller commits.
void write_model(AtomicFile& file, const ModelHeader& header, const Network& network, bool with_moments);

/// Reads the header only; throws a data error if the file is not a model.
[[nodiscard]] ModelHeader read_model_header(const std::filesystem::path& path);
/// Sets the network's tensors from the file. `with_moments`: also the moments. Throws a data error if the
/// checksum is wrong, or if a tensor is missing or has another shape.
void read_model(const std::filesystem::path& path, Network& network, bool with_moments);

/// Sets the initial weights, which do not depend on the library: normal with variance 2 / fan-in, drawn by
/// (seed, tensor, output channel); biases and moments are 0.
void initialise(Network& network, std::uint64_t seed);

/// Number of weights and biases.
[[nodiscard]] std::uint64_t count_parameters(const Network& network);

}  // namespace kandinsky
