"""Small data sets for training, and the command."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

COMMAND = os.environ.get("KANDINSKY_COMMAND", "kandinsky")


def kandinsky(*arguments, check=True, **options):
    result = subprocess.run(
        [COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=600, check=False, **options
    )
    if check and result.returncode != 0:
        pytest.fail(f"{arguments[0]} ended with {result.returncode}: {result.stderr}")
    return result


def discs(count, height=32, width=32, seed=0):
    """Bright discs on a dark ground: images uint8 [N,3,H,W] and labels [N,H,W]."""
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[:height, :width]
    images = np.zeros((count, 3, height, width), np.uint8)
    labels = np.zeros((count, height, width), np.uint8)
    for i in range(count):
        y, x, r = random.uniform(0.3, 0.7) * height, random.uniform(0.3, 0.7) * width, random.uniform(5, 9)
        labels[i] = (rows - y) ** 2 + (columns - x) ** 2 < r * r
        images[i] = np.clip(80 + 90 * labels[i] + random.normal(0, 20, (3, height, width)), 0, 255)
    return images, labels


@pytest.fixture
def arrays(tmp_path):
    images, labels = discs(12)
    np.save(tmp_path / "images.npy", images)
    np.save(tmp_path / "labels.npy", labels)
    return tmp_path


@pytest.fixture
def declaration(tmp_path):
    """Writes an experiment with a tiny network and returns its path."""

    def write(data, split, classes, outputs):
        file = pathlib.Path(tmp_path) / "small.json"
        file.write_text(
            json.dumps(
                {
                    "name": "small",
                    "data": data,
                    "split": split,
                    "training": {"width": 4, "depth": 2, "outputs": outputs, "epochs": 3, "batch": 4, "rate": 1e-3},
                    "compare": {
                        "methods": ["pixel", "image", "kmeans", "genann", "fcc"],
                        "classes": classes,
                        # Searches end early: leave-one-out repeats them for every image.
                        "options": {"genann-generations": 5, "fcc-starts": 1, "fcc-iterations": 5},
                    },
                }
            )
        )
        return file

    return write
