#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "model/network.hpp"

namespace kandinsky {

/// What a trained U-Net's file says besides its weights.
struct ModelHeader {
    UNetShape shape;
    std::string intensity = "none";                                      ///< how images were prepared
    std::uint64_t step = 0, steps = 0;                                   ///< of training, done and planned
    nlohmann::ordered_json training = nlohmann::ordered_json::object();  ///< options that made it
    std::string log;                                                     ///< the rows of the CSV log so far
};

/// Whether a file is one of ours, by its content.
[[nodiscard]] bool is_model_file(const std::filesystem::path& path);

/// Writes weights (and, for going on with training, the optimiser's moments) as a .npz with meta.json:
/// numpy.load opens it, no library's version matters. Atomic.
void write_model(const std::filesystem::path& path, const ModelHeader& header, const Network& network,
                 bool with_moments);

/// The header alone; throws a data error for what is no model file.
[[nodiscard]] ModelHeader read_model_header(const std::filesystem::path& path);
/// Sets the network's tensors from the file; `with_moments`: those too, an error when they are missing.
void read_model(const std::filesystem::path& path, Network& network, bool with_moments);

/// First weights, whatever the library: normal with variance 2 / fan-in, by (seed, tensor); biases 0.
void initialise(Network& network, std::uint64_t seed);

/// Number of weights.
[[nodiscard]] std::uint64_t count_parameters(const Network& network);

}  // namespace kandinsky
