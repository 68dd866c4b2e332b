"""The Calibrator's interface: parameters, levels, attributes, copies."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError as SklearnNotFitted
from sklearn.utils.validation import check_is_fitted

import kandinsky
from kandinsky import Calibrator


def test_parameters_are_stored_as_given():
    quantiles, ignore = [0.5, 0.9], [7]
    calibrator = Calibrator("fcc", quantiles=quantiles, ignore=ignore, curves=2)
    assert calibrator.get_params()["quantiles"] is quantiles and calibrator.ignore is ignore
    assert calibrator.get_params()["curves"] == 2


def test_scikit_learn_can_clone_it(small):
    mask = np.zeros((5, 7), np.uint8)
    calibrator = Calibrator("mask", mask=mask, seed=4, fallback="image", options={"min-count": 2}).fit(*small)
    copied = clone(calibrator)
    np.testing.assert_equal(copied.get_params(), calibrator.get_params())
    check_is_fitted(calibrator)
    with pytest.raises(SklearnNotFitted):
        check_is_fitted(copied)


def test_set_params_changes_what_the_next_fit_does(small):
    calibrator = Calibrator("kmeans").set_params(clusters=2, seed=3)
    assert calibrator.seed == 3 and calibrator.fit(*small).regions_.max() == 1


def test_an_unknown_parameter_is_refused_at_once():
    with pytest.raises(kandinsky.UsageError, match="clusterz.*kmeans_clusters"):
        Calibrator("kmeans", clusterz=3)
    with pytest.raises(kandinsky.UsageError, match="no option 'order'"):
        Calibrator("kmeans").set_params(order=3)


def test_an_unknown_method_is_refused_with_the_known_ones(small):
    with pytest.raises(kandinsky.UsageError, match="kmeans"):
        Calibrator("nothing").fit(*small)


@pytest.mark.parametrize("use", [
    lambda c: c.thresholds(), lambda c: c.predict_set(np.zeros((1, 2, 3, 3))), lambda c: c.predict_p([]),
    lambda c: c.evaluate([], []), lambda c: c.save("x"), lambda c: c.grid_, lambda c: c.guarantee_, lambda c: c.regions_,
])
def test_before_calibration_it_says_so(use):
    with pytest.raises(kandinsky.NotFittedError, match="not calibrated") as problem:
        use(Calibrator())
    assert isinstance(problem.value, ValueError) and isinstance(problem.value, AttributeError)
    assert not hasattr(Calibrator(), "grid_")


def test_it_has_the_properties_of_its_calibration(small):
    calibrator = Calibrator("kmeans").fit(*small, groups=np.arange(30) // 3)
    assert calibrator.method_ == "kmeans" and calibrator.grid_ == (5, 7)
    assert calibrator.n_images_ == 30 and calibrator.n_groups_ == 10 and calibrator.n_classes_ == 3
    np.testing.assert_array_equal(calibrator.classes_, [0, 1, 2])
    assert "at least 1 - alpha" in calibrator.guarantee_
    assert calibrator.regions_.shape == calibrator.counts_.shape == calibrator.curve_level_.shape == (3, 5, 7)
    assert calibrator.counts_.sum() == small[1].size
    assert calibrator.meta_["format"] == "kcal" and len(calibrator.fingerprint_) == 32


def test_alpha_and_confidence_level_are_one_thing(small):
    calibrator = Calibrator("image", score_function="lac").fit(*small)
    for alpha in (0.05, 0.1, 0.2, 0.3, 0.7):
        np.testing.assert_array_equal(calibrator.thresholds(alpha), calibrator.thresholds(confidence_level=1 - alpha))
    np.testing.assert_array_equal(calibrator.thresholds(), calibrator.thresholds(alpha=0.1))
    for ask in (calibrator.thresholds, lambda **k: calibrator.predict_set(small[0], **k),
                lambda **k: calibrator.evaluate(*small, **k)):
        with pytest.raises(kandinsky.UsageError, match="alpha.*confidence_level"):
            ask(alpha=0.1, confidence_level=0.9)
    with pytest.raises(kandinsky.UsageError, match="1.5"):
        calibrator.thresholds(1.5)
    with pytest.raises(kandinsky.UsageError):
        calibrator.thresholds(confidence_level=90)


def test_several_levels_get_a_leading_axis(small):
    probs = small[0][:4]
    calibrator = Calibrator("kmeans", score_function="lac").fit(*small)
    alphas = [0.1, 0.5, 0.25]
    np.testing.assert_array_equal(calibrator.thresholds(alphas), [calibrator.thresholds(a) for a in alphas])
    np.testing.assert_array_equal(calibrator.predict_set(probs, alphas), [calibrator.predict_set(probs, a) for a in alphas])
    assert calibrator.predict_set(probs[0], alphas).shape == (3, 3, 5, 7)
    assert calibrator.predict_set(probs, [0.1]).shape == (1, 4, 3, 5, 7)
    assert calibrator.thresholds([]).shape == (0, 3, 5, 7)
    with pytest.raises(kandinsky.UsageError, match="one level"):
        calibrator.evaluate(*small, alpha=alphas)


def test_sets_thresholds_and_p_values_agree(small):
    probs = small[0]
    calibrator = Calibrator("kmeans", score_function="lac").fit(*small)
    p = calibrator.predict_p(probs)
    for alpha in (0.0, 0.03, 0.1, 0.5, 0.999):
        sets = calibrator.predict_set(probs, alpha, empty="keep")
        np.testing.assert_array_equal(sets, probs >= calibrator.thresholds(alpha))
        np.testing.assert_array_equal(sets, p > alpha)


def test_empty_sets_are_filled_unless_kept_and_predicted_says_what_sets_hold(small):
    probs = small[0]
    calibrator = Calibrator("kmeans").fit(*small)
    assert calibrator.predicted_ is None
    kept = calibrator.predict_set(probs, 0.7, empty="keep")
    empty = ~kept.any(axis=1)
    assert empty.any() and calibrator.predicted_["empty_share"] == pytest.approx(empty.mean())
    assert calibrator.predicted_["filled_share"] == 0
    full = calibrator.predict_set(probs, 0.7)
    best = probs.argmax(axis=1)[:, None] == np.arange(probs.shape[1])[:, None, None]
    np.testing.assert_array_equal(full, kept | (best & empty[:, None]))
    held, size = calibrator.predicted_, full.sum(axis=1)
    assert held["sets"] == size.size and held["set_size"] == pytest.approx(size.mean())
    assert held["filled_share"] == held["empty_share"] == pytest.approx(empty.mean())
    assert held["single_share"] == pytest.approx((size == 1).mean())
    assert held["full_share"] == pytest.approx((size == full.shape[1]).mean())
    np.testing.assert_allclose(held["class_share"], full.mean(axis=(0, 2, 3)))
    np.testing.assert_array_equal(calibrator.predict_set(probs, 0.7, no_empty=True), full)
    np.testing.assert_array_equal(calibrator.predict_set(probs, 0.7, no_empty=False), kept)
    calibrator.predict_set(probs, [0.1, 0.7])
    assert calibrator.predicted_[1] == held
    for bad in ({"empty": "drop"}, {"empty": "keep", "no_empty": True}):
        for ask in (lambda **k: calibrator.predict_set(probs, **k), lambda **k: calibrator.evaluate(*small, **k)):
            with pytest.raises(kandinsky.UsageError, match="empty"):
                ask(**bad)


def test_one_image_needs_no_axis(small):
    probs = small[0]
    calibrator = Calibrator("kmeans").fit(*small)
    np.testing.assert_array_equal(calibrator.predict_set(probs[3]), calibrator.predict_set(probs)[3])
    np.testing.assert_array_equal(calibrator.predict_p(probs[3]), calibrator.predict_p(probs)[3])


def test_results_may_be_written_into_an_array_of_the_callers(small):
    probs = small[0]
    calibrator = Calibrator("kmeans").fit(*small)
    out = np.zeros(probs.shape, bool)
    assert calibrator.predict_set(probs, out=out) is out
    np.testing.assert_array_equal(out, calibrator.predict_set(probs))
    for bad in (np.zeros(probs.shape, np.uint8), np.zeros(probs.shape[1:], bool), out.T):
        with pytest.raises(kandinsky.UsageError, match="out must be"):
            calibrator.predict_set(probs, out=bad)
    out.flags.writeable = False
    with pytest.raises(kandinsky.UsageError, match="read-only"):
        calibrator.predict_set(probs, out=out)


def test_saving_and_loading_changes_nothing(small, saved, tmp_path):
    calibrator = Calibrator("kmeans", score_function="lac", regions=3, fallback="image", min_count=2, seed=9, condition="none").fit(*small)
    calibrator.save(tmp_path / "a.kcal")
    loaded = kandinsky.load(tmp_path / "a.kcal")
    assert saved(loaded) == saved(calibrator)
    assert loaded.seed == 9 and loaded.condition == "none" and loaded.min_count == 2
    np.testing.assert_array_equal(loaded.thresholds(0.2), calibrator.thresholds(0.2))
    # Its parameters are those it was made with.
    assert saved(clone(loaded).fit(*small)) == saved(calibrator)
    with np.load(tmp_path / "a.kcal") as content:
        np.testing.assert_array_equal(content["regions"], calibrator.regions_)


@pytest.mark.parametrize("copied", [lambda c: pickle.loads(pickle.dumps(c)), copy.copy, copy.deepcopy])
def test_copies_are_equal(small, saved, copied):
    calibrator = Calibrator("kmeans", clusters=2).fit(*small)
    twin = copied(calibrator)
    assert saved(twin) == saved(calibrator) and twin.get_params() == calibrator.get_params()


def test_it_has_a_readable_repr(small):
    calibrator = Calibrator("kmeans", clusters=2, seed=3)
    assert repr(calibrator) == "<Calibrator(method='kmeans', seed=3, clusters=2): not calibrated, 0 images stored>"
    calibrator.fit(*small)
    assert "calibrated on 30 images, 3 classes, 5 x 7 pixels" in repr(calibrator)
    html = calibrator._repr_html_()
    assert "<table>" in html and "guarantee" in html
    assert "<script>" not in Calibrator("<script>")._repr_html_()


def test_methods_and_options_are_listed():
    listed = {method.name: method for method in kandinsky.methods()}
    assert {"pixel", "image", "mask", "kmeans", "genann", "fcc", "field"} <= set(listed)
    assert [option.name for option in listed["kmeans"].options] == ["kmeans_clusters", "kmeans_restarts"]
    names = [option.name for option in kandinsky.options()]
    assert {"condition", "pooling", "seed", "kmeans_clusters"} <= set(names) and len(names) == len(set(names))


def test_the_constructors_defaults_are_the_commands():
    texts = {option.name: option.default for option in kandinsky.options()}
    for name, value in Calibrator().get_params().items():
        if texts.get(name):
            text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
            assert text == texts[name] or float(text) == float(texts[name]), name


def test_few_images_give_a_warning(small):
    with pytest.warns(kandinsky.CalibrationWarning, match="only 4 calibration images"):
        Calibrator("image").fit(small[0][:4], small[1][:4])


def test_the_documentations_example_works():
    import doctest

    from kandinsky import calibrator

    assert doctest.testmod(calibrator).attempted > 0
    assert doctest.testmod(calibrator).failed == 0


def test_tables_turn_into_other_things(small):
    frame = kandinsky.compare(*small, *small, methods="image,kmeans").to_frame()
    assert list(frame["method"]) == ["image", "kmeans"] * 3 and frame["mean_ce"].between(0, 1).all()
    found = Calibrator("image").fit(*small).evaluate(*small)
    assert found.mean_ce.shape == (3,) and found.coverage.shape == (3, 19) and 0 < found.coverage_at_alpha <= 1
    assert found.to_frame().shape[0] == 3 and found._repr_html_().startswith("<pre>")


def test_annuli_fitness_is_the_sum_of_all_distances():
    random = np.random.default_rng(0)
    points, params = random.random((6, 9, 4)).astype(np.float32), np.array([[0.5, -0.5, 1.1, 2.3, 3.7], [0, 0, 1, 2, 3]])
    y, x = np.mgrid[:6, :9]
    for metric, distance in [
        ("euclidean", lambda d: np.sqrt((d**2).sum(-1))), ("sqeuclidean", lambda d: (d**2).sum(-1)),
        ("manhattan", lambda d: np.abs(d).sum(-1)),
    ]:
        wanted = []
        for cx, cy, *radii in params:
            region = np.searchsorted(radii, np.hypot(x - 4 - cx, 2.5 - y - cy), side="right")
            own = [points[region == r].astype(float) for r in range(4)]
            wanted.append(sum(distance(v[:, None] - v[None]).sum() for v in own) / 54)
        np.testing.assert_allclose(kandinsky.annuli_fitness(points, params, metric=metric), wanted, rtol=1e-6)
    assert kandinsky.annuli_fitness(points, params[0]).shape == (1,)
    with pytest.raises(kandinsky.UsageError, match="cosine.*euclidean"):
        kandinsky.annuli_fitness(points, params, metric="cosine")
    with pytest.raises(kandinsky.DataError, match="points have shape"):
        kandinsky.annuli_fitness(points[0], params)
