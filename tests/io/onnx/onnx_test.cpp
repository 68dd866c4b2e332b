// The wire format, damaged models, and which parts of a model are kept. The results of the graphs are tested
// with onnxruntime in tests/cli/commands/test_export.py.
#include <gtest/gtest.h>

#include <fstream>
#include <kandinsky/onnx.hpp>

#include "io/onnx/fields.hpp"
#include "io/onnx/graph.hpp"
#include "io/support.hpp"
#include "support/synthetic.hpp"

namespace kandinsky {
namespace {

using namespace test;

Calibrator calibrated() {
    CalibrateOptions options;
    options.method.name = "image";
    return calibrate(make({.images = 12, .classes = 3}).dataset(), options);
}

/// A model of one node: [N,3,3,4] in and out. `weights`: the fields of its weights.
std::string model(const ProtoWriter& weights = {}) {
    ProtoWriter graph, output, type, tensor, shape, set, out;
    for (const std::uint64_t length : {7, 3, 3, 4}) {
        ProtoWriter dim;
        dim.number(onnx::dim::kValue, length);
        shape.message(onnx::shape::kDim, dim);
    }
    tensor.number(onnx::tensor_type::kElement, 1);
    tensor.message(onnx::tensor_type::kShape, shape);
    type.message(onnx::type::kTensor, tensor);
    output.text(onnx::info::kName, "p");
    output.message(onnx::info::kType, type);
    graph.message(onnx::graph::kOutput, output);
    if (!weights.bytes().empty()) graph.message(onnx::graph::kInitializer, weights);
    set.number(onnx::opset::kVersion, 17);
    out.number(onnx::model::kIr, 8);
    out.message(onnx::model::kGraph, graph);
    out.message(onnx::model::kOpset, set);
    return out.bytes();
}

std::filesystem::path written(const Folder& folder, const std::string& bytes) {
    std::ofstream(folder / "m.onnx", std::ios::binary) << bytes;
    return folder / "m.onnx";
}

TEST(OnnxTest, FieldsComeBackAsTheyWereWritten) {
    ProtoWriter writer;
    writer.number(1, 0);
    writer.number(300, ~std::uint64_t{0});
    writer.raw(std::string("\x15\0\0\0\0", 5));  // a float, whose value is not read
    writer.text(3, std::string(200, 'x'));
    ProtoReader reader(writer.bytes(), "a test");
    ASSERT_TRUE(reader.next());
    EXPECT_EQ(reader.field().number, 1u);
    ASSERT_TRUE(reader.next());
    EXPECT_EQ(reader.field().number, 300u);
    EXPECT_EQ(reader.field().value, ~std::uint64_t{0});
    ASSERT_TRUE(reader.next());
    ASSERT_TRUE(reader.next());
    EXPECT_TRUE(reader.has(3));
    EXPECT_EQ(reader.field().bytes, std::string(200, 'x'));
    EXPECT_EQ(reader.field().end, writer.bytes().size());
    EXPECT_FALSE(reader.next());
}

TEST(OnnxTest, EqualCalibratorsGiveEqualBytes) {
    EXPECT_EQ(onnx_sets(calibrated(), {}).bytes, onnx_sets(calibrated(), {}).bytes);
    EXPECT_EQ(onnx_sets(calibrated(), {.alphas = {0.1, 0.25}}).outputs,
              (std::vector<std::string>{"sets_0.1", "sets_0.25"}));
}

TEST(OnnxTest, AModelKeepsItsBytes) {
    const Folder folder;
    const std::string before = model();
    const std::string after = onnx_sets(calibrated(), {.onto = written(folder, before)}).bytes;
    const auto graph_of = [](const std::string& bytes) {
        for (ProtoReader reader(bytes, "a test"); reader.next();)
            if (reader.has(onnx::model::kGraph)) return reader.field();
        return ProtoField{};
    };
    const ProtoField old = graph_of(before), now = graph_of(after);
    EXPECT_EQ(after.substr(0, now.begin), before.substr(0, old.begin));
    EXPECT_EQ(now.bytes.substr(0, old.bytes.size()), old.bytes);
    EXPECT_EQ(after.substr(now.end, before.size() - old.end), before.substr(old.end));
}

TEST(OnnxTest, DamagedModelsAreRefusedOrStillModels) {
    const Folder folder;
    const Calibrator calibrator = calibrated();
    const std::string whole = model();
    std::size_t refused = 0;
    const auto try_one = [&](const std::string& bytes) {
        try {
            (void)onnx_sets(calibrator, {.onto = written(folder, bytes)});
        } catch (const Error& error) {
            EXPECT_TRUE(error.kind() == ErrorKind::data || error.kind() == ErrorKind::usage) << error.what();
            ++refused;
        }
    };
    for (std::size_t length = 0; length < whole.size(); ++length) try_one(whole.substr(0, length));
    EXPECT_EQ(refused, whole.size());
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (const int flip : {1, 0x80, 0xFF}) {
            std::string other = whole;
            other[at] = static_cast<char>(other[at] ^ flip);
            try_one(other);
        }
}

TEST(OnnxTest, WeightsInOtherFilesNeedAFolder) {
    const Folder folder;
    ProtoWriter weights;
    weights.number(onnx::tensor::kLocation, 1);
    const std::filesystem::path path = written(folder, model(weights));
    expect_error(ErrorKind::data, {"weights are in other files"},
                 [&] { (void)onnx_sets(calibrated(), {.onto = path}); });
    EXPECT_FALSE(onnx_sets(calibrated(), {.onto = path, .folder = folder.path()}).bytes.empty());
}

}  // namespace
}  // namespace kandinsky
