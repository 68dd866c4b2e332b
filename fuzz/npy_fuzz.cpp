// Reads any bytes as a .npy file, and uses the array.
#include <cstring>
#include <kandinsky/dataset.hpp>
#include <kandinsky/npy.hpp>

#include "harness.hpp"
#include "io/array/npy.hpp"

namespace {

using namespace kandinsky;

std::string c_order(const ArrayView& view) {
    std::string out;
    for_each_c_order_piece(view, [&](const std::byte* data, std::size_t bytes) {
        out.append(reinterpret_cast<const char*>(data), bytes);
    });
    return out;
}

void use_as_probabilities(const Array& array) {
    const Dataset data(array);
    if (data.images() == 0 || data.grid().pixels() == 0) return;
    const PixelRange all{0, data.grid().pixels()};
    std::vector<float> probs(data.classes() * data.grid().pixels());
    data.read_probs(data.images() - 1, all, probs);
    for (const float p : probs) fuzz::check(p >= 0 && p <= 1, "a probability outside [0, 1] was accepted");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::set_input(fuzz::as_bytes(data, size));
    Array array;
    if (!fuzz::result_or_error([&] { array = read_npy(fuzz::kInput); })) return 0;
    fuzz::check(array.view().size() * size_of(array.dtype()) <= size, "more elements than bytes");
    const std::string content = c_order(array.view());
    (void)array.to_vector<double>();
    fuzz::set_input(fuzz::as_bytes(npy_header(array.dtype(), array.shape()) + content));
    const Array again = read_npy(fuzz::kInput);
    fuzz::check(
        again.dtype() == array.dtype() && again.shape() == array.shape() && c_order(again.view()) == content,
        "writing and reading changes an array");
    fuzz::result_or_error([&] { use_as_probabilities(array); });
    return 0;
}
