#!/usr/bin/env python3
"""Measures the time that sets add to a network to which `kandinsky export` has appended them.

    bench/export_latency.py --build build [--classes 4] [--channels 32] [--runs 15] [--processor] [--adapt]

Runs a U-Net for 320 x 240 with random weights alone and with the sets appended, in turn. Prints the shortest times and their
ratio, and the same for the graph of sets alone, which a busy machine affects less. --processor measures processor time on one
thread instead, which other programs hardly change. Needs onnx and onnxruntime; OpenVINO is measured if it is installed.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HEIGHT, WIDTH = 240, 320


def unet(classes, channels, depth=4):
    """Two 3 x 3 convolutions a level, maxima on the way down, nearest neighbours on the way up, softmax at the end."""
    random, nodes, weights = np.random.default_rng(0), [], []

    def constant(array, name):
        weights.append(numpy_helper.from_array(array, name))
        return name

    def node(kind, *inputs, **attributes):
        nodes.append(helper.make_node(kind, list(inputs), [f"t{len(nodes)}"], **attributes))
        return f"t{len(nodes) - 1}"

    def block(x, into, out):
        for i, planes in enumerate((into, out)):
            w = random.normal(0, (2 / (9 * planes)) ** 0.5, (out, planes, 3, 3)).astype(np.float32)
            x = node("Relu", node("Conv", x, constant(w, f"w{len(nodes)}"), pads=[1, 1, 1, 1]))
        return x

    x, planes, skips = "image", 3, []
    for level in range(depth + 1):
        x, planes = block(x, planes, channels << level), channels << level
        if level < depth:
            skips.append((x, planes))
            x = node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    scales = constant(np.array([1, 1, 2, 2], np.float32), "scales")
    for skip, own in reversed(skips):
        x = node("Concat", node("Resize", x, "", scales, mode="nearest"), skip, axis=1)
        x, planes = block(x, planes + own, own), own
    w = random.normal(0, 0.3, (classes, planes, 1, 1)).astype(np.float32)
    nodes.append(helper.make_node("Softmax", [node("Conv", x, constant(w, "last"))], ["probs"], axis=1))
    graph = helper.make_graph(nodes, "unet", [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 3, HEIGHT, WIDTH])],
                              [helper.make_tensor_value_info("probs", TensorProto.FLOAT, ["N", classes, HEIGHT, WIDTH])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def engines(threads):
    def by_onnxruntime(path):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        name = session.get_inputs()[0].name
        return lambda array: session.run(None, {name: array})

    yield "onnxruntime " + onnxruntime.__version__, by_onnxruntime
    try:
        import openvino
    except ImportError:
        print("openvino is not installed: its rows are missing")
        return

    def by_openvino(path):
        compiled = openvino.Core().compile_model(str(path), "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads})
        return lambda image: compiled(image)

    yield "openvino " + openvino.__version__.split("-")[0], by_openvino


def moody(images, classes):
    """Outputs and labels of images that differ in how hard they are, so that levels follow them."""
    random = np.random.default_rng(3)
    labels = np.kron(random.integers(0, classes, (images, HEIGHT // 20, WIDTH // 20)), np.ones((20, 20), int))
    right = 1 - random.random((images, 1, 1)) * random.random(labels.shape)
    probs = np.stack([np.where(labels == c, right, (1 - right) * random.random(labels.shape)) for c in range(classes)], 1)
    return probs.astype(np.float32), labels.astype(np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--classes", type=int, default=4)
    parser.add_argument("--channels", type=int, default=32)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--adapt", action="store_true", help="levels that follow the image, and the method field")
    words = parser.parse_args()
    clock = time.process_time if words.processor else time.perf_counter
    kandinsky = str(Path(words.build).resolve() / "bin" / "kandinsky")
    image = np.random.default_rng(1).normal(size=(1, 3, HEIGHT, WIDTH)).astype(np.float32)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        onnx.save(unet(words.classes, words.channels), folder / "unet.onnx")
        some = onnxruntime.InferenceSession(str(folder / "unet.onnx")).run(None, {"image": image})[0]
        probs = np.repeat(some, 2, axis=0)
        labels = np.random.default_rng(2).integers(0, words.classes, (2, HEIGHT, WIDTH)).astype(np.uint8)
        if words.adapt:
            probs, labels = moody(30, words.classes)
        np.save(folder / "probs.npy", probs)
        np.save(folder / "labels.npy", labels)
        how = ["field", "--adapt", "image", "--promise", "none"] if words.adapt else ["image"]
        for engine, load in engines(1 if words.processor else 0):  # 0: all processors
            alone = load(folder / "unet.onnx")
            for score in ("lac", "near", "margin", "aps", "raps", "saps"):
                for command in ([kandinsky, "calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "--method", *how,
                                 "--score", score, "-q", "-o", "cal.kcal"],
                                [kandinsky, "export", "cal.kcal", "--onto", "unet.onnx", "-q", "-o", "both.onnx"],
                                [kandinsky, "export", "cal.kcal", "-q", "-o", "sets.onnx"]):
                    subprocess.run(command, cwd=folder, check=True)
                work = [(alone, image), (load(folder / "both.onnx"), image), (load(folder / "sets.onnx"), some)]
                times = [[] for _ in work]
                for _ in range(words.runs + 2):
                    for (run, array), seconds in zip(work, times):
                        start = clock()
                        run(array)
                        seconds.append(clock() - start)
                first, second, third = (min(each[2:]) * 1e3 for each in times)
                print(f"{engine}: {score:6} {first:7.1f} ms alone, {second:7.1f} ms with sets: {100 * (second / first - 1):+.1f} %; "
                      f"the graph of sets by itself {third:.2f} ms: {100 * third / first:.1f} %", flush=True)


if __name__ == "__main__":
    main()
