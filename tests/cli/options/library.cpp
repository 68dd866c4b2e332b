// Calls the library as a C++ program would, with options by name. Tests compare its files with those of the
// command, byte for byte.
#include <charconv>
#include <cstdio>
#include <functional>
#include <kandinsky/kandinsky.hpp>
#include <map>
#include <sstream>
#include <stdexcept>

using namespace kandinsky;

namespace {
template <class T>
T number(const std::string& text) {
    T value{};
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc() || end != text.data() + text.size()) throw std::invalid_argument(text);
    return value;
}

template <class T>
std::vector<T> numbers(const std::string& text) {
    std::vector<T> out;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, ',');) out.push_back(number<T>(word));
    return out;
}

struct Call {
    std::map<std::string, std::string> files;  ///< probs, labels, test, groups
    DatasetOptions reading;
    CalibrateOptions options;
    double alpha = 0.1;
    EmptySets empty = EmptySets::automatic;

    void set(const std::string& name, const std::string& value) {
        CalibrateOptions& to = options;
        const std::map<std::string, std::function<void()>> known{
            {"method", [&] { to.method.name = value; }},
            {"pooling", [&] { to.pooling = pooling_of(value); }},
            {"condition", [&] { to.condition = condition_of(value); }},
            {"fallback", [&] { to.fallback = fallback_of(value); }},
            {"min-count", [&] { to.min_count = number<std::uint64_t>(value); }},
            {"quantiles", [&] { to.quantiles = numbers<double>(value); }},
            {"rungs", [&] { to.rungs = number<std::size_t>(value); }},
            {"promise", [&] { to.promise = promise_of(value); }},
            {"split", [&] { to.split = number<double>(value); }},
            {"seed", [&] { to.seed = number<std::uint64_t>(value); }},
            {"memory", [&] { to.memory = number<std::size_t>(value.substr(0, value.find('M'))) << 20; }},
            {"score", [&] { to.score.kind = score_kind(value); }},
            {"randomized", [&] { to.score.randomized = true; }},
            {"raps-lambda", [&] { to.score.raps_lambda = number<double>(value); }},
            {"raps-kreg", [&] { to.score.raps_kreg = number<std::uint32_t>(value); }},
            {"saps-weight", [&] { to.score.saps_weight = number<double>(value); }},
            {"mask", [&] { to.method.settings.arrays[name] = read_npy(value); }},
            {"ignore", [&] { reading.ignore = numbers<std::int64_t>(value); }},
            {"logits", [&] { reading.logits = value == "sigmoid" ? Logits::sigmoid : Logits::softmax; }},
            {"alpha", [&] { alpha = number<double>(value); }},
            {"empty", [&] { empty = empty_sets_of(value); }},
        };
        if (const auto found = known.find(name); found != known.end())
            found->second();
        else if (name == "probs" || name == "labels" || name == "test" || name == "groups")
            files[name] = value;
        else
            to.method.settings.text[name] = value;
    }
};

template <class T>
void write(const char* path, const Dataset& images, std::vector<T> values, DType dtype) {
    const std::vector<std::size_t> shape{images.images(), images.classes(), images.grid().height,
                                         images.grid().width};
    write_npy(path,
              {reinterpret_cast<const std::byte*>(values.data()), dtype, shape, c_strides(shape, dtype)});
}
}  // namespace

/// library NAME=VALUE...: writes library.kcal, library_sets.npy and library_p.npy.
int main(int argc, char** argv) try {
    Call call;
    for (const std::string word : std::span(argv + 1, argv + argc))
        call.set(word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
    const Array groups = call.files.contains("groups") ? read_npy(call.files["groups"]) : Array();
    const Dataset data(read_npy(call.files["probs"]), read_npy(call.files["labels"]), groups, call.reading);
    const Calibrator calibrator = calibrate(data, call.options);
    save(calibrator, make_reference(calibrator, data), "library.kcal");
    const Dataset test(read_npy(call.files["test"]), call.reading);
    const std::size_t n = test.images() * test.classes() * test.grid().pixels();
    std::vector<std::uint8_t> sets(n);
    std::vector<float> p(n);
    predict_sets(Predictor(calibrator, call.alpha, call.empty), test,
                 std::as_writable_bytes(std::span(sets)));
    predict_p_values(calibrator, test, std::as_writable_bytes(std::span(p)));
    write("library_sets.npy", test, std::move(sets), DType::uint8);
    write("library_p.npy", test, std::move(p), DType::float32);
} catch (const std::exception& error) {
    std::fprintf(stderr, "library: %s\n", error.what());
    return 1;
}
