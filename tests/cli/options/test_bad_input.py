"""The command refuses input that it cannot use: one line, the exit code of the kind, and no output."""

import json
import zipfile

import numpy as np
import pytest

CALIBRATE = ["calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "-o", "out.kcal"]
COMPARE = ["compare", "--cal-probs", "probs.npy", "--cal-labels", "labels.npy", "--json", "out.json"]


def with_input(flag, name, args=CALIBRATE):
    """The arguments with another file for the flag, which is added where it is missing."""
    args = list(args)
    if flag not in args:
        return [*args, flag, name]
    args[args.index(flag) + 1] = name
    return args


@pytest.fixture
def calibrated(room):
    room.calibrate("--method", "pixel")
    return room


# ---- files -------------------------------------------------------------------------------------
@pytest.mark.parametrize("flag", ["--probs", "--labels", "--groups", "--mask"])
@pytest.mark.parametrize("name", ["missing.npy", "missing.npz", "missing.npz:probs"])
def test_a_missing_file_is_a_file_error(room, flag, name):
    args = with_input(flag, name) + (["--method", "mask"] if flag == "--mask" else [])
    room.refuses(4, [name.split(":")[0], "No such file"], *args)


def test_a_missing_calibrator_is_a_file_error(room):
    room.refuses(4, ["missing.kcal", "No such file"], "predict", "missing.kcal", "--probs", "probs.npy", "-o", "s.npy")
    room.refuses(4, ["missing.kcal"], "evaluate", "missing.kcal", "--probs", "probs.npy", "--labels", "labels.npy")
    room.refuses(4, ["missing.kcal"], "inspect", "missing.kcal")


def test_a_directory_instead_of_groups_is_a_file_error(room):
    (room.folder / "inputs").mkdir()
    room.refuses(4, ["inputs", "directory"], *with_input("--groups", "inputs"))


@pytest.mark.parametrize("flag", ["--probs", "--labels"])
def test_a_folder_beside_an_array_is_wrong_usage(room, flag):
    (room.folder / "inputs").mkdir()
    room.refuses(2, ["inputs", "both must be folders"], *with_input(flag, "inputs"))


def test_a_directory_instead_of_a_calibrator_is_a_file_error(room):
    (room.folder / "inputs.kcal").mkdir()
    room.refuses(4, ["inputs.kcal", "directory"], "inspect", "inputs.kcal")


@pytest.mark.parametrize("flag", ["--probs", "--labels"])
def test_text_and_empty_files_are_bad_data(room, flag):
    for content in (b"", b"0.5 0.5\n" * 20, b"\x93NUMPY\x01\x00"):
        (room.folder / "text.npy").write_bytes(content)
        room.refuses(3, ["text.npy"], *with_input(flag, "text.npy"))


@pytest.mark.parametrize("flag", ["--probs", "--labels"])
def test_a_truncated_array_is_bad_data(room, flag):
    content = (room.folder / (flag[2:] + ".npy")).read_bytes()
    (room.folder / "short.npy").write_bytes(content[:-1])
    room.refuses(3, ["short.npy"], *with_input(flag, "short.npy"))


@pytest.mark.parametrize("flag", ["--probs", "--labels", "--groups"])
def test_pickled_objects_are_bad_data(room, flag):
    np.save(room.folder / "objects.npy", np.array([{}, None], dtype=object), allow_pickle=True)
    room.refuses(3, ["objects.npy", "pickle"], *with_input(flag, "objects.npy"))


# ---- shapes and types --------------------------------------------------------------------------
@pytest.mark.parametrize("shape", [(), (4,), (5, 7), (4, 5, 7), (4, 3, 5, 7, 1)])
def test_probabilities_of_the_wrong_rank_are_bad_data(room, shape):
    name = room.save("bad.npy", np.full(shape, 0.5, np.float32))
    room.refuses(3, ["bad.npy", "four axes"], *with_input("--probs", name))


@pytest.mark.parametrize("shape", [(4,), (5, 7), (4, 3, 5, 7, 1)])
def test_labels_of_the_wrong_rank_are_bad_data(room, shape):
    name = room.save("bad.npy", np.zeros(shape, np.uint8))
    room.refuses(3, ["bad.npy", str(list(shape))], *with_input("--labels", name))


@pytest.mark.parametrize(
    "shape,parts",
    [
        ((3, 5, 7), ["3 images", "probs.npy has 4"]),
        ((4, 6, 7), ["6 x 7", "5 x 7"]),
        ((4, 5, 8), ["5 x 8", "5 x 7"]),
        ((4, 7, 5), ["7 x 5", "5 x 7"]),
        ((3, 3, 5, 7), ["3 images", "probs.npy has 4"]),
        ((4, 2, 5, 7), ["2 classes", "3 classes"]),
        ((4, 3, 5, 8), ["5 x 8", "5 x 7"]),
    ],
)
def test_labels_and_masks_that_do_not_fit_the_probabilities_are_bad_data(room, shape, parts):
    name = room.save("bad.npy", np.zeros(shape, np.uint8))
    room.refuses(3, ["bad.npy", "probs.npy", *parts], *with_input("--labels", name))


@pytest.mark.parametrize("groups", [np.arange(3), np.zeros(0, np.int64), np.zeros((4, 1), np.int64), np.zeros(4)])
def test_groups_that_are_not_one_integer_for_each_image_are_bad_data(room, groups):
    room.refuses(3, ["groups.npy", "groups"], *with_input("--groups", room.save("groups.npy", groups)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_labels_that_are_not_integers_are_bad_data(room, dtype):
    name = room.save("bad.npy", room.labels.astype(dtype))
    room.refuses(3, ["bad.npy", np.dtype(dtype).name, "integers"], *with_input("--labels", name))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint16])
def test_probabilities_of_another_integer_type_are_bad_data(room, dtype):
    name = room.save("bad.npy", np.zeros(room.probs.shape, dtype))
    room.refuses(3, ["bad.npy", np.dtype(dtype).name, "uint8"], *with_input("--probs", name))


@pytest.mark.parametrize("shape", [(0, 3, 5, 7), (4, 0, 5, 7), (4, 3, 0, 7), (4, 3, 5, 0)])
def test_an_empty_axis_is_bad_data(room, shape):
    name = room.save("bad.npy", np.zeros(shape, np.float32))
    labels = room.save("none.npy", np.zeros((shape[0], *shape[2:]), np.uint8))
    room.refuses(3, ["bad.npy", str(list(shape))], *with_input("--labels", labels, with_input("--probs", name)))


@pytest.mark.parametrize("part", [np.s_[:, :2], np.s_[:, :, :4], np.s_[:, :, :, :6]])
def test_test_images_unlike_the_calibration_images_are_bad_data(calibrated, part):
    other = calibrated.save("other.npy", calibrated.probs[part])
    truth = calibrated.save("truth.npy", np.zeros(calibrated.probs[part][:, 0].shape, np.uint8))
    calibrated.refuses(3, ["other.npy", "probs.npy"], *COMPARE, "--test-probs", other, "--test-labels", truth)
    calibrated.refuses(3, ["other.npy", "calibrator"], "predict", "cal.kcal", "--probs", other, "-o", "out.npy")
    calibrated.refuses(3, ["other.npy", "calibrator"], "evaluate", "cal.kcal", "--probs", other, "--labels", truth,
                       "--json", "out.json", "--ce-map", "ce.npy")


def test_a_region_map_that_does_not_fit_is_bad_data(room):
    for regions in (np.zeros((5, 8), int), np.zeros((2, 5, 7), int), np.zeros((5, 7)), np.full((5, 7), -1)):
        name = room.save("map.npy", regions)
        room.refuses(3, ["region map"], *CALIBRATE, "--method", "mask", "--mask", name)


# ---- values ------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(
    "value,said", [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf"), (-0.25, "-0.25"), (1.5, "1.5")]
)
def test_a_value_that_is_no_probability_is_named_with_its_place(calibrated, dtype, value, said):
    probs = calibrated.probs.astype(dtype)
    probs[2, 1, 3, 6] = value
    name = calibrated.save("bad.npy", probs)
    parts = ["bad.npy", f"probability {said} ", "image 2", "class 1", "row 3", "column 6"]
    parts.append("correct the model" if np.isnan(value) else "--logits")  # no logit is NaN either
    calibrated.refuses(3, parts, *with_input("--probs", name))
    calibrated.refuses(3, parts, "predict", "cal.kcal", "--probs", name, "-o", "out.npy")
    calibrated.refuses(3, parts, "evaluate", "cal.kcal", "--probs", name, "--labels", "labels.npy", "--json", "o.json")


def test_a_logit_that_is_no_number_is_named_with_its_place(room):
    logits = np.zeros(room.probs.shape, np.float32)
    logits[1, 2, 0, 5] = np.nan
    name = room.save("bad.npy", logits)
    for kind in ("sigmoid", "softmax"):
        parts = ["bad.npy", "nan", "image 1", "class 2", "row 0", "column 5"]
        room.refuses(3, parts, *with_input("--probs", name), "--logits", kind)


@pytest.mark.parametrize("dtype,value", [(np.uint8, 3), (np.uint8, 254), (np.int16, -1), (np.int64, 1 << 40)])
def test_a_label_that_is_no_class_is_named_with_its_place(calibrated, dtype, value):
    labels = calibrated.labels.astype(dtype)
    labels[3, 4, 2] = value
    name = calibrated.save("bad.npy", labels)
    parts = ["bad.npy", f"label {value} ", "image 3", "row 4", "column 2", "--ignore"]
    calibrated.refuses(3, parts, *with_input("--labels", name))
    calibrated.refuses(3, parts, "evaluate", "cal.kcal", "--probs", "probs.npy", "--labels", name, "--ce-map", "ce.npy")
    test = ["--test-probs", "probs.npy", "--test-labels", name]
    calibrated.refuses(3, parts, *COMPARE, *test, "--methods", "image,field")


def test_a_label_beyond_the_signed_range_is_refused(room):
    labels = room.labels.astype(np.uint64)
    labels[0, 0, 0] = (1 << 64) - 1
    room.refuses(3, ["image 0", "row 0", "column 0"], *with_input("--labels", room.save("bad.npy", labels)))


def test_a_mask_value_other_than_0_and_1_is_named_with_its_place(room):
    masks = np.zeros(room.probs.shape, np.uint8)
    masks[1, 2, 3, 4] = 255
    parts = ["bad.npy", "255", "image 1", "class 2", "row 3", "column 4"]
    room.refuses(3, parts, *with_input("--labels", room.save("bad.npy", masks)))


def test_labels_that_are_all_ignored_are_bad_data(calibrated):
    name = calibrated.save("ignored.npy", np.full(calibrated.labels.shape, 255, np.uint8))
    calibrated.refuses(3, ["ignored.npy", "ignored"], *with_input("--labels", name))
    calibrated.refuses(3, ["ignored.npy", "ignored"], "evaluate", "cal.kcal", "--probs", "probs.npy", "--labels", name,
                       "--json", "out.json")


def test_bad_test_images_are_found_before_the_calibration(room):
    """The images are checked before the search, which would refuse --kmeans-clusters 0."""
    test = ("--test-probs", "probs.npy", "--test-labels")
    words = ("compare", "--cal-probs", "probs.npy", "--cal-labels", "labels.npy", "--methods", "kmeans", "--kmeans-clusters", "0")
    room.refuses(2, ["kmeans-clusters"], *words, *test, "labels.npy")
    labels = room.labels.copy()
    labels[2, 3, 4] = 77
    room.refuses(3, ["bad.npy", "label 77 at image 2, row 3, column 4"], *words, *test, room.save("bad.npy", labels))
    probs = room.probs.copy()
    probs[1, 2, 0, 5] = np.nan
    room.refuses(3, ["bad.npy", "probability nan at image 1, class 2"], *words, "--test-probs", room.save("bad.npy", probs),
                 "--test-labels", "labels.npy")  # fmt: skip


# ---- little data is no error -------------------------------------------------------------------
@pytest.mark.parametrize("method", ["pixel", "image", "kmeans"])
def test_a_class_without_a_pixel_gives_a_warning_and_is_in_every_set(room, method):
    labels = room.save("two.npy", room.labels % 2)
    result = room.does("calibrate", "--probs", "probs.npy", "--labels", labels, "--method", method, "-o", "cal.kcal")
    assert [w for w in result.warnings if "class 2" in w], result
    assert not [w for w in result.warnings if "class 0" in w or "class 1" in w], result
    room.does("predict", "cal.kcal", "--probs", "probs.npy", "--alpha", "0.9", "-o", "sets.npy", "--pvalues", "p.npy")
    assert (room.load("sets.npy")[:, 2] == 1).all()
    assert (room.load("p.npy")[:, 2] == 1).all()
    assert not (room.load("sets.npy")[:, :2] == 1).all()


def test_a_single_image_gives_a_warning_and_infinite_thresholds(room):
    probs, labels = room.save("p1.npy", room.probs[:1]), room.save("y1.npy", room.labels[:1])
    result = room.does("calibrate", "--probs", probs, "--labels", labels, "--score", "lac", "--method", "image", "-o", "cal.kcal")
    assert len(result.warnings) == 1 and "only 1 calibration image" in result.warnings[0], result
    room.does("predict", "cal.kcal", "--probs", "probs.npy", "-o", "sets.npy", "--thresholds", "t.npy")
    assert (room.load("t.npy") == -np.inf).all()
    assert (room.load("sets.npy") == 1).all()


# ---- usage -------------------------------------------------------------------------------------
@pytest.mark.parametrize("alpha", ["-0.1", "1.0001", "nan", "inf", "ten", "", "0,1"])
def test_an_alpha_outside_its_range_is_wrong_usage(calibrated, alpha):
    data = ["--probs", "probs.npy", "--labels", "labels.npy"]
    test = ["--test-probs", "probs.npy", "--test-labels", "labels.npy"]
    given = f"--alpha={alpha}"
    calibrated.refuses(2, ["alpha"], "predict", "cal.kcal", "--probs", "probs.npy", "-o", "out.npy", given)
    calibrated.refuses(2, ["alpha"], "evaluate", "cal.kcal", *data, "--json", "out.json", given)
    calibrated.refuses(2, ["alpha"], *COMPARE, *test, given)
    calibrated.refuses(2, ["alpha"], "inspect", "cal.kcal", given)


WRONG_USAGE = [
    (["--method", "spiral"], ["spiral", "pixel", "kmeans"]),
    (["--pooling", "rows"], ["rows", "pixels", "groups"]),
    (["--condition", "colour"], ["colour", "class", "none"]),
    (["--fallback", "guess"], ["guess", "image"]),
    (["--score", "best"], ["best", "lac"]),
    (["--compat", "paper"], ["paper", "released"]),
    (["--logits", "tanh"], ["tanh", "sigmoid", "softmax"]),
    (["--ignore", "void"], ["--ignore", "void"]),
    (["-m", "kmeans", "--quantiles", "0.5,1.5"], ["--quantiles", "1.5"]),
    (["--memory", "much"], ["--memory", "much"]),
    (["--memory", "900K"], ["--memory", "900K", "1M"]),
    (["--rungs", "1"], ["--rungs", "1"]),
    (["--threads", "two"], ["--threads"]),
    (["--threads=-1"], ["--threads", "-1"]),
    (["--fallback", "image", "--min-count=-1"], ["--min-count", "-1"]),
    (["--method", "kmeans", "--kmeans-clusters", "0"], ["kmeans-clusters", "0"]),
    (["--method", "kmeans", "--kmeans-clusters", "x"], ["kmeans-clusters", "x"]),
    (["--method", "mask"], ["--mask"]),
    (["--no-such-option"], ["--no-such-option"]),
    (["stray.npy"], ["stray.npy"]),
]


@pytest.mark.parametrize("extra,parts", WRONG_USAGE, ids=lambda value: " ".join(value))
def test_wrong_usage_of_calibrate_is_reported_with_the_choices(room, extra, parts):
    room.refuses(2, parts, *CALIBRATE, *extra)


@pytest.mark.parametrize("missing", ["--probs", "--labels", "-o"])
def test_a_missing_option_is_wrong_usage(room, missing):
    at = CALIBRATE.index(missing)
    name = "--output" if missing == "-o" else missing
    room.refuses(2, [name, "kandinsky calibrate --help"], *CALIBRATE[:at], *CALIBRATE[at + 2 :])


def test_other_wrong_usage_is_refused(calibrated):
    test = ["--test-probs", "probs.npy", "--test-labels", "labels.npy"]
    calibrated.refuses(2, ["kandinsky --help"], "destroy")
    calibrated.refuses(2, ["calibrator"], "predict", "--probs", "probs.npy", "-o", "out.npy")
    calibrated.refuses(2, ["nothing to write"], "predict", "cal.kcal", "--probs", "probs.npy")
    calibrated.refuses(2, ["--probs"], "predict", "cal.kcal", "-o", "out.npy")
    calibrated.refuses(2, ["spiral"], *COMPARE, *test, "--methods", "image,spiral")
    calibrated.refuses(2, ["--classes", "3"], *COMPARE, *test, "--classes", "3")
    calibrated.refuses(2, ["--sample", "5"], *COMPARE, *test, "--sample", "5")
    calibrated.refuses(2, ["--draws", "--sample"], *COMPARE, *test, "--draws", "2")
    calibrated.refuses(2, ["--draws"], *COMPARE, *test, "--sample", "2", "--draws", "0")
    calibrated.refuses(2, ["--size"], "demo", "--size", "48", "-o", "demo")
    calibrated.refuses(2, ["sketch"], "demo", "--preset", "sketch", "-o", "demo")


# ---- calibrators -------------------------------------------------------------------------------
def uses(room, name):
    """Every command that reads a calibrator."""
    yield ["inspect", name]
    yield ["predict", name, "--probs", "probs.npy", "-o", "out.npy"]
    yield ["evaluate", name, "--probs", "probs.npy", "--labels", "labels.npy", "--json", "out.json"]


def test_a_truncated_calibrator_is_refused(calibrated):
    content = (calibrated.folder / "cal.kcal").read_bytes()
    for length in [0, 1, 4, 100, len(content) // 2, len(content) - 30, len(content) - 1]:
        (calibrated.folder / "short.kcal").write_bytes(content[:length])
        for args in uses(calibrated, "short.kcal"):
            calibrated.refuses(3, ["short.kcal"], *args)


def test_a_calibrator_with_a_flipped_bit_is_refused(calibrated):
    content = (calibrated.folder / "cal.kcal").read_bytes()
    for place in np.random.default_rng(1).choice(len(content), 60, replace=False):
        damaged = bytearray(content)
        damaged[place] ^= 1 << (place % 8)
        (calibrated.folder / "damaged.kcal").write_bytes(damaged)
        calibrated.refuses(3, ["damaged.kcal"], "inspect", "damaged.kcal")


def rewritten(room, change):
    """A copy of cal.kcal with another meta.json, packed anew."""
    with zipfile.ZipFile(room.folder / "cal.kcal") as old, zipfile.ZipFile(room.folder / "new.kcal", "w") as new:
        for member in old.namelist():
            content = old.read(member)
            if member == "meta.json":
                content = json.dumps(change(json.loads(content))).encode()
            new.writestr(member, content)
    return "new.kcal"


def test_a_newer_calibrator_is_refused_with_its_version(calibrated):
    name = rewritten(calibrated, lambda meta: meta | {"format_version": 999})
    for args in uses(calibrated, name):
        calibrated.refuses(3, ["new.kcal", "999", "update"], *args)


def test_a_calibrator_packed_anew_without_its_checksum_is_refused(calibrated):
    name = rewritten(calibrated, lambda meta: meta)
    calibrated.refuses(3, ["new.kcal"], "inspect", name)


CHANGES = [{"format": "other"}, {"format_version": 0}, {"data": 3}, {"strata": []}, {"method": 1}, {"options": {}},
           {"format_version": "one"}, {"format": 1}]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_calibrator_whose_description_makes_no_sense_is_refused(calibrated, change):
    name = rewritten(calibrated, lambda meta: meta | change)
    calibrated.refuses(3, ["new.kcal"], "inspect", name)


def test_an_archive_that_is_no_calibrator_is_refused(room):
    np.savez(room.folder / "arrays.npz", probs=room.probs)
    for args in uses(room, "arrays.npz"):
        room.refuses(3, ["arrays.npz", "not a calibrator"], *args)
    for args in uses(room, "probs.npy"):
        room.refuses(3, ["probs.npy"], *args)
