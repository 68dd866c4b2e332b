"""Results: every measure is an attribute, and copies are complete."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from support import scene

import kandinsky

COPIES = [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy, copy.copy]


@pytest.fixture(scope="module", params=["class", "none"])
def evaluation(request):
    probs, labels = scene(20, seed=4)
    return kandinsky.Calibrator("kmeans", condition=request.param).fit(probs, labels).evaluate(*scene(15, seed=5))


@pytest.fixture(scope="module")
def comparison():
    return kandinsky.compare(*scene(20, seed=4), *scene(15, seed=5), methods=["field", "field:lac", "image"])


def test_every_number_of_the_json_is_an_attribute(evaluation, comparison):
    for found in (evaluation, comparison):
        assert dataclasses.is_dataclass(found)
        for row, typed in zip(found.rows, found.results, strict=True):
            assert dataclasses.is_dataclass(typed) and typed.cls == row["class"]
            for name, value in row.items():
                if isinstance(value, (int, float, str)) and name != "class":
                    assert getattr(typed, name) == value, name
            np.testing.assert_array_equal(typed.coverage, row["coverage"])
            np.testing.assert_array_equal(typed.level_sets.full_share, row["level_sets"]["full_share"])
            assert typed.image_coverage.images == row["image_coverage"]["images"]
    first = evaluation.results[0]
    assert first.intervals.mean_ce[0] <= first.intervals.mean_ce[1] and first.intervals.resamples == 200
    assert len(first.reliability) == (3 if first.cls == "all" else 1)
    assert comparison.results[0].intervals is None


@pytest.mark.parametrize("copied", COPIES)
def test_results_can_be_pickled(copied, evaluation, comparison):
    twin = copied(evaluation)
    assert str(twin) == str(evaluation) and twin.to_json() == evaluation.to_json()
    np.testing.assert_array_equal(twin.ce_map, evaluation.ce_map)
    np.testing.assert_array_equal(twin.mean_ce, evaluation.mean_ce)
    twin = copied(comparison)
    assert str(twin) == str(comparison) and twin.methods == comparison.methods == ["field", "field:lac", "image"]
    probs = scene(2)[0]
    for name in comparison.methods:
        np.testing.assert_array_equal(twin.ce_maps[name], comparison.ce_maps[name])
        np.testing.assert_array_equal(twin.calibrators[name].predict_set(probs), comparison.calibrators[name].predict_set(probs))
    assert comparison.calibrators["field:lac"].score_function == "lac"
    with pytest.raises(kandinsky.UsageError, match="has no test images"):
        kandinsky.report(twin)


def test_a_frame_has_a_row_for_each_class(evaluation, comparison):
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = evaluation.to_frame()
    assert len(frame) == len(evaluation.results) and list(frame["mean_ce"]) == list(evaluation.mean_ce)
    assert set(comparison.to_frame()["method"]) == {"field", "field:lac", "image"}


def test_representation_and_table_agree_on_the_size(evaluation):
    probs, labels = scene(20, seed=4)
    calibrator = kandinsky.Calibrator("image").fit(probs, labels)
    assert "5 x 7 pixels (height x width)" in repr(calibrator)
    assert "5 x 7 pixels (height x width)" in str(calibrator.evaluate(probs, labels))
    assert "5 x 7 pixels (height x width)" in str(kandinsky.compare(probs, labels, probs, labels, methods="image"))
