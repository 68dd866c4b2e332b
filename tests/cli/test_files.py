"""Folders of files as segmentation tools write them. nibabel and numpy are the oracles."""

import re
import gzip
import json
import os
import shlex
from pathlib import Path

import numpy as np
import pytest
from support import Room, expect_refusal, run, scene, snapshot, softmax, without_search

nib = pytest.importorskip("nibabel", reason="python3-nibabel is missing: NIfTI tests skipped")
SHARED = Path(os.environ.get("KANDINSKY_SHARED", Path(__file__).resolve().parents[2] / ".." / "shared"))


@pytest.fixture(autouse=True)
def needs_nifti(tmp_path_factory):
    folder = tmp_path_factory.mktemp("probe")
    (folder / "a.nii").write_bytes(b"x")
    if "this build cannot read NIfTI" in run("collect", "--labels", folder, "-o", folder / "out", cwd=folder).err:
        pytest.skip("this build has no libnifti: NIfTI tests skipped")


def affine(random, turn):
    """A signed permutation of the axes, turned by up to `turn` radians, with steps and an origin."""
    permutation = np.eye(3)[random.permutation(3)] * random.choice([-1, 1], 3)
    a, b, c = random.uniform(-turn, turn, 3)
    rotation = np.eye(3)
    for i, j, angle in [(0, 1, a), (1, 2, b), (0, 2, c)]:
        step = np.eye(3)
        step[[i, j], [i, j]] = np.cos(angle)
        step[i, j], step[j, i] = -np.sin(angle), np.sin(angle)
        rotation = rotation @ step
    matrix = np.eye(4)
    matrix[:3, :3] = rotation @ permutation @ np.diag(random.uniform(0.3, 4, 3))
    matrix[:3, 3] = random.uniform(-90, 90, 3)
    return matrix


def save_nifti(path, array, matrix=None, endian="<", slope=None, version=1):
    kind = nib.Nifti1Image if version == 1 else nib.Nifti2Image
    header = kind.header_class(endianness=endian)
    header.set_data_dtype(array.dtype.newbyteorder(endian))
    image = kind(array, np.eye(4) if matrix is None else matrix, header)
    if slope:
        image.header.set_slope_inter(*slope)
    nib.save(image, path)


def in_slices(volume, axis):
    """A canonical volume [x,y,z,...] as images [slice,row,column,...]."""
    order = {"axial": (2, 1, 0), "coronal": (1, 2, 0), "sagittal": (0, 2, 1)}[axis]
    return volume.transpose(*order, *range(3, volume.ndim))


def centred(plane, height, width, pad):
    """The last two axes cropped or padded around their centre."""
    for axis, size in [(-2, height), (-1, width)]:
        have = plane.shape[axis]
        if have > size:
            start = (have - size) // 2
            plane = plane.take(range(start, start + size), axis)
        else:
            before = (size - have) // 2
            edges = [(0, 0)] * plane.ndim
            edges[axis] = (before, size - have - before)
            plane = np.pad(plane, edges, constant_values=pad)
    return plane


TYPES = ["u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]


@pytest.mark.parametrize("axis", ["axial", "coronal", "sagittal"])
def test_label_volumes_agree_with_nibabel_whatever_their_axes_types_and_byte_order(tmp_path, axis):
    random = np.random.default_rng(1)
    (tmp_path / "in").mkdir()
    expected, names = [], []
    for case in range(40):
        shape = tuple(random.integers(1, 9, 3))
        labels = random.integers(0, 5, shape).astype(TYPES[case % len(TYPES)])
        ending = ".nii.gz" if case % 3 else ".nii"
        slope = None if case % 4 or labels.dtype.kind == "f" else (0.5, -1)
        stored = labels if slope is None else ((labels.astype(float) + 1) / 0.5).astype(labels.dtype)
        matrix = affine(random, 0.3)
        path = tmp_path / "in" / f"case_{case:02}{ending}"
        header_args = {"endian": "<>"[case % 2], "version": 1 + case % 5 // 4}
        save_nifti(path, stored, matrix, **header_args)
        if slope is not None:  # nibabel divides by the slope when it writes, so the field is set by hand
            content = path.read_bytes()
            content = bytearray(gzip.decompress(content) if ending == ".nii.gz" else content)
            kind = header_args["endian"] + ("f4" if header_args["version"] == 1 else "f8")
            at = 112 if header_args["version"] == 1 else 176
            content[at : at + 2 * int(kind[-1])] = np.array(slope, kind).tobytes()
            path.write_bytes(gzip.compress(bytes(content)) if ending == ".nii.gz" else bytes(content))
        oracle = nib.as_closest_canonical(nib.load(path)).get_fdata()
        assert np.array_equal(np.sort(oracle.ravel()), np.sort(labels.astype(float).ravel()))
        expected.append(centred(in_slices(oracle, axis), 6, 7, 0))
        names += [f"case_{case:02},{s}" for s in range(len(expected[-1]))]
    done = run("collect", "--labels", "in", "--axis", axis, "--grid", "7x6", "--padding", "background", "-o", "out",
               cwd=tmp_path)  # fmt: skip
    assert done.code == 0 and done.err == "", done
    assert np.array_equal(np.load(tmp_path / "out" / "labels.npy"), np.concatenate(expected))
    assert (tmp_path / "out" / "images.csv").read_text().split() == ["name,slice", *names]
    groups = np.load(tmp_path / "out" / "groups.npy")
    assert list(groups) == [case for case, slices in enumerate(expected) for _ in slices]


@pytest.mark.parametrize("orient", ["canonical", "stored"])
def test_probability_volumes_agree_with_nibabel(tmp_path, orient):
    random = np.random.default_rng(2)
    (tmp_path / "in").mkdir()
    expected = []
    for case in range(12):
        probs = softmax(random.normal(size=(*random.integers(2, 7, 3), 3)), axis=3)
        path = tmp_path / "in" / f"c{case:02}{'.nii.gz' if case % 2 else '.nii'}"
        if case % 3 == 0:  # as 16-bit integers with a slope, which nibabel chooses
            image = nib.Nifti1Image(probs, affine(random, 0.2))
            image.header.set_data_dtype("<i2")
            nib.save(image, path)
        else:
            save_nifti(path, probs.astype("f4" if case % 3 == 1 else "f8"), affine(random, 0.2), "<>"[case // 2 % 2])
        image = nib.load(path)
        values = (nib.as_closest_canonical(image) if orient == "canonical" else image).get_fdata()
        expected.append(centred(in_slices(values, "axial").transpose(0, 3, 1, 2), 4, 4, np.nan))
    done = run("collect", "--probs", "in", "--grid", "4x4", "--orient", orient, "-o", "out", cwd=tmp_path)
    assert done.code == 0 and done.err == "", done
    expected = np.concatenate(expected)
    got = np.load(tmp_path / "out" / "probs.npy")
    inside = ~np.isnan(expected)
    assert np.array_equal(got[inside], expected[inside].astype(np.float32))
    assert np.all(got.transpose(1, 0, 2, 3)[0][~inside[:, 0]] == 1)


@pytest.fixture
def volumes(tmp_path):
    """Six patients of different sizes and axes: probs/NAME.nii.gz [x,y,z,3] and labels/NAME.nii.gz."""
    room = Room(tmp_path)
    random = np.random.default_rng(3)
    for folder in ["probs", "labels", "npz"]:
        (tmp_path / folder).mkdir()
    room.cases = {}
    for case in range(6):
        x, y, z = random.integers(5, 9), random.integers(6, 11), random.integers(3, 6)
        probs, labels = scene(z, 3, (y, x), seed=10 + case)
        labels[0] = 0  # a slice without annotation
        matrix = affine(random, 0.1)
        volume, truth = probs.transpose(3, 2, 0, 1), labels.transpose(2, 1, 0)
        name = f"patient_{case + 1:03}"
        save_nifti(tmp_path / "probs" / f"{name}.nii.gz", volume, matrix)
        save_nifti(tmp_path / "labels" / f"{name}.nii.gz", truth, matrix)
        np.savez_compressed(tmp_path / "npz" / f"{name}.npz", probabilities=volume.transpose(3, 2, 1, 0))
        room.cases[name] = (volume, truth, matrix)
    return room


FOLDERS = ("--probs", "probs", "--labels", "labels", "--grid", "8x9", "--only-annotated")


def test_calibrating_from_volumes_equals_calibrating_from_their_arrays(volumes):
    volumes.does("calibrate", *FOLDERS, "-m", "kmeans", "-o", "a.kcal")
    volumes.does("collect", *FOLDERS, "-o", "arrays")
    volumes.does("calibrate", "--probs", "arrays/probs.npy", "--labels", "arrays/labels.npy", "--groups",
                 "arrays/groups.npy", "-m", "kmeans", "-o", "b.kcal")  # fmt: skip
    with np.load(volumes.folder / "a.kcal") as a, np.load(volumes.folder / "b.kcal") as b:
        assert sorted(a.files) == sorted(b.files)
        for key in a.files:
            if key != "meta.json":
                assert np.array_equal(a[key], b[key]), key
    meta = json.loads(volumes.does("inspect", "a.kcal", "--json").out)
    assert meta["data"]["groups"] == 6
    wanted = {"axis": "axial", "orientation": "RAS", "only_annotated": True, "fit": "centre", "width": 8, "height": 9,
              "padding": "ignore", "format": "NIfTI", "cases": 6, "images": meta["data"]["images"]}  # fmt: skip
    assert {key: meta["input"][key] for key in wanted} == wanted
    assert "input" not in json.loads(volumes.does("inspect", "b.kcal", "--json").out)


@pytest.mark.parametrize("coding", ["planes", "bits"])
@pytest.mark.parametrize("axis", ["axial", "coronal", "sagittal"])
def test_sets_come_back_as_volumes_with_the_geometry_of_the_input(volumes, axis, coding):
    volumes.does("calibrate", *FOLDERS, "--axis", axis, "-m", "image", "-o", "cal.kcal")
    result = volumes.does("predict", "cal.kcal", "--probs", "probs", "--coding", coding, "--alpha", "0.3", "-o", "sets",
                          "--thresholds", "t.npy")  # fmt: skip
    thresholds = volumes.load("t.npy")
    assert len(list((volumes.folder / "sets").iterdir())) == 6
    outside = 0
    for name, (probs, _, matrix) in volumes.cases.items():
        image = nib.load(volumes.folder / "sets" / f"{name}.nii.gz")
        original = nib.load(volumes.folder / "probs" / f"{name}.nii.gz")
        assert np.array_equal(image.affine, original.affine) and image.get_data_dtype() == np.uint8
        assert np.array_equal(image.header.get_zooms()[:3], original.header.get_zooms()[:3])
        sets = np.asarray(image.dataobj)
        if coding == "bits":
            assert sets.max() < 8
            sets = np.stack([sets >> c & 1 for c in range(3)], axis=-1)
        assert sets.shape == probs.shape
        canonical = nib.as_closest_canonical(nib.Nifti1Image(probs, matrix)).get_fdata().astype(np.float32)
        got = nib.as_closest_canonical(nib.Nifti1Image(sets.astype(np.uint8), matrix)).get_fdata()
        planes = in_slices(canonical, axis).transpose(0, 3, 1, 2)
        height, width = planes.shape[2:]
        own = np.stack([centred(plane, height, width, -np.inf) for plane in [thresholds]])[0]
        expected = planes >= own  # beyond the grid the threshold is -inf: every class
        outside += np.isinf(centred(np.zeros((9, 8)), height, width, -np.inf)).sum() * len(planes)
        assert np.array_equal(in_slices(got, axis).transpose(0, 3, 1, 2), expected)
    assert outside == 0 or f"{outside} pixels lie outside" in result.err


def test_nnunet_archives_give_what_the_volumes_give(volumes):
    volumes.does("calibrate", *FOLDERS, "-m", "kmeans", "-o", "a.kcal")
    volumes.does("calibrate", "--probs", "npz", *FOLDERS[2:], "-m", "kmeans", "-o", "b.kcal")
    with np.load(volumes.folder / "a.kcal") as a, np.load(volumes.folder / "b.kcal") as b:
        for key in ["curve_values", "regions", "counts"]:
            assert np.array_equal(a[key], b[key]), key
    # nnU-Net puts the predicted label map beside the archive; its geometry is used and it is not read as probabilities.
    for name, (_, truth, matrix) in volumes.cases.items():
        save_nifti(volumes.folder / "npz" / f"{name}.nii.gz", truth, matrix)
        (volumes.folder / "npz" / f"{name}.pkl").write_bytes(b"not read")
    (volumes.folder / "npz" / "dataset.json").write_text('{"labels": {"background": 0, "a": 1, "b": 2}}')
    volumes.does("predict", "a.kcal", "--probs", "probs", "-o", "sets_a")
    volumes.does("predict", "b.kcal", "--probs", "npz", "-o", "sets_b")
    assert snapshot(volumes.folder / "sets_a") == snapshot(volumes.folder / "sets_b")


def test_the_crop_padding_of_nnunet_is_counted(volumes):
    count = 0
    for name, (probs, _, _) in volumes.cases.items():
        probs = probs.transpose(3, 2, 1, 0).copy()
        probs[:, :, :2] = np.array([1, 0, 0])[:, None, None, None]
        count += probs[0, :, :2].size
        np.savez_compressed(volumes.folder / "npz" / f"{name}.npz", probabilities=probs)
    result = volumes.does("calibrate", "--probs", "npz", "--labels", "labels", "--grid", "8x9", "-m", "image", "-o",
                          "a.kcal")  # fmt: skip
    assert f"({count}) have background probability exactly 1" in result.err
    meta = json.loads(volumes.does("inspect", "a.kcal", "--json").out)
    assert meta["input"]["certain_background_pixels"] == count


def test_the_ignore_label_of_a_dataset_json_is_ignored(volumes):
    for name, (_, truth, matrix) in volumes.cases.items():
        truth[0] = 3
        save_nifti(volumes.folder / "labels" / f"{name}.nii.gz", truth, matrix)
    arguments = ("calibrate", *FOLDERS, "-m", "image", "-o", "a.kcal")
    volumes.refuses(3, ["label 3 at slice", "row", "--ignore"], *arguments)
    (volumes.folder / "dataset.json").write_text(
        json.dumps({"labels": {"background": 0, "a": 1, "b": 2, "ignore": 3}, "file_ending": ".nii.gz"})
    )
    volumes.does(*arguments)
    (volumes.folder / "dataset.json").write_text("{")
    volumes.refuses(3, ["dataset.json", "JSON"], *arguments)


def test_a_decathlon_root_stands_for_its_labels_and_mac_files_are_passed_over(volumes):
    root = volumes.folder / "Task99"
    (root / "imagesTr").mkdir(parents=True)
    (volumes.folder / "labels").rename(root / "labelsTr")
    (root / "labelsTr" / "._patient_001.nii.gz").write_bytes(b"mac")
    (root / "dataset.json").write_text('{"labels": {"0": "background", "1": "a", "2": "b"}}')
    a = volumes.does("calibrate", "--probs", "probs", "--labels", "Task99", "--grid", "8x9", "-m", "image", "-o", "a.kcal")
    assert "6 groups" in a.out
    volumes.refuses(3, ["Task99", "root", "probabilities"], "predict", "a.kcal", "--probs", "Task99", "-o", "sets")


def test_one_file_for_each_class(volumes):
    (volumes.folder / "split").mkdir()
    for name, (probs, _, matrix) in volumes.cases.items():
        for c in range(3):
            save_nifti(volumes.folder / "split" / f"{name}_{c}.nii.gz", probs[..., c], matrix)
    arguments = ("--probs", "split", *FOLDERS[2:])
    volumes.refuses(3, ["24 of 24 files", "no label", "and 14 more", "--class-files"], "calibrate", *arguments, "-o", "x.kcal")
    volumes.does("calibrate", *FOLDERS, "-m", "image", "-o", "a.kcal")
    volumes.does("calibrate", *arguments, "--class-files", "-m", "image", "-o", "b.kcal")
    volumes.does("predict", "a.kcal", "--probs", "probs", "-o", "sets_a")
    volumes.does("predict", "b.kcal", "--probs", "split", "-o", "sets_b")
    assert snapshot(volumes.folder / "sets_a") == snapshot(volumes.folder / "sets_b")
    (volumes.folder / "split" / "patient_002_1.nii.gz").unlink()
    volumes.refuses(3, ["patient_002", "class 1", "missing"], "predict", "b.kcal", "--probs", "split", "-o", "sets_c")


def test_names_pair_without_the_ending_that_all_of_one_side_share(volumes):
    for file in (volumes.folder / "probs").iterdir():
        folder = volumes.folder / "monai" / file.name.removesuffix(".nii.gz")
        folder.mkdir(parents=True)
        file.rename(folder / file.name.replace(".nii.gz", "_probs.nii.gz"))
    result = volumes.does("calibrate", "--probs", "monai", *FOLDERS[2:], "-m", "image", "-o", "a.kcal")
    assert "without the ending '_probs' of the probabilities" in result.err and "6 groups" in result.out


def test_different_sizes_are_an_error_that_names_both_ways_out(volumes):
    volumes.refuses(3, ["patient_002", "width x height", "--grid WxH", "--resize WxH"], "calibrate", "--probs", "probs",
                    "--labels", "labels", "-o", "a.kcal")  # fmt: skip
    volumes.refuses(2, ["--grid", "--resize"], "calibrate", *FOLDERS, "--resize", "8x9", "-o", "a.kcal")
    volumes.refuses(2, ["--grid", "8by9", "384x256"], "calibrate", "--probs", "probs", "--labels", "labels", "--grid",
                    "8by9", "-o", "a.kcal")  # fmt: skip


def bilinear(plane, height, width):
    """Half-pixel centres, edges repeated: the textbook formula."""
    def weights(have, want):
        at = np.clip((np.arange(want) + 0.5) * have / want - 0.5, 0, have - 1)
        low = np.floor(at).astype(int)
        matrix = np.zeros((want, have))
        np.add.at(matrix, (np.arange(want), low), 1 - (at - low))
        np.add.at(matrix, (np.arange(want), np.minimum(low + 1, have - 1)), at - low)
        return matrix

    return weights(plane.shape[-2], height) @ plane @ weights(plane.shape[-1], width).T


def nearest(plane, height, width):
    rows = ((np.arange(height) + 0.5) * plane.shape[-2] / height).astype(int)
    columns = ((np.arange(width) + 0.5) * plane.shape[-1] / width).astype(int)
    return plane[..., rows, :][..., columns]


def test_resizing_is_bilinear_for_probabilities_nearest_for_labels_and_undone_by_predict(tmp_path):
    room = Room(tmp_path)
    for folder in ["p", "y"]:
        (tmp_path / folder).mkdir()
    cases = {}
    for i, grid in enumerate([(5, 7), (8, 6), (11, 4), (7, 9)]):
        probs, labels = scene(1, 3, grid, seed=i)
        cases[f"image{i}"] = probs[0], labels[0]
        np.save(tmp_path / "p" / f"image{i}.npy", probs[0])
        np.save(tmp_path / "y" / f"image{i}.npy", labels[0])
    how = ("--probs", "p", "--labels", "y", "--resize", "6x8")
    room.does("collect", *how, "-o", "arrays")
    probs, labels = room.load("arrays/probs.npy"), room.load("arrays/labels.npy")
    for row, (own, truth) in enumerate(cases.values()):
        assert np.allclose(probs[row], bilinear(own.astype(float), 8, 6), atol=1e-6)
        assert np.array_equal(labels[row], nearest(truth, 8, 6))
    assert np.array_equal(probs[1], cases["image1"][0])  # of that size already
    room.does("calibrate", *how, "-m", "image", "-o", "a.kcal")
    room.does("predict", "a.kcal", "--probs", "p", "--alpha", "0.4", "-o", "sets", "--thresholds", "t.npy")
    thresholds = room.load("t.npy")
    for row, (name, (own, _)) in enumerate(cases.items()):
        sets = np.load(tmp_path / "sets" / f"{name}.npy")
        assert np.array_equal(sets, nearest(probs[row] >= thresholds, *own.shape[1:]))
    room.refuses(2, ["--resize", "contradicts"], "predict", "a.kcal", "--probs", "p", "--resize", "5x5", "-o", "x")
    # The same as one array, on the calibrator's grid.
    room.does("predict", "a.kcal", "--probs", "p", "--alpha", "0.4", "-o", "sets.npy")
    assert np.array_equal(room.load("sets.npy"), probs >= thresholds)
    room.does("evaluate", "a.kcal", "--probs", "p", "--labels", "y", "--json", "e.json")
    assert json.loads((tmp_path / "e.json").read_text())["input"]["fit"] == "resize"


def test_logits_are_made_probabilities_before_they_are_resized(tmp_path):
    room = Room(tmp_path)
    (tmp_path / "p").mkdir()
    logits = np.random.default_rng(5).normal(0, 3, (3, 5, 7)).astype(np.float32)
    np.save(tmp_path / "p" / "a.npy", logits)
    room.does("collect", "--probs", "p", "--logits", "softmax", "--resize", "4x4", "-o", "out")
    assert np.allclose(room.load("out/probs.npy")[0], bilinear(softmax(logits, axis=0).astype(float), 4, 4), atol=1e-6)


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


HOW = ("calibrate", "--probs", "p", "--labels", "y", "-m", "kmeans")


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
    images.refuses(2, ["--group-by", "no regular expression"], *HOW, "--group-by", "(", "-o", "b.kcal")


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
    # The rest gives what it gives without the bad files beside it.
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


def test_doubles_of_a_name_are_bad(volumes):
    save_nifti(volumes.folder / "labels" / "patient_001.nii", *volumes.cases["patient_001"][1:])
    volumes.refuses(3, ["1 of 13", "patient_001.nii", "there 2 times"], "calibrate", *FOLDERS, "-o", "a.kcal")


def test_folders_and_arrays_do_not_mix(images):
    images.refuses(2, ["folder", "array"], "calibrate", "--probs", "p", "--labels", "labels.npy", "-o", "a.kcal")
    images.refuses(2, ["--grid", "array"], "calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "--grid",
                   "4x4", "-o", "a.kcal")  # fmt: skip
    (images.folder / "none").mkdir()
    images.refuses(3, ["none", "no file", ".nii.gz"], "calibrate", "--probs", "none", "--labels", "y", "-o", "a.kcal")


def test_a_label_map_is_no_probability(volumes):
    volumes.does("calibrate", *FOLDERS, "-m", "image", "-o", "a.kcal")
    volumes.refuses(3, ["uint8", "labels rather than probabilities"], "predict", "a.kcal", "--probs", "labels", "-o", "s")


def test_a_failed_prediction_leaves_no_folder(volumes):
    volumes.does("calibrate", *FOLDERS, "-m", "image", "-o", "a.kcal")
    path = volumes.folder / "probs" / "patient_004.nii.gz"
    path.write_bytes(path.read_bytes()[:-6])
    volumes.refuses(3, ["1 of 6", "patient_004", "cut short"], "predict", "a.kcal", "--probs", "probs", "-o", "sets")
    volumes.does("predict", "a.kcal", "--probs", "probs", "-o", "sets", "--skip-bad")
    assert len(list((volumes.folder / "sets").iterdir())) == 5


def test_the_input_is_never_overwritten(volumes):
    volumes.does("calibrate", *FOLDERS, "-m", "image", "-o", "a.kcal")
    one = "probs/patient_002.nii.gz"
    volumes.refuses(2, ["-o ./probs/", "another"], "predict", "a.kcal", "--probs", "probs", "-o", "./probs/")
    volumes.refuses(2, ["-o probs", "another"], "predict", "a.kcal", "--probs", one, "-o", "probs")
    volumes.refuses(2, ["sets.nii.gz", "folder"], "predict", "a.kcal", "--probs", one, "-o", "sets.nii.gz")
    volumes.does("predict", "a.kcal", "--probs", one, "-o", "sets")
    assert [file.name for file in (volumes.folder / "sets").iterdir()] == ["patient_002.nii.gz"]


@pytest.mark.parametrize("value", [-1, 3, 2.5, np.nan, 1e12])
def test_labels_that_are_no_class_are_refused_with_their_place(volumes, value):
    name = "patient_003"
    _, truth, _ = volumes.cases[name]
    truth = np.zeros(truth.shape)
    truth[1:, 2, 1] = value
    if value == -1:
        truth[:] = value  # everywhere, from the first voxel on
    save_nifti(volumes.folder / "labels" / f"{name}.nii.gz", truth)
    save_nifti(volumes.folder / "probs" / f"{name}.nii.gz", volumes.cases[name][0])
    where = ["slice 0, row 0, column 0"] if value == -1 else ["slice 1, row 2, column 1"]
    volumes.refuses(3, ["1 of 12 files", name, *where], "calibrate", *FOLDERS, "-o", "a.kcal")


def test_threads_do_not_show_in_results(volumes):
    for threads in "14":
        volumes.does("calibrate", *FOLDERS, "-m", "kmeans", "--threads", threads, "-o", f"{threads}.kcal")
        volumes.does("predict", f"{threads}.kcal", "--probs", "probs", "--threads", threads, "-o", f"sets{threads}")
    assert (volumes.folder / "1.kcal").read_bytes() == (volumes.folder / "4.kcal").read_bytes()
    assert snapshot(volumes.folder / "sets1") == snapshot(volumes.folder / "sets4")


@pytest.mark.parametrize("ending", [".nii", ".nii.gz"])
def test_truncated_and_lying_volumes_are_refused_in_one_line(tmp_path, ending):
    path = tmp_path / "in" / f"a{ending}"
    path.parent.mkdir()
    labels = np.random.default_rng(0).integers(0, 3, (4, 5, 6)).astype(np.uint8)
    save_nifti(path, labels)
    whole = path.read_bytes()
    for cut in [0, 1, 2, 9, 40, 100, len(whole) // 2, len(whole) - 9, len(whole) - 4, len(whole) - 1]:
        path.write_bytes(whole[:cut])
        expect_refusal(run("collect", "--labels", "in", "-o", "out", cwd=tmp_path), 3, f"a{ending}")
    plain = bytearray(gzip.decompress(whole) if ending == ".nii.gz" else whole)
    plain[42:48] = np.array([32767] * 3, "<i2").tobytes()
    path.write_bytes(gzip.compress(bytes(plain)) if ending == ".nii.gz" else bytes(plain))
    expect_refusal(run("collect", "--labels", "in", "-o", "out", cwd=tmp_path), 3, f"a{ending}", "claims")


MSD = SHARED / "data" / "msd_hippocampus"


@pytest.mark.skipif(not MSD.is_dir(), reason="the Decathlon's hippocampus is absent: comparison skipped; set KANDINSKY_SHARED")
def test_the_decathlon_labels_are_those_of_the_unpacked_data(tmp_path):
    done = run("collect", "--labels", MSD, "--only-annotated", "--grid", "64x64", "--padding", "background", "-o", "out",
               cwd=tmp_path)  # fmt: skip
    assert done.code == 0 and done.err == "", done
    labels, groups = np.load(tmp_path / "out" / "labels.npy"), np.load(tmp_path / "out" / "groups.npy")
    assert labels.shape[1:] == (64, 64) and len(set(groups)) == 260
    compared = 0
    for file in sorted((SHARED / "data" / "hippocampus").glob("*.npz")):
        with np.load(file) as known:
            for patient in np.unique(known["patient"]):
                ours, theirs = labels[groups == patient], known["labels"][known["patient"] == patient]
                assert np.array_equal(ours, theirs), f"{file.name}, patient {patient}"
                compared += len(ours)
    print(f"{compared} slices of the Decathlon agree, pixel by pixel")
    assert compared == 1954 + 2476


DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "files.md"
# Commands below a mark are another test's.
TEXT = re.sub(r"<!-- commands: \w+ -->\n\n(?:    .*\n)+", "", DOCUMENT.read_text())
COMMANDS = [line.strip() for line in TEXT.splitlines() if line.startswith("    kandinsky ")]


def test_every_command_of_the_document_works(tmp_path):
    random = np.random.default_rng(7)
    folders = {name: tmp_path / name for name in ["nnunet_out", "nnunet_test", "monai_out", "class_files", "npy_probs",
               "npy_labels", "Task04/labelsTr", "nnUNet_raw/Dataset004/labelsTr", "nnUNet_raw/Dataset004/labelsTs"]}  # fmt: skip
    for folder in folders.values():
        folder.mkdir(parents=True)
    for part in [tmp_path / "Task04", tmp_path / "nnUNet_raw" / "Dataset004"]:
        (part / "dataset.json").write_text('{"labels": {"background": 0, "anterior": 1, "posterior": 2, "ignore": 3}}')
    for case in range(12):
        name, matrix = f"hippocampus_{case:03}", affine(random, 0.1)
        probs, labels = scene(4, 3, tuple(random.integers(40, 60, 2)), seed=case)
        labels[:, :3] = 3
        test = case >= 8
        volume, truth = probs.transpose(3, 2, 0, 1), labels.transpose(2, 1, 0)
        out = folders["nnunet_test" if test else "nnunet_out"]
        np.savez_compressed(out / f"{name}.npz", probabilities=probs.transpose(1, 0, 2, 3))
        save_nifti(out / f"{name}.nii.gz", truth, matrix)
        save_nifti(folders[f"nnUNet_raw/Dataset004/labelsT{'s' if test else 'r'}"] / f"{name}.nii.gz", truth, matrix)
        save_nifti(folders["Task04/labelsTr"] / f"{name}.nii.gz", truth, matrix)
        (folders["monai_out"] / name).mkdir()
        save_nifti(folders["monai_out"] / name / f"{name}_probs.nii.gz", volume, matrix)
        for c in range(3):
            save_nifti(folders["class_files"] / f"{name}_{c}.nii.gz", volume[..., c], matrix)
        np.save(folders["npy_probs"] / f"video{case // 3}_{case}.npy", probs[0])
        np.save(folders["npy_labels"] / f"video{case // 3}_{case}.npy", np.where(labels[0] == 3, 255, labels[0]))
    assert len(COMMANDS) >= 10
    for line in COMMANDS:
        words = shlex.split(line)[1:]
        done = run(*(words if "--resize" in words else without_search(words)), cwd=tmp_path)  # the smallest grid as it stands
        assert done.code == 0, (line, done)
    assert len(list((tmp_path / "sets").glob("*.nii.gz"))) == 4
    assert snapshot(tmp_path / "monai_sets").keys() == {f"hippocampus_{case:03}_probs.nii.gz" for case in range(12)}
    assert json.loads((tmp_path / "result.json").read_text())["input"]["format"] == "nnU-Net"
