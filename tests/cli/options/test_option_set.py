"""A text that is no number is refused, and an option without effect is refused with the reason."""

import pytest

CALIBRATE = ("calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "-o", "a.kcal")
PREDICT = ("predict", "cal.kcal", "--probs", "probs.npy", "-o", "sets.npy")
COMPARE = ("compare", "--cal-probs", "probs.npy", "--cal-labels", "labels.npy", "--test-probs", "probs.npy", "--test-labels", "labels.npy",
           "--methods", "image")  # fmt: skip
EVALUATE = ("evaluate", "cal.kcal", "--probs", "probs.npy", "--labels", "labels.npy")


@pytest.mark.parametrize("words", [
    (*PREDICT, "--alpha", ""), (*CALIBRATE, "--split", ""), (*EVALUATE, "--classes", ""), (*CALIBRATE, "--memory", ""),
    (*CALIBRATE, "--seed", "-1"), (*CALIBRATE, "--min-count", "-1"), (*CALIBRATE, "--seed", "1.5"), (*CALIBRATE, "--seed", "0x10"),
    (*PREDICT, "--alpha", "0.1x"), (*PREDICT, "--alpha", "nan"), (*CALIBRATE, "--ignore", ""), (*CALIBRATE, "--ignore", "1,,2"),
    (*CALIBRATE, "--quantiles", "0.5,"), (*CALIBRATE, "--groups", ""), (*CALIBRATE, "--checkpoint", "c", "--checkpoint-every", "-1"),
    (*COMPARE, "--title", "", "--report", "r.html"),
])  # fmt: skip
def test_what_is_no_number_is_refused_in_one_short_line(room, words):
    room.calibrate("-m", "image")
    result = room.refuses(2, [], *words)
    assert len(result.err) < 200, result.err


def test_a_leading_zero_has_no_effect(room):
    for seed in ["10", "010", "0010"]:
        room.calibrate("-m", "kmeans", "--seed", seed, output=f"{seed}.kcal")
    ten = (room.folder / "10.kcal").read_bytes()
    assert (room.folder / "010.kcal").read_bytes() == ten == (room.folder / "0010.kcal").read_bytes()
    room.calibrate("-m", "kmeans", "--seed", "8", output="8.kcal")
    assert (room.folder / "8.kcal").read_bytes() != ten


WITHOUT_EFFECT = [
    ("--kmeans-clusters", "method kmeans", (*CALIBRATE, "-m", "image", "--kmeans-clusters", "4")),
    ("--kmeans-clusters", "method kmeans", (*CALIBRATE, "-m", "image", "--kmeans-clusters", "abc")),
    ("--kmeans-clusters", "method kmeans", (*CALIBRATE, "--kmeans-clusters", "4")),
    ("--mask", "method mask", (*CALIBRATE, "-m", "kmeans", "--mask", "labels.npy")),
    ("--mask", "method mask", (*CALIBRATE, "-m", "auto", "--mask", "labels.npy")),
    ("--raps-lambda", "--score raps", (*CALIBRATE, "--score", "lac", "--raps-lambda", "3")),
    ("--saps-weight", "--score saps", (*CALIBRATE, "--score", "aps", "--saps-weight", "3")),
    ("--split", "learns nothing", (*CALIBRATE, "-m", "image", "--split", "0.5")),
    ("--split", "learns nothing", (*CALIBRATE, "-m", "pixel", "--split", "0.5")),
    ("--promise", "learns nothing", (*CALIBRATE, "-m", "mask", "--mask", "labels.npy", "--promise", "loo")),
    ("--quantiles", "does not compare", (*CALIBRATE, "-m", "field", "--quantiles", "0.5")),
    ("--min-count", "--fallback image", (*CALIBRATE, "-m", "kmeans", "--min-count", "3")),
    ("--min-count", "--fallback image", (*CALIBRATE, "-m", "kmeans", "--pooling", "pixels", "--fallback", "none", "--min-count", "3")),
    ("--fallback", "no regions", (*CALIBRATE, "--fallback", "image")),
    ("--pooling", "--compat released", (*CALIBRATE, "-m", "kmeans", "--compat", "released", "--pooling", "groups")),
    ("--fallback", "--compat released", (*CALIBRATE, "-m", "kmeans", "--compat", "released", "--fallback", "image")),
    ("--rungs", "--compat released", (*CALIBRATE, "-m", "kmeans", "--compat", "released", "--rungs", "100")),
    ("--regions", "field has no regions", (*CALIBRATE, "--regions", "r.npy")),
    ("--sketch", "from a pipe", (*CALIBRATE, "-m", "pixel", "--pooling", "pixels", "--sketch", "0.01")),
    ("--device", "no network", (*CALIBRATE, "--device", "cuda")),
    ("--intensity", "no network", (*CALIBRATE, "--intensity", "byte")),
    ("--checkpoint-every", "--checkpoint", (*CALIBRATE, "--checkpoint-every", "5")),
    ("--grid", "folders", (*CALIBRATE, "--grid", "4x4")),
    ("--letterbox", "folders", (*CALIBRATE, "--letterbox", "4x4")),
    ("--skip-bad", "folders", (*PREDICT, "--skip-bad")),
    ("--coding", "--packed", (*PREDICT, "--coding", "bits")),
    ("--coding", "--packed", (*PREDICT, "--coding", "planes")),
    ("--probs", "thresholds", ("predict", "cal.kcal", "--probs", "probs.npy", "--thresholds", "t.npy")),
    ("--alpha", "p-values", ("predict", "cal.kcal", "--probs", "probs.npy", "--pvalues", "q.npy", "--alpha", "0.2")),
    ("--packed", "sets", ("predict", "cal.kcal", "--probs", "probs.npy", "--pvalues", "q.npy", "--packed")),
    ("--empty", "no sets", ("predict", "cal.kcal", "--probs", "probs.npy", "--pvalues", "q.npy", "--empty", "keep")),
    ("--logits", "no --probs", ("predict", "cal.kcal", "--thresholds", "t.npy", "--logits", "none")),
    ("--kmeans-clusters", "method kmeans", (*COMPARE, "--kmeans-clusters", "3")),
    ("--split", "learns nothing", (*COMPARE, "--split", "0.5")),
    ("--bootstrap", "--more and --json", (*COMPARE, "--bootstrap", "20")),
    ("--draws", "--sample", (*COMPARE, "--draws", "1")),
    ("--title", "no report", (*COMPARE, "--title", "x")),
    ("--class-names", "no report", (*COMPARE, "--class-names", "a,b,c")),
    ("--photos", "no report", (*COMPARE, "--photos", "probs.npy")),
    ("--classes", "--condition none", (*COMPARE, "--condition", "none", "--classes", "1")),
    ("--more", "--json", (*COMPARE, "--more", "--json", "-")),
    ("--map", "--json", (*COMPARE, "--map", "--json", "-")),
    ("--more", "--json", (*EVALUATE, "--more", "--json", "-")),
]  # fmt: skip


@pytest.mark.parametrize("option,reason,words", WITHOUT_EFFECT, ids=lambda one: one if isinstance(one, str) and one.startswith("--") else "")
def test_an_option_without_effect_is_refused_with_the_reason(room, option, reason, words):
    room.calibrate("-m", "image")
    room.refuses(2, [f"{option} has no effect", reason], *words)


def test_an_option_of_one_of_the_methods_counts(room):
    words = [*COMPARE[:-1], "image,kmeans:raps", "--kmeans-clusters", "2", "--raps-lambda", "0.5", "--promise", "none"]
    assert "kmeans:raps" in room.does(*words).out
    room.does(*CALIBRATE, "-m", "auto", "--kmeans-clusters", "2", "--promise", "none")


def test_randomized_is_for_scores_that_can_be(room):
    room.refuses(2, ["--randomized is for the scores aps, raps and saps"], *CALIBRATE, "--score", "lac", "--randomized")


def test_padding_needs_something_that_pads(room):
    for name in ["p", "y"]:
        (room.folder / name).mkdir()
        (room.folder / name / "a.npy").write_bytes((room.folder / f"{'probs' if name == 'p' else 'labels'}.npy").read_bytes())
    room.refuses(2, ["--padding has no effect", "--grid"], "calibrate", "--probs", "p", "--labels", "y", "--padding", "ignore", "-o", "a.kcal")


def test_a_list_of_classes_does_not_swallow_the_calibrator(room):
    room.calibrate("-m", "image")
    found = room.does("evaluate", "--classes", "1,2", "cal.kcal", "--probs", "probs.npy", "--labels", "labels.npy").out
    twice = room.does("evaluate", "--classes", "1", "--classes", "2", *EVALUATE[1:]).out
    assert found == twice and "\n  1 " in found and "\n  2 " in found
    room.calibrate("-m", "image", "--condition", "none", output="all.kcal")
    room.refuses(2, ["--classes has no effect", "all.kcal"], "evaluate", "all.kcal", *EVALUATE[2:], "--classes", "1")
