"""Pictures: axes in, axes out; and the report."""

import sys

import numpy as np
import pytest

import kandinsky

plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")


@pytest.fixture(scope="module")
def scenes():
    return kandinsky.make_scenes(images=40, grid=(24, 32)), kandinsky.make_scenes(images=20, first=40, grid=(24, 32))


@pytest.fixture(scope="module")
def comparison(scenes):
    cal, test = scenes
    return kandinsky.compare(cal.probs, cal.labels, test.probs, test.labels, methods="image,kmeans,pixel")


@pytest.fixture(scope="module", params=["class", "none"])
def evaluation(request, scenes):
    cal, test = scenes
    return kandinsky.Calibrator("kmeans", condition=request.param).fit(cal.probs, cal.labels).evaluate(test.probs, test.labels)


PLOTS = [
    kandinsky.plot_ce_map,
    kandinsky.plot_coverage,
    kandinsky.plot_feature_coverage,
    kandinsky.plot_reliability,
    kandinsky.plot_violin,
]


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.parametrize("draw", PLOTS)
def test_axes_in_are_axes_out(draw, comparison, evaluation):
    for results in (comparison, evaluation):
        axes = plt.figure().subplots()
        assert draw(results, ax=axes) is axes
        fresh = draw(results, 1)
        assert fresh is not axes and fresh.get_title()
        fresh.figure.canvas.draw()


def test_the_map_shows_the_values(comparison):
    axes = kandinsky.plot_ce_map(comparison, 0, method="image")
    np.testing.assert_array_equal(np.asarray(axes.images[0].get_array().filled(np.nan)), comparison.ce_maps["image"][0])
    assert "image, class 0" in axes.get_title()
    assert comparison.best(1) in kandinsky.plot_ce_map(comparison, 1).get_title()
    with pytest.raises(kandinsky.UsageError, match="image, kmeans|image, pixel|pixel, image"):
        kandinsky.plot_ce_map(comparison, method="fcc")


def test_the_coverage_plot_shows_every_method(comparison):
    axes = kandinsky.plot_coverage(comparison, 1)
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {"right", *comparison.methods}
    line = next(one for one in axes.lines if one.get_label() == "kmeans")
    row = next(row for row in comparison.rows if row["method"] == "kmeans" and row["class"] == 1)
    np.testing.assert_array_equal(line.get_ydata(), row["coverage"])


def test_coverage_against_a_feature_is_drawn_before_and_after_adapting(scenes):
    cal, test = scenes
    before, after = (
        kandinsky.Calibrator("field", adapt=adapt).fit(cal.probs, cal.labels).evaluate(test.probs, test.labels, alpha=0.2)
        for adapt in ("none", "image")
    )
    axes = kandinsky.plot_feature_coverage(before, 1, feature="area", label="one level")
    assert kandinsky.plot_feature_coverage(after, 1, feature="area", label="adapt", ax=axes) is axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["asked for", "one level", "adapt"]
    assert axes.lines[0].get_ydata()[0] == pytest.approx(0.8)
    images = after.results[1].image_coverage
    tenths = images.by_feature["area"]
    np.testing.assert_allclose(axes.lines[2].get_ydata(), tenths.coverage[tenths.images > 0])
    np.testing.assert_allclose(axes.lines[2].get_xdata(), tenths.value[tenths.images > 0])
    assert tenths.images.sum() == images.images and (np.diff(axes.lines[2].get_xdata()) > 0).all()
    assert images.by_feature["doubt"].coverage[-1] == images.hardest
    with pytest.raises(kandinsky.UsageError, match="doubt, area, inside, stray"):
        kandinsky.plot_feature_coverage(after, 1, feature="mood")


def test_the_reliability_plots_of_evaluation_and_comparison_agree(comparison, scenes):
    cal, test = scenes
    evaluation = kandinsky.Calibrator("image").fit(cal.probs, cal.labels).evaluate(test.probs, test.labels)
    titles = [kandinsky.plot_reliability(one, 1).get_title() for one in (comparison, evaluation)]
    assert titles[0] == titles[1] == f"class 1: ECE {evaluation.rows[1]['ece']:.4f}"


def test_the_partition_is_drawn(comparison):
    calibrator = comparison.calibrators["kmeans"]
    axes = kandinsky.plot_partition(calibrator, 0)
    np.testing.assert_array_equal(axes.images[0].get_array(), calibrator.regions_[0])
    assert axes.get_title() == f"kmeans, class 0: {calibrator.regions_[0].max() + 1} regions"
    with pytest.raises(kandinsky.UsageError, match="classes 0 to 1"):
        kandinsky.plot_partition(calibrator, 5)
    with pytest.raises(kandinsky.UsageError, match="class 7"):
        kandinsky.plot_coverage(comparison, 7)


def test_a_soft_method_shows_its_thresholds(scenes):
    cal, _ = scenes
    calibrator = kandinsky.Calibrator("field").fit(cal.probs, cal.labels)
    axes = kandinsky.plot_partition(calibrator, 1)
    shown = np.asarray(axes.images[0].get_array())
    np.testing.assert_array_equal(shown, calibrator.score_thresholds(0.1)[1])
    assert axes.get_title() == "field, class 1: no regions, score thresholds"


@pytest.mark.parametrize("score, what", [("near", "score thresholds"), ("lac", "probability thresholds")])
def test_thresholds_that_follow_the_image_are_shown_without_a_shift(scenes, score, what):
    cal, _ = scenes
    calibrator = kandinsky.Calibrator("field", score_function=score, adapt="image").fit(cal.probs, cal.labels)
    axes = kandinsky.plot_partition(calibrator, 1)
    shown = np.asarray(axes.images[0].get_array())
    np.testing.assert_array_equal(shown, np.array(calibrator._fitted().limits(0.1))[1])
    assert axes.get_title() == f"field, class 1: no regions, {what} for b = 0"


@pytest.mark.parametrize("classes", [2, 11, 18, 40])
def test_every_class_has_its_own_colour_in_a_plot_of_sets(classes):
    sets = np.eye(classes, dtype=bool)[:, None, :]  # one row, a pixel for each class
    sets = np.concatenate((sets, np.ones_like(sets)), axis=1)  # below it undecided pixels
    alone, undecided = np.asarray(kandinsky.plot_sets(sets).images[0].get_array())
    assert len({tuple(colour) for colour in [*alone, undecided[0]]}) == classes + 1
    assert all(np.ptp(colour[:3]) > 0.1 for colour in alone)  # grey means undecided


def test_sets_are_drawn_over_the_image(scenes):
    cal, test = scenes
    calibrator = kandinsky.Calibrator("kmeans").fit(cal.probs, cal.labels)
    sets = calibrator.predict_set(test.probs[0], alpha=0.1, empty="keep")
    size = sets.sum(axis=0)
    assert {1, 2} <= set(size.flat)
    photo = np.asarray(test.probs[0, 1], np.float32)
    axes = plt.figure().subplots()
    assert kandinsky.plot_sets(sets, photo, class_names=["ground", "animal"], ax=axes) is axes
    below, colours = (np.asarray(one.get_array()) for one in axes.images)
    np.testing.assert_array_equal(below, photo)
    assert len({tuple(colour) for colour in colours[size == 2]}) == 1
    np.testing.assert_array_equal(colours[..., 3], np.where(size > 0, 0.5, 0))
    texts = [one.get_text() for one in axes.get_legend().get_texts()]
    assert f"undecided: {(size == 2).mean():.1%}" in texts and any(one.startswith("ground") for one in texts)
    axes.figure.canvas.draw()
    axes = kandinsky.plot_sets(sets, cls=1)
    colours = np.asarray(axes.images[0].get_array())
    np.testing.assert_array_equal(colours[..., 3] > 0, sets[1])
    assert [one.get_text().partition(":")[0] for one in axes.get_legend().get_texts()] == ["class 1 alone", "class 1 possible"]
    for wrong, says in [({"cls": 2}, "class 2"), ({"class_names": ["one"]}, "class_names has 1"), ({"image": photo[1:]}, "image has")]:
        with pytest.raises(kandinsky.Error, match=says):
            kandinsky.plot_sets(sets, **wrong)
    with pytest.raises(kandinsky.DataError, match="those of one image"):
        kandinsky.plot_sets(sets[None])


@pytest.mark.parametrize("draw", [kandinsky.plot_coverage, kandinsky.plot_reliability, kandinsky.plot_violin])
def test_legends_lie_outside_the_axes(draw, comparison):
    axes = draw(comparison)
    axes.figure.canvas.draw()
    assert axes.get_legend().get_window_extent().x0 >= axes.get_window_extent().x1
    assert axes.get_legend().get_window_extent().x1 <= axes.figure.bbox.x1


def test_without_matplotlib_it_says_how_to_get_it(comparison, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"kandinsky\[plot\]"):
        kandinsky.plot_coverage(comparison)


def test_a_report_is_one_page(comparison, scenes, tmp_path):
    _, test = scenes
    calibrators = list(comparison.calibrators.values())
    if not kandinsky._core.has_report():
        with pytest.raises(kandinsky.UsageError, match="without reports"):
            kandinsky.report(comparison)
        pytest.skip("the package was built without the report's page")
    page = kandinsky.report(comparison, path=tmp_path / "a.html", title="Pets & <others>", class_names=["ground", "animal"])
    text = (tmp_path / "a.html").read_text()
    assert text.encode() == page.html and "kandinsky-data" in text and "animal" in text
    assert "<others>" not in text
    assert page._repr_html_().startswith("<iframe") and "a.html" in repr(page)
    of_calibrators = kandinsky.report(calibrators, test.probs, test.labels, tmp_path / "b.html", alpha=0.2)
    assert b"kandinsky-data" in of_calibrators.html and list(tmp_path.glob("*.part")) == []
    twins = kandinsky.report([calibrators[0], calibrators[0]], test.probs, test.labels)
    assert f"{calibrators[0].method_} 2".encode() in twins.html
    with pytest.raises(kandinsky.UsageError, match="labelled test images"):
        kandinsky.report(calibrators)
    with pytest.raises(kandinsky.FileError, match="nowhere"):
        page.save(tmp_path / "nowhere" / "c.html")
    with pytest.raises(kandinsky.UsageError, match="class"):
        kandinsky.report(comparison, class_names=["one"])
    for name, given in [("probs", test.probs), ("labels", test.labels), ("alpha", 0.2), ("ignore", 3), ("logits", "softmax")]:
        with pytest.raises(kandinsky.UsageError, match=f"^{name} has no effect: a comparison has its own test images and level$"):
            kandinsky.report(comparison, **{name: given})
    assert kandinsky.report(comparison, ignore=[255], logits="none").html
