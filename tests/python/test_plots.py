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


PLOTS = [kandinsky.plot_ce_map, kandinsky.plot_coverage, kandinsky.plot_reliability, kandinsky.plot_violin]


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
