"""NIfTI volumes, in and out. nibabel is the oracle."""

import gzip

import numpy as np
import pytest
from nifti_files import FOLDERS, affine, centred, in_slices, needs_nifti, nib, save_nifti, volumes  # noqa: F401, F811 (fixtures)
from support import expect_refusal, run, snapshot, softmax

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


@pytest.mark.parametrize("coding", ["planes", "bits"])
@pytest.mark.parametrize("axis", ["axial", "coronal", "sagittal"])
def test_sets_come_back_as_volumes_with_the_geometry_of_the_input(volumes, axis, coding):
    volumes.does("calibrate", *FOLDERS, "--axis", axis, "--score", "lac", "-m", "image", "-o", "cal.kcal")
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


def test_a_label_map_is_no_probability(volumes):
    volumes.does("calibrate", *FOLDERS, "-m", "image", "-o", "a.kcal")
    volumes.refuses(3, ["uint8", "labels rather than probabilities"], "predict", "a.kcal", "--probs", "labels", "-o", "s")


def test_threads_have_no_effect_on_results(volumes):
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
