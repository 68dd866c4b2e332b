"""From a network to sets inside one ONNX file: export, append the sets, run, and check before the first image.

Needs onnx and onnxruntime. Here the "network" is a sigmoid over its input; any segmentation model in ONNX takes its place.
"""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

import kandinsky

GRID = (48, 64)


def images(first, count):
    """The network's input and the labels. Each image is one plane of logits."""
    scenes = kandinsky.make_scenes(images=count, first=first, grid=GRID)
    p = np.clip(scenes.probs[:, 1:].astype(np.float32), 1e-4, 1 - 1e-4)
    return np.log(p / (1 - p)), scenes.labels


def run(path, array, name):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run([name], {"image": array})[0]


# The network as it was exported: image [N,1,H,W] -> probs [N,1,H,W].
plane = ["N", 1, *GRID]
graph = helper.make_graph([helper.make_node("Sigmoid", ["image"], ["probs"])], "network",
                          [helper.make_tensor_value_info("image", TensorProto.FLOAT, plane)],
                          [helper.make_tensor_value_info("probs", TensorProto.FLOAT, plane)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "network.onnx")

# Calibrate on the outputs of this very file, run as in production: same preprocessing, same runtime, same precision.
pictures, labels = images(0, 60)
calibrator = kandinsky.Calibrator("kmeans").fit(run("network.onnx", pictures, "probs"), labels)
calibrator.save("network.kcal")

# Append the sets. The model keeps its outputs and gains sets_0.1 and sets_0.2.
names = calibrator.to_onnx("network_with_sets.onnx", alpha=[0.1, 0.2], onto="network.onnx")
print("outputs:", ", ".join(names))

# In production: read the metadata once, before the first image.
session = onnxruntime.InferenceSession("network_with_sets.onnx", providers=["CPUExecutionProvider"])
said = session.get_modelmeta().custom_metadata_map
assert said["kandinsky.fingerprint"] == calibrator.fingerprint_
print("alpha:", said["kandinsky.alpha"], "score:", said["kandinsky.score"])
print(said["kandinsky.guarantee"])

new, truth = images(60, 20)
probs, sets = session.run(["probs", "sets_0.1"], {"image": new})
assert (sets == calibrator.predict_set(probs, alpha=0.1)).all()
covered = np.take_along_axis(sets, truth[:, None].astype(np.int64), axis=1).mean()
print(f"coverage {covered:.3f} at alpha 0.1, {sets.sum(axis=1).mean():.2f} classes in a set")
