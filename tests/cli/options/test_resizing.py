"""Images of different sizes on one grid. The formulas of the textbook are the oracle."""

import json

import numpy as np
from support import Room, scene, softmax


def bilinear(plane, height, width):
    """Half-pixel centres, edges repeated: the textbook formula."""
    def weights(have, want):
        at = np.clip((np.arange(want) + 0.5) * have / want - 0.5, 0, have - 1)
        low = np.floor(at).astype(int)
        matrix = np.zeros((want, have))
        np.add.at(matrix, (np.arange(want), low), 1 - (at - low))
        np.add.at(matrix, (np.arange(want), np.minimum(low + 1, have - 1)), at - low)
        return matrix

    return weights(plane.shape[-2], height) @ plane @ weights(plane.shape[-1], width).T


def nearest(plane, height, width):
    rows = ((np.arange(height) + 0.5) * plane.shape[-2] / height).astype(int)
    columns = ((np.arange(width) + 0.5) * plane.shape[-1] / width).astype(int)
    return plane[..., rows, :][..., columns]


def test_resizing_is_bilinear_for_probabilities_nearest_for_labels_and_undone_by_predict(tmp_path):
    room = Room(tmp_path)
    for folder in ["p", "y"]:
        (tmp_path / folder).mkdir()
    cases = {}
    for i, grid in enumerate([(5, 7), (8, 6), (11, 4), (7, 9)]):
        probs, labels = scene(1, 3, grid, seed=i)
        cases[f"image{i}"] = probs[0], labels[0]
        np.save(tmp_path / "p" / f"image{i}.npy", probs[0])
        np.save(tmp_path / "y" / f"image{i}.npy", labels[0])
    how = ("--probs", "p", "--labels", "y", "--resize", "6x8")
    room.does("collect", *how, "-o", "arrays")
    probs, labels = room.load("arrays/probs.npy"), room.load("arrays/labels.npy")
    for row, (own, truth) in enumerate(cases.values()):
        assert np.allclose(probs[row], bilinear(own.astype(float), 8, 6), atol=1e-6)
        assert np.array_equal(labels[row], nearest(truth, 8, 6))
    assert np.array_equal(probs[1], cases["image1"][0])  # of that size already
    room.does("calibrate", *how, "--score", "lac", "-m", "image", "-o", "a.kcal")
    room.does("predict", "a.kcal", "--probs", "p", "--alpha", "0.4", "-o", "sets", "--thresholds", "t.npy")
    thresholds = room.load("t.npy")
    for row, (name, (own, _)) in enumerate(cases.items()):
        sets = np.load(tmp_path / "sets" / f"{name}.npy")
        assert np.array_equal(sets, nearest(probs[row] >= thresholds, *own.shape[1:]))
    room.refuses(2, ["--resize", "contradicts"], "predict", "a.kcal", "--probs", "p", "--resize", "5x5", "-o", "x")
    # The same as one array, on the calibrator's grid.
    room.does("predict", "a.kcal", "--probs", "p", "--alpha", "0.4", "-o", "sets.npy")
    assert np.array_equal(room.load("sets.npy"), probs >= thresholds)
    room.does("evaluate", "a.kcal", "--probs", "p", "--labels", "y", "--json", "e.json")
    assert json.loads((tmp_path / "e.json").read_text())["input"]["fit"] == "resize"


def test_logits_are_made_probabilities_before_they_are_resized(tmp_path):
    room = Room(tmp_path)
    (tmp_path / "p").mkdir()
    logits = np.random.default_rng(5).normal(0, 3, (3, 5, 7)).astype(np.float32)
    np.save(tmp_path / "p" / "a.npy", logits)
    room.does("collect", "--probs", "p", "--logits", "softmax", "--resize", "4x4", "-o", "out")
    assert np.allclose(room.load("out/probs.npy")[0], bilinear(softmax(logits, axis=0).astype(float), 4, 4), atol=1e-6)
