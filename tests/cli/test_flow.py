"""calibrate, predict, evaluate, inspect and compare agree with a plain reference on small random data."""

import json
import zipfile
from fractions import Fraction

import numpy as np
import pytest
import reference
from support import scene

ALPHAS = ["0", "0.05", "0.1", "0.123", "0.25", "0.3", "0.5", "0.7", "0.9", "0.95", "0.9995", "1"]
REGIONS = np.arange(35).reshape(5, 7) % 4 * 3  # region numbers need not be dense
GROUPS = np.array([7, 7, -2, 5, 5, 5, 9, 30, 31, 30, 7, 40])


def flags(room, method):
    return ["--method", method, "--fallback", "none"] + (
        ["--mask", room.save("map.npy", REGIONS)] if method == "mask" else [])


def region_map(room, *args):
    """Calibrates and returns the regions the command says it used, [C,H,W] or [H,W]."""
    room.calibrate(*args, "--regions", "regions.npy")
    return room.load("regions.npy")


def thresholds(room, alpha):
    """Probability thresholds float32 [C,H,W] from the calibrator."""
    room.does("predict", "cal.kcal", "--alpha", alpha, "--thresholds", "t.npy")
    return room.load("t.npy")


def same_rule(probability_limit, score_limit):
    """Whether `p >= probability_limit` says the same as `1 - p <= score_limit` for every float32 p of [0, 1]."""
    one, below = np.float32(1), np.nextafter(probability_limit, np.float32(-np.inf))
    always = (probability_limit <= 0) & (one - np.float32(0) <= score_limit)
    never = (probability_limit > 1) & (one - one > score_limit)
    exact = (one - probability_limit <= score_limit) & (one - below > score_limit)
    return always | never | exact


@pytest.fixture
def twelve(room):
    """12 images, so that alphas above 1/13 have finite thresholds."""
    room.probs, room.labels = scene(12, seed=1)
    room.labels[3, :2] = 255
    room.save("probs.npy", room.probs)
    room.save("labels.npy", room.labels)
    room.save("groups.npy", GROUPS)
    room.member, room.valid = reference.members(room.labels, 3)
    room.test, room.truth = scene(9, seed=2)
    room.truth[:, 0, 0] = 255
    room.truth[2, 3] = 255
    room.save("test.npy", room.test)
    room.save("truth.npy", room.truth)
    return room


# ---- thresholds and sets -----------------------------------------------------------------------
@pytest.mark.parametrize("method", ["pixel", "image", "kmeans", "mask"])
@pytest.mark.parametrize("pooling", ["pixels", "groups"])
@pytest.mark.parametrize("grouped", [False, True], ids=["images", "groups"])
@pytest.mark.parametrize("condition", ["class", "none"])
def test_thresholds_are_the_conformal_quantiles_of_each_region(twelve, method, pooling, grouped, condition):
    room = twelve
    more = ["--groups", "groups.npy"] if grouped else []
    regions = region_map(room, *flags(room, method), "--pooling", pooling, "--condition", condition, *more)
    assert regions.shape == ((3, 5, 7) if condition == "class" else (5, 7))
    expected = reference.Reference(room.probs, room.member, regions, pooling, GROUPS if grouped else None, condition)
    finite = 0
    for alpha in ALPHAS:
        if pooling == "groups" and alpha == "0.123":  # between two rungs, which another test covers
            continue
        limits = expected.score_thresholds(alpha)
        assert same_rule(thresholds(room, alpha), limits).all(), alpha
        finite += np.isfinite(limits).any()
    assert finite >= 6


@pytest.mark.parametrize("method,count", [("pixel", 35), ("image", 1), ("mask", 4)])
def test_regions_are_what_the_method_says(twelve, method, count):
    regions = region_map(twelve, *flags(twelve, method))
    assert all(len(np.unique(plane)) == count for plane in regions)
    if method == "mask":
        assert (regions == REGIONS // 3).all()


def test_a_region_map_may_differ_between_classes(twelve):
    maps = np.stack([REGIONS, REGIONS.T.reshape(5, 7) % 2, np.zeros((5, 7), int)])
    twelve.save("map.npy", maps)
    twelve.calibrate("--method", "mask", "--mask", "map.npy", "--pooling", "pixels")
    expected = reference.Reference(twelve.probs, twelve.member, maps)
    assert same_rule(thresholds(twelve, "0.2"), expected.score_thresholds("0.2")).all()


@pytest.mark.parametrize("pooling", ["pixels", "groups"])
def test_long_curves_are_exact_on_the_ladder_and_never_too_low_between_rungs(room, pooling):
    probs, labels = scene(26, classes=2, grid=(12, 16), seed=3)
    room.save("probs.npy", probs)
    room.save("labels.npy", labels)
    room.calibrate("--method", "image", "--pooling", pooling)
    member, _ = reference.members(labels, 2)
    assert member.sum(axis=(0, 2, 3)).min() > 2010
    expected = reference.Reference(probs, member, np.zeros((12, 16), int), pooling)
    for alpha in ["0.0385", "0.05", "0.1", "0.1235", "0.5", "0.9995"]:
        assert same_rule(thresholds(room, alpha), expected.score_thresholds(alpha)).all(), alpha
    for alpha, rung in [("0.1237", "0.1235"), ("0.70001", "0.7"), ("0.04999", "0.0495")]:
        assert same_rule(thresholds(room, alpha), expected.score_thresholds(rung)).all(), alpha


def test_many_long_curves_are_exact_on_the_coarser_ladder(room):
    probs, _ = scene(410, classes=2, grid=(24, 25), seed=4)
    room.save("probs.npy", probs)
    room.save("labels.npy", np.zeros((410, 24, 25), np.uint8))
    room.calibrate("--method", "pixel")
    scores = np.sort(np.float32(1) - probs[:, 0], axis=0)
    for alpha in ["0.005", "0.1", "0.5", "0.995"]:
        k = -((-411 * (1 - Fraction(alpha))) // 1)
        limits = thresholds(room, alpha)
        assert same_rule(limits[0], scores[int(k) - 1]).all(), alpha
        assert (limits[1] == -np.inf).all()


@pytest.mark.parametrize("least", ["1", "4", "1000"])
def test_the_fallback_is_used_in_regions_with_fewer_scores_than_min_count(twelve, least):
    room = twelve
    room.calibrate("--method", "pixel", "--pooling", "pixels", "--fallback", "image", "--min-count", least)
    expected = reference.Reference(room.probs, room.member, np.arange(35).reshape(5, 7), min_count=int(least))
    for alpha in ALPHAS:
        assert same_rule(thresholds(room, alpha), expected.score_thresholds(alpha)).all(), alpha
    counts = room.member.sum(axis=0)
    assert (room.load("cal.kcal")["curve_level"] == (counts < int(least))).all()


def test_the_curves_written_are_the_thresholds_at_each_percent(twelve):
    room = twelve
    room.calibrate("--method", "pixel", "--pooling", "pixels", "--fallback", "none", "--curves", "curves.npy")
    curves = room.load("curves.npy")
    assert curves.shape == (100, 3, 5, 7) and curves.dtype == np.float32
    expected = reference.Reference(room.probs, room.member, np.arange(35).reshape(5, 7))
    for percent in (1, 10, 50, 66, 90, 99, 100):
        assert (curves[percent - 1] == expected.score_thresholds(1 - Fraction(percent, 100))).all(), percent


@pytest.mark.parametrize("method,pooling", [("pixel", "pixels"), ("image", "groups"), ("kmeans", "groups")])
def test_sets_bits_thresholds_and_p_values_say_the_same(twelve, method, pooling):
    room = twelve
    room.calibrate("--method", method, "--pooling", pooling)
    predict = ["predict", "cal.kcal", "--probs", "test.npy"]
    room.does(*predict, "--pvalues", "p.npy")
    predict += ["--empty", "keep"]
    p = room.load("p.npy")
    assert p.dtype == np.float32 and p.shape == room.test.shape
    assert (p > 0).all() and (p <= 1).all() and len(np.unique(p)) > 5
    sizes = []
    for alpha in ALPHAS:
        room.does(*predict, "--alpha", alpha, "-o", "sets.npy", "--thresholds", "t.npy")
        room.does(*predict, "--alpha", alpha, "-o", "bits.npy", "--packed")
        sets = room.load("sets.npy")
        assert sets.dtype == np.uint8 and sets.shape == room.test.shape
        assert (sets == (room.test >= room.load("t.npy"))).all()
        assert (room.load("bits.npy") == np.packbits(sets, axis=-1)).all()
        if alpha != "0.123":
            assert (sets == (p > np.float32(alpha))).all(), alpha
        sizes.append(sets.mean())
    assert sizes[0] == 1 and sizes[-1] < 0.3 and sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("method", ["pixel", "image", "kmeans", "mask"])
@pytest.mark.parametrize("pooling", ["pixels", "groups"])
def test_at_alpha_1_no_class_is_in_a_set_and_at_alpha_0_every_class_is(twelve, method, pooling):
    """With data or without: the p-value of a class without data is 1, which does not exceed 1."""
    room = twelve
    labels = room.save("some.npy", np.where(room.labels == 2, 255, room.labels))
    room.calibrate(*flags(room, method), "--pooling", pooling, labels=labels)
    room.save("extreme.npy", np.stack([np.zeros((3, 5, 7)), np.ones((3, 5, 7))]))
    room.does("predict", "cal.kcal", "--probs", "extreme.npy", "--alpha", "1", "-o", "sets.npy", "--empty", "keep")
    assert (room.load("sets.npy") == 0).all()
    room.does("predict", "cal.kcal", "--probs", "extreme.npy", "--alpha", "0", "-o", "sets.npy")
    assert (room.load("sets.npy") == 1).all()


# ---- evaluation --------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["pixel", "image", "mask"])
@pytest.mark.parametrize("condition", ["class", "none"])
def test_evaluate_prints_what_the_reference_finds(twelve, method, condition):
    room = twelve
    regions = region_map(room, *flags(room, method), "--pooling", "pixels", "--condition", condition)
    data = ["--probs", "test.npy", "--labels", "truth.npy", "--alpha", "0.3"]
    result = room.does("evaluate", "cal.kcal", *data, "--json", "-", "--ce-map", "ce.npy")
    found = json.loads(result.out)
    member, valid = reference.members(room.truth, 3)
    calibrator = reference.Reference(room.probs, room.member, regions, condition=condition)
    expected = reference.evaluation(calibrator, room.test, member, valid, "0.3")

    assert found["schema"] == 2 and found["grid"] == [5, 7] and found["images"] == {"cal": 12, "test": 9}
    assert found["levels"] == pytest.approx([m / 20 for m in range(1, 20)])
    ce = room.load("ce.npy")
    assert ce.dtype == np.float64 and ce.shape == ((3 if condition == "class" else 1), 5, 7)
    np.testing.assert_allclose(ce, expected["ce_map"], rtol=0, atol=1e-9)
    assert np.isnan(ce[:, 0, 0]).all()
    assert [one["class"] for one in found["results"]] == ([0, 1, 2] if condition == "class" else ["all"])
    for s, one in enumerate(found["results"]):
        assert one["method"] == method
        assert one["regions"] == len(np.unique(regions))
        for name in ("mean_ce", "q05", "q95", "coverage"):
            assert one[name] == pytest.approx(expected[name][s], abs=1e-9), name
        assert len(one["coverage"]) == 19
        assert one["pixels"] == expected["pixels"][s] and one["pixels_without_data"] == 35 - expected["pixels"][s]
        assert one["samples"] == expected["samples"][s]
        assert reference.same_measures(one, expected, s) is None
        ece = expected["ece"][s] if condition == "class" else np.mean(expected["ece"])
        assert one["ece"] == pytest.approx(ece, abs=1e-9)
        classes = [s] if condition == "class" else [0, 1, 2]
        counts = member[:, classes].sum(axis=(0, 1))
        floor = np.mean([reference.sampling_floor(int(n)) for n in counts[counts > 0]])
        assert one["floor"] == pytest.approx(floor, abs=1e-9)
        assert one["seconds"]["evaluate"] >= 0
        # Sizes are those of all classes together. Every labelled pixel is a sample of its class.
        assert sum(one["size_stratified"]["samples"]) == valid.sum()
    rows = [line.split() for line in room.does("evaluate", "cal.kcal", *data).out.splitlines() if line.startswith("  ")][1:]
    assert [row[-3] for row in rows] == [f"{one['ece']:.3f}" for one in found["results"]], "the text has the JSON's ECE"


def test_evaluate_reports_only_the_classes_asked_for(twelve):
    twelve.calibrate("--method", "image")
    data = ["evaluate", "cal.kcal", "--probs", "test.npy", "--labels", "truth.npy", "--json", "-"]
    assert [one["class"] for one in json.loads(twelve.does(*data, "--classes", "2,0").out)["results"]] == [0, 2]


def test_evaluate_writes_the_same_json_to_a_file_and_a_table_beside_it(twelve):
    twelve.calibrate("--method", "image")
    data = ["evaluate", "cal.kcal", "--probs", "test.npy", "--labels", "truth.npy"]
    printed = json.loads(twelve.does(*data, "--json", "-").out)
    table = twelve.does(*data, "--json", "out.json").out
    written = json.loads((twelve.folder / "out.json").read_text())
    for one in printed["results"] + written["results"]:
        del one["seconds"]
    assert written == printed
    assert "mean CE" in table and "{" not in table


# ---- comparison --------------------------------------------------------------------------------
COMPARE = ["compare", "--cal-probs", "probs.npy", "--cal-labels", "labels.npy", "--test-probs", "test.npy",
           "--test-labels", "truth.npy", "--score", "lac", "--json", "-"]
FIELDS = {"method", "class", "regions", "mean_ce", "q05", "q95", "floor", "pixels", "pixels_without_data", "set_size",
          "coverage", "seconds", "coverage_at_alpha", "false_share", "false_classes", "single_share", "single_right",
          "full_share", "filled_share", "false_shares", "level_sets"}


@pytest.mark.parametrize("pooling", ["pixels", "groups"])
def test_compare_finds_for_each_method_what_evaluate_finds(twelve, pooling):
    more = ["--pooling", pooling] if pooling == "pixels" else []
    both = json.loads(twelve.does(*COMPARE, "--methods", "kmeans,pixel,image", "--promise", "none", *more).out)
    assert both["schema"] == 2 and both["grid"] == [5, 7] and both["images"] == {"cal": 12, "test": 9}
    assert [(one["class"], one["method"]) for one in both["results"]] == [
        (c, m) for c in range(3) for m in ("kmeans", "pixel", "image")
    ]
    for method in ("kmeans", "pixel", "image"):
        twelve.calibrate("--method", method, "--pooling", pooling)
        data = ["--probs", "test.npy", "--labels", "truth.npy", "--json", "-"]
        alone = json.loads(twelve.does("evaluate", "cal.kcal", *data).out)["results"]
        for one, other in zip([one for one in both["results"] if one["method"] == method], alone):
            assert FIELDS <= set(one) and set(one["seconds"]) == {"fit", "evaluate"}
            for name in (FIELDS | {"ece", "empty_share", "region_coverage"}) - {"seconds"}:
                assert one[name] == pytest.approx(other[name]) if name == "ece" else one[name] == other[name], name


def test_draws_are_reported_with_mean_and_spread(twelve):
    found = json.loads(twelve.does(*COMPARE, "--methods", "image,pixel", "--sample", "6", "--draws", "4").out)
    assert found["sample"] == {"size": 6, "draws": 4} and found["images"]["cal"] == 6
    for one in found["results"]:
        assert len(one["draws"]) == 4 and len(set(one["draws"])) > 1
        assert one["mean_ce"] == pytest.approx(np.mean(one["draws"]), abs=1e-12)
        assert one["mean_ce_sd"] == pytest.approx(np.std(one["draws"], ddof=1), abs=1e-12)
    other = json.loads(twelve.does(*COMPARE, "--methods", "image", "--sample", "6", "--draws", "4", "--seed", "1").out)
    assert other["results"][0]["draws"] != found["results"][0]["draws"]


def test_draws_take_whole_groups(twelve):
    grouped = [*COMPARE, "--cal-groups", "groups.npy", "--methods", "image", "--sample", "3", "--draws", "1"]
    sizes = {int(n) for n in np.unique(GROUPS, return_counts=True)[1]}
    assert sizes == {1, 2, 3}
    for seed in range(5):
        found = json.loads(twelve.does(*grouped, "--seed", seed).out)
        assert found["groups"]["cal"] == 3
        assert 3 <= found["images"]["cal"] <= 8


# ---- the calibrator as a file ------------------------------------------------------------------
def test_numpy_opens_a_calibrator_and_its_description_is_what_inspect_prints(twelve):
    twelve.calibrate("--method", "pixel", "--groups", "groups.npy", "--seed", "5")
    with np.load(twelve.folder / "cal.kcal") as arrays:
        names = [name for name in arrays.files if name != "meta.json"]
        assert {"regions", "counts", "curve_values"} <= set(names)
        assert all(isinstance(arrays[name], np.ndarray) for name in names)
        assert (arrays["counts"] == twelve.member.sum(axis=0)).all()
        assert (arrays["regions"] == np.arange(35).reshape(5, 7)).all()
    with zipfile.ZipFile(twelve.folder / "cal.kcal") as archive:
        assert archive.testzip() is None
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
        meta = json.loads(archive.read("meta.json"))
    assert meta["format"] == "kcal" and meta["format_version"] >= 1 and meta["method"] == "pixel"
    assert meta["options"]["seed"] == 5 and meta["options"]["pooling"] == "groups"
    assert meta["data"] | {"images": 12, "groups": 7, "classes": 3, "height": 5, "width": 7} == meta["data"]
    assert meta["guarantee"] and meta["library_version"]
    shown = json.loads(twelve.does("inspect", "cal.kcal", "--json").out)
    assert shown["figures"]["identity"] in twelve.does("inspect", "cal.kcal").out
    assert shown.pop("figures")["alpha"] == 0.1 and shown.pop("reference")["units"] == 7 and shown == meta
    shown = twelve.does("inspect", "cal.kcal").out
    for part in ("pixel", "12 images of 7 groups", "5 x 7", meta["guarantee"], meta["data"]["fingerprint"]):
        assert part in shown, part


def test_inspect_counts_scores_and_infinite_thresholds(twelve):
    twelve.calibrate("--method", "pixel", "--pooling", "pixels")
    limits = thresholds(twelve, "0.2")
    rows = [line.split() for line in twelve.does("inspect", "cal.kcal", "--alpha", "0.2").out.splitlines()]
    for c in range(3):
        row = next(row for row in rows if row[:3] == [str(c), "-", "35"])
        assert int(row[3]) == twelve.member[:, c].sum()
        assert int(row[-1]) == (limits[c] == -np.inf).sum()
        assert int(row[-2]) == (twelve.member[:, c].sum(axis=0) == 0).sum()
