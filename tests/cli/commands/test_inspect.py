"""inspect: counts that are true, a text that fits a screen, and everything else in --json."""

import json
import re

import numpy as np
import pytest
from support import scene

SCREEN = 45  # lines


def table(text):
    """The rows of the table of classes."""
    lines = text[re.search("^class +groups", text, re.MULTILINE).end() :].splitlines()[1:]
    return [line.split() for line in lines[: next(i for i, line in enumerate(lines) if not line[:1].isalnum())]]


@pytest.mark.parametrize("method", ["field", "kmeans", "pixel", "image"])
def test_scores_are_those_of_the_labels(room, method):
    labels = room.labels.copy()
    labels[:, :2] = 255
    labels[labels == 2] = 0
    labels[0, 3, 3] = 2
    room.save("few.npy", labels)
    room.calibrate("-m", method, labels="few.npy")
    found = json.loads(room.does("inspect", "cal.kcal", "--json").out)["figures"]["strata"]
    rows = table(room.does("inspect", "cal.kcal").out)
    for c in range(3):
        true = int((labels == c).sum())
        assert found[c]["scores"] == true == int(rows[c][3]), (c, rows)
        assert found[c]["pixels_without_data"] == int(((labels == c).sum(0) == 0).sum()) == int(rows[c][-2])


@pytest.mark.parametrize("classes,method", [(11, "field"), (11, "kmeans"), (60, "image")])
def test_the_text_fits_a_screen_and_json_has_the_rest(room, classes, method):
    probs, labels = scene(12, classes, (9, 8), seed=2)
    room.save("many.npy", probs)
    room.save("truth.npy", labels)
    room.calibrate("-m", method, probs="many.npy", labels="truth.npy")
    text = room.does("inspect", "cal.kcal").out
    assert len(text.splitlines()) <= SCREEN, text
    found = json.loads(room.does("inspect", "cal.kcal", "--json").out)
    assert len(found["strata"]) == classes and all("geometry" in one for one in found["strata"])
    figures = found["figures"]["strata"]
    assert len(figures) == classes and all({"scores", "groups", "infinite_pixels"} <= set(one) for one in figures)
    assert classes <= 20 or "40 more classes, see --json" in text


def test_infinite_pixels_follow_alpha(room):
    room.calibrate("-m", "pixel")
    few, many = (json.loads(room.does("inspect", "cal.kcal", "--json", "--alpha", alpha).out)["figures"]["strata"] for alpha in ("0.9", "0.05"))
    assert sum(one["infinite_pixels"] for one in few) < sum(one["infinite_pixels"] for one in many)


def test_warnings_about_many_classes_are_one_line_each(room):
    probs, labels = scene(12, 40, (6, 5), seed=2)
    labels[labels > 30] = 0
    room.save("many.npy", probs)
    room.save("truth.npy", labels)
    words = ("calibrate", "--probs", "many.npy", "--labels", "truth.npy", "-m", "pixel", "-o", "a.kcal")
    warnings = room.run(*words).warnings
    assert len(warnings) == 2, warnings
    assert "classes 31, 32, 33, 34, 35, 36, 37, 38, 39 have no pixel" in warnings[0] and "they are in every" in warnings[0]
    assert "have few calibration images" in warnings[1] and "below alpha = " in warnings[1]


def test_few_groups_give_one_warning_and_long_lists_are_shortened(room):
    probs, labels = scene(20, seed=2)
    room.save("p.npy", probs)
    room.save("y.npy", labels)
    words = ("calibrate", "--probs", "p.npy", "--labels", "y.npy", "-m", "kmeans", "--kmeans-clusters", "2", "--split", "0.7", "-o", "a.kcal")
    warnings = room.run(*words).warnings
    assert len(warnings) == 1 and "only 6 calibration images set the thresholds: below alpha = 0.143" in warnings[0], warnings
    probs, labels = scene(3, 60, (2, 2), seed=2)
    room.save("p.npy", probs)
    room.save("y.npy", labels % 20)
    warnings = room.run("calibrate", "--probs", "p.npy", "--labels", "y.npy", "-m", "image", "-o", "a.kcal").warnings
    assert len(warnings) <= 3 and all(len(one) < 300 for one in warnings), warnings
    assert " more of 60 have no pixel" in warnings[0]


def test_the_default_ignore_does_not_drop_class_255(room):
    random = np.random.default_rng(0)
    probs = random.dirichlet(np.ones(300), (3, 2, 2)).transpose(0, 3, 1, 2).astype(np.float32)
    room.save("many.npy", probs)
    room.save("truth.npy", random.integers(200, 300, (3, 2, 2)))
    words = ("calibrate", "--probs", "many.npy", "--labels", "truth.npy", "-m", "image", "-o", "a.kcal")
    room.refuses(2, ["300 classes", "255 is one of them", "--ignore none"], *words)
    assert room.run(*words, "--ignore", "none").code == 0


def test_masks_of_0_and_255_are_explained(room):
    probs, labels = scene(12, 2, (6, 5), seed=2)
    room.save("two.npy", probs)
    room.save("truth.npy", labels * 255)
    room.save("masks.npy", np.stack([1 - labels, labels], 1) * 255)
    words = ("calibrate", "--probs", "two.npy", "-m", "image", "-o", "a.kcal", "--labels")
    said = " ".join(room.run(*words, "truth.npy").warnings)
    assert "class 1 has no pixel" in said and "masks of 0 and 255, divide them by 255" in said
    room.refuses(3, ["label 255", "divide them by 255"], *words, "truth.npy", "--ignore", "none")
    room.refuses(3, ["mask value 255", "divide masks of 0 and 255 by 255"], *words, "masks.npy")


def test_what_is_no_calibrator_is_called_so(room):
    for words in [("inspect", "probs.npy"), ("predict", "probs.npy", "--probs", "probs.npy", "-o", "s.npy")]:
        room.refuses(3, ["probs.npy", "not a calibrator"], *words)
