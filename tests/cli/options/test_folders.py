"""Folders of arrays: pairing by name, groups, bad files."""

import json

import numpy as np
import pytest
from support import Room, scene

HOW = ("calibrate", "--probs", "p", "--labels", "y", "-m", "kmeans")


@pytest.fixture
def images(tmp_path):
    """p/NAME.npy and y/NAME.npy of thirty images that fit together."""
    room = Room(tmp_path)
    probs, labels = scene(30)
    for folder in ["p", "y"]:
        (tmp_path / folder).mkdir()
    for i in range(30):
        np.save(tmp_path / "p" / f"s{i // 3}_{'abc'[i % 3]}.npy", probs[i])
        np.save(tmp_path / "y" / f"s{i // 3}_{'abc'[i % 3]}.npy", labels[i])
    room.all = probs, labels
    return room


def test_a_folder_of_arrays_equals_one_array(images):
    images.does(*HOW, "-o", "a.kcal")
    order = np.argsort([f"s{i // 3}_{'abc'[i % 3]}" for i in range(30)])
    images.save("all.npy", images.all[0][order])
    images.save("truth.npy", images.all[1][order])
    images.does("calibrate", "--probs", "all.npy", "--labels", "truth.npy", "-m", "kmeans", "-o", "b.kcal")
    with np.load(images.folder / "a.kcal") as a, np.load(images.folder / "b.kcal") as b:
        for key in a.files:
            assert key == "meta.json" or np.array_equal(a[key], b[key]), key


def test_groups_come_from_names_or_from_an_array_by_image(images):
    assert "10 groups" in images.does(*HOW, "--group-by", "^(s[0-9]+)_", "-o", "a.kcal").out
    images.save("g.npy", np.arange(30) // 5)
    assert "6 groups" in images.does(*HOW, "--groups", "g.npy", "-o", "a.kcal").out
    images.refuses(2, ["--group-by", "does not occur", "s0_a"], *HOW, "--group-by", "t", "-o", "b.kcal")
    images.refuses(2, ["--group-by", "not a regular expression"], *HOW, "--group-by", "(", "-o", "b.kcal")


def test_bad_files_are_listed_and_left_out_on_request(images):
    folder = images.folder
    (folder / "p" / "s0_a.npy").write_bytes((folder / "p" / "s0_a.npy").read_bytes()[:-5])
    (folder / "p" / "s1_b.npy").unlink()
    (folder / "y" / "s2_c.npy").unlink()
    np.save(folder / "p" / "s3_a.npy", np.zeros((3, 4, 4), np.float32))
    np.save(folder / "p" / "s4_a.npy", np.full((3, 5, 7), 1.5, np.float32))
    np.save(folder / "y" / "s5_a.npy", np.full((5, 7), 9))
    first = images.refuses(3, ["4 of 58 files", "s0_a.npy", "truncated", "y/s1_b.npy has no probabilities",
                               "p/s2_c.npy has no label", "s3_a.npy is 4 x 4", "--skip-bad"], *HOW, "-o", "a.kcal")  # fmt: skip
    assert "s4_a" not in first.err
    result = images.run(*HOW, "--skip-bad", "-o", "a.kcal")
    assert result.code == 0 and "6 of 58 files" in result.err and "on 24 images" in result.out, result
    meta = json.loads(images.does("inspect", "a.kcal", "--json").out)
    assert meta["data"]["images"] == 24 and meta["input"]["cases"] == 24
    assert sorted(meta["input"]["skipped"]) == sorted(
        ["s0_a.npy", "s1_b.npy", "s2_c.npy", "s3_a.npy", "s4_a.npy", "s5_a.npy"]
    )
    # The result equals that of a folder without the bad files.
    for name in ["s0_a", "s1_b", "s2_c", "s3_a", "s4_a", "s5_a"]:
        for side in "py":
            (folder / side / f"{name}.npy").unlink(missing_ok=True)
    images.does(*HOW, "-o", "b.kcal")
    with np.load(folder / "a.kcal") as a, np.load(folder / "b.kcal") as b:
        for key in a.files:
            assert key == "meta.json" or np.array_equal(a[key], b[key]), key


def test_ten_bad_files_are_named_and_the_rest_counted(images):
    for file in sorted((images.folder / "y").iterdir())[:13]:
        file.unlink()
    result = images.refuses(3, ["13 of 47 files", "; and 3 more"], *HOW, "-o", "a.kcal")
    assert result.err.count("no label") == 10


def test_folders_and_arrays_do_not_mix(images):
    images.refuses(2, ["folder", "array"], "calibrate", "--probs", "p", "--labels", "labels.npy", "-o", "a.kcal")
    images.refuses(2, ["--grid", "array"], "calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "--grid",
                   "4x4", "-o", "a.kcal")  # fmt: skip
    (images.folder / "none").mkdir()
    images.refuses(3, ["none", "no file", ".nii.gz"], "calibrate", "--probs", "none", "--labels", "y", "-o", "a.kcal")


@pytest.mark.parametrize("how", [[], ["--resize", "9x4"], ["--grid", "6x6"]])
def test_empty_sets_are_filled_in_the_sets_of_a_folder_like_those_of_an_array(images, how):
    images.does(*HOW, *how, "-o", "a.kcal")
    levels = ("predict", "a.kcal", "--probs", "p", "--alpha", "0.7")
    assert "(filled)" not in images.does(*levels, "--empty", "keep", "-o", "kept").out
    said = images.does(*levels, "-o", "full").out
    one = images.does(*levels, "-o", "one.npy").out
    (line,) = [line for line in said.splitlines() if line.startswith("sets: ")]
    share = line.split(", ")[2]
    assert line in one.splitlines() and share.endswith("empty (filled)") and float(share.split()[0]) > 0
    array = images.load("one.npy")
    names = sorted(path.name for path in (images.folder / "p").iterdir())
    gained = 0
    for image, name in enumerate(names):
        kept, full = np.load(images.folder / "kept" / name), np.load(images.folder / "full" / name)
        empty = kept.sum(axis=0) == 0
        gained += empty.sum()
        assert full.sum(axis=0).min() >= 1
        assert np.array_equal(full[:, ~empty], kept[:, ~empty]) and np.all(full[:, empty].sum(axis=0) == 1)
        if not how:
            assert np.array_equal(full, array[image])
    assert gained > 0
    if not how:
        assert share.startswith(f"{100 * gained / (30 * 35):.2f} %")


def test_a_folder_of_halves_has_the_sets_of_an_array_of_halves(images):
    images.does(*HOW, "-o", "a.kcal")
    (images.folder / "h").mkdir()
    names = sorted(path.name for path in (images.folder / "p").iterdir())
    halves = np.stack([np.load(images.folder / "p" / name).astype(np.float16) for name in names])
    for name, half in zip(names, halves):
        np.save(images.folder / "h" / name, half)
    images.save("halves.npy", halves)
    images.save("floats.npy", halves.astype(np.float32))
    for probs, sets in [("h", "sets"), ("halves.npy", "a.npy"), ("floats.npy", "b.npy")]:
        images.does("predict", "a.kcal", "--probs", probs, "--alpha", "0.3", "-o", sets)
    assert np.array_equal(images.load("a.npy"), images.load("b.npy"))
    for name, sets in zip(names, images.load("a.npy")):
        assert np.array_equal(np.load(images.folder / "sets" / name), sets)
    bad = halves[3].copy()
    bad[1, 2, 3] = np.nan
    np.save(images.folder / "h" / names[3], bad)
    images.refuses(3, ["1 of 30 files", names[3], "class 1, row 2, column 3"], "predict", "a.kcal", "--probs", "h", "-o", "x")


def test_padding_of_masks_is_class_0(images):
    folder, (probs, _) = images.folder, images.all
    masks = (probs > 0.3).astype(np.uint8)
    for i, one in enumerate(masks):
        np.save(folder / "y" / f"s{i // 3}_{'abc'[i % 3]}.npy", one)
    words = ("--probs", "p", "--labels", "y", "--grid", "9x5")
    images.refuses(2, ["masks have no ignored pixels", "--grid", "--padding background"], "calibrate", *words, "-m", "image", "-o", "a.kcal")
    images.does("collect", *words, "--padding", "background", "-o", "all")
    order = np.argsort([f"s{i // 3}_{'abc'[i % 3]}" for i in range(30)])
    for name, arrays in [("probs", probs), ("labels", masks)]:
        sides = np.zeros((30, 3, 5, 1), arrays.dtype)
        sides[:, 0] = 1
        np.testing.assert_array_equal(np.load(folder / "all" / f"{name}.npy"), np.concatenate([sides, arrays, sides], 3)[order])
