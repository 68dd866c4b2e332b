// Reads the state of a monitor after changes by the input. Three bytes are a change: two for a place and one
// to write there. Members are not compressed and checksums are corrected, so that changes reach the content
// of the state.
#include <kandinsky/monitor.hpp>

#include "harness.hpp"
#include "monitor/state_file.hpp"
#include "zip_repair.hpp"

namespace {

using namespace kandinsky;

constexpr std::size_t kImages = 12, kRows = 4, kColumns = 5;

Dataset images() {
    std::vector<float> probs;
    std::vector<std::uint8_t> labels;
    for (std::size_t i = 0; i < kImages * kRows * kColumns; ++i) {
        labels.push_back(static_cast<std::uint8_t>(i * 7 % 11 < 4));
        probs.push_back(static_cast<float>((i * 13 + 5 * labels.back()) % 17) / 16);
    }
    return Dataset(Array::copy_of(probs, {kImages, 1, kRows, kColumns}),
                   Array::copy_of(labels, {kImages, kRows, kColumns}), {});
}

/// A stream with a few images, and its calibrator.
struct Stream {
    Dataset data = images();
    Calibrator calibrator = calibrate(data, {.method = "image"});
    Reference reference = make_reference(calibrator, data);
    std::string state;

    Stream() {
        Monitor monitor(calibrator, reference);
        monitor.update(data);
        state = fuzz::written([&](AtomicFile& file) { save(monitor, file); });
    }
};

void go_on(const Stream& stream) {
    Monitor monitor(stream.calibrator, stream.reference, std::filesystem::path(fuzz::kInput));
    const std::string same = fuzz::written([&](AtomicFile& file) { save(monitor, file); });
    fuzz::set_input(fuzz::as_bytes(same));
    const Monitor again(stream.calibrator, stream.reference, std::filesystem::path(fuzz::kInput));
    fuzz::check(fuzz::written([&](AtomicFile& file) { save(again, file); }) == same,
                "saving again changes the state");
    monitor.update(stream.data);
    (void)monitor.verdict();
    (void)monitor.outputs_course();
    (void)monitor.labels_course();
    (void)monitor.change_map();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Stream stream;
    std::string state = stream.state;
    for (std::size_t i = 0; i + 2 < size; i += 3)
        state[(data[i] + std::size_t{256} * data[i + 1]) % state.size()] = static_cast<char>(data[i + 2]);
    const std::string right = fuzz::with_right_checksums(state);
    fuzz::set_input(fuzz::as_bytes(right));
    const bool went_on = fuzz::result_or_error([] { go_on(stream); });
    fuzz::check(went_on || size > 2, "a state that was not changed is refused");
    return 0;
}
