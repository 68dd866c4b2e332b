// Reads any bytes as an ONNX model and appends sets to it.
#include <kandinsky/onnx.hpp>

#include "harness.hpp"
#include "io/onnx/model.hpp"

namespace {

using namespace kandinsky;

void read_and_grow() {
    const OnnxFile model(fuzz::kInput);
    (void)model.has_external_data();
    for (const char* const name : {"", "probs", "sets_0.1"})
        fuzz::result_or_error([&] {
            const OnnxTensor& found = model.output(name);
            fuzz::check(*name == '\0' || found.name == name, "an output of another name");
            (void)model.has(found.name);
        });
    // Appending nothing keeps every byte except the length of the graph, which may be written shorter.
    const std::string same = model.with({}, {});
    fuzz::set_input(fuzz::as_bytes(same));
    const OnnxFile again(fuzz::kInput);
    fuzz::check(again.opset() == model.opset(), "another operator set");
    fuzz::check(again.with({}, {}) == same, "the second writing differs");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::set_input(fuzz::as_bytes(data, size));
    fuzz::result_or_error(read_and_grow);
    return 0;
}
