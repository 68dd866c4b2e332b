"""--promise from the command, against a naive implementation of the formula of docs/promise.md."""

import numpy as np
import pytest

from support import Room, expect_refusal, scene

LEVELS = 20


def distribution(scores, where, groups, left_out, regions, pixel, score):
    """F without a group: the mean over the other groups of the share of their scores in the pixel's region that are below `score`."""
    shares = []
    for other in np.unique(groups):
        own = (groups == other) & (regions[where] == regions[pixel])
        if other != left_out and own.any():
            shares.append((scores[own] < score).mean())
    return np.ceil(np.mean(shares) * 4096 - 1e-6) if shares else 0.0


def thresholds(scores, where, groups, learnt, alpha, pixels):
    """[pixel]: the largest score that is in the set. `learnt`: regions [pixel] without each group."""
    names = list(learnt)
    values = [distribution(scores, where, groups, g, learnt[g], p, s) for s, p, g in zip(scores, where, groups)]
    weights = [1 / (groups == g).sum() for g in groups]
    order = np.argsort(values, kind="stable")
    enough = np.cumsum(np.array(weights)[order]) >= (1 - alpha) * (len(names) + 1) - 1e-9
    if not enough.any():
        return np.full(pixels, np.inf, np.float32)
    level = np.array(values)[order][enough.argmax()]
    limits = np.full(pixels, -np.inf, np.float32)
    for g in names:
        for p in range(pixels):
            own = [s for s in np.unique(scores)
                   if distribution(scores, where, groups, g, learnt[g], p, np.nextafter(s, np.float32(np.inf))) > level]
            limits[p] = max(limits[p], min(own) if own else np.inf)
    return limits


@pytest.mark.parametrize(("seed", "grouped"), [(1, False), (2, True), (3, True)])
def test_thresholds_and_p_values_of_kmeans_are_those_of_the_formula(room, seed, grouped):
    probs, labels = scene(7, 2, (4, 5), seed=seed)
    groups = np.arange(7) // (2 if grouped else 1)
    options = ["--method", "kmeans", "--kmeans-clusters", "3", "--score", "lac", "--rungs", str(LEVELS)]
    for name, array in (("probs", probs), ("labels", labels), ("groups", groups)):
        room.save(f"{name}.npy", array)
    room.does("calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "--groups", "groups.npy", "--promise", "loo",
              "-o", "cal.kcal", *options)
    learnt = {}
    for g in np.unique(groups):  # what is learnt from the others alone
        for name, array in (("probs", probs), ("labels", labels), ("groups", groups)):
            room.save(f"other_{name}.npy", array[groups != g])
        room.does("calibrate", "--probs", "other_probs.npy", "--labels", "other_labels.npy", "--groups", "other_groups.npy",
                  "--promise", "none", "-o", "other.kcal", "--regions", "regions.npy", *options)
        learnt[g] = room.load("regions.npy").reshape(2, -1)
    wanted = []
    for alpha in (0.25, 0.5):
        room.does("predict", "cal.kcal", "--probs", "probs.npy", "--alpha", str(alpha), "--empty", "keep", "-o", "sets.npy",
                  "--pvalues", "p.npy")
        for c in range(2):
            image, y, x = np.nonzero(labels == c)
            scores = np.float32(1) - probs[image, c, y, x]
            limits = thresholds(scores, y * 5 + x, groups[image], {g: r[c] for g, r in learnt.items()}, alpha, 20)
            sets = (np.float32(1) - probs[:, c]).reshape(7, -1) <= limits
            np.testing.assert_array_equal(room.load("sets.npy")[:, c].reshape(7, -1) != 0, sets)
            np.testing.assert_array_equal(room.load("p.npy")[:, c].reshape(7, -1) > alpha, sets)
            wanted.append(sets.mean())
    assert 0 < min(wanted) < 1


def test_by_default_field_leaves_groups_out_and_inspect_says_so(room):
    probs, labels = scene(12, 2, (6, 7), seed=5)
    room.save("probs.npy", probs)
    room.save("labels.npy", labels)
    said = room.does("calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "-o", "cal.kcal").out
    assert "at least 1 - alpha" in said and "miss at most a share alpha" in said
    assert "loo: learnt again without each of 12 images; 1/13 of the mass lies at infinity" in room.does("inspect", "cal.kcal").out
    named = room.does("calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "--promise", "loo", "-o", "loo.kcal")
    assert named.code == 0 and (room.folder / "cal.kcal").read_bytes() == (room.folder / "loo.kcal").read_bytes()
    room.does("calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "--promise", "split", "-o", "split.kcal")
    assert "split: 6 images learnt, 6 set the thresholds; 1/7" in room.does("inspect", "split.kcal").out
    quiet = room.does("calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "--promise", "none", "-o", "none.kcal").out
    assert "No general finite-sample guarantee" in quiet and "promise loo" in quiet


def test_a_guarantee_that_cannot_be_given_is_refused(room):
    probs, labels = scene(6, 2, (4, 5), seed=6)
    room.save("probs.npy", probs)
    room.save("labels.npy", labels)
    call = ["calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "-o", "cal.kcal"]
    expect_refusal(room.run(*call, "--promise", "loo", "--pooling", "pixels"), 2, "--pooling groups")
    expect_refusal(room.run(*call, "--promise", "loo", "--split", "0.5"), 2, "--split", "loo")
    expect_refusal(room.run(*call, "--promise", "maybe"), 2, "auto, loo, split or none")
    expect_refusal(room.run(*call, "--field-fold-order", "contiguous"), 2, "contiguous", "--promise split or none")


@pytest.mark.parametrize("words", [("--promise", "loo"), ("--promise", "none"), ("--promise", "split"), ("--pooling", "pixels"), ("-m", "image")],
                         ids=lambda words: words[1])  # fmt: skip
def test_a_class_of_one_group_has_the_thresholds_of_the_image(tmp_path, words):
    room = Room(tmp_path)
    probs, labels = scene(12, grid=(8, 9), seed=1)
    labels[1:][labels[1:] == 2] = 0
    result = room.does("calibrate", "--probs", room.save("p.npy", probs), "--labels", room.save("y.npy", labels), *words, "-o", "a.kcal")
    finite = {}
    for alpha in (0.3, 0.5, 0.99):
        room.does("predict", "a.kcal", "--alpha", alpha, "--thresholds", "t.npy")
        finite[alpha] = np.isfinite(room.load("t.npy")[2])
        assert finite[alpha].all() or not finite[alpha].any()
    by_alpha = [bool(one.all()) for one in finite.values()]
    wanted = {"pixels": [True, True, True], "image": [False, True, True]}
    assert by_alpha == wanted.get(words[1], [False, False, False])
    assert any("class" in one and "2" in one and "every set" in one for one in result.warnings) == (words[1] != "pixels"), result
