"""Folders of files as segmentation tools write them: nnU-Net, MONAI, the Decathlon; and the commands of docs/files.md."""

import json
import os
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from nifti_files import FOLDERS, affine, needs_nifti, save_nifti, volumes  # noqa: F401, F811 (fixtures)
from support import run, scene, snapshot, without_search

SHARED = Path(os.environ.get("KANDINSKY_SHARED", Path(__file__).resolve().parents[3] / ".." / "shared"))


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


def test_a_decathlon_root_means_its_labels_and_mac_files_are_ignored(volumes):
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
    volumes.refuses(3, ["patient_002", "height x width", "--grid WxH", "--resize WxH"], "calibrate", "--probs", "probs",
                    "--labels", "labels", "-o", "a.kcal")  # fmt: skip
    volumes.refuses(2, ["--grid", "--resize"], "calibrate", *FOLDERS, "--resize", "8x9", "-o", "a.kcal")
    volumes.refuses(2, ["--grid", "8by9", "384x256"], "calibrate", "--probs", "probs", "--labels", "labels", "--grid",
                    "8by9", "-o", "a.kcal")  # fmt: skip


def test_doubles_of_a_name_are_bad(volumes):
    save_nifti(volumes.folder / "labels" / "patient_001.nii", *volumes.cases["patient_001"][1:])
    volumes.refuses(3, ["1 of 13", "patient_001.nii", "occurs 2 times"], "calibrate", *FOLDERS, "-o", "a.kcal")


def test_a_failed_prediction_leaves_no_folder(volumes):
    volumes.does("calibrate", *FOLDERS, "-m", "image", "-o", "a.kcal")
    path = volumes.folder / "probs" / "patient_004.nii.gz"
    path.write_bytes(path.read_bytes()[:-6])
    volumes.refuses(3, ["1 of 6", "patient_004", "truncated"], "predict", "a.kcal", "--probs", "probs", "-o", "sets")
    volumes.does("predict", "a.kcal", "--probs", "probs", "-o", "sets", "--skip-bad")
    assert len(list((volumes.folder / "sets").iterdir())) == 5


def test_the_input_is_never_overwritten(volumes):
    volumes.does("calibrate", *FOLDERS, "-m", "image", "-o", "a.kcal")
    one = "probs/patient_002.nii.gz"
    volumes.refuses(2, ["--output ./probs/", "another"], "predict", "a.kcal", "--probs", "probs", "-o", "./probs/")
    volumes.refuses(2, ["-o probs", "another"], "predict", "a.kcal", "--probs", one, "-o", "probs")
    volumes.refuses(2, ["sets.nii.gz", "folder"], "predict", "a.kcal", "--probs", one, "-o", "sets.nii.gz")
    volumes.does("predict", "a.kcal", "--probs", one, "-o", "sets")
    assert [file.name for file in (volumes.folder / "sets").iterdir()] == ["patient_002.nii.gz"]


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


DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "files.md"
# test_raster.py runs the commands below the comments <!-- commands: TOPIC -->.
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
        done = run(*without_search(shlex.split(line)[1:]), cwd=tmp_path)
        assert done.code == 0, (line, done)
    assert len(list((tmp_path / "sets").glob("*.nii.gz"))) == 4
    assert snapshot(tmp_path / "monai_sets").keys() == {f"hippocampus_{case:03}_probs.nii.gz" for case in range(12)}
    assert json.loads((tmp_path / "result.json").read_text())["input"]["format"] == "nnU-Net"
