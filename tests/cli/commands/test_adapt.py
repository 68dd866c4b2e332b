"""--adapt from the command: features and values recomputed in numpy from the file, sets, p-values, measures, refusals."""

import json

import numpy as np
import pytest

from support import expect_refusal


def moody(images, seed, classes=2, grid=(9, 8)):
    """Images that differ in difficulty; their probabilities show how hard they are."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, (images, *grid)).astype(np.uint8)
    right = 1 - rng.random((images, 1, 1)) * rng.random((images, *grid))
    probs = np.stack([np.where(labels == c, right, (1 - right) * rng.random(labels.shape)) for c in range(classes)], 1)
    return probs.astype(np.float32), labels


def features(p):
    """The features of docs/adapt.md for one class in one image."""
    p = p.astype(np.float32).ravel()
    own = np.floor(p * np.float32(4096) + np.float32(0.5))
    doubt = np.floor(p * (1 - p) * np.float32(2**18))
    inside = own > 2048
    shares = [doubt.sum() / len(p) / 65536, own.sum() / len(p) / 4096, doubt[inside].mean() / 65536 if inside.any() else 1]
    first = np.sqrt(np.float32(4096) - own)
    roots = [np.floor(own * root).sum(dtype=float) for root in (first, np.sqrt(first) * np.float32(8))]
    means = (np.array(roots) + 16 * len(p)) / (64 * (own.sum(dtype=float) + len(p)))
    return np.array([*np.log2(np.array(shares) + 1 / 4096), own[~inside].sum() / (own.sum() + 4 * len(p)), *np.log2(means)])


@pytest.fixture
def adapted(room):
    for name, (probs, labels) in {"cal": moody(60, 1), "test": moody(20, 2)}.items():
        room.save(f"{name}_probs.npy", probs)
        room.save(f"{name}_labels.npy", labels)
    room.does("calibrate", "--probs", "cal_probs.npy", "--labels", "cal_labels.npy", "--adapt", "image", "-o", "a.kcal")
    return room


def test_shifts_in_the_file_are_linear_in_the_features_and_move_the_p_values(adapted):
    with np.load(adapted.folder / "a.kcal") as file:
        shifts, levels, ladder = file["adapt_shifts"], file["adapt_levels"], file["levels"]
        meta = json.loads(file["meta.json"])
    assert meta["format_version"] == 6 and meta["options"]["adapt"] == "image"
    assert shifts.shape[1] == 20 and len(levels) == len(ladder) * len(np.unique(shifts[:, 0]))
    probs = adapted.load("test_probs.npy")
    adapted.does("predict", "a.kcal", "--probs", "test_probs.npy", "--pvalues", "p.npy")
    p = adapted.load("p.npy")
    s = int(shifts[0, 0])
    own = shifts[shifts[:, 0] == s]
    moved = []
    for image in probs:
        x = features(image[s])
        moved.append(max((row[1:7] * np.clip(x, row[7:13], row[13:19])).sum() + row[19] for row in own))
    # Compared with one level for all images, a larger shift means larger p-values and so larger sets.
    adapted.does("calibrate", "--probs", "cal_probs.npy", "--labels", "cal_labels.npy", "-o", "plain.kcal")
    adapted.does("predict", "plain.kcal", "--probs", "test_probs.npy", "--pvalues", "q.npy")
    gain = (p - adapted.load("q.npy"))[:, s].mean((1, 2))
    assert np.corrcoef(moved, gain)[0, 1] > 0.5


def test_sets_are_those_whose_p_value_exceeds_alpha(adapted):
    for alpha in ("0.05", "0.2", "0.6"):
        adapted.does("predict", "a.kcal", "--probs", "test_probs.npy", "--alpha", alpha, "--empty", "keep", "-o", "s.npy",
                     "--pvalues", "p.npy")  # fmt: skip
        np.testing.assert_array_equal(adapted.load("s.npy"), adapted.load("p.npy") > float(alpha))


def test_measures_by_image_are_those_of_the_sets(adapted):
    adapted.does("evaluate", "a.kcal", "--probs", "test_probs.npy", "--labels", "test_labels.npy", "--alpha", "0.2",
                 "--bootstrap", "0", "--json", "e.json")  # fmt: skip
    adapted.does("predict", "a.kcal", "--probs", "test_probs.npy", "--alpha", "0.2", "--empty", "keep", "-o", "s.npy")
    sets, labels, probs = adapted.load("s.npy"), adapted.load("test_labels.npy"), adapted.load("test_probs.npy")
    for row in json.loads((adapted.folder / "e.json").read_text())["results"]:
        c = row["class"]
        coverage = np.array([sets[n, c][labels[n] == c].mean() for n in range(20)])
        doubt = np.array([features(probs[n, c])[0] for n in range(20)])
        found = row["image_coverage"]
        assert found["spread"] == pytest.approx(np.abs(coverage - 0.8).mean(), abs=1e-6)
        assert found["far_below"] == pytest.approx((coverage < 0.7 - 1e-9).mean())
        assert found["hardest"] == pytest.approx(coverage[np.argsort(doubt)[-2:]].mean(), abs=1e-6)
        tenths = found["by_feature"]["doubt"]
        assert tenths["images"] == [2] * 10
        assert tenths["coverage"] == pytest.approx(coverage[np.argsort(doubt)].reshape(10, 2).mean(1), abs=1e-6)
        assert tenths["value"] == pytest.approx(np.sort(doubt).reshape(10, 2).mean(1), abs=1e-6)


def test_inspect_names_the_classes_that_adapt(adapted):
    assert "depend on how hard an image looks" in adapted.does("inspect", "a.kcal").out
    described = json.loads(adapted.does("inspect", "a.kcal", "--json").out)
    assert described["strata"][1]["geometry"]["adapt"]["adapts"]


def test_what_cannot_follow_the_image_is_refused(adapted):
    calibrate = ("calibrate", "--probs", "cal_probs.npy", "--labels", "cal_labels.npy", "--adapt", "image", "-o", "b.kcal")
    expect_refusal(adapted.run("predict", "a.kcal", "--thresholds", "t.npy"), 2, "depend on the image")
    expect_refusal(adapted.run(*calibrate, "--pooling", "pixels"), 2, "needs --pooling groups")
    expect_refusal(adapted.run(*calibrate, "--method", "auto"), 2, "it needs a given method, not auto")
    expect_refusal(adapted.run(*calibrate[:-3], "images", "-o", "b.kcal"), 2, "must be image or none")
    assert not (adapted.folder / "b.kcal").exists()
