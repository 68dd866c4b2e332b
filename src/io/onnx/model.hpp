#pragma once

#include <filesystem>
#include <map>
#include <set>

#include "io/file/mapped_file.hpp"
#include "io/onnx/graph.hpp"

namespace kandinsky {

/// A model to which sets are appended: its bytes, and the properties that are needed for appending.
class OnnxFile {
  public:
    /// Throws a data error if the file is not an ONNX model, or if the nodes of add_sets() do not work with
    /// its operator set.
    explicit OnnxFile(const std::filesystem::path& path);

    [[nodiscard]] std::uint64_t opset() const { return opset_; }
    /// Whether weights are in other files, whose names are relative to this file's folder.
    [[nodiscard]] bool has_external_data() const { return external_; }
    /// The output of that name, or the only output if the name is empty. Throws a data error if there is no
    /// such output, and a usage error if the name is empty and there are several.
    [[nodiscard]] const OnnxTensor& output(const std::string& name) const;
    /// Whether a tensor of the graph has the name.
    [[nodiscard]] bool has(const std::string& tensor) const { return tensors_.contains(tensor); }
    [[nodiscard]] bool has_sets() const { return has_sets_; }  ///< from an earlier export
    /// The operator that computes a tensor, such as Softmax; for Cast and Identity, the operator that
    /// computes their input. Empty if unknown.
    [[nodiscard]] std::string operator_of(std::string tensor) const;

    /// The model with `graph` appended to its graph and `end` appended to the model. No other byte changes
    /// except the length of the graph.
    [[nodiscard]] std::string with(const ProtoWriter& graph, const ProtoWriter& end) const;

  private:
    void read_graph(std::string_view graph);

    std::string name_;
    MappedFile file_;
    std::string_view graph_;
    std::size_t graph_begin_ = 0, graph_end_ = 0;
    std::uint64_t ir_ = 0, opset_ = 0;
    std::vector<OnnxTensor> outputs_;
    std::set<std::string, std::less<>> tensors_;
    struct Node {
        std::string_view type, first_input;
    };
    std::map<std::string_view, Node> makers_;  ///< by the name of their output
    bool external_ = false, has_sets_ = false;
};

}  // namespace kandinsky
