"""Python and the command agree: the same arrays and options give the same bytes."""

import json

import numpy as np
import pytest
from support import methods, scene

import kandinsky
from kandinsky._words import in_python

# Options as the command writes them, and as Python does. Methods that need an array get one.
REGIONS = (np.arange(35).reshape(5, 7) // 9).astype(np.uint8)
# Searches end early: leave-one-out repeats them for every group.
SHORT = {"genann": {"genann_generations": 5}, "fcc": {"fcc_starts": 1, "fcc_iterations": 5}}
SHORT["auto"] = {**SHORT["genann"], **SHORT["fcc"]}


def words_for(options):
    return [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]


CASES = [(name, words_for(SHORT.get(name, {})), SHORT.get(name, {})) for name in methods() if name != "mask"]
CASES += [
    ("mask", ["--mask", "mask.npy"], {"mask": REGIONS}),
    ("kmeans", ["--kmeans-clusters", "3", "--kmeans-restarts", "4"], {"regions": 3, "restarts": 4}),
    ("kmeans", ["--kmeans-clusters", "2"], {"options": {"kmeans-clusters": 2}}),
    ("genann", ["--genann-metric", "manhattan", *words_for(SHORT["genann"])], {"metric": "manhattan", **SHORT["genann"]}),
    ("fcc", ["--fcc-order", "2", "--fcc-penalty", "0.01", *words_for(SHORT["fcc"])],
     {"fcc_order": 2, "penalty": 0.01, **SHORT["fcc"]}),
    ("image", [], {"split": 0.0}),  # the default, which the command writes as 0
    ("image", ["--condition", "none", "--pooling", "pixels"], {"condition": "none", "pooling": "pixels"}),
    ("pixel", ["--fallback", "image", "--min-count", "12"], {"fallback": "image", "min_count": 12}),
    ("kmeans", ["--split", "0.4", "--seed", "5"], {"split": 0.4, "seed": 5}),
    ("kmeans", ["--quantiles", "0.5,0.9", "--rungs", "40"], {"quantiles": [0.5, 0.9], "rungs": 40}),
    ("kmeans", ["--compat", "released"], {"compat": "released"}),
    ("image", ["--memory", "1M"], {"memory": "1M"}),
    ("image", ["--ignore", "2,255"], {"ignore": [2, 255]}),
    ("image", ["--ignore", "none"], {"ignore": None}),
]


@pytest.mark.filterwarnings("ignore::kandinsky.CalibrationWarning")
@pytest.mark.parametrize("method,words,options", CASES, ids=lambda value: value if isinstance(value, str) else None)
def test_a_calibrator_is_the_commands_byte_for_byte(room, saved, method, words, options):
    probs, labels = scene(30, seed=1)
    groups = np.arange(30, dtype=np.int32) // 2
    for name, array in [("p.npy", probs), ("y.npy", labels), ("g.npy", groups), ("mask.npy", REGIONS)]:
        room.save(name, array)
    room.does("calibrate", "--probs", "p.npy", "--labels", "y.npy", "--groups", "g.npy", "--method", method, "-o",
              "command.kcal", *words)
    calibrator = kandinsky.Calibrator(method, **options).fit(probs, labels, groups)
    assert saved(calibrator) == (room.folder / "command.kcal").read_bytes()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.uint8])
def test_every_type_of_probabilities_gives_the_commands_bytes(room, saved, dtype):
    probs, labels = scene(12, seed=2)
    probs = (probs * 255).astype(np.uint8) if dtype == np.uint8 else probs.astype(dtype)
    room.save("p.npy", probs)
    room.save("y.npy", labels)
    room.calibrate("--score", "near", "--method", "kmeans", probs="p.npy", labels="y.npy", output="c.kcal")
    wanted = (room.folder / "c.kcal").read_bytes()
    assert saved(kandinsky.Calibrator("kmeans", promise="none").fit(probs, labels)) == wanted
    batches = kandinsky.Calibrator("kmeans", promise="none").partial_fit(probs[:5], labels[:5]).partial_fit(probs[5:], labels[5:])
    assert saved(batches.calibrate()) == wanted


@pytest.mark.parametrize("logits", ["sigmoid", "softmax"])
def test_logits_are_read_as_the_command_reads_them(room, saved, logits):
    values = np.random.default_rng(0).normal(size=(12, 3, 5, 7)).astype(np.float32)
    room.save("p.npy", values)
    room.save("y.npy", scene(12)[1])
    room.calibrate("--score", "near", "--method", "kmeans", "--logits", logits, probs="p.npy", labels="y.npy", output="c.kcal")
    calibrator = kandinsky.Calibrator("kmeans", logits=logits, promise="none").fit(values, scene(12)[1])
    assert saved(calibrator) == (room.folder / "c.kcal").read_bytes()


def test_predictions_are_the_commands(room):
    probs, labels = scene(20, seed=4)
    calibrator = kandinsky.Calibrator("kmeans", score_function="lac").fit(probs, labels)
    calibrator.save(room.folder / "c.kcal")
    room.does("predict", "c.kcal", "--probs", room.save("q.npy", probs), "--alpha", "0.2", "-o", "sets.npy",
              "--thresholds", "t.npy", "--pvalues", "p.npy")
    room.does("predict", "c.kcal", "--probs", "q.npy", "--alpha", "0.2", "-o", "packed.npy", "--packed")
    sets = calibrator.predict_set(probs, 0.2)
    assert sets.dtype == np.bool_
    np.testing.assert_array_equal(sets, room.load("sets.npy"))
    np.testing.assert_array_equal(calibrator.predict_set(probs, 0.2, packed=True), room.load("packed.npy"))
    np.testing.assert_array_equal(calibrator.thresholds(0.2), room.load("t.npy"))
    np.testing.assert_array_equal(calibrator.predict_p(probs), room.load("p.npy"))


def test_curves_and_regions_are_the_commands(room):
    probs, labels = scene(20, seed=4)
    room.save("p.npy", probs)
    room.save("y.npy", labels)
    room.calibrate("--score", "near", "--method", "kmeans", "--curves", "c.npy", "--regions", "r.npy", probs="p.npy", labels="y.npy")
    calibrator = kandinsky.Calibrator("kmeans", promise="none").fit(probs, labels)
    np.testing.assert_array_equal(calibrator.curves(), room.load("c.npy"))
    np.testing.assert_array_equal(calibrator.regions_, room.load("r.npy"))


def without_seconds(value):
    if isinstance(value, dict):
        return {key: without_seconds(one) for key, one in value.items() if key != "seconds"}
    return [without_seconds(one) for one in value] if isinstance(value, list) else value


def test_an_evaluation_is_the_commands(room):
    probs, labels = scene(20, seed=4)
    test_probs, test_labels = scene(15, seed=5)
    calibrator = kandinsky.Calibrator("kmeans").fit(probs, labels)
    calibrator.save(room.folder / "c.kcal")
    printed = room.does("evaluate", "c.kcal", "--probs", room.save("p.npy", test_probs), "--labels",
                        room.save("y.npy", test_labels), "--alpha", "0.2", "--json", "j.json", "--ce-map", "ce.npy",
                        "--ece-map", "ece.npy").out
    found = calibrator.evaluate(test_probs, test_labels, alpha=0.2)
    assert without_seconds(found.to_dict()) == without_seconds(json.loads((room.folder / "j.json").read_text()))
    assert str(found) == printed.rstrip("\n")
    np.testing.assert_array_equal(found.ce_map, room.load("ce.npy"))
    np.testing.assert_array_equal(found.ece_map, room.load("ece.npy"))


def test_a_comparison_is_the_commands(room):
    probs, labels = scene(20, seed=4)
    test_probs, test_labels = scene(15, seed=5)
    for name, array in [("p.npy", probs), ("y.npy", labels), ("q.npy", test_probs), ("z.npy", test_labels)]:
        room.save(name, array)
    room.does("compare", "--cal-probs", "p.npy", "--cal-labels", "y.npy", "--test-probs", "q.npy", "--test-labels",
              "z.npy", "--methods", "image,kmeans", "--kmeans-clusters", "2", "--classes", "1,2", "--sample", "8",
              "--draws", "3", "--json", "j.json")
    found = kandinsky.compare(probs, labels, test_probs, test_labels, methods=["image", "kmeans"], kmeans_clusters=2,
                              classes=[1, 2], sample=8, draws=3)
    assert without_seconds(found.to_dict()) == without_seconds(json.loads((room.folder / "j.json").read_text()))


def test_an_error_has_the_commands_words(room):
    probs, labels = scene(4)
    with pytest.raises(kandinsky.UsageError) as python:
        kandinsky.Calibrator("kmeans", clusters=0).fit(probs, labels)
    result = room.run("calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "--method", "kmeans", "--kmeans-clusters", "0", "-o", "x")
    assert result.code == 2 and [in_python(one) for one in result.complaints] == [f"kandinsky: {python.value}"]
