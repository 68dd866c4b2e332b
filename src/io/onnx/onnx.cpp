#include <algorithm>
#include <kandinsky/onnx.hpp>

#include "calibrate/empty_rule.hpp"
#include "core/base/fail.hpp"
#include "io/file/printable.hpp"
#include "io/kcal/kcal.hpp"
#include "io/onnx/fields.hpp"
#include "io/onnx/model.hpp"
#include "io/onnx/sets_graph.hpp"

namespace kandinsky {

using namespace onnx;

namespace {
// For a graph without a model: onnxruntime 1.13, OpenVINO 2023 and later versions read these.
constexpr std::uint64_t kOwnOpset = 17, kOwnIr = 8;
constexpr std::size_t kMostBytes = 0x7FFFFFFF;  // protobuf's limit for a message

std::string_view word(Logits logits) {
    return logits == Logits::sigmoid ? "sigmoid" : logits == Logits::softmax ? "softmax" : "none";
}

void check(const Calibrator& calibrator, const OnnxOptions& options, Logits logits) {
    const ScoreOptions& score = calibrator.options.score;
    if (score.randomized)
        fail(ErrorKind::usage,
             "the score {} is randomized: its sets depend on a hash of the image, which a graph cannot "
             "compute; "
             "calibrate without `randomized`",
             name_of(score.kind));
    if (options.alphas.empty()) fail(ErrorKind::usage, "`alpha` is empty, but the graph needs a level");
    for (std::size_t i = 0; i < options.alphas.size(); ++i) {
        check_alpha(options.alphas[i]);
        if (std::count(options.alphas.begin(), options.alphas.end(), options.alphas[i]) > 1)
            fail(ErrorKind::usage, "`alpha` has {} twice", options.alphas[i]);
    }
    if (options.foreground && calibrator.classes != 2)
        fail(
            ErrorKind::usage,
            "`foreground` is for two classes, given as the probability of class 1, but the calibrator has {}",
            calibrator.classes);
    if (options.foreground && logits == Logits::softmax)
        fail(ErrorKind::usage, "softmax over a single class is always 1; use `logits sigmoid`");
    if (!options.onto && !options.output_name.empty())
        fail(ErrorKind::usage, "`output_name` needs `onto MODEL.onnx`");
}

/// The model's output as the graph's input. Throws if it does not fit the calibrator.
SetsInput fitting(const Calibrator& calibrator, const OnnxOptions& options, Logits logits,
                  const OnnxFile& model) {
    const std::string name = options.onto->string();
    SetsInput input{model.output(options.output_name), logits, options.foreground, model.opset()};
    const OnnxTensor& tensor = input.tensor;
    constexpr OnnxType kFloats[] = {OnnxType::float32, OnnxType::float16, OnnxType::float64,
                                    OnnxType::bfloat16};
    if (std::none_of(std::begin(kFloats), std::end(kFloats),
                     [&](OnnxType type) { return static_cast<std::uint64_t>(type) == tensor.type; }))
        fail(
            ErrorKind::data,
            "{}: output '{}' holds no floats (ONNX type {}); `output_name` must name probabilities or logits",
            name, printable(tensor.name), tensor.type);
    const auto classes = static_cast<std::int64_t>(calibrator.classes);
    const std::int64_t planes = tensor.shaped && tensor.shape.size() == 4 ? tensor.shape[1] : -1;
    if (classes == 2 && planes == 1) input.foreground = true;
    if (input.foreground && logits == Logits::softmax)
        fail(ErrorKind::usage,
             "{}: softmax over the single class of output '{}' is always 1; use `logits sigmoid`", name,
             printable(tensor.name));
    if (const std::string made = model.operator_of(tensor.name);
        logits != Logits::none && (made == "Softmax" || made == "Sigmoid"))
        fail(ErrorKind::usage,
             "{}: output '{}' holds probabilities already (computed by {}), but `logits {}` would be applied "
             "to it{}; use `logits none`",
             name, printable(tensor.name), made, word(logits), options.logits ? "" : ", as in calibration");
    const std::int64_t wanted[] = {-1, input.foreground ? 1 : classes, calibrator.grid.height,
                                   calibrator.grid.width};
    bool fits = !tensor.shaped || tensor.shape.size() == 4;
    for (std::size_t axis = 1; fits && tensor.shaped && axis < 4; ++axis)
        fits = tensor.shape[axis] < 0 || tensor.shape[axis] == wanted[axis];
    if (!fits) {
        std::string has;
        for (const std::int64_t length : tensor.shape)
            has += fmt::format("{}{}", has.empty() ? "" : ",", length < 0 ? "?" : fmt::format("{}", length));
        fail(ErrorKind::data,
             "{}: output '{}' has shape [{}], but the calibrator is made for [N,{},{},{}] (classes, height, "
             "width)",
             name, printable(tensor.name), has, wanted[1], wanted[2], wanted[3]);
    }
    return input;
}

ProtoWriter properties(const Calibrator& calibrator, const OnnxOptions& options, const SetsInput& input) {
    std::string alphas;
    for (const double alpha : options.alphas) alphas += fmt::format("{}{}", alphas.empty() ? "" : ",", alpha);
    const std::pair<std::string_view, std::string> all[] = {
        {"alpha", alphas},
        {"guarantee", guarantee(calibrator)},
        {"fingerprint", fmt::format("{:016x}{:016x}", calibrator.fingerprint[0], calibrator.fingerprint[1])},
        {"identity", identity_of(calibrator)},
        {"version", calibrator.version},
        {"score", describe(calibrator.options.score)},
        {"empty", std::string(name_of(empty_rule(options.empty, calibrator)))},
        {"logits", std::string(word(input.logits))},
        {"input", input.tensor.name},
        {"classes", fmt::format("{}", calibrator.classes)},
        {"grid", fmt::format("{}x{}", calibrator.grid.width, calibrator.grid.height)}};
    ProtoWriter out;
    for (const auto& [key, value] : all) {
        ProtoWriter entry;
        entry.text(property::kKey, fmt::format("kandinsky.{}", key));
        entry.text(property::kValue, value);
        out.message(model::kProperty, entry);
    }
    return out;
}

std::string alone(const OnnxGraph& graph, const ProtoWriter& end) {
    ProtoWriter out, inner, set;
    out.number(model::kIr, kOwnIr);
    out.text(model::kProducer, "kandinsky");
    out.text(model::kProducerVersion, KANDINSKY_VERSION);
    inner.text(graph::kName, "kandinsky");
    inner.raw(graph.fields().bytes());
    out.message(model::kGraph, inner);
    set.text(opset::kDomain, "");
    set.number(opset::kVersion, kOwnOpset);
    out.message(model::kOpset, set);
    out.raw(end.bytes());
    return out.bytes();
}
}  // namespace

OnnxModel onnx_sets(const Calibrator& calibrator, const OnnxOptions& options) {
    const Logits logits = options.logits.value_or(calibrator.logits);
    check(calibrator, options, logits);
    OnnxGraph graph;
    OnnxModel out;
    if (options.onto) {
        const OnnxFile model(*options.onto);
        if (model.has_sets())
            fail(ErrorKind::data, "{}: sets were appended to it before; give the model without sets",
                 options.onto->string());
        namespace fs = std::filesystem;
        const fs::path home = fs::absolute(*options.onto).parent_path();
        std::error_code ignored;
        const fs::path target = fs::absolute(options.folder, ignored);
        if (model.has_external_data() && !fs::equivalent(home, target, ignored))
            fail(ErrorKind::data,
                 "{}: its weights are in other files beside it; write the result into its folder",
                 options.onto->string());
        const SetsInput input = fitting(calibrator, options, logits, model);
        out.outputs = add_sets(graph, calibrator, input, options.alphas, options.empty);
        for (const std::string& name : out.outputs)
            if (model.has(name))
                fail(ErrorKind::data, "{}: it already has a tensor '{}', the name of the sets",
                     options.onto->string(), name);
        out.input = input.tensor.name;
        out.bytes = model.with(graph.fields(), properties(calibrator, options, input));
    } else {
        const std::int64_t planes = options.foreground ? 1 : static_cast<std::int64_t>(calibrator.classes);
        const SetsInput input{{.name = logits == Logits::none ? "probs" : "logits",
                               .shaped = true,
                               .shape = {-1, planes, calibrator.grid.height, calibrator.grid.width}},
                              logits,
                              options.foreground,
                              kOwnOpset};
        graph.input(input.tensor.name, {planes, calibrator.grid.height, calibrator.grid.width});
        out.outputs = add_sets(graph, calibrator, input, options.alphas, options.empty);
        out.input = input.tensor.name;
        out.bytes = alone(graph, properties(calibrator, options, input));
    }
    if (out.bytes.size() > kMostBytes)
        fail(ErrorKind::data,
             "the graph takes {} bytes, more than the 2 GB that an ONNX file may have; give fewer alphas",
             out.bytes.size());
    return out;
}

}  // namespace kandinsky
