"""Outlines and measures in Python against the command, and what Python adds: volumes, masks, pictures, refusals."""

import json
import os
import pickle
import subprocess

import numpy as np
import pytest

import kandinsky

COMMAND = os.environ.get("KANDINSKY_COMMAND", "")


@pytest.fixture(scope="module")
def scenes():
    made = kandinsky.make_scenes(images=70, grid=(24, 32))
    return np.array(made.probs), np.array(made.labels)


def command(folder, *words):
    done = subprocess.run([COMMAND, *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not COMMAND, reason="set KANDINSKY_COMMAND to the kandinsky program")
def test_the_command_says_the_same(scenes, tmp_path):
    probs, labels = scenes
    for name, array in (("cp", probs[:60]), ("cy", labels[:60]), ("np", probs[60:]), ("ny", labels[60:])):
        np.save(tmp_path / f"{name}.npy", array)
    given = ["--cal-probs", "cp.npy", "--cal-labels", "cy.npy"]
    command(tmp_path, "outline", *given, "--share", "0.9", "--save", "o.json", "--probs", "np.npy", "-o", "o.npy")
    rule = kandinsky.fit_outline(probs[:60], labels[:60], share=0.9)
    assert rule == kandinsky.OutlineRule.load(tmp_path / "o.json")
    np.testing.assert_array_equal(rule.predict(probs[60:]), np.load(tmp_path / "o.npy"))
    command(tmp_path, "measure", *given, "--save", "m.json", "--probs", "np.npy", "--labels", "ny.npy", "--json", "found.json")
    found = kandinsky.measure(probs[:60], labels[:60], probs[60:], labels[60:])
    for one, other in zip(found, json.loads((tmp_path / "found.json").read_text())["groups"]):
        assert (one.size_low, one.size_high, one.dice_low) == (other["size"]["low"], other["size"]["high"], other["dice"]["low"])
        assert one.size_true == other["size"]["truth"]


@pytest.mark.skipif(not COMMAND, reason="set KANDINSKY_COMMAND to the kandinsky program")
def test_the_command_says_the_same_of_objects_and_with_a_confidence(scenes, tmp_path):
    probs, labels = scenes
    for name, array in (("cp", probs[:60]), ("cy", labels[:60]), ("np", probs[60:]), ("ny", labels[60:])):
        np.save(tmp_path / f"{name}.npy", array)
    given = ["--cal-probs", "cp.npy", "--cal-labels", "cy.npy", "--alpha", "0.2"]
    command(tmp_path, "outline", *given, "--unit", "object", "--connectivity", "faces", "--save", "o.json", "--probs", "np.npy", "--labels", "ny.npy",
            "--small", "20", "--json", "found.json")
    rule = kandinsky.fit_outline(probs[:60], labels[:60], alpha=0.2, unit="object", connectivity="faces")
    assert rule == kandinsky.OutlineRule.load(tmp_path / "o.json") and "touches all but at most 20 % of its objects" in rule.guarantee
    assert rule.evaluate(probs[60:], labels[60:], small=20) == json.loads((tmp_path / "found.json").read_text())["test"]
    command(tmp_path, "outline", *given, "--confidence", "0.9", "--save", "c.json")
    assured = kandinsky.fit_outline(probs[:60], labels[:60], alpha=0.2, confidence=0.9)
    assert assured == kandinsky.OutlineRule.load(tmp_path / "c.json") and "90 % of the draws" in assured.guarantee


@pytest.mark.skipif(not COMMAND, reason="set KANDINSKY_COMMAND to the kandinsky program")
def test_the_values_of_a_calibrator_are_a_score_as_in_the_command(scenes, tmp_path):
    probs, labels = scenes
    calibrator = kandinsky.Calibrator(promise="none").fit(probs[:25], labels[:25])
    calibrator.save(tmp_path / "c.kcal")
    for name, array in (("cp", probs[25:60]), ("cy", labels[25:60]), ("np", probs[60:]), ("ny", labels[60:])):
        np.save(tmp_path / f"{name}.npy", array)
    command(tmp_path, "outline", "--cal-probs", "cp.npy", "--cal-labels", "cy.npy", "--score", "field", "--calibrator", "c.kcal", "--share", "0.9",
            "--save", "o.json", "--probs", "np.npy", "--labels", "ny.npy", "--json", "found.json", "-o", "o.npy")
    rule = kandinsky.fit_outline(probs[25:60], labels[25:60], share=0.9, score_function="field", calibrator=calibrator)
    loaded = kandinsky.OutlineRule.load(tmp_path / "o.json")
    assert rule == loaded and pickle.loads(pickle.dumps(rule)).calibrator is not None
    np.testing.assert_array_equal(rule.predict(probs[60:]), np.load(tmp_path / "o.npy"))
    assert rule.evaluate(probs[60:], labels[60:]) == json.loads((tmp_path / "found.json").read_text())["test"]
    with pytest.raises(kandinsky.UsageError, match="calibrator"):
        loaded.predict(probs[60:])
    loaded.calibrator = calibrator
    np.testing.assert_array_equal(loaded.predict(probs[60:]), rule.predict(probs[60:]))


def test_volumes_are_cases(scenes):
    probs, labels = scenes
    deep = np.moveaxis(probs.reshape(35, 2, 2, 24, 32), 1, 2)
    truth = labels.reshape(35, 2, 24, 32)
    rule = kandinsky.fit_outline(deep, truth, alpha=0.3, spacing=(3, 1, 1), score_function="distance")
    codes = rule.predict(deep, spacing=(3, 1, 1))
    assert codes.shape == (35, 1, 2, 24, 32) and "volume" in rule.guarantee
    held = ~((truth == 1) & (codes[:, 0] == 0)).any((1, 2, 3)) & ~((truth == 0) & (codes[:, 0] == 2)).any((1, 2, 3))
    assert held.mean() >= 0.7
    found = kandinsky.measure(deep[:30], truth[:30], deep[30:], spacing=(3, 1, 0.5))
    predicted = (deep[30:, 1] > deep[30:, 0]).sum((1, 2, 3))
    assert [one.size for one in found] == list(predicted * 1.5)
    with pytest.raises(kandinsky.UsageError, match="group of its own"):
        kandinsky.fit_outline(deep, truth, np.zeros(35, int))


def test_masks_are_enough(scenes):
    probs, labels = scenes
    hard = probs.argmax(1)
    rule = kandinsky.fit_outline(hard[:60], labels[:60], masks=True, score_function="distance")
    soft = kandinsky.fit_outline(probs[:60], labels[:60], score_function="distance")
    np.testing.assert_array_equal(rule.predict(hard[60:]), soft.predict(probs[60:]))
    assert all(one.size_low <= one.size <= one.size_high for one in kandinsky.measure(hard[:60], labels[:60], hard[60:], masks=True))


def test_rules_are_kept_and_drawn(scenes, tmp_path):
    probs, labels = scenes
    rule = kandinsky.fit_outline(probs, labels, alpha=0.2)
    rule.save(tmp_path / "r.json")
    again = kandinsky.OutlineRule.load(tmp_path / "r.json")
    assert rule == again == pickle.loads(pickle.dumps(rule)) and hash(rule) == hash(again) and "0.8" in repr(rule)
    assert rule.classes == (1,) and rule.to_dict()["alpha"] == 0.2
    with pytest.raises(kandinsky.DataError, match="no rule of this kind"):
        kandinsky.MeasureRule.load(tmp_path / "r.json")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = kandinsky.plot_outline(rule.predict(probs[:1])[0, 0], probs[0, 1], labels[0])
    assert len(axes.get_legend().get_texts()) == 3
    with pytest.raises(kandinsky.UsageError, match="image has shape"):
        kandinsky.plot_outline(rule.predict(probs[:1])[0, 0], probs[0, 1, 1:])


@pytest.mark.parametrize(
    "options, said",
    [({"score_function": "near"}, "score_function is 'near'"), ({"sides": "left"}, "sides"), ({"share": 2}, "share"), ({"alpha": 0}, "alpha"),
     ({"spacing": (1, 2, 3)}, "two numbers"), ({"masks": 1}, "masks"), ({"classes": 5}, "classes"), ({"unit": "lesion"}, "unit is 'lesion'"), ({"connectivity": 8}, "connectivity is 8"),
     ({"classes": -1}, "classes has -1"), ({"classes": "a"}, "classes has 'a'"), ({"classes": [1, 1]}, "more than once"), ({"spacing": "ab"}, "two numbers"), ({"score_function": 3}, "score_function is 3"),
     ({"score_function": "field"}, "calibrator"), ({"calibrator": 3}, "must be a Calibrator"), ({"calibrator": kandinsky.Calibrator(), "score_function": "distance"}, "calibrator has no effect"), ({"unit": "object", "sides": "both"}, "outer masks"), ({"unit": "object", "confidence": 0.9}, "confidence")],
)  # fmt: skip
def test_invalid_options_are_refused(scenes, options, said):
    with pytest.raises(kandinsky.UsageError, match=said):
        kandinsky.fit_outline(*scenes, **options)


def test_the_warnings_of_the_command_are_raised(scenes):
    probs, labels = scenes
    with pytest.warns(kandinsky.CalibrationWarning, match=r"5 calibration groups have it, but alpha 0.1 for both masks needs 19.*sides='outer'"):
        kandinsky.fit_outline(probs[:5], labels[:5])
    with pytest.warns(kandinsky.CalibrationWarning, match="5 calibration groups, but alpha 0.1 with confidence 0.5 needs 7"):
        kandinsky.fit_measure(probs[:5], labels[:5], confidence=0.5)
    with pytest.warns(kandinsky.CalibrationWarning, match="one voxel of an object is enough.*share=0.5"):
        kandinsky.fit_outline(probs, labels, unit="object")


def test_files_of_rules_that_fail_are_named_and_keep_their_content(scenes, tmp_path, small_files):
    rule, path = kandinsky.fit_outline(*scenes, alpha=0.2), tmp_path / "r.json"
    path.write_text("old")
    with small_files(100), pytest.raises(kandinsky.FileError, match="cannot write .*r.json: File too large"):
        rule.save(path)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
    rule.save(path)
    assert kandinsky.OutlineRule.load(path) == rule
    with pytest.raises(kandinsky.FileError, match="cannot write .*nowhere"):
        rule.save(tmp_path / "nowhere" / "r.json")
    with pytest.raises(kandinsky.FileError, match="cannot read .*nowhere.json: No such file"):
        kandinsky.MeasureRule.load(tmp_path / "nowhere.json")


def test_damaged_rules_are_refused(scenes, tmp_path):
    path = tmp_path / "r.json"
    for content, said in ((b"\xff\xfe", "no rule of this kind"), (b"{", "no rule of this kind"), (b'{"format": "kandinsky outlines"}', "damaged")):
        path.write_bytes(content)
        with pytest.raises(kandinsky.DataError, match=said):
            kandinsky.OutlineRule.load(path)
