#include <algorithm>
#include <kandinsky/error.hpp>
#include <kandinsky/predict.hpp>
#include <kandinsky/threads.hpp>
#include <memory>
#include <string_view>

#include "calibrate/set_tally.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/base/thread_buffer.hpp"
#include "core/data/dataset_access.hpp"
#include "core/kernel/pack_bits.hpp"

namespace kandinsky {

namespace {
void check_fits(std::size_t classes, Grid grid, const Dataset& data) {
    const std::string& name = data.options().probs_name;
    if (data.classes() != classes)
        fail(ErrorKind::data, "{} has {} classes, but the calibrator was made for {}", name, data.classes(),
             classes);
    if (data.grid() != grid)
        fail(ErrorKind::data,
             "{} has images of {} x {} (height x width), but the calibrator was made for {} x {}; bring them "
             "to that size, as the calibration images were",
             name, data.grid().height, data.grid().width, grid.height, grid.width);
}

/// The probabilities of one image, [class][pixel], in memory that the thread reuses for its next image.
std::span<const float> probs_of(const Dataset& data, std::size_t image) {
    const std::size_t pixels = data.grid().pixels();
    std::vector<float>& probs = thread_buffer<float, struct ProbsOf>();
    probs.resize(data.classes() * pixels);
    data.read_probs(image, {0, pixels}, probs);
    return probs;
}

/// The probabilities of one image if they are stored as halves, [class][pixel]; otherwise nothing.
std::span<const std::uint16_t> halves_of(const Dataset& data, std::size_t image) {
    const std::size_t pixels = data.grid().pixels();
    const std::byte* const first = halves_of(data, image, 0);
    // The planes of all classes are equally spaced.
    if (first == nullptr || halves_of(data, image, 1) != first + 2 * pixels) return {};
    return {reinterpret_cast<const std::uint16_t*>(first), data.classes() * pixels};
}

/// Calls make(image, out), which writes `bytes` bytes, for every image in parallel within blocks, and passes
/// the blocks to the sink.
template <class Make>
void predict_blocks(const Dataset& data, std::size_t bytes, const PredictionSink& sink,
                    std::size_t block_bytes, Progress& progress, std::string_view stage, Make&& make) {
    const std::size_t images = data.images();
    const auto* const memory = std::get_if<std::span<std::byte>>(&sink);
    if (memory != nullptr && memory->size() != images * bytes)
        fail(ErrorKind::usage, "[predict] the memory has {} bytes, but the predictions have {}",
             memory->size(), images * bytes);
    // At least one image per thread, otherwise large images would leave threads idle.
    const std::size_t block = std::min(images, std::max(block_bytes / bytes, threads_in_use()));
    // Every byte is written; clearing the buffer first would cost as much as the comparisons.
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(memory != nullptr ? 0 : block * bytes);
    for (std::size_t first = 0; first < images; first += block) {
        progress.update(stage, first, images);
        const std::size_t count = std::min(block, images - first);
        std::byte* const out = memory != nullptr ? memory->data() + first * bytes : buffer.get();
        parallel_for(count, [&](std::size_t i) {
            if (progress.cancelled()) throw Interrupted();
            make(first + i, out + i * bytes);
        });
        data.release(first, first + count);
        if (memory == nullptr) std::get<1>(sink)({out, count * bytes});
    }
    progress.update(stage, images, images);
    if (progress.cancelled()) throw Interrupted();
}

/// Writes the sets of one image as bytes; returns how many were filled.
std::uint64_t make_sets(const Predictor& predictor, const Dataset& data, std::size_t image,
                        std::span<std::uint8_t> out) {
    if (const std::span<const std::uint16_t> halves = halves_of(data, image); !halves.empty())
        if (const std::optional<std::uint64_t> filled = predictor.half_sets(halves, out)) return *filled;
    return predictor.sets(probs_of(data, image), out);  // reports the place of a bad value
}
}  // namespace

void check_fits(const Calibrator& calibrator, const Dataset& data) {
    check_fits(calibrator.classes, calibrator.grid, data);
}

std::uint64_t predict_image(const Predictor& predictor, const Dataset& data, std::size_t image, SetForm form,
                            std::span<std::uint8_t> out) {
    if (form == SetForm::bits) return predictor.packed_sets(probs_of(data, image), out);
    return make_sets(predictor, data, image, out);
}

Predicted predict_sets(const Predictor& predictor, const Dataset& data, const PredictionSink& sink,
                       const PredictOptions& options, Progress& progress) {
    check_fits(predictor.classes(), predictor.grid(), data);
    const Grid grid = predictor.grid();
    const bool packed = options.form == SetForm::bits;
    const std::size_t rows = predictor.classes() * grid.height,
                      width = packed ? predictor.packed_width() : grid.width;
    SetTally tally(predictor.classes());
    predict_blocks(
        data, rows * width, sink, options.block, progress, "predicting",
        [&](std::size_t image, std::byte* to) {
            auto* const out = reinterpret_cast<std::uint8_t*>(to);
            std::vector<std::uint8_t>& plain = thread_buffer<std::uint8_t, struct PlainSets>();
            if (packed) plain.resize(rows * grid.width);
            std::uint8_t* const sets = packed ? plain.data() : out;
            tally.add(sets, grid.pixels(), make_sets(predictor, data, image, {sets, rows * grid.width}));
            for (std::size_t row = 0; packed && row < rows; ++row)
                pack_bits(sets + row * grid.width, grid.width, out + row * width);
        });
    return tally.counts();
}

Predicted predict_p_values(const Calibrator& calibrator, const Dataset& data, const PredictionSink& sink,
                           const PredictOptions& options, Progress& progress) {
    check_fits(calibrator, data);
    const std::size_t values = calibrator.classes * calibrator.grid.pixels();
    predict_blocks(data, values * sizeof(float), sink, options.block, progress, "p-values",
                   [&](std::size_t image, std::byte* out) {
                       p_values(calibrator, probs_of(data, image), {reinterpret_cast<float*>(out), values});
                   });
    return {.images = data.images(), .sets = data.images() * data.grid().pixels()};
}

}  // namespace kandinsky
