"""Trims the full golden set to tests/golden/data.

python3 tests/golden/trim.py FULL    (needs numpy; FULL holds binary/ and multi/; the same input gives the same bytes)

data/README.md says what each array depends on, and so what may be left out.
"""

import json
import sys
from pathlib import Path

import numpy as np

ROWS, COLUMNS = slice(0, None, 8), slice(0, None, 8)  # 5 x 6 pixels, at the border and inside
POINTS = [60, 70, 80, 90]  # of 100 on a curve: the features of k-means and of the annuli
NONE = 255  # a label of no class


def write(folder, arrays, expected=None):
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "arrays.npz", **arrays)
    if expected is not None:
        (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


def one_class(full, label, arrays, keys):
    """All pixels of a single class: its probability where it is the label, and nothing else of the images."""
    kept = {}
    for part in ("cal", "test"):
        labels, probs = np.load(full / f"{part}_labels.npy"), np.load(full / f"{part}_probs.npy")
        mine = labels == label
        kept[f"{part}_labels"] = np.where(mine, np.uint8(label), np.uint8(NONE))
        halves = np.zeros(probs.shape, np.float16)
        halves[:, label] = np.where(mine, probs[:, label].astype(np.float16), np.float16(0))
        kept[f"{part}_probs"] = halves
    for name, axis in (("cal_counts", 0), ("image_curve", 1)):
        array = np.load(full / f"{name}.npy")
        others = np.arange(array.shape[axis]) != label
        array[others if axis == 0 else (slice(None), others)] = np.nan if array.dtype.kind == "f" else 0
        kept[name] = array
    kept |= {name: np.load(full / f"{name}.npy") for name in arrays}
    expected = json.loads((full / "expected.json").read_text())
    return kept, {key: expected[key] for key in keys}


def few_pixels(full, halved, arrays):
    """All classes and images at a few pixels. The arrays in `halved` are stored in half precision."""
    kept = {name: np.load(full / f"{name}.npy")[..., ROWS, COLUMNS] for name in arrays}
    return kept | {name: kept[name].astype(np.float16) for name in halved}


def main(full, out):
    maps = [f"ce_map_{method}" for method in ("image", "kmeans", "genann1")]
    genann = ["genann_params", "genann_fitness", "genann_fitness_f64", "genann_masks"]
    clusters = ["kmeans_mask", "kmeans_cluster_curves", "genann1_cluster_labels", "genann1_cluster_curves"]
    arrays, expected = one_class(full / "binary", 1, genann + clusters + maps,
                                 ["ce_pixel", "ce_image", "ce_kmeans", "ce_genann1", "kmeans_inertia", "genann_de_runs", "genann_de_bounds"])
    arrays["features_class1"] = np.load(full / "binary/pixel_curves.npy")[POINTS, 1]
    write(out / "binary", arrays, expected)
    write(out / "multi", *one_class(full / "multi", 1, ["ce_map_image_class1"], ["ce_pixel_class1", "ce_image_class1"]))
    inputs = ["cal_probs", "cal_labels", "test_probs", "test_labels"]
    write(out / "binary_pixels", few_pixels(full / "binary", ["test_probs"],
          [*inputs, "cal_counts", "pixel_curves", "pixel_curves_f32", "ce_map_pixel", "ece_map"]))
    write(out / "multi_pixels", few_pixels(full / "multi", ["cal_probs", "test_probs"],
          [*inputs, "cal_counts", "pixel_curves", *(f"ce_map_pixel_class{c}" for c in range(3))]))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(__file__).parent / "data")
