#!/usr/bin/env python3
"""Compares the sets of exported graphs with those of `kandinsky predict` on real outputs.

    bench/export_agreement.py --build build --data FOLDER [--names hippocampus,pets,camvid] [--adapt none,image] [--every 1]

FOLDER/NAME has NAME_cal_probs.npy, NAME_cal_labels.npy and NAME_test_probs.npy, and NAME_cal_groups.npy where images have groups.
Calibrates `field` on at most --most images, exports the graph with two levels, and runs it in onnxruntime and, where it is installed,
in OpenVINO (f32) on every --every-th test image. Prints how many entries differ. Among the first 40 of these it counts
the entries at which the set of `predict` itself changes if the pixel's probabilities change by 1e-6, or by 1e-5: there score
and threshold are equal to that precision.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime

ALPHAS = ("0.1", "0.3")
SCORES = ("lac", "near", "margin", "aps", "raps", "saps")
MOST_LOOKED_AT = 40


def engines(path):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    yield "onnxruntime", lambda images: session.run(None, {"probs": images})
    try:
        import openvino
    except ImportError:
        return
    compiled = openvino.Core().compile_model(str(path), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    yield "OpenVINO", lambda images: [compiled(images)[i] for i in range(len(ALPHAS))]


class Room:
    """A temporary folder with one calibrator and the test images."""

    def __init__(self, folder, command):
        self.folder, self.command = Path(folder), command

    def does(self, *words):
        subprocess.run([self.command, *map(str, words)], cwd=self.folder, check=True)

    def predicted(self, probs, alpha):
        np.save(self.folder / "asked.npy", probs)
        self.does("predict", "cal.kcal", "--probs", "asked.npy", "--alpha", alpha, "-q", "-o", "sets.npy")
        return np.load(self.folder / "sets.npy").astype(bool)

    def close(self, probs, alpha, place, step):
        """Whether the set changes at the place [image,class,row,column] if the pixel's probabilities change by the step."""
        image, _, row, column = place
        both = np.repeat(probs[image][None], 2, axis=0)
        for one, move in zip(both, (-step, step)):
            one[:, row, column] = np.clip(one[:, row, column] + move, 0, 1)
        less, more = self.predicted(both, alpha)
        return less[place[1:]] != more[place[1:]]


def compare(room, probs, title):
    wanted = [room.predicted(probs, alpha) for alpha in ALPHAS]
    for name, run in engines(room.folder / "sets.onnx"):
        places = []
        for start in range(0, len(probs), 16):
            made = run(np.ascontiguousarray(probs[start : start + 16]))
            for level, sets in enumerate(made):
                for image, *rest in np.argwhere(sets != wanted[level][start : start + 16]):
                    places.append((level, (start + image, *rest)))
        looked = places[:MOST_LOOKED_AT]
        close = [sum(room.close(probs, ALPHAS[level], place, step) for level, place in looked) for step in (1e-6, 1e-5)]
        near = f"; of {len(looked)}, {close[0]} agree to 1e-6, {close[1]} to 1e-5" if places else ""
        print(f"{title} {name}: {len(places)} of {sum(each.size for each in wanted):,} entries differ{near}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--data", required=True)
    parser.add_argument("--names", default="hippocampus,pets,camvid")
    parser.add_argument("--adapt", default="none,image")
    parser.add_argument("--most", type=int, default=671)
    parser.add_argument("--every", type=int, default=1)
    words = parser.parse_args()
    command = str(Path(words.build).resolve() / "bin" / "kandinsky")
    for name in words.names.split(","):
        data = Path(words.data) / name
        with tempfile.TemporaryDirectory() as folder:
            room, more = Room(folder, command), []
            for kind in ("probs", "labels", "groups"):
                if (file := data / f"{name}_cal_{kind}.npy").exists():
                    np.save(room.folder / f"{kind}.npy", np.load(file, mmap_mode="r")[: words.most])
                    more += [f"--{kind}", f"{kind}.npy"]
            probs = np.load(data / f"{name}_test_probs.npy", mmap_mode="r")[:: words.every].astype(np.float32)
            for adapt in words.adapt.split(","):
                for score in SCORES:
                    room.does("calibrate", *more, "--score", score, "--adapt", adapt, "--promise", "none", "-q", "-o", "cal.kcal")
                    room.does("export", "cal.kcal", "--alpha", ",".join(ALPHAS), "-q", "-o", "sets.onnx")
                    compare(room, probs, f"{name}, {len(probs)} images, --adapt {adapt}, {score}:")


if __name__ == "__main__":
    main()
