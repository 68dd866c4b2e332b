"""Parameters: wrong ones get one line, the right ones survive files, copies, and scikit-learn's machinery."""

import pickle

import numpy as np
import pytest
from support import scene

import kandinsky
from kandinsky import Calibrator

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold  # noqa: E402
from sklearn.pipeline import Pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer  # noqa: E402


@pytest.mark.parametrize("wrong,says", [
    ({"logits": True}, "logits is True, but must be 'none' or 'sigmoid' or 'softmax'"),
    ({"method": None}, "method is None, but must be 'pixel' or "),
    ({"threads": -1}, "threads is -1, but must be a whole number from 0 on"),
    ({"threads": 1.5}, "threads is 1.5, but must be a whole number"),
    ({"seed": -1}, "seed is -1, but must be a whole number from 0 on"),
    ({"min_count": "few"}, "min_count is 'few', but must be a whole number"),
    ({"split": None}, "split is None, but must be a number"),
    ({"condition": 1}, "condition is 1, but must be 'class' or 'none'"),
    ({"score_function": len}, "score_function is <built-in function len>, but must be 'near' or"),
    ({"randomized": "yes"}, "randomized is 'yes', but must be True or False"),
    ({"quantiles": {}}, "quantiles is {}, but must be a number, a text or a list"),
    ({"ignore": "none"}, "ignore is 'none', but must be a label"),
    ({"method": "kmeans", "regions": "three"}, "regions is 'three', but must be a whole number"),
    ({"method": "genann", "regions": 2.5}, "regions is 2.5, but must be a whole number"),
])
def test_a_value_of_the_wrong_kind_gets_one_clear_line(small, wrong, says):
    for use in (lambda: Calibrator(**wrong).fit(*small), lambda: Calibrator(**wrong).partial_fit(*small).calibrate()):
        with pytest.raises((TypeError, ValueError)) as problem:
            use()
        assert str(problem.value).startswith(says) and "\n" not in str(problem.value)


@pytest.mark.parametrize("call", [
    lambda c, p, y: c.set_params(threads=-1).predict_set(p), lambda c, p, y: c.evaluate(p, y, bootstrap=-1),
    lambda c, p, y: c.predict_set(p, packed="no"), lambda c, p, y: c.predict_set(p, empty=None),
    lambda c, p, y: kandinsky.compare(p, y, p, y, draws=1.5), lambda c, p, y: kandinsky.compare(p, y, p, y, logits=2),
    lambda c, p, y: kandinsky.make_scenes(images=-1), lambda c, p, y: kandinsky.report(c, p, y, threads=-1),
    lambda c, p, y: c.set_params(threads=-1).recalibrate(p, y),
])
def test_other_calls_say_so_too(small, call):
    with pytest.raises(ValueError, match=r"^\w+ is .*, but must be"):
        call(Calibrator("image").fit(*small), *small)


@pytest.mark.filterwarnings("ignore::kandinsky.CalibrationWarning")
def test_parameters_survive_saving_with_their_types(small, tmp_path):
    given = {"method": "kmeans", "clusters": 4, "restarts": 3, "seed": 7, "logits": "softmax", "ignore": (2, 9), "min_count": 2,
             "pooling": "pixels", "score_function": "raps", "raps_lambda": 0.5, "raps_kreg": 2, "split": 0.5}  # fmt: skip
    labels = small[1].copy()
    labels[0, 0, 0] = 9
    Calibrator(**given).fit(small[0] * 9, labels).save(tmp_path / "a.kcal")
    loaded = kandinsky.load(tmp_path / "a.kcal").get_params()
    for name, value in given.items():
        assert loaded[name] == value and type(loaded[name]) is type(value), name
    Calibrator("fcc", penalty=0.01).fit(*small).save(tmp_path / "b.kcal")
    assert kandinsky.load(tmp_path / "b.kcal").get_params()["penalty"] == 0.01
    Calibrator("auto", kmeans_clusters=4).fit(*small).save(tmp_path / "c.kcal")
    assert kandinsky.load(tmp_path / "c.kcal").get_params()["kmeans_clusters"] == 4
    Calibrator("image").fit(*small).save(tmp_path / "d.kcal")
    plain = kandinsky.load(tmp_path / "d.kcal")
    assert plain.ignore == (255,) and plain.logits == "none"


def test_a_loaded_calibrator_reads_logits_as_in_calibration(small, tmp_path):
    """Logits that happen to lie in [0, 1] look like probabilities: nothing but the file can tell."""
    calibrator = Calibrator("image", logits="softmax").fit(*small)
    calibrator.save(tmp_path / "a.kcal")
    loaded = kandinsky.load(tmp_path / "a.kcal")
    np.testing.assert_array_equal(loaded.predict_set(small[0]), calibrator.predict_set(small[0]))


def test_what_is_no_path_gets_one_clear_line(small):
    calibrator = Calibrator("image").fit(*small)
    for call in (kandinsky.load, calibrator.save, calibrator.to_onnx):
        with pytest.raises(kandinsky.UsageError, match="^path is None, but must be the path of a file$"):
            call(None)


@pytest.mark.parametrize("name", ["weights", "shift_to", "shift_groups", "max_weight"])
def test_a_parameter_of_fit_is_named_as_such(name):
    with pytest.raises(kandinsky.UsageError, match=f"^there is no option '{name}'; give {name} to fit\\(\\)$"):
        Calibrator(**{name: 2})


def test_set_params_forgets_the_options_of_another_method(small):
    calibrator = Calibrator("kmeans", clusters=3, kmeans_restarts=2, seed=5).set_params(method="image")
    assert {"clusters", "kmeans_restarts"}.isdisjoint(calibrator.get_params()) and calibrator.seed == 5
    calibrator.fit(*small)
    assert clone(calibrator).get_params() == calibrator.get_params()
    assert calibrator.set_params(method="fcc", curves=2).fit(*small).method_ == "fcc"
    with pytest.raises(kandinsky.UsageError, match="'clusters' of method fcc.*it is an option of kmeans"):
        calibrator.set_params(clusters=3)


def test_set_params_changes_all_or_nothing():
    calibrator = Calibrator("kmeans", clusters=3)
    before = calibrator.get_params()
    for wrong in ({"seed": 4, "clusterz": 2}, {"method": "image", "clusters": 2}, {"method": "fcc", "ordre": 1}):
        with pytest.raises(kandinsky.UsageError):
            calibrator.set_params(**wrong)
        assert calibrator.get_params() == before


def test_parameters_changed_after_calibration_are_shown(small):
    calibrator = Calibrator("kmeans", clusters=2).fit(*small)
    assert "fit again" not in repr(calibrator)
    calibrator.set_params(clusters=3, method="kmeans")
    assert "calibrated on 30 images" in repr(calibrator) and "with clusters=2; fit again" in repr(calibrator)
    assert calibrator.regions_.max() == 1 and calibrator.method_ == "kmeans"
    assert "fit again" in repr(pickle.loads(pickle.dumps(calibrator)))
    assert "fit again" not in repr(calibrator.fit(*small)) and calibrator.regions_.max() == 2


def test_an_array_that_did_not_change_is_not_shown_as_changed(small):
    mask = np.arange(35).reshape(5, 7) % 2
    calibrator = Calibrator("mask", mask=mask).fit(*small)
    for one in (calibrator, pickle.loads(pickle.dumps(calibrator))):
        assert "fit again" not in repr(one)
        assert ", with min_count=1; fit again" in repr(one.set_params(min_count=3))
    assert ", with mask=array(" in repr(calibrator.set_params(min_count=1, mask=1 - mask))


def test_the_former_name_of_score_function_is_read(small):
    with pytest.warns(FutureWarning, match="score_function"):
        calibrator = Calibrator("image", score="lac").fit(*small)
    assert calibrator.score_function == "lac" and callable(calibrator.score)
    state = calibrator.__getstate__()  # as version 0.1 wrote it
    state["params"]["score"] = state["params"].pop("score_function")
    del state["made_with"]
    old = Calibrator.__new__(Calibrator)
    old.__setstate__(state)
    assert old.score_function == "lac"
    np.testing.assert_array_equal(old.thresholds(), calibrator.thresholds())


def test_the_preset_of_the_paper_keeps_the_method(small):
    assert Calibrator("fcc", preset="paper").fit(*small).method_ == "fcc"


def test_the_method_that_auto_chose_is_known(small):
    calibrator = Calibrator("auto").fit(*small)
    assert len(calibrator.methods_) == 3 and "auto" not in calibrator.methods_
    assert set(calibrator.method_.split(", ")) == set(calibrator.methods_)
    assert "auto" in {method.name for method in kandinsky.methods()}


def test_the_score_is_minus_the_coverage_error(small):
    calibrator = Calibrator("image").fit(*small)
    assert calibrator.score(*small) == -np.mean(calibrator.evaluate(*small).mean_ce) < 0


@pytest.mark.filterwarnings("ignore::kandinsky.CalibrationWarning")
def test_a_grid_search_chooses():
    probs, labels = scene(60, seed=2)
    groups = np.arange(60) // 2
    grid = [{"method": ["image", "pixel"]}, {"method": ["kmeans"], "clusters": [2, 3]}]
    search = GridSearchCV(Calibrator("kmeans", clusters=5), grid, cv=GroupKFold(3)).fit(probs, labels, groups=groups)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all() and len(set(scores)) > 1
    assert search.best_params_["method"] in ("image", "pixel", "kmeans")
    assert search.predict(probs[:2]).shape == (2, 3, 5, 7)
    assert search.score(probs, labels) == search.best_estimator_.score(probs, labels)


@pytest.mark.filterwarnings("ignore::kandinsky.CalibrationWarning")
def test_groups_are_routed_to_fit():
    probs, labels = scene(24, seed=2)
    groups = np.arange(24) // 3
    with sklearn.config_context(enable_metadata_routing=True):
        asking = Calibrator("image").set_fit_request(groups=True)
        search = GridSearchCV(asking, {"seed": [0, 1]}, cv=GroupKFold(2)).fit(probs, labels, groups=groups)
        assert search.best_estimator_.n_groups_ == 8
        pipeline = Pipeline([("cal", clone(asking))]).fit(probs, labels, groups=groups)
        assert pipeline[-1].n_groups_ == 8
        silent = Calibrator("image").set_fit_request(groups=False)
        assert GridSearchCV(silent, {"seed": [0]}, cv=GroupKFold(2)).fit(probs, labels, groups=groups).best_estimator_.n_groups_ == 24


def test_it_ends_a_pipeline(small):
    probs, labels = small
    logits = np.log(np.clip(probs, 1e-6, 1))
    pipeline = Pipeline([("exp", FunctionTransformer(np.exp)), ("cal", Calibrator("image"))]).fit(logits, labels)
    np.testing.assert_array_equal(pipeline.predict(logits), Calibrator("image").fit(np.exp(logits), labels).predict_set(np.exp(logits)))
    assert pipeline.score(logits, labels) <= 0
    pipeline.set_params(cal__method="kmeans", cal__clusters=2)
    assert clone(pipeline).fit(logits, labels)[-1].method_ == "kmeans"
