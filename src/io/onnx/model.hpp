#pragma once

#include <filesystem>
#include <map>
#include <set>

#include "io/file/mapped_file.hpp"
#include "io/onnx/graph.hpp"

namespace kandinsky {

/// A model that is appended to: what must be known of it, and its bytes.
class OnnxFile {
  public:
    /// Throws a data error for files that are no ONNX model, and for operator sets that the nodes of
    /// add_sets() do not belong to.
    explicit OnnxFile(const std::filesystem::path& path);

    [[nodiscard]] std::uint64_t opset() const { return opset_; }
    /// The weights lie in other files, named relative to this one.
    [[nodiscard]] bool has_external_data() const { return external_; }
    /// The output of that name; of no name the only one. Throws a data error where there is none, or several.
    [[nodiscard]] const OnnxTensor& output(const std::string& name) const;
    /// Whether a tensor of the graph has the name.
    [[nodiscard]] bool has(const std::string& tensor) const { return tensors_.contains(tensor); }
    [[nodiscard]] bool has_sets() const { return has_sets_; }  ///< of an earlier export
    /// The operator that computes a tensor, such as Softmax; conversions of type are passed over.
    [[nodiscard]] std::string operator_of(std::string tensor) const;

    /// The model with more fields in its graph and at its own end; every other byte but the graph's length
    /// stays.
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
    std::map<std::string_view, Node> makers_;  ///< by the name of an output
    bool external_ = false, has_sets_ = false;
};

}  // namespace kandinsky
