"""Weights of fit() and recalibrate(): those of the command, volumes, words."""

import numpy as np
import pytest
from support import moody

import kandinsky
from kandinsky import DataError, UsageError

PROBS, LABELS = moody(60, 1)
NEW_PROBS, NEW_LABELS = moody(30, 2)
WEIGHTS = 1 + np.arange(60) % 4


def test_weights_change_the_thresholds_and_are_in_the_description():
    plain = kandinsky.Calibrator("image").fit(PROBS, LABELS)
    weighted = kandinsky.Calibrator("image").fit(PROBS, LABELS, weights=WEIGHTS)
    assert weighted.meta_["weights"]["effective_groups"] == pytest.approx(WEIGHTS.sum() ** 2 / (WEIGHTS**2).sum())
    assert "in proportion to the weights" in weighted.guarantee_ and "weights" not in plain.meta_
    assert (weighted.score_thresholds(0.3) != plain.score_thresholds(0.3)).any()
    again = kandinsky.Calibrator("image").fit(PROBS, LABELS, weights=3 * WEIGHTS, max_weight=12)
    assert (again.score_thresholds(0.3) == weighted.score_thresholds(0.3)).all()


def test_weights_are_learnt_from_new_images():
    hard = NEW_PROBS[np.argsort(np.abs(NEW_PROBS[:, 1] - 0.5).mean((1, 2)))[:15]]
    learnt = kandinsky.Calibrator("image").fit(PROBS, LABELS, shift_to=hard)
    assert learnt.meta_["weights"]["learnt"]["new_groups"] == 15
    assert "estimated from images without labels" in learnt.guarantee_


def test_recalibrate_gives_a_new_calibrator():
    old = kandinsky.Calibrator("field", score_function="lac").fit(PROBS, LABELS)
    before = old.score_thresholds(0.2)
    new = old.recalibrate(NEW_PROBS, NEW_LABELS)
    assert new.meta_["levels"]["images"] == 30 and "levels" not in old.meta_
    assert (old.score_thresholds(0.2) == before).all()
    sets = new.predict_set(NEW_PROBS, alpha=0.2, empty="keep")
    covered = [sets[i, 1][NEW_LABELS[i] == 1].mean() for i in range(30)]
    assert sum(covered) >= 0.8 * 31 - 1e-9
    old.threads = "many"
    with pytest.raises(UsageError, match="threads is 'many'"):
        old.recalibrate(NEW_PROBS, NEW_LABELS)


def test_recalibrate_keeps_the_parameters_that_no_file_has(tmp_path):
    kept = {"memory": "64M", "threads": 1, "scratch": tmp_path, "progress": lambda stage, done, total: None}
    new = kandinsky.Calibrator("image", **kept).fit(PROBS, LABELS).recalibrate(NEW_PROBS, NEW_LABELS)
    assert {name: new.get_params()[name] for name in kept} == kept
    assert "fit again" not in repr(new)


def test_volumes_have_one_weight_each():
    volumes, labels = PROBS.reshape(30, 2, 2, 9, 8).swapaxes(1, 2), LABELS.reshape(30, 2, 9, 8)
    made = kandinsky.Calibrator("image").fit(volumes, labels, weights=WEIGHTS[:30])
    assert made.meta_["weights"]["groups"] == 30


@pytest.mark.parametrize(
    "kind, given, told",
    [
        (DataError, {"weights": WEIGHTS[:59]}, "one number for each of 60 images"),
        (DataError, {"weights": -WEIGHTS}, "must be finite and at least 0"),
        (UsageError, {"weights": WEIGHTS, "shift_to": NEW_PROBS}, "shift_to estimates the weights"),
        (UsageError, {"max_weight": 2.0}, "max_weight has no effect"),
        (UsageError, {"shift_groups": np.arange(30)}, "shift_groups has no effect"),
        (UsageError, {"shift_to": NEW_PROBS, "max_weight": 0.5}, "max_weight is 0.5, but must be"),
    ],
)
def test_invalid_weights_are_refused(kind, given, told):
    with pytest.raises(kind, match=told):
        kandinsky.Calibrator("image").fit(PROBS, LABELS, **given)
