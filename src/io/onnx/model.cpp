#include "io/onnx/model.hpp"

#include "core/base/fail.hpp"
#include "io/file/printable.hpp"
#include "io/onnx/fields.hpp"

namespace kandinsky {

using namespace onnx;

namespace {
constexpr std::uint64_t kOldestOpset = 13, kNewestOpset = 25;  // tests/cli/commands/test_export.py runs all
constexpr std::uint64_t kOldestIr = 4;                         // the first where constants need not be inputs

std::vector<std::int64_t> shape_of(std::string_view bytes, const std::string& name) {
    std::vector<std::int64_t> out;
    for (ProtoReader dims(bytes, name); dims.next();) {
        if (!dims.has(shape::kDim)) continue;
        out.push_back(-1);
        for (ProtoReader one(dims.field().bytes, name); one.next();)
            if (one.field().number == dim::kValue && !one.field().is_bytes)
                out.back() = static_cast<std::int64_t>(one.field().value);
    }
    return out;
}

OnnxTensor tensor_of(std::string_view bytes, const std::string& name) {
    OnnxTensor out{.name = {}, .type = 0};
    for (ProtoReader info(bytes, name); info.next();) {
        if (info.has(info::kName)) out.name = info.field().bytes;
        if (!info.has(info::kType)) continue;
        for (ProtoReader kind(info.field().bytes, name); kind.next();) {
            if (!kind.has(type::kTensor)) continue;
            for (ProtoReader part(kind.field().bytes, name); part.next();) {
                if (part.field().number == tensor_type::kElement) out.type = part.field().value;
                if (!part.has(tensor_type::kShape)) continue;
                out.shaped = true;
                out.shape = shape_of(part.field().bytes, name);
            }
        }
    }
    return out;
}
}  // namespace

OnnxFile::OnnxFile(const std::filesystem::path& path) : name_(path.string()), file_(map_file(path)) {
    for (ProtoReader whole(file_.text(), name_); whole.next();) {
        const ProtoField& field = whole.field();
        if (field.number == model::kIr) ir_ = field.value;
        if (whole.has(model::kGraph)) {
            graph_ = field.bytes;
            graph_begin_ = field.begin;
            graph_end_ = field.end;
            read_graph(field.bytes);
        } else if (whole.has(model::kOpset)) {
            std::string_view domain;
            std::uint64_t version = 0;
            for (ProtoReader set(field.bytes, name_); set.next();) {
                if (set.has(opset::kDomain)) domain = set.field().bytes;
                if (set.field().number == opset::kVersion) version = set.field().value;
            }
            if (domain.empty() || domain == "ai.onnx") opset_ = version;
        }
    }
    if (graph_end_ == 0 || ir_ == 0 || outputs_.empty())
        fail(ErrorKind::data, "{}: this is not an ONNX model, or it is damaged", name_);
    if (opset_ < kOldestOpset || opset_ > kNewestOpset || ir_ < kOldestIr)
        fail(ErrorKind::data,
             "{}: its operator set is {} (IR version {}), but must be {} to {} (IR version {} or later); "
             "convert the model with onnx.version_converter, or export it again",
             name_, opset_, ir_, kOldestOpset, kNewestOpset, kOldestIr);
}

void OnnxFile::read_graph(std::string_view graph) {
    for (ProtoReader parts(graph, name_); parts.next();) {
        const std::string_view bytes = parts.field().bytes;
        if (parts.has(graph::kOutput)) {
            outputs_.push_back(tensor_of(bytes, name_));
        } else if (parts.has(graph::kInput)) {
            tensors_.insert(tensor_of(bytes, name_).name);
        } else if (parts.has(graph::kInitializer)) {
            for (ProtoReader one(bytes, name_); one.next();) {
                if (one.has(tensor::kName)) tensors_.emplace(one.field().bytes);
                if (one.field().number == tensor::kLocation) external_ |= one.field().value == 1;
            }
        } else if (parts.has(graph::kNode)) {
            Node maker;
            std::vector<std::string_view> made;
            for (ProtoReader one(bytes, name_); one.next();) {
                const std::string_view word = one.field().bytes;
                if (one.has(node::kType)) maker.type = word;
                if (one.has(node::kInput) && maker.first_input.empty()) maker.first_input = word;
                if (one.has(node::kOutput)) made.push_back(word);
            }
            for (const std::string_view output : made) {
                tensors_.emplace(output);
                has_sets_ |= output.starts_with(OnnxGraph::kPrefix);
                makers_.emplace(output, maker);
            }
        }
    }
}

std::string OnnxFile::operator_of(std::string tensor) const {
    for (std::size_t step = 0; step <= makers_.size(); ++step) {  // a damaged graph may have cycles
        const auto found = makers_.find(tensor);
        if (found == makers_.end()) break;
        const Node& maker = found->second;
        if (maker.type != "Cast" && maker.type != "Identity") return std::string(maker.type);
        tensor = maker.first_input;
    }
    return {};
}

const OnnxTensor& OnnxFile::output(const std::string& name) const {
    std::string names;
    for (const OnnxTensor& one : outputs_) {
        if (one.name == name || (name.empty() && outputs_.size() == 1)) return one;
        names += fmt::format("{}{}", names.empty() ? "" : ", ", printable(one.name));
    }
    if (name.empty())
        fail(ErrorKind::usage,
             "{}: it has several outputs: {}; name the one with the probabilities: `output_name NAME`", name_,
             names);
    fail(ErrorKind::data, "{}: it has no output '{}'; `output_name` may be {}", name_, printable(name),
         names);
}

std::string OnnxFile::with(const ProtoWriter& graph, const ProtoWriter& end) const {
    const std::string_view all = file_.text();
    ProtoWriter grown, out;
    grown.raw(graph_);
    grown.raw(graph.bytes());
    out.raw(all.substr(0, graph_begin_));
    out.message(model::kGraph, grown);
    out.raw(all.substr(graph_end_));
    out.raw(end.bytes());
    return out.bytes();
}

}  // namespace kandinsky
