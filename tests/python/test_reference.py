"""The numbers, against formulas in plain numpy and against other libraries."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import reference
from hypothesis import assume, given
from hypothesis import strategies as st
from support import scene

import kandinsky
from kandinsky import Calibrator

ALPHAS = st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.25, 0.5, 0.9, 1.0])


def quietly(calibrator, *data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kandinsky.CalibrationWarning)
        return calibrator.fit(*data)


@st.composite
def problems(draw):
    """Probabilities (with ties, zeros and ones), labels (some ignored), groups."""
    images, classes = draw(st.integers(1, 12)), draw(st.integers(2, 4))
    grid = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    probs = random.random((images, classes, *grid), dtype=np.float32)
    if draw(st.booleans()):
        probs = np.round(probs * 4).astype(np.float32) / np.float32(4)
    labels = random.integers(0, classes, (images, *grid)).astype(np.uint8)
    labels[random.random(labels.shape) < 0.1] = 255
    labels.flat[0] = 0  # images without a single label are refused
    groups = random.integers(0, 5, images) if draw(st.booleans()) else None
    return probs, labels, groups


@given(problems(), st.sampled_from(["pixel", "image"]), st.sampled_from(["pixels", "groups"]),
       st.sampled_from(["class", "none"]), ALPHAS)
def test_thresholds_and_sets_follow_the_definition(problem, method, pooling, condition, alpha):
    probs, labels, groups = problem
    calibrator = quietly(Calibrator(method, score_function="lac", pooling=pooling, condition=condition, fallback="none"), probs, labels, groups)
    member, _ = reference.members(labels, probs.shape[1])
    plain = reference.Reference(probs, member, calibrator.regions_[0], pooling, groups, condition)
    exact = Fraction(str(alpha))
    np.testing.assert_array_equal(calibrator.score_thresholds(alpha), plain.score_thresholds(exact))
    np.testing.assert_array_equal(calibrator.predict_set(probs, alpha, empty="keep"), plain.sets(probs, exact))


@given(st.integers(1, 60), ALPHAS, st.integers(0, 1000))
def test_a_single_curve_is_the_order_statistic_of_the_conformal_rank(n, alpha, seed):
    """One pixel, every image labelled 1: the threshold is the ceil((n+1)(1-alpha))-th smallest 1 - p."""
    p = np.random.default_rng(seed).random((n, 1, 1, 1), dtype=np.float32)
    calibrator = quietly(Calibrator("image", score_function="lac"), p, np.ones((n, 1, 1), np.uint8))
    k = int(np.ceil(np.round((n + 1) * (1 - alpha), 9)))
    scores = np.sort(np.float32(1) - p.ravel())
    wanted = -np.inf if k == 0 else scores[k - 1] if k <= n else np.inf
    assert calibrator.score_thresholds(alpha)[1, 0, 0] == wanted


@given(problems(), st.integers(1, 12), st.sampled_from(["class", "none"]))
def test_coverage_error_follows_the_definition(problem, images, condition):
    probs, labels, _ = problem
    calibrator = quietly(Calibrator("image", score_function="lac", condition=condition, pooling="pixels"), probs, labels)
    random = np.random.default_rng(images)
    test_probs = random.random((images, *probs.shape[1:]), dtype=np.float32)
    test_labels = random.integers(0, probs.shape[1], (images, *probs.shape[2:])).astype(np.uint8)
    test_member, valid = reference.members(test_labels, probs.shape[1])
    assume(condition == "none" or test_member.any(axis=(0, 2, 3)).all())
    found = calibrator.evaluate(test_probs, test_labels, alpha=0.2)
    member, _ = reference.members(labels, probs.shape[1])
    plain = reference.Reference(probs, member, calibrator.regions_[0], "pixels", None, condition)
    wanted = reference.evaluation(plain, test_probs, test_member, valid, Fraction("0.2"))
    np.testing.assert_allclose(found.ce_map, wanted["ce_map"], atol=1e-12)
    np.testing.assert_allclose(found.mean_ce, wanted["mean_ce"], atol=1e-12)
    np.testing.assert_allclose(found.coverage, wanted["coverage"], atol=1e-12)
    assert [reference.same_measures(row, wanted, s) for s, row in enumerate(found.rows)] == [None] * len(found.rows)
    assert found.set_size == pytest.approx(wanted["set_size"]) and found.empty_share == pytest.approx(wanted["empty_share"])
    assert found.false_classes == pytest.approx(wanted["false_classes"])
    assert found.full_share == pytest.approx(wanted["full_share"])
    np.testing.assert_allclose(found.false_share, np.array(wanted["false_share"], float))


@given(st.integers(0, 100), st.sampled_from([0.01, 0.1, 0.3]))
def test_p_values_count_the_scores_at_least_as_large(seed, alpha):
    probs, labels = scene(9, seed=seed)
    calibrator = quietly(Calibrator("pixel", score_function="lac"), probs, labels)
    fresh = scene(2, seed=seed + 1000)[0]
    scores, member = np.float32(1) - probs, labels[:, None] == np.arange(3)[:, None, None]
    at_least = (member[None] & (scores[None] >= (np.float32(1) - fresh)[:, None])).sum(axis=1)
    wanted = (at_least + 1) / (member.sum(axis=0) + 1)
    np.testing.assert_allclose(calibrator.predict_p(fresh), wanted, rtol=1e-6)


# If every pixel is a sample, other libraries' LAC has one marginal threshold, as method image has with pooled pixels.
def flattened(images, seed):
    probs, labels = scene(images, seed=seed)
    return probs, labels, np.moveaxis(probs, 1, -1).reshape(-1, 3).astype(np.float64), labels.reshape(-1)


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3])
def test_marginal_sets_are_those_of_mapie(alpha):
    pytest.importorskip("mapie", reason="mapie is not installed")
    from mapie.classification import SplitConformalClassifier
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Given(ClassifierMixin, BaseEstimator):
        """The network's probabilities are the features."""

        def fit(self, x, y):
            self.classes_ = np.arange(3)
            return self

        def predict_proba(self, x):
            return x

        def predict(self, x):
            return x.argmax(axis=1)

    probs, labels, x, y = flattened(20, 7)
    fresh, _, fresh_x, _ = flattened(5, 8)
    theirs = SplitConformalClassifier(Given().fit(x, y), confidence_level=1 - alpha, conformity_score="lac", prefit=True)
    theirs.conformalize(x, y)
    sets = theirs.predict_set(fresh_x)[1][..., 0].reshape(5, 5, 7, 3)
    ours = Calibrator("image", score_function="lac", condition="none", pooling="pixels", rungs=2000).fit(probs, labels)
    np.testing.assert_array_equal(ours.predict_set(fresh, alpha, empty="keep"), np.moveaxis(sets, -1, 1))


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3])
def test_marginal_scores_and_sets_are_those_of_torchcp(alpha):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("torchcp", reason="torchcp is not installed")
    from torchcp.classification.predictor import SplitPredictor
    from torchcp.classification.score import LAC

    probs, labels, x, y = flattened(20, 7)
    fresh, _, fresh_x, _ = flattened(5, 8)
    theirs = SplitPredictor(score_function=LAC(score_type="identity"))
    theirs.calculate_threshold(torch.from_numpy(x).float(), torch.from_numpy(y.astype(np.int64)), alpha)
    sets = theirs.predict_with_logits(torch.from_numpy(fresh_x).float()).numpy().astype(bool).reshape(5, 5, 7, 3)
    ours = Calibrator("image", score_function="lac", condition="none", pooling="pixels", rungs=2000).fit(probs, labels)
    assert ours.score_thresholds(alpha).max() == pytest.approx(float(theirs.q_hat), abs=1e-7)
    np.testing.assert_array_equal(ours.predict_set(fresh, alpha, empty="keep"), np.moveaxis(sets, -1, 1))


def test_tensors_of_torch_work_without_a_copy(small):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    probs, labels = map(torch.from_numpy, small)
    calibrator = Calibrator("image").fit(probs, labels)
    np.testing.assert_array_equal(calibrator.predict_set(probs), Calibrator("image").fit(*small).predict_set(small[0]))
    with pytest.raises(kandinsky.DataError, match="detach"):
        calibrator.predict_set(probs.clone().requires_grad_())
    with pytest.raises(kandinsky.DataError, match="bfloat16"):
        calibrator.predict_set(probs.bfloat16())
    np.testing.assert_array_equal((probs >= torch.from_numpy(calibrator.thresholds())).numpy(),
                                  calibrator.predict_set(probs))
