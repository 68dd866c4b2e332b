"""ONNX models through OpenCV against onnxruntime: a U-Net and a network with batch normalisation."""

import numpy as np
import pytest
from conftest import kandinsky

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402


class Graph:
    """Nodes and weights of a network, added one after another."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.count = [], [], 0

    def add(self, kind, *inputs, **attributes):
        self.count += 1
        out = f"t{self.count}"
        self.nodes.append(helper.make_node(kind, list(inputs), [out], **attributes))
        return out

    def constant(self, values):
        self.count += 1
        name = f"c{self.count}"
        self.weights.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def convolution(self, x, inputs, outputs, size=3):
        weight = self.random.normal(0, np.sqrt(2 / (inputs * size * size)), (outputs, inputs, size, size))
        return self.add("Conv", x, self.constant(weight.astype(np.float32)), self.constant(np.zeros(outputs, np.float32)),
                        kernel_shape=[size, size], pads=[size // 2] * 4)  # fmt: skip

    def instance_norm(self, x, channels):
        scale = self.random.uniform(0.5, 1.5, channels).astype(np.float32)
        shift = self.random.normal(0, 0.1, channels).astype(np.float32)
        return self.add("InstanceNormalization", x, self.constant(scale), self.constant(shift), epsilon=1e-5)

    def batch_norm(self, x, channels):
        values = [self.random.uniform(0.5, 1.5, channels), self.random.normal(0, 0.2, channels),
                  self.random.normal(0, 0.3, channels), self.random.uniform(0.5, 2, channels)]  # fmt: skip
        return self.add("BatchNormalization", x, *(self.constant(v.astype(np.float32)) for v in values), epsilon=1e-5)

    def double(self, x, inputs, outputs, norm):
        x = self.add("Relu", norm(self.convolution(x, inputs, outputs), outputs))
        return self.add("Relu", norm(self.convolution(x, outputs, outputs), outputs))

    def upsample(self, x):
        return self.add("Resize", x, "", self.constant(np.array([1, 1, 2, 2], np.float32)), mode="linear",
                        coordinate_transformation_mode="half_pixel")  # fmt: skip

    def save(self, path, out, inputs, outputs):
        self.nodes[-1].output[0] = "logits"
        assert out == f"t{self.count}"
        graph = helper.make_graph(
            self.nodes,
            "net",
            [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", inputs, "h", "w"])],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", outputs, "h", "w"])],
            self.weights,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 7
        onnx.save(model, path)


def unet(path, norm):
    graph = Graph(3)
    norm = getattr(graph, norm)
    top = graph.double("image", 3, 8, norm)
    low = graph.double(graph.add("MaxPool", top, kernel_shape=[2, 2], strides=[2, 2]), 8, 16, norm)
    joined = graph.add("Concat", top, graph.upsample(low), axis=1)
    graph.save(path, graph.convolution(graph.double(joined, 24, 8, norm), 8, 4, 1), 3, 4)


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@pytest.mark.parametrize("norm", ["instance_norm", "batch_norm"])
@pytest.mark.parametrize("outputs", ["sigmoid", "softmax"])
def test_probabilities_equal_onnxruntimes(tmp_path, norm, outputs):
    unet(tmp_path / "net.onnx", norm)
    images = np.random.default_rng(0).uniform(0, 1, (5, 3, 24, 40)).astype(np.float32)
    np.save(tmp_path / "images.npy", images)
    kandinsky("infer", "--model", "net.onnx", "--outputs", outputs, "--images", "images.npy", "-o", "probs.npy",
              "--dtype", "float32", "--batch", 2, cwd=tmp_path)  # fmt: skip
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"), providers=["CPUExecutionProvider"])
    logits = session.run(None, {"image": images})[0]
    wanted = softmax(logits) if outputs == "softmax" else 1 / (1 + np.exp(-logits))
    got = np.load(tmp_path / "probs.npy")
    assert got.shape == wanted.shape
    assert np.abs(got - wanted).max() < 1e-4


def test_a_stored_pair_is_checked_when_the_model_is_opened(tmp_path):
    unet(tmp_path / "net.onnx", "batch_norm")
    images = np.random.default_rng(1).uniform(0, 1, (2, 3, 16, 16)).astype(np.float32)
    np.save(tmp_path / "images.npy", images)
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"), providers=["CPUExecutionProvider"])
    logits = session.run(None, {"image": images})[0]
    arguments = ["infer", "--model", "net.onnx", "--outputs", "sigmoid", "--images", "images.npy", "-o", "p.npy"]
    np.savez(tmp_path / "net.check.npz", input=images, output=logits)
    kandinsky(*arguments, cwd=tmp_path)
    np.savez(tmp_path / "net.check.npz", input=images, output=logits + 0.01)
    result = kandinsky(*arguments, cwd=tmp_path, check=False)
    assert result.returncode == 3
    assert "does not reproduce" in result.stderr and "net.check.npz" in result.stderr


def test_the_kind_of_outputs_must_be_stated(tmp_path):
    unet(tmp_path / "net.onnx", "batch_norm")
    np.save(tmp_path / "images.npy", np.zeros((1, 3, 16, 16), np.float32))
    result = kandinsky("infer", "--model", "net.onnx", "--images", "images.npy", "-o", "p.npy", cwd=tmp_path, check=False)
    assert result.returncode == 2
    assert "--outputs" in result.stderr
    assert not (tmp_path / "p.npy").exists()
