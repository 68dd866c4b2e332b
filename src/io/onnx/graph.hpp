#pragma once

#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "io/onnx/protobuf.hpp"

namespace kandinsky {

/// The values of onnx.TensorProto.DataType that are used here.
enum class OnnxType : std::uint64_t {
    float32 = 1,
    uint8 = 2,
    uint16 = 4,
    int32 = 6,
    int64 = 7,
    boolean = 9,
    float16 = 10,
    float64 = 11,
    bfloat16 = 16
};

/// A tensor's name, type and shape. A negative length is unknown. If the tensor is not `shaped`, even the
/// number of axes is unknown.
struct OnnxTensor {
    std::string name;
    std::uint64_t type = static_cast<std::uint64_t>(OnnxType::float32);
    bool shaped = false;
    std::vector<std::int64_t> shape{};
};

/// Nodes and constants of a graph, in the order of the calls. All names begin with kPrefix, except those that
/// input() and output() are given.
class OnnxGraph {
  public:
    static constexpr std::string_view kPrefix = "kandinsky/";
    using Value = std::variant<std::int64_t, std::string, std::vector<std::int64_t>>;
    using Attributes = std::vector<std::pair<std::string, Value>>;

    /// Adds a node; returns the name of its output. `says` becomes part of the node's name, which runtimes
    /// quote in error messages.
    std::string add(const std::string& type, const std::vector<std::string>& inputs,
                    const Attributes& attributes = {}, const std::string& says = {});
    /// As add(), for a node with several outputs.
    std::vector<std::string> add_several(const std::string& type, const std::vector<std::string>& inputs,
                                         std::size_t outputs, const Attributes& attributes);
    /// Copies a tensor to an output of the graph, bool [N,...].
    void output(const std::string& from, const std::string& name, const std::vector<std::int64_t>& shape);
    /// Declares an input of the graph, float32 [N,...].
    void input(const std::string& name, const std::vector<std::int64_t>& shape);

    /// Adds a constant of float32; returns its name, as do the functions below.
    std::string reals(const std::vector<std::int64_t>& shape, std::span<const float> values);
    std::string real(float value) { return reals({}, {&value, 1}); }
    std::string doubles(const std::vector<std::int64_t>& shape, std::span<const double> values);
    std::string exact(double value) { return doubles({}, {&value, 1}); }  ///< a scalar in float64
    std::string integers(const std::vector<std::int64_t>& shape, std::span<const std::int64_t> values);
    std::string integer(std::int64_t value) { return integers({}, {&value, 1}); }
    /// Non-negative integers in the smallest sufficient type: uint8, uint16 or int64.
    std::string small_integers(const std::vector<std::int64_t>& shape, std::span<const std::int64_t> values);
    /// Converts a tensor to another type.
    std::string cast(const std::string& from, OnnxType to) {
        return add("Cast", {from}, {{"to", static_cast<std::int64_t>(to)}});
    }
    std::string list(const std::vector<std::int64_t>& values) {
        return integers({static_cast<std::int64_t>(values.size())}, values);
    }

    /// Fields of a GraphProto.
    [[nodiscard]] const ProtoWriter& fields() const { return fields_; }

  private:
    std::string fresh(const std::string& type);
    void node(const std::string& type, const std::vector<std::string>& inputs,
              const std::vector<std::string>& outputs, const Attributes& attributes, const std::string& name);
    std::string constant(const std::vector<std::int64_t>& shape, OnnxType type, std::string_view bytes);

    ProtoWriter fields_;
    std::size_t made_ = 0;
};

}  // namespace kandinsky
