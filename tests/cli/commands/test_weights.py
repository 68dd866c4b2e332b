"""--weights, --shift-to and recalibrate from the command: the rule recomputed in numpy, files, words, refusals."""

import json
import re

import numpy as np
import pytest

from support import expect_refusal, moody

USAGE, DATA = 2, 3  # exit codes


def weighted_quantile(scores, groups, weights, bound, level):
    """The least score at which groups' shares times their weights reach level * (sum of weights + bound)."""
    names, number, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    order = np.argsort(scores, kind="stable")
    share = np.array([weights[name] for name in names]) / sizes
    reached = np.cumsum(share[number][order])
    wanted = level * (sum(weights[name] for name in names) + bound)
    enough = np.nonzero(reached >= wanted - 1e-9)[0]
    return scores[order][enough[0]] if len(enough) else np.inf


@pytest.fixture
def weighted(room):
    for name, (probs, labels) in {"cal": moody(60, 1), "new": moody(40, 2)}.items():
        room.save(f"{name}_probs.npy", probs)
        room.save(f"{name}_labels.npy", labels)
    room.save("groups.npy", np.arange(60) // 2)
    of_group = np.random.default_rng(3).integers(1, 9, 30).astype(float)
    room.save("w.npy", of_group[np.arange(60) // 2])
    return room


CAL = ["--probs", "cal_probs.npy", "--labels", "cal_labels.npy"]


def test_thresholds_are_the_weighted_quantiles(weighted):
    weighted.does("calibrate", *CAL, "--groups", "groups.npy", "-m", "image", "--score", "lac", "--weights", "w.npy", "--max-weight", "10",
                  "--rungs", "20", "-o", "w.kcal", "--curves", "curves.npy")  # fmt: skip
    probs, labels, w = (weighted.load(name) for name in ("cal_probs.npy", "cal_labels.npy", "w.npy"))
    groups, curves = np.arange(60) // 2, weighted.load("curves.npy")
    for c in (0, 1):
        image, y, x = np.nonzero(labels == c)
        scores = 1 - probs[image, c, y, x]
        for level in (0.5, 0.8, 0.9):
            expected = weighted_quantile(scores, groups[image], dict(zip(groups, w)), 10, level)
            assert np.all(curves[round(level * 100) - 1, c] == np.float32(expected)), (c, level)


def test_a_table_of_weights_is_the_array(weighted):
    w = weighted.load("w.npy")
    (weighted.folder / "w.csv").write_text("weight\n" + "".join(f"{one}\n" for one in w))
    for name in ("w.npy", "w.csv"):
        weighted.does("calibrate", *CAL, "--groups", "groups.npy", "--weights", name, "-o", name + ".kcal")
    assert (weighted.folder / "w.npy.kcal").read_bytes() == (weighted.folder / "w.csv.kcal").read_bytes()


def test_calibrate_and_inspect_state_the_weights(weighted):
    w = weighted.load("w.npy")[::2]
    done = weighted.does("calibrate", *CAL, "--groups", "groups.npy", "--weights", "w.npy", "-o", "w.kcal")
    effective = w.sum() ** 2 / (w**2).sum()
    assert f"are worth {effective:.1f} of equal weight" in done.out and "in proportion to the weights" in done.out
    told = weighted.does("inspect", "w.kcal").out
    assert f"weights       given; the 30 groups that set the thresholds are worth {effective:.1f}" in told
    meta = json.loads(weighted.does("inspect", "w.kcal", "--json").out)
    assert meta["format_version"] == 4
    assert meta["weights"]["groups"] == 30 and abs(meta["weights"]["effective_groups"] - effective) < 1e-6
    assert abs(meta["weights"]["at_infinity"] - w.max() / (w.sum() + w.max())) < 1e-8


def test_weights_are_learnt_from_new_images(weighted):
    # The harder half of the new images, so that the outputs differ.
    new = weighted.load("new_probs.npy")
    hard = np.argsort(np.abs(new[:, 1] - 0.5).mean((1, 2)))[:20]
    weighted.save("hard.npy", new[hard])
    done = weighted.does("calibrate", *CAL, "-m", "image", "--shift-to", "hard.npy", "-o", "l.kcal")
    assert "learnt from 20 new images" in done.out and "estimated from images without labels" in done.out
    meta = json.loads(weighted.does("inspect", "l.kcal", "--json").out)["weights"]
    assert meta["learnt"]["new_groups"] == 20 and meta["learnt"]["slopes"]["doubt of class 1"] > 0
    weighted.does("calibrate", *CAL, "-m", "image", "--shift-to", "hard.npy", "--threads", "1", "-o", "m.kcal")
    assert (weighted.folder / "l.kcal").read_bytes() == (weighted.folder / "m.kcal").read_bytes()
    same = weighted.does("calibrate", *CAL, "-m", "image", "--shift-to", "cal_probs.npy", "-o", "n.kcal")
    assert "all weights are equal" in same.out


@pytest.mark.parametrize(
    "usage, words, told",
    [
        (True, ["--weights", "w.npy", "--pooling", "pixels"], "need --pooling groups"),
        (True, ["--weights", "w.npy", "--shift-to", "new_probs.npy"], "--weights has no effect: --shift-to estimates"),
        (True, ["--max-weight", "3"], "--max-weight has no effect"),
        (True, ["--shift-groups", "groups.npy"], "--shift-groups has no effect"),
        (False, ["--weights", "short.npy"], "short.npy has 59 weights, but there are 60 images"),
        (False, ["--weights", "odd.npy"], "images 0 and 1 are in one group, but have the weights 1 and 2"),
        (False, ["--weights", "negative.npy"], "negative.npy: the weight of image 0 is -1"),
        (False, ["--weights", "lonely.npy"], "effective groups of the 30"),
        (True, ["--weights", "names.csv"], "names.csv names files, but the images are an array"),
        (False, ["--weights", "words.csv"], "words.csv: weight 0 is 'much', which is not a number"),
        (True, ["--shift-to", "new_probs.npy"], "the calibration images have groups and the others have none"),
        (True, ["--weights", "w.npy", "--max-weight", "-1"], "--max-weight is -1"),
    ],
)
def test_invalid_weights_are_refused(weighted, usage, words, told):
    weighted.save("short.npy", np.ones(59))
    weighted.save("odd.npy", np.arange(60) + 1.0)
    weighted.save("negative.npy", -np.ones(60))
    weighted.save("lonely.npy", np.repeat([1] + [1e-4] * 29, 2))
    (weighted.folder / "names.csv").write_text("".join(f"s{i},1\n" for i in range(60)))
    (weighted.folder / "words.csv").write_text("much\n" * 60)
    done = weighted.run("calibrate", *CAL, "--groups", "groups.npy", "-m", "image", *words, "-o", "x.kcal")
    expect_refusal(done, USAGE if usage else DATA, told)


@pytest.mark.parametrize("method", ["image", "pixel", "kmeans", "field"])
def test_recalibrate_sets_the_levels_by_the_new_images_alone(weighted, method):
    weighted.does("calibrate", *CAL, "-m", method, "--score", "lac", "-o", "old.kcal")
    done = weighted.does("recalibrate", "old.kcal", "--probs", "new_probs.npy", "--labels", "new_labels.npy", "-o", "r.kcal")
    assert "levels set by 40 new images" in done.out and "if the 40 images that set its levels and new ones are exchangeable" in done.out
    assert "recalibrated: curves from 60 images, levels from 40 new images; 1/41" in weighted.does("inspect", "r.kcal").out
    labels = weighted.load("new_labels.npy")
    for alpha in ("0.1", "0.3"):
        weighted.does("predict", "r.kcal", "--probs", "new_probs.npy", "--alpha", alpha, "--empty", "keep", "-o", "s.npy")
        sets = weighted.load("s.npy")
        for c in (0, 1):
            covered = [sets[i, c][labels[i] == c].mean() for i in range(40)]
            assert sum(covered) >= (1 - float(alpha)) * 41 - 1e-9
            assert np.mean(covered) < 1 - float(alpha) + 0.1
    expect_refusal(weighted.run("recalibrate", "old.kcal", *CAL, "-o", "x.kcal"), DATA, "the images that the calibrator was made from")
    np.save(weighted.folder / "ignored.npy", np.full_like(labels, 255))
    done = weighted.run("recalibrate", "old.kcal", "--probs", "new_probs.npy", "--labels", "ignored.npy", "-o", "x.kcal")
    expect_refusal(done, DATA, "ignored.npy", "every pixel is ignored")
    weighted.does("calibrate", *CAL, "--groups", "groups.npy", "-m", method, "-o", "grouped.kcal")
    done = weighted.run("recalibrate", "grouped.kcal", "--probs", "new_probs.npy", "--labels", "new_labels.npy", "-o", "x.kcal")
    expect_refusal(done, USAGE, "the calibration images had groups", "--groups")
    labels[2:] = 0
    weighted.save("rare.npy", labels)
    done = weighted.does("recalibrate", "old.kcal", "--probs", "new_probs.npy", "--labels", "rare.npy", "-o", "x.kcal")
    assert re.search(r"class.* 1 ha(s|ve) too few calibration images at any place or too few of the 40 new images, and below alpha = 0.\d+.* in every set", done.err)
    assert "calibrate or recalibrate on more that have" in done.err
