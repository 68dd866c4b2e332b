#!/usr/bin/env python3
"""Measures the cost of several ranks: seconds, messages and bytes of `mpirun -n R kandinsky` on this machine.

    bench/ranks.py --build build [--ranks 8] [--images 200,800] [--json points.json]

Prints one table for each kind of work: R = 1 to --ranks, for two numbers of images, on discs in noise, float16. Bytes are the
largest number that a rank passes to MPI; a single rank passes none. bench/scale.py reads the points of --json."""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

WORK = {
    "calibrate image": ["calibrate", "-m", "image", "--pooling", "groups"],
    "calibrate kmeans": ["calibrate", "-m", "kmeans", "--kmeans-clusters", "4", "--pooling", "groups"],
    "calibrate pixel": ["calibrate", "-m", "pixel", "--pooling", "groups"],
    "calibrate genann": ["calibrate", "-m", "genann", "--genann-radii", "3", "--pooling", "pixels"],
    "calibrate field": ["calibrate", "-m", "field", "--pooling", "groups"],
    "evaluate": ["evaluate", "judged.kcal", "--bootstrap", "0"],
    "evaluate, 20 resamples": ["evaluate", "judged.kcal", "--bootstrap", "20"],
}
ENVIRONMENT = os.environ | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_plm_rsh_agent": "true",
}


def make(folder, images, width, height):
    """Probabilities that agree with their labels in part: a disc in noise, float16, two classes."""
    random = np.random.default_rng(images)
    y, x = np.mgrid[:height, :width]
    radius = random.uniform(0.2, 0.45, images)[:, None, None] * height
    labels = (np.hypot(y - height / 2, x - width / 2) < radius).astype(np.uint8)
    known = 1 / (1 + np.exp(-random.normal(2.0 * labels - 1, 1.2)))
    folder.mkdir()
    np.save(folder / "cal_probs.npy", np.stack([1 - known, known], 1).astype(np.float16))
    np.save(folder / "cal_labels.npy", labels)


def run(command, folder):
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    taken, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    said = re.search(r"(\d+) ranks; each sent (\d+) messages, at most (\d+) bytes", done.stdout)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": taken, "cpu": cpu, "messages": int(said[2]) if said else 0, "bytes": int(said[3]) if said else 0}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--images", default="200,800")
    parser.add_argument("--size", default="96x64")
    parser.add_argument("--only", help="only kinds of work whose name contains this")
    parser.add_argument("--json")
    options = parser.parse_args()
    program = str((Path(options.build) / "bin" / "kandinsky").resolve())
    points = []
    with tempfile.TemporaryDirectory() as folder:
        for images in map(int, options.images.split(",")):
            make(Path(folder) / str(images), images, *map(int, options.size.split("x")))
        first = options.images.split(",")[0]
        data = ["--probs", f"{first}/cal_probs.npy", "--labels", f"{first}/cal_labels.npy"]
        run([program, "calibrate", *data, "-m", "kmeans", "-o", "judged.kcal", "-q"], folder)
        for name, words in WORK.items():
            if options.only and options.only not in name:
                continue
            print(f"\n{name}, {options.size}, 2 classes\n\n| ranks | images | seconds | CPU seconds of all ranks | messages | bytes of a rank |\n| --- | --- | --- | --- | --- | --- |")
            for images in map(int, options.images.split(",")):
                for ranks in range(1, options.ranks + 1):
                    data = ["--probs", f"{images}/cal_probs.npy", "--labels", f"{images}/cal_labels.npy"]
                    output = ["-o", "c.kcal"] if words[0] == "calibrate" else []
                    start = ["mpirun", "-n", str(ranks), "--bind-to", "none"]
                    point = run([*start, program, *words, *data, *output], folder)
                    points.append({"work": name, "ranks": ranks, "images": images} | point)
                    print(f"| {ranks} | {images} | {point['seconds']:.2f} | {point['cpu']:.2f} | {point['messages']} | {point['bytes']:,} |", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(points, indent=1) + "\n")


if __name__ == "__main__":
    main()
