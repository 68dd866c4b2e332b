"""Evaluation in batches has the figures of all images at once."""

import copy
import pickle

import numpy as np
import pytest
from support import scene

import kandinsky
from kandinsky import Calibrator, Evaluator

FIGURES = ["coverage_at_alpha", "set_size", "false_classes", "empty_share", "filled_share", "single_share", "single_right", "full_share"]
LISTS = ["false_share", "place_error"]


def agrees(found, wanted):
    """Every figure, to the last bit."""
    for name in FIGURES:
        np.testing.assert_equal(getattr(found, name), getattr(wanted, name), err_msg=name)
    for name in LISTS:
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name), err_msg=name)
    np.testing.assert_array_equal(found.coverage, [one.coverage_at_alpha for one in wanted.results])
    assert found.filled_coverage == wanted.results[0].filled_coverage
    np.testing.assert_array_equal(found.samples, [one.samples for one in wanted.results])


def data(kind):
    probs, labels = scene(40, seed=9)
    labels[::3, 1, 2] = 255
    if kind == "masks":  # classes overlap, and some pixels have none
        masks = (labels[:, None] == np.arange(3)[:, None, None]).astype(np.uint8)
        masks[:, 2] |= masks[:, 0]
        masks[1::2, :, 0, 0] = 0
        return probs, masks
    return (probs[:, 1:2], (labels == 1).astype(np.uint8)) if kind == "foreground" else (probs, labels)


@pytest.mark.parametrize("kind", ["labels", "masks", "foreground"])
@pytest.mark.parametrize("options", [{}, {"condition": "none"}, {"method": "kmeans", "score_function": "lac"}], ids=str)
@pytest.mark.parametrize("empty", ["auto", "fill", "keep"])
def test_batches_give_the_figures_of_all_images(kind, options, empty):
    probs, labels = data(kind)
    calibrator = Calibrator(**options).fit(probs, labels)
    alphas = [0.05, 0.2, 0.6]
    evaluator = Evaluator(calibrator, alphas, empty=empty)
    for part in np.array_split(np.random.default_rng(0).permutation(40), 5):
        evaluator.update(probs[part], labels[part])
    for found, alpha in zip(evaluator.compute(), alphas):
        agrees(found, calibrator.evaluate(probs, labels, alpha, empty=empty, bootstrap=0))
        assert found.alpha == alpha and found.images == found.groups == 40


def test_evaluators_can_be_merged_and_pickled():
    probs, labels = data("labels")
    calibrator = Calibrator("kmeans").fit(probs, labels)
    parts = [Evaluator(calibrator, 0.3) for _ in range(3)]
    for one, own in zip(parts, np.array_split(np.arange(40), 3)):
        one.update(probs[own], labels[own], groups=own // 5)
    parts = [copy.deepcopy(parts[0]), pickle.loads(pickle.dumps(parts[1])), parts[2]]
    total = parts[2].merge(parts[0]).merge(parts[1])
    agrees(total.compute(), calibrator.evaluate(probs, labels, 0.3, bootstrap=0))
    assert total.compute().groups == 8 and "40 images" in repr(total)
    travelled = pickle.loads(pickle.dumps(total.compute()))
    assert travelled.set_size == total.compute().set_size
    with pytest.raises(kandinsky.UsageError, match="alphas"):
        total.merge(Evaluator(calibrator, 0.2))
    with pytest.raises(kandinsky.UsageError, match="different calibrators"):
        total.merge(Evaluator(Calibrator("image").fit(probs, labels), 0.3))


def test_a_call_returns_the_batchs_own_figures():
    probs, labels = data("labels")
    calibrator = Calibrator("kmeans").fit(probs, labels)
    evaluator = Evaluator(calibrator, confidence_level=0.8)
    agrees(evaluator(probs[:10], labels[:10]), calibrator.evaluate(probs[:10], labels[:10], 0.2, bootstrap=0))
    agrees(evaluator.forward(probs[10:], labels[10:]), calibrator.evaluate(probs[10:], labels[10:], 0.2, bootstrap=0))
    agrees(evaluator.compute(), calibrator.evaluate(probs, labels, 0.2, bootstrap=0))
    assert calibrator.predicted_ is None
    with pytest.raises(kandinsky.UsageError, match="no image yet"):
        evaluator.reset().compute()


def test_a_batch_that_is_refused_changes_nothing():
    probs, labels = data("labels")
    evaluator = Evaluator(Calibrator("kmeans").fit(probs, labels)).update(probs[:5], labels[:5])
    before = evaluator.compute().to_dict()
    bad = labels[5:9].copy()
    bad[3, 0, 0] = 77
    for wrong in ((probs[5:9], bad), (probs[5:9], labels[:3]), (probs[5:9, ..., :3], labels[5:9, ..., :3])):
        with pytest.raises(kandinsky.Error):
            evaluator.update(*wrong)
    np.testing.assert_equal(evaluator.compute().to_dict(), before)
    with pytest.raises(kandinsky.NotFittedError):
        Evaluator(Calibrator())


def test_a_frame_has_a_row_for_each_class():
    pytest.importorskip("pandas", reason="pandas is not installed")
    probs, labels = data("labels")
    found = Evaluator(Calibrator("kmeans").fit(probs, labels)).update(probs, labels).compute()
    assert list(found.to_frame()["coverage"]) == list(found.coverage)
