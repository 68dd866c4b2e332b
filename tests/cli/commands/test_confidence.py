"""--confidence and --risk from the command: sentences, sets recomputed from p-values and files, refusals."""

import json

import numpy as np
import pytest

from support import Room


def moody(images, seed, grid=(9, 8)):
    """Images of two classes that differ in how hard they are; their probabilities are mostly right."""
    rng = np.random.default_rng(seed)
    labels = np.zeros((images, *grid), np.uint8)
    labels[:, 2:7, 2:6] = 1
    right = 1 - rng.random((images, 1, 1)) * rng.random((images, *grid)) * 0.8
    probs = np.stack([np.where(labels == c, right, 1 - right) for c in range(2)], 1)
    return probs.astype(np.float32), labels


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    room = Room(tmp_path_factory.mktemp("confidence"))
    for name, (probs, labels) in {"cal": moody(120, 1), "test": moody(60, 2)}.items():
        room.save(f"{name}_probs.npy", probs)
        room.save(f"{name}_labels.npy", labels)
    room.save("groups.npy", np.arange(120) // 2)
    room.save("mask.npy", (np.arange(72).reshape(9, 8) % 3).astype(np.uint8))
    return room


CALIBRATE = ("calibrate", "--probs", "cal_probs.npy", "--labels", "cal_labels.npy", "-o", "c.kcal")


@pytest.mark.parametrize("method", ["field", "image", "pixel", "mask", "kmeans", "auto"])
def test_every_method_states_the_guarantee_everywhere_and_stores_the_option(room, method):
    more = ["--mask", "mask.npy"] if method == "mask" else []
    said = room.does(*CALIBRATE, "--method", method, "--confidence", "0.9", *more).out
    meta = json.loads(room.does("inspect", "c.kcal", "--json").out)
    assert meta["guarantee"].startswith("In at least 90 % of all draws of calibration images, the sets of a new image")
    assert "false-negative rate with confidence 0.9" in meta["guarantee"]
    assert meta["guarantee"] in said and meta["guarantee"] in room.does("inspect", "c.kcal").out
    assert meta["options"]["confidence"] == 0.9 and meta["options"]["risk"] == "recall" and meta["format_version"] == 4
    learns = method != "image"
    assert meta["options"]["promise"] == ("split" if learns else "none") and meta["options"]["split"] == (0.25 if learns else 0)
    rule = room.does("inspect", "c.kcal").out
    assert ("30 images learnt, 90 set the thresholds" if learns else "all 120 images set the thresholds") in rule
    assert meta["guarantee"] in room.does("predict", "c.kcal", "--probs", "test_probs.npy", "-o", "s.npy").out
    evaluated = json.loads(room.does("evaluate", "c.kcal", "--probs", "test_probs.npy", "--labels", "test_labels.npy", "--alpha", "0.2", "--json", "-").out)
    assert evaluated["alpha"] == 0.2 and evaluated["coverage_at_alpha"] > 0.75


def test_more_confidence_means_larger_sets(room):
    sizes = {}
    for confidence in ("0", "0.5", "0.9", "0.99"):
        room.does(*CALIBRATE, "--confidence", confidence)
        room.does("predict", "c.kcal", "--probs", "test_probs.npy", "--alpha", "0.2", "--empty", "keep", "-o", "s.npy", "--pvalues", "p.npy")
        sets, p = room.load("s.npy"), room.load("p.npy")
        np.testing.assert_array_equal(sets, p > 0.2)
        sizes[confidence] = sets.mean()
        truth = room.load("test_labels.npy")
        missed = np.mean([1 - own[1][label == 1].mean() for own, label in zip(sets, truth)])
        assert missed < 0.25
    assert sizes["0.5"] <= sizes["0.9"] <= sizes["0.99"]
    assert json.loads(room.does("inspect", "c.kcal", "--json").out)["options"]["confidence"] == 0.99


def test_too_few_groups_give_a_warning_with_the_number_needed(room):
    result = room.run(*CALIBRATE, "--groups", "groups.npy", "--confidence", "0.999")
    assert result.code == 0
    told = result.err
    # 0.9^66 <= 0.001; 45 of the 60 groups set thresholds, which reach 1 - 0.001^(1/45).
    assert "needs at least 66 groups" in told and "have 45" in told and "alpha 0.143 or larger" in told
    full = room.run("predict", "c.kcal", "--probs", "test_probs.npy", "--alpha", "0.14", "-o", "s.npy")
    assert full.code == 0 and room.load("s.npy").all()
    assert "needs at least" in full.err


@pytest.mark.parametrize("risk", ["precision", "recall,precision"])
def test_precision_is_kept_and_small_alphas_are_refused(room, risk):
    room.run(*CALIBRATE, "--method", "image", "--confidence", "0.9", "--risk", risk)
    meta = json.loads(room.does("inspect", "c.kcal", "--json").out)
    assert "whose set contains the class" in meta["guarantee"] and "false-discovery rate" in meta["guarantee"]
    with np.load(room.folder / "c.kcal") as file:
        least = file["risk_alphas"].max()
        assert ("risk_rungs" in file.files) == (risk == "precision")
    assert least < 0.6
    # inspect counts infinite thresholds at the smallest alpha that is guaranteed for all classes.
    assert meta["figures"]["alpha"] == pytest.approx(max(least, 0.1))
    assert f"(infinite thresholds at alpha {meta['figures']['alpha']:.6g}:" in room.does("inspect", "c.kcal").out
    assert json.loads(room.does("inspect", "c.kcal", "--json", "--alpha", "0.8").out)["figures"]["alpha"] == 0.8
    truth = room.load("test_labels.npy")
    sizes = []
    for alpha in (least + 0.002, 0.7):
        room.does("predict", "c.kcal", "--probs", "test_probs.npy", "--alpha", str(alpha), "-o", "s.npy")
        sets = room.load("s.npy")
        sizes.append(sets[:, 1].mean())
        for c in (0, 1):
            wrong = [(own[c] & (label != c)).sum() / max(1, own[c].sum()) for own, label in zip(sets, truth)]
            assert np.mean(wrong) < alpha + 0.05
    assert sizes[0] <= sizes[1] if risk == "precision" else sizes[0] >= sizes[1]
    room.refuses(2, ["class ", "false-discovery rate of at most 0.001", "smallest possible alpha", "calibrate on more images"],
                 "predict", "c.kcal", "--probs", "test_probs.npy", "--alpha", "0.001", "-o", "x.npy")  # fmt: skip
    room.refuses(2, ["--empty fill"], "predict", "c.kcal", "--probs", "test_probs.npy", "--alpha", "0.7", "--empty", "fill", "-o", "x.npy")


@pytest.mark.parametrize("words,parts", [
    (["--promise", "loo"], ["--promise loo", "independent", "split"]),
    (["--promise", "none"], ["--promise none"]),
    (["--pooling", "pixels"], ["pixels are not"]),
    (["--preset", "paper"], ["--preset paper"]),
    (["--method", "image", "--split", "0.3"], ["--split has no effect"]),
    (["--risk", "precision", "--condition", "none"], ["single classes"]),
    (["--risk", "accuracy"], ["recall, precision or recall,precision"]),
    (["--risk", "precision", "--curves", "curves.npy"], ["--curves has no effect", "--thresholds"]),
    (["--split", "0.999"], ["leaves one side empty"]),
])  # fmt: skip
def test_what_does_not_go_together_is_refused(room, words, parts):
    room.refuses(2, parts, *CALIBRATE, "--confidence", "0.9", *words)


def test_precision_and_bad_numbers_are_refused(room):
    room.refuses(2, ["--risk precision needs --confidence"], *CALIBRATE, "--risk", "precision")
    room.refuses(2, ["--confidence is 1.5"], *CALIBRATE, "--confidence", "1.5")


def test_comparisons_take_a_confidence_and_refuse_precision(room):
    words = ("compare", "--cal-probs", "cal_probs.npy", "--cal-labels", "cal_labels.npy", "--test-probs", "test_probs.npy",
             "--test-labels", "test_labels.npy", "--methods", "image,field", "--confidence", "0.9")  # fmt: skip
    assert "field" in room.does(*words).out
    room.refuses(2, ["--risk has no effect", "measure coverage"], *words, "--risk", "precision")


def test_what_has_no_meaning_for_precision_is_refused(room):
    room.run(*CALIBRATE, "--method", "image", "--confidence", "0.9", "--risk", "precision")
    room.refuses(2, ["p-values", "false-discovery rate"], "predict", "c.kcal", "--probs", "test_probs.npy", "--pvalues", "p.npy")
    told = room.does("inspect", "c.kcal").out
    assert "risk          precision; the least alpha that can be kept: class 0 " in told
