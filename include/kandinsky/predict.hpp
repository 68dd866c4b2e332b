#pragma once

#include <functional>
#include <kandinsky/export.hpp>
#include <kandinsky/predictor.hpp>
#include <variant>

namespace KANDINSKY_API kandinsky {

/// How the sets of an image are stored.
enum class SetForm {
    bytes,  ///< uint8 [C,H,W], 1 where the class is in the set
    bits,   ///< uint8 [C,H,ceil(W/8)], as numpy.packbits makes it along the last axis
};

/// The destination of predictions, in the order of the images: memory for all images
/// (`std::as_writable_bytes(std::span(sets))`), or a function that the calling thread calls with one block of
/// whole images after another.
using PredictionSink = std::variant<std::span<std::byte>, std::function<void(std::span<const std::byte>)>>;

/// The options of predict_sets() and predict_p_values().
struct PredictOptions {
    SetForm form = SetForm::bytes;  ///< of sets
    /// Bytes of predictions in a block; a block has at least one image per thread. No effect on the results.
    std::size_t block = std::size_t{32} << 20;
};

/// Counts of the predictions. Set measures are counted by predict_sets() only.
struct Predicted {
    std::uint64_t images = 0;  ///< number of images
    std::uint64_t sets = 0;    ///< one for each pixel of each image
    std::uint64_t filled = 0;  ///< sets that would have been empty and got the most probable class
    std::uint64_t empty = 0;   ///< sets without a class
    std::uint64_t single = 0;  ///< sets of one class, including filled sets
    std::uint64_t full = 0;    ///< sets with every class
    std::vector<std::uint64_t> members{};  ///< [class] sets that contain it
};

/// The sets of all images. Images are read and predicted in parallel, block by block, and pages of mapped
/// files are released after use; nothing is allocated per image. Throws a usage error if the memory of `sink`
/// has another size, a data error if the data do not fit the predictor or a probability is not in [0, 1] (it
/// names image, class, row and column), and Interrupted when `progress` asks to stop.
Predicted predict_sets(const Predictor& predictor, const Dataset& data, const PredictionSink& sink,
                       const PredictOptions& options = {}, Progress& progress = silent());

/// The same for conformal p-values, float32 [C,H,W] of each image. Throws a usage error for Risk::precision.
Predicted predict_p_values(const Calibrator& calibrator, const Dataset& data, const PredictionSink& sink,
                           const PredictOptions& options = {}, Progress& progress = silent());

/// The sets of one image, as predict_sets() makes them, for programs with their own loop. The data must fit
/// the predictor. Writes the sets to `out` and returns how many were filled. Throws a usage error if `out`
/// has another size and a data error for bad probabilities. Thread-safe.
std::uint64_t predict_image(const Predictor& predictor, const Dataset& data, std::size_t image, SetForm form,
                            std::span<std::uint8_t> out);

}  // namespace kandinsky
