#include "io/onnx/graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/onnx/fields.hpp"

namespace kandinsky {

using namespace onnx;

namespace {
ProtoWriter attribute_of(const std::string& name, const OnnxGraph::Value& value) {
    ProtoWriter out;
    out.text(attribute::kName, name);
    if (const auto* const number = std::get_if<std::int64_t>(&value)) {
        out.number(attribute::kInt, static_cast<std::uint64_t>(*number));
        out.number(attribute::kType, attribute::kIsInt);
    } else if (const auto* const text = std::get_if<std::string>(&value)) {
        out.text(attribute::kString, *text);
        out.number(attribute::kType, attribute::kIsString);
    } else {
        for (const std::int64_t each : std::get<std::vector<std::int64_t>>(value))
            out.number(attribute::kInts, static_cast<std::uint64_t>(each));
        out.number(attribute::kType, attribute::kIsInts);
    }
    return out;
}

/// A ValueInfoProto; the first axis is the batch, of any length.
ProtoWriter info_of(const std::string& name, OnnxType type, const std::vector<std::int64_t>& item) {
    ProtoWriter shape, batch, tensor, whole, out;
    batch.text(dim::kParam, "N");
    shape.message(shape::kDim, batch);
    for (const std::int64_t length : item) {
        ProtoWriter one;
        one.number(dim::kValue, static_cast<std::uint64_t>(length));
        shape.message(shape::kDim, one);
    }
    tensor.number(tensor_type::kElement, static_cast<std::uint64_t>(type));
    tensor.message(tensor_type::kShape, shape);
    whole.message(type::kTensor, tensor);
    out.text(info::kName, name);
    out.message(info::kType, whole);
    return out;
}
}  // namespace

std::string OnnxGraph::fresh(const std::string& type) {
    return fmt::format("{}{}_{}", kPrefix, type, made_++);
}

void OnnxGraph::node(const std::string& type, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs, const Attributes& attributes,
                     const std::string& name) {
    ProtoWriter out;
    for (const std::string& input : inputs) out.text(node::kInput, input);
    for (const std::string& output : outputs) out.text(node::kOutput, output);
    out.text(node::kName, name);
    out.text(node::kType, type);
    for (const auto& [key, value] : attributes) out.message(node::kAttribute, attribute_of(key, value));
    fields_.message(graph::kNode, out);
}

std::string OnnxGraph::add(const std::string& type, const std::vector<std::string>& inputs,
                           const Attributes& attributes, const std::string& says) {
    std::string name = fresh(type);
    node(type, inputs, {name}, attributes, says.empty() ? name : fmt::format("{} ({})", name, says));
    return name;
}

std::vector<std::string> OnnxGraph::add_several(const std::string& type,
                                                const std::vector<std::string>& inputs, std::size_t outputs,
                                                const Attributes& attributes) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < outputs; ++i) names.push_back(fresh(type));
    node(type, inputs, names, attributes, names.front());
    return names;
}

void OnnxGraph::input(const std::string& name, const std::vector<std::int64_t>& shape) {
    fields_.message(graph::kInput, info_of(name, OnnxType::float32, shape));
}

void OnnxGraph::output(const std::string& from, const std::string& name,
                       const std::vector<std::int64_t>& shape) {
    node("Identity", {from}, {name}, {}, fresh("Identity"));
    fields_.message(graph::kOutput, info_of(name, OnnxType::boolean, shape));
}

std::string OnnxGraph::constant(const std::vector<std::int64_t>& shape, OnnxType type,
                                std::string_view bytes) {
    std::string name = fresh("constant");
    ProtoWriter out;
    for (const std::int64_t length : shape) out.number(tensor::kDims, static_cast<std::uint64_t>(length));
    out.number(tensor::kType, static_cast<std::uint64_t>(type));
    out.text(tensor::kName, name);
    out.text(tensor::kRaw, bytes);
    fields_.message(graph::kInitializer, out);
    return name;
}

std::string OnnxGraph::reals(const std::vector<std::int64_t>& shape, std::span<const float> values) {
    return constant(shape, OnnxType::float32,
                    {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

std::string OnnxGraph::doubles(const std::vector<std::int64_t>& shape, std::span<const double> values) {
    return constant(shape, OnnxType::float64,
                    {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

std::string OnnxGraph::integers(const std::vector<std::int64_t>& shape,
                                std::span<const std::int64_t> values) {
    return constant(shape, OnnxType::int64,
                    {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

std::string OnnxGraph::small_integers(const std::vector<std::int64_t>& shape,
                                      std::span<const std::int64_t> values) {
    const std::int64_t most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
    if (most > 0xFFFF) return integers(shape, values);
    const std::size_t each = most > 0xFF ? 2 : 1;
    std::string bytes;
    bytes.reserve(values.size() * each);
    for (const std::int64_t value : values)
        for (std::size_t byte = 0; byte < each; ++byte)
            bytes += static_cast<char>(value >> (8 * byte) & 0xFF);
    return constant(shape, each == 2 ? OnnxType::uint16 : OnnxType::uint8, bytes);
}

}  // namespace kandinsky
