"""The same data in another type, layout or container gives the same result, and the reading options work."""

import json

import numpy as np
import pytest
import reference
from support import scene, softmax

WHOLE = np.zeros((5, 7), int)


def thresholds(room, alpha, *args, probs="probs.npy", labels="labels.npy"):
    """Probability thresholds of method image, every pixel alike, so that few images suffice."""
    room.calibrate("--method", "image", "--pooling", "pixels", *args, probs=probs, labels=labels)
    room.does("predict", "cal.kcal", "--alpha", alpha, "--thresholds", "t.npy")
    return room.load("t.npy")


def agree(limits, probs, expected, alpha):
    """Whether the thresholds give the reference's sets for the probabilities."""
    return ((reference.two_classes(probs) >= limits) == expected.sets(probs, alpha)).all()


def results(room, probs, labels="labels.npy", *args):
    """The bytes of calibrator and sets, and the evaluation without its times."""
    room.calibrate("--method", "kmeans", *args, probs=probs, labels=labels)
    logits = args[args.index("--logits") :][:2] if "--logits" in args else []
    room.does("predict", "cal.kcal", "--probs", probs, "--alpha", "0.4", "-o", "sets.npy", "--empty", "keep", *logits)
    reading = [*logits, *(["--ignore", args[args.index("--ignore") + 1]] if "--ignore" in args else [])]
    found = room.does("evaluate", "cal.kcal", "--probs", probs, "--labels", labels, "--json", "-", *reading).out
    for one in (found := json.loads(found))["results"]:
        del one["seconds"]
    return (room.folder / "cal.kcal").read_bytes(), (room.folder / "sets.npy").read_bytes(), found


# ---- types -------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.uint8])
def test_every_type_of_probability_is_read_as_its_value(room, dtype):
    stored = (room.probs * 255).round().astype(np.uint8) if dtype == np.uint8 else room.probs.astype(dtype)
    values = stored.astype(np.float32) / (np.float32(255) if dtype == np.uint8 else np.float32(1))
    room.save("stored.npy", stored)
    member, _ = reference.members(room.labels, 3)
    expected = reference.Reference(values, member, WHOLE)
    for alpha in ("0.1", "0.35", "0.8"):
        assert agree(thresholds(room, alpha, probs="stored.npy"), values, expected, alpha), alpha
        room.does("predict", "cal.kcal", "--probs", "stored.npy", "--alpha", alpha, "-o", "sets.npy", "--empty", "keep")
        assert (room.load("sets.npy") == expected.sets(values, alpha)).all()


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_every_integer_type_of_labels_gives_the_same_bytes(room, dtype):
    expected = results(room, "probs.npy")
    assert results(room, "probs.npy", room.save("other.npy", room.labels.astype(dtype))) == expected


def test_saturated_and_tied_probabilities_follow_the_rule(room):
    values = np.random.default_rng(5).choice(np.float32([0, 1, 0.5]), room.probs.shape)
    room.save("probs.npy", values)
    expected = reference.Reference(values, reference.members(room.labels, 3)[0], WHOLE)
    for alpha in ("0.05", "0.3", "0.5", "0.6", "0.9"):
        assert agree(thresholds(room, alpha), values, expected, alpha), alpha


# ---- layouts and containers --------------------------------------------------------------------
@pytest.mark.parametrize(
    "change",
    [
        np.asfortranarray,
        lambda a: a.astype(a.dtype.newbyteorder(">")),
        lambda a: np.asfortranarray(a).astype(a.dtype.newbyteorder(">"), order="F"),
    ],
    ids=["fortran", "big-endian", "both"],
)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_fortran_order_and_big_endian_numbers_give_the_same_bytes(room, change, dtype):
    probs, labels, groups = room.probs.astype(dtype), room.labels.astype(np.int32), np.array([3, 1, 3, 2])
    plain = results(room, room.save("p.npy", probs), room.save("y.npy", labels), "--groups", room.save("g.npy", groups))
    names = [room.save(f"{n}_changed.npy", change(a)) for n, a in (("p", probs), ("y", labels), ("g", groups))]
    assert (room.folder / names[0]).read_bytes() != (room.folder / "p.npy").read_bytes()
    assert results(room, names[0], names[1], "--groups", names[2]) == plain


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives_with_and_without_a_key_give_the_same_bytes(room, save):
    plain = results(room, "probs.npy")
    save(room.folder / "alone.npz", anything=room.probs)
    save(room.folder / "both.npz", labels=room.labels, probs=room.probs)
    save(room.folder / "odd.npz", x=room.probs, y=room.labels)
    assert results(room, "alone.npz") == plain
    assert results(room, "both.npz", "both.npz") == plain
    assert results(room, "odd.npz:x", "odd.npz:y") == plain


def test_an_archive_without_a_clear_array_is_refused(room):
    np.savez(room.folder / "odd.npz", x=room.probs, y=room.labels)
    calibrate = ["calibrate", "--labels", "labels.npy", "-o", "out.kcal", "--probs"]
    room.refuses(3, ["odd.npz", "x", "y"], *calibrate, "odd.npz")
    room.refuses(3, ["odd.npz", "z"], *calibrate, "odd.npz:z")


# ---- classes -----------------------------------------------------------------------------------
@pytest.mark.parametrize("as_masks", [False, True], ids=["labels", "masks"])
def test_a_single_plane_is_the_foreground_of_two_classes(room, as_masks):
    probs, labels = room.probs[:, :1], room.labels % 2
    room.save("probs.npy", probs)
    room.save("labels.npy", labels[:, None] if as_masks else labels)
    expected = reference.Reference(probs, reference.members(labels, 2)[0], WHOLE)
    limits = thresholds(room, "0.3")
    assert limits.shape == (2, 5, 7)
    assert agree(limits, probs, expected, "0.3")
    room.does("predict", "cal.kcal", "--probs", "probs.npy", "--alpha", "0.3", "-o", "sets.npy", "--empty", "keep")
    assert room.load("sets.npy").shape == (4, 2, 5, 7)
    assert (room.load("sets.npy") == expected.sets(probs, "0.3")).all()


@pytest.mark.parametrize("condition", ["class", "none"])
def test_masks_may_overlap_and_leave_pixels_without_a_class(room, condition):
    random = np.random.default_rng(6)
    probs = random.random(room.probs.shape, np.float32)
    masks = (random.random(room.probs.shape) < probs * 0.8).astype(np.uint8)
    assert {0, 2, 3} <= set(np.unique(masks.sum(axis=1)))
    room.save("probs.npy", probs)
    room.save("masks.npy", masks)
    member, valid = reference.members(masks, 3)
    calibrator = reference.Reference(probs, member, WHOLE, condition=condition)
    for alpha in ("0.1", "0.45"):
        assert agree(thresholds(room, alpha, "--condition", condition, labels="masks.npy"), probs, calibrator, alpha)
    judge = ["evaluate", "cal.kcal", "--probs", "probs.npy", "--labels", "masks.npy", "--json", "-"]
    for row in json.loads(room.does(*judge).out)["results"]:  # an empty set can be right
        assert row["filled_share"] == 0 and row["set_size"] == row["without_filling"]["set_size"]
    found = room.does(*judge, "--empty", "fill").out
    expected = reference.evaluation(calibrator, probs, member, valid, "0.1")
    for s, one in enumerate(json.loads(found)["results"]):
        for name in ("mean_ce", "coverage"):
            assert one[name] == pytest.approx(expected[name][s], abs=1e-9)
        assert reference.same_measures(one, expected, s) is None


# ---- reading -----------------------------------------------------------------------------------
def test_ignored_labels_belong_to_no_class(room):
    labels = room.labels.astype(np.int16)
    labels[0], labels[1, 2], labels[2, :, 3] = 255, -1, 77
    room.save("labels.npy", labels)
    expected = reference.Reference(room.probs, reference.members(labels, 3, (255, -1, 77))[0], WHOLE)
    assert agree(thresholds(room, "0.3", "--ignore=77,255,-1"), room.probs, expected, "0.3")
    room.refuses(3, ["label 77 "], "calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "-o", "x.kcal",
                 "--ignore=255,-1")


def test_a_class_can_be_ignored_and_ignoring_nothing_refuses_255(room):
    expected = reference.Reference(room.probs, reference.members(room.labels, 3, (1,))[0], WHOLE)
    assert agree(thresholds(room, "0.3", "--ignore", "1"), room.probs, expected, "0.3")
    # The calibrator records what was ignored; all else is the same.
    assert results(room, "probs.npy", "labels.npy", "--ignore", "none")[1:] == results(room, "probs.npy")[1:]
    labels = room.labels.copy()
    labels[3, 0, 1] = 255
    room.save("void.npy", labels)
    room.refuses(3, ["label 255 ", "image 3", "row 0", "column 1"], "calibrate", "--probs", "probs.npy", "--labels",
                 "void.npy", "-o", "x.kcal", "--ignore", "none")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("kind", ["sigmoid", "softmax"])
def test_logits_are_turned_into_probabilities_when_asked(room, kind, dtype):
    logits = np.random.default_rng(7).normal(0, 3, room.probs.shape).astype(dtype)
    logits[0, 0, 0, 0], logits[0, 1, 0, 0] = 90, -90
    exact = logits.astype(np.float32).astype(np.float64)
    probs = softmax(exact) if kind == "softmax" else 1 / (1 + np.exp(-exact))
    room.save("logits.npy", logits)
    member, _ = reference.members(room.labels, 3)
    expected = reference.Reference(probs.astype(np.float32), member, WHOLE)
    limits = thresholds(room, "0.3", "--logits", kind, probs="logits.npy")
    assert (1 - limits) == pytest.approx(expected.score_thresholds("0.3"), abs=1e-6)
    room.does("predict", "cal.kcal", "--probs", "logits.npy", "--logits", kind, "--alpha", "0.3", "-o", "sets.npy",
              "--empty", "keep")
    clear = np.abs(probs - limits) > 1e-5
    assert clear.mean() > 0.8
    assert ((room.load("sets.npy") == 1) == (probs >= limits))[clear].all()
    room.refuses(3, ["probability 90 ", "--logits"], "calibrate", "--probs", "logits.npy", "--labels", "labels.npy",
                 "-o", "x.kcal")


def test_logits_of_a_single_plane_are_sigmoids(room):
    logits = np.random.default_rng(8).normal(0, 3, (4, 1, 5, 7)).astype(np.float32)
    room.save("logits.npy", logits)
    room.save("labels.npy", room.labels % 2)
    probs = (1 / (1 + np.exp(-logits.astype(np.float64)))).astype(np.float32)
    expected = reference.Reference(probs, reference.members(room.labels % 2, 2)[0], WHOLE)
    limits = thresholds(room, "0.3", "--logits", "sigmoid", probs="logits.npy")
    assert (1 - limits) == pytest.approx(expected.score_thresholds("0.3"), abs=1e-6)
    room.refuses(2, ["softmax", "sigmoid"], "calibrate", "--probs", "logits.npy", "--labels", "labels.npy", "--logits",
                 "softmax", "-o", "x.kcal")


# ---- printing ----------------------------------------------------------------------------------
def test_json_on_standard_output_is_json_alone_and_quiet_is_silent(room):
    probs, labels = scene(3, seed=9)
    room.save("test.npy", probs)
    room.save("truth.npy", labels % 2)
    room.save("labels.npy", room.labels % 2)  # class 2 is missing: a warning would be due
    truth = ["--labels", "truth.npy"]
    pairs = ["--cal-probs", "probs.npy", "--cal-labels", "labels.npy", "--test-probs", "test.npy", "--test-labels"]
    calibrate = ["calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "-o", "cal.kcal"]
    assert room.does(*calibrate).warnings
    quiet = [
        [*calibrate, "--quiet"],
        ["predict", "cal.kcal", "--probs", "test.npy", "-o", "sets.npy", "--quiet"],
        ["evaluate", "cal.kcal", "--probs", "test.npy", *truth, "--quiet", "--json", "e.json"],
        ["demo", "--images", "4", "--test-images", "4", "--size", "16x12", "-o", "demo", "-q"],
    ]
    for args in quiet:
        result = room.does(*args)
        assert (result.out, result.err) == ("", ""), args
    # --quiet still prints a table that is the only result.
    assert "mean CE" in room.does("evaluate", "cal.kcal", "--probs", "test.npy", *truth, "--quiet").out
    for args in (["evaluate", "cal.kcal", "--probs", "test.npy", *truth, "--json", "-"],
                 ["compare", *pairs, "truth.npy", "--methods", "image,pixel", "--json", "-"],
                 ["compare", *pairs, "truth.npy", "--methods", "image", "--json", "-", "--quiet"]):
        result = room.does(*args)
        assert json.loads(result.out)["schema"] == 2
        assert "NaN" not in result.out and "Infinity" not in result.out
    assert result.err == ""


def test_a_class_that_no_test_image_has_is_null_in_json_and_nan_in_the_map(room):
    room.calibrate("--method", "image")
    room.save("truth.npy", room.labels % 2)
    data = ["--probs", "probs.npy", "--labels", "truth.npy", "--json", "-", "--ce-map", "ce.npy"]
    found = json.loads(room.does("evaluate", "cal.kcal", *data).out)["results"][2]
    assert found["mean_ce"] is None and found["q05"] is None and found["floor"] is None
    assert found["coverage"] == [None] * 19
    assert (found["pixels"], found["pixels_without_data"], found["samples"]) == (0, 35, 0)
    assert np.isnan(room.load("ce.npy")[2]).all()
