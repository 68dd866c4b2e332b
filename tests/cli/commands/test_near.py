"""The score near from the command, against a naive implementation of the formula of docs/scores.md."""

import numpy as np
import pytest

from support import scene, softmax

STEP = np.float32(0.5) / np.float32(65535)


def near(probs):
    """Scores [N,C,H,W] of probabilities float32 [N,C,H,W]."""
    height, width = probs.shape[2:]
    side = max(1, (height + width) // 256)
    down, across = -(-height // side), -(-width // side)
    known = np.clip(probs, np.float32(0), np.float32(1))
    cells = np.zeros((*probs.shape[:2], down, across), np.float32)
    for y in range(down):
        for x in range(across):
            cells[:, :, y, x] = known[:, :, y * side:(y + 1) * side, x * side:(x + 1) * side].max(axis=(2, 3))
    seen = np.float32(1.1) * cells / (cells + np.float32(0.1))
    codes = np.floor(np.minimum(seen, np.float32(1)) * np.float32(65535) + np.float32(0.5)).astype(np.int64)
    total, radius, last = np.zeros_like(codes), 1, 0
    while True:
        for y in range(down):
            for x in range(across):
                window = codes[:, :, max(0, y - radius):y + radius + 1, max(0, x - radius):x + radius + 1]
                total[:, :, y, x] += (radius - last) * (65535 - window.max(axis=(2, 3)))
        if 2 * radius * 8 > down + across:
            break
        last, radius = radius, 2 * radius
    distance = (total // radius).astype(np.float32).repeat(side, 2).repeat(side, 3)[:, :, :height, :width]
    return (np.float32(1) - probs) + STEP * distance


def kept(room, *args, probs="probs.npy"):
    room.does("predict", "cal.kcal", "--probs", probs, "--alpha", "0.3", "--empty", "keep", "-o", "sets.npy", "--thresholds", "t.npy", *args)
    return room.load("sets.npy"), room.load("t.npy")


def largest_allowed(scores, member, alpha):
    """One threshold per class from all images, each a group: the hierarchical quantile."""
    limits = []
    for c in range(scores.shape[1]):
        own = [scores[n, c][member[n, c]] for n in range(len(scores)) if member[n, c].any()]
        values = np.sort(np.concatenate(own))
        mass = np.array([sum((one <= v).mean() for one in own) for v in values])
        enough = mass >= (1 - alpha) * (len(own) + 1) - 1e-9
        limits.append(values[enough.argmax()] if enough.any() else np.inf)
    return np.array(limits, np.float32)


@pytest.mark.parametrize("grid", [(5, 7), (1, 1), (1, 40), (33, 2), (140, 150)])
def test_sets_and_thresholds_are_those_of_the_formula(room, grid):
    probs, labels = scene(6, 3, grid, seed=sum(grid))
    room.save("probs.npy", probs)
    room.save("labels.npy", labels)
    room.calibrate("--score", "near", "--method", "image")
    sets, thresholds = kept(room)
    scores = near(probs)
    member = np.stack([labels == c for c in range(3)], 1)
    assert np.array_equal(thresholds[:, 0, 0], largest_allowed(scores, member, 0.3))
    assert np.array_equal(sets, scores <= thresholds)


@pytest.mark.parametrize("method", ["pixel", "kmeans", "field", "fcc"])
def test_every_method_compares_the_same_scores(room, method):
    probs, labels = scene(12, 2, (20, 24), seed=3)
    room.save("probs.npy", probs)
    room.save("labels.npy", labels)
    room.calibrate("--score", "near", "--method", method)
    sets, thresholds = kept(room)
    assert np.array_equal(sets, near(probs) <= thresholds)
    room.does("predict", "cal.kcal", "--probs", "probs.npy", "--pvalues", "p.npy")
    assert np.array_equal(room.load("p.npy").astype(float) > 0.3, sets)


def test_logits_one_class_and_extreme_probabilities(room):
    logits = np.random.default_rng(4).normal(size=(8, 3, 9, 11)).astype(np.float32)
    labels = logits.argmax(axis=1).astype(np.uint8)
    room.save("logits.npy", logits)
    room.save("labels.npy", labels)
    room.calibrate("--score", "near", "--method", "image", "--logits", "softmax", probs="logits.npy")
    sets, thresholds = kept(room, "--logits", "softmax", probs="logits.npy")
    inside = near(softmax(logits.astype(np.float64)).astype(np.float32)) <= thresholds
    assert (sets != inside).mean() < 1e-3  # the last bit of the softmax
    single = np.random.default_rng(5).random((8, 1, 9, 11)).astype(np.float32)
    single[0], single[1] = 0, 1  # nothing, or everything, is the object
    room.save("probs.npy", single)
    room.save("labels.npy", (single[:, 0] > 0.5).astype(np.uint8))
    room.calibrate("--score", "near", "--method", "image")
    sets, thresholds = kept(room)
    assert np.isfinite(thresholds).all()
    both = np.concatenate([np.float32(1) - single, single], axis=1)
    assert np.array_equal(sets, near(both) <= thresholds)


def test_masks_that_leave_pixels_without_a_class_keep_their_empty_sets(room):
    random = np.random.default_rng(6)
    probs = random.random((9, 2, 8, 10)).astype(np.float32)
    masks = (random.random(probs.shape) < probs).astype(np.uint8)
    room.save("probs.npy", probs)
    room.save("labels.npy", masks)
    room.calibrate("--score", "near", "--method", "image")
    sets, thresholds = kept(room)
    assert np.array_equal(sets, near(probs) <= thresholds)
    assert np.array_equal(thresholds[:, 0, 0], largest_allowed(near(probs), masks > 0, 0.3))
    words = ["predict", "cal.kcal", "--probs", "probs.npy", "--alpha", "0.6", "-o", "auto.npy"]
    assert "(filled)" not in room.does(*words).out
    assert (room.load("auto.npy").sum(axis=1) == 0).any()
    assert "(filled)" in room.does(*words, "--empty", "fill").out
    # If every pixel has one class, masks and labels give the same sets, and empty sets are filled.
    labels = random.integers(0, 2, (9, 8, 10)).astype(np.uint8)
    for name, truth in [("labels.npy", labels), ("masks.npy", np.stack([labels == 0, labels == 1], 1).astype(np.uint8))]:
        room.save(name, truth)
        room.calibrate("--score", "near", "--method", "image", labels=name)
        assert "(filled)" in room.does(*words).out
        room.save(f"{name}.sets.npy", room.load("auto.npy"))
    assert np.array_equal(room.load("labels.npy.sets.npy"), room.load("masks.npy.sets.npy"))


def test_folders_give_the_sets_of_the_array(room):
    probs, labels = scene(7, 3, (12, 9), seed=8)
    room.save("probs.npy", probs)
    room.save("labels.npy", labels)
    room.calibrate("--score", "near", "--method", "field")
    expected, _ = kept(room)
    for folder in ("p", "y"):
        (room.folder / folder).mkdir()
    for n in range(7):
        room.save(f"p/case{n}.npy", probs[n])
        room.save(f"y/case{n}.npy", labels[n])
    room.calibrate("--score", "near", "--method", "field", probs="p", labels="y", output="folder.kcal")
    room.does("predict", "folder.kcal", "--probs", "p", "--alpha", "0.3", "--empty", "keep", "-o", "out.npy")
    assert np.array_equal(room.load("out.npy"), expected)
