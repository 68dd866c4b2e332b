"""kandinsky nnunet: from a result folder of nnU-Net v2 to a calibrator and sets."""

import gzip
import json
import re
import shutil

import numpy as np
import pytest
from nifti_files import needs_nifti, nib, save_nifti, volumes  # noqa: F401
from support import run

OUTER = "\u00e4u\u00dfere"  # a name with letters outside ASCII
RESULT = "nnUNet_results/Dataset004_Parts/nnUNetTrainer__nnUNetPlans__3d_fullres"
DATASET = {"channel_names": {"0": "MRI"}, "labels": {"background": 0, "inner part": 1, OUTER: 2}, "file_ending": ".nii.gz"}
FAST = ("-m", "image", "--score", "lac")


@pytest.fixture
def trained(volumes):
    """Six cases in three folds, their labels where nnU-Net keeps them, and two of them as new cases."""
    root = volumes.folder / RESULT
    for fold in range(3):
        (root / f"fold_{fold}" / "validation").mkdir(parents=True)
    (volumes.folder / "test").mkdir()
    labels = volumes.folder / "nnUNet_preprocessed" / "Dataset004_Parts" / "gt_segmentations"
    labels.mkdir(parents=True)
    for i, (name, (probs, truth, matrix)) in enumerate(volumes.cases.items()):
        for folder in [root / f"fold_{i % 3}" / "validation", *([volumes.folder / "test"] if i < 2 else [])]:
            np.savez_compressed(folder / f"{name}.npz", probabilities=probs.transpose(3, 2, 1, 0))
            save_nifti(folder / f"{name}.nii.gz", probs.argmax(3).astype(np.uint8), matrix)
        save_nifti(labels / f"{name}.nii.gz", truth, matrix)
    for folder in [root, volumes.folder / "test"]:
        (folder / "dataset.json").write_text(json.dumps(DATASET))
        (folder / "plans.json").write_text(json.dumps({"dataset_name": "Dataset004_Parts", "image_reader_writer": "SimpleITKIO"}))
    volumes.root, volumes.truth = root, labels
    return volumes


def note(image):
    """The content of the comment extension in a NIfTI header."""
    (one,) = image.header.extensions
    assert one.get_code() == 6
    text = one.get_content()
    return json.loads((text if isinstance(text, str) else text.decode()).rstrip("\0"))


def meta(room, path):
    return json.loads(room.does("inspect", path, "--json").out)


def test_the_result_is_that_of_calibrate_and_predict_on_the_same_files(trained):
    done = trained.does("nnunet", RESULT, *FAST, "--grid", "8x9", "--predict", "test", "--alpha", "0.3")
    both = trained.folder / "all"
    both.mkdir()
    for file in trained.root.glob("fold_*/validation/*"):
        shutil.copy(file, both)
    trained.does("calibrate", "--probs", "all", "--labels", trained.truth, *FAST, "--grid", "8x9", "-o", "plain.kcal")
    trained.does("predict", "plain.kcal", "--probs", "test", "--alpha", "0.3", "-o", "plain")
    ours, plain = meta(trained, trained.root / "kandinsky.kcal"), meta(trained, "plain.kcal")
    for key in ["images", "groups", "fingerprint"]:
        assert ours["data"][key] == plain["data"][key]
    for name in list(trained.cases)[:2]:
        mine = nib.load(trained.folder / "test" / "sets_0.3" / f"{name}.nii.gz")
        other = nib.load(trained.folder / "plain" / f"{name}.nii.gz")
        assert np.array_equal(np.asarray(mine.dataobj), np.asarray(other.dataobj)) and np.array_equal(mine.affine, other.affine)
        assert np.array_equal(mine.affine, nib.load(trained.folder / "test" / f"{name}.nii.gz").affine)
        assert note(mine)["classes"] == ["background", "inner part", OUTER]
    assert "3 networks (folds 0, 1, 2)" in done.out and "nnUNetv2_predict -f 0" in done.out
    assert "3 networks" in trained.does("inspect", trained.root / "kandinsky.kcal").out


def test_images_of_different_sizes_get_a_grid_that_contains_all(trained):
    done = trained.does("nnunet", RESULT, *FAST)
    canonical = [nib.as_closest_canonical(nib.Nifti1Image(truth, matrix)).shape for _, truth, matrix in trained.cases.values()]
    width, height = max(shape[0] for shape in canonical), max(shape[1] for shape in canonical)
    assert f"a grid of {height} x {width} pixels" in done.err
    trained.does("predict", trained.root / "kandinsky.kcal", "--probs", "test", "-o", "sets")


def test_one_fold_is_one_network(trained):
    done = trained.does("nnunet", RESULT, *FAST, "--folds", "1", "-o", "one.kcal")
    assert "fold 1 only (nnUNetv2_predict -f 1)" in done.out and "2 groups" in done.out
    assert not (trained.root / "kandinsky.kcal").exists()


def test_masks_are_label_maps_with_names(trained):
    trained.does("nnunet", RESULT, *FAST, "--grid", "8x9", "--predict", "test", "--alpha", "0.3", "--sets", "planes")
    trained.does("nnunet", RESULT, *FAST, "--grid", "8x9", "--predict", "test", "--alpha", "0.3", "--sets", "masks", "--coding", "masks")
    masks = trained.folder / "masks"
    for name in list(trained.cases)[:2]:
        sets = np.asarray(nib.load(trained.folder / "planes" / f"{name}.nii.gz").dataobj).astype(bool)
        alone = sets.sum(3) == 1
        image = nib.load(masks / f"{name}_certain_label.nii.gz")
        assert image.get_data_dtype() == np.uint8 and image.ndim == 3
        assert np.array_equal(image.affine, nib.load(trained.folder / "test" / f"{name}.nii.gz").affine)
        assert np.array_equal(np.asarray(image.dataobj), np.where(alone, sets.argmax(3), 3))
        for c, stem in [(1, "inner_part"), (2, OUTER)]:
            got = np.asarray(nib.load(masks / f"{name}_{stem}_label.nii.gz").dataobj)
            assert np.array_equal(got, sets[..., c].astype(int) + (alone & sets[..., c]))
    snap = [line.split(maxsplit=7) for line in (masks / "certain.txt").read_text().splitlines() if line[0] != "#"]
    assert [(int(line[0]), line[7]) for line in snap] == [(0, '"Clear Label"'), (1, '"inner part"'), (2, f'"{OUTER}"'), (3, '"undecided"')]
    slicer = [line.split() for line in (masks / "possible.ctbl").read_text().splitlines() if line[0] != "#"]
    assert [line[:2] for line in slicer] == [["0", "none"], ["1", "possible"], ["2", "certain"]]
    assert all(len(line) == 6 and all(0 <= int(value) <= 255 for value in line[2:]) for line in slicer)


def nrrd(path):
    """Header and values [x,y,z,map] of a gzip-compressed NRRD file, by the format's description."""
    head, packed = path.read_bytes().split(b"\n\n", 1)
    fields = dict(re.split(":=|: ", line, maxsplit=1) for line in head.decode().splitlines()[1:])
    values = np.frombuffer(gzip.decompress(packed), np.uint8)
    return fields, np.moveaxis(values.reshape([int(n) for n in fields["sizes"].split()], order="F"), 0, -1)


def test_masks_of_a_case_are_one_segmentation_with_names_and_colours(trained):
    trained.does("nnunet", RESULT, *FAST, "--grid", "8x9", "--predict", "test", "--alpha", "0.3", "--sets", "masks", "--coding", "masks")
    for name in list(trained.cases)[:2]:
        fields, maps = nrrd(trained.folder / "masks" / f"{name}.seg.nrrd")
        for c, stem in enumerate(["inner_part", OUTER]):
            image = nib.load(trained.folder / "masks" / f"{name}_{stem}_label.nii.gz")
            assert np.array_equal(maps[..., c], np.asarray(image.dataobj))
        vectors = [list(map(float, part.split(","))) for part in re.findall(r"\((.*?)\)", fields["space directions"] + fields["space origin"])]
        assert fields["space"] == "left-posterior-superior"
        assert np.allclose(np.diag([-1, -1, 1]) @ image.affine[:3], np.array(vectors).T)
        segments = [[fields[f"Segment{i}_{key}"] for key in ("Name", "Layer", "LabelValue")] for i in range(4)]
        assert segments == [[f"{part}, {what}", layer, number] for part, layer in [("inner part", "0"), (OUTER, "1")]
                            for what, number in [("possible", "1"), ("certain", "2")]]  # fmt: skip
        colours = [tuple(map(float, fields[f"Segment{i}_Color"].split())) for i in range(4)]
        assert len(set(colours)) == 4 and all(0 <= value <= 1 for colour in colours for value in colour)


def test_p_values_of_a_folder_are_volumes_that_agree_with_the_sets(trained):
    trained.does("nnunet", RESULT, "--promise", "none", "--grid", "6x7")
    calibrator = trained.root / "kandinsky.kcal"
    trained.does("predict", calibrator, "--probs", "test", "--alpha", "0.35", "--empty", "keep", "-o", "sets", "--pvalues", "p")
    trained.does("predict", calibrator, "--probs", "test", "--pvalues", "alone", "--class-names", "a,b,c")
    for name in list(trained.cases)[:2]:
        image = nib.load(trained.folder / "p" / f"{name}.nii.gz")
        sets = np.asarray(nib.load(trained.folder / "sets" / f"{name}.nii.gz").dataobj)
        values = np.asarray(image.dataobj)
        assert image.get_data_dtype() == np.float32 and values.shape == sets.shape
        assert np.array_equal(values > np.float32(0.35), sets == 1)
        other = nib.load(trained.folder / "alone" / f"{name}.nii.gz")
        assert np.array_equal(values, np.asarray(other.dataobj))
        assert note(other)["classes"] == ["a", "b", "c"]


def wreck(room, what):
    """Breaks the folder in one way."""
    fold = room.root / "fold_1" / "validation"
    first = next(iter(room.cases))
    if what == "no plans":
        (room.root / "plans.json").unlink()
    elif what == "no npz":
        for file in fold.glob("*.npz"):
            file.unlink()
    elif what == "twice":
        shutil.copy(room.root / "fold_0" / "validation" / f"{first}.npz", fold)
    elif what == "regions":
        (room.root / "dataset.json").write_text(json.dumps({"labels": {"background": 0, "whole": [1, 2], "core": 2}}))
    elif what == "reorient":
        (room.root / "plans.json").write_text('{"image_reader_writer": "NibabelIOWithReorient"}')
    elif what == "no labels":
        shutil.rmtree(room.truth)
    elif what == "one label":
        (room.truth / f"{first}.nii.gz").unlink()
    elif what == "classes":
        for folder in [room.root, room.folder / "test"]:
            (folder / "dataset.json").write_text(json.dumps({"labels": {"background": 0, "a": 1}}))
    elif what == "gap":
        (room.root / "dataset.json").write_text(json.dumps({"labels": {"background": 0, "a": 2}}))
    elif what == "json":
        (room.root / "dataset.json").write_text("{")
    elif what == "other network":
        (room.folder / "test" / "dataset.json").write_text(json.dumps({"labels": {"background": 0, "x": 1, "y": 2}}))
    elif what == "no folds":
        for fold in room.root.glob("fold_*"):
            shutil.rmtree(fold)


@pytest.mark.parametrize("what, code, words", [
    ("no plans", 3, ["not a result folder of nnU-Net v2", "plans.json"]),
    ("no npz", 3, ["fold_1/validation holds no .npz", "--val --npz"]),
    ("twice", 3, ["patient_001", "fold 0 and in fold 1"]),
    ("regions", 3, ["whole is a region"]),
    ("reorient", 3, ["NibabelIOWithReorient", "turns axes"]),
    ("no labels", 3, ["gt_segmentations", "labelsTr", "--labels"]),
    ("one label", 3, ["patient_001", "1 of"]),
    ("classes", 3, ["3 classes", "names 2"]),
    ("gap", 3, ["1 is missing"]),
    ("json", 3, ["dataset.json is not valid JSON"]),
    ("other network", 3, ["different labels", "another network"]),
    ("no folds", 3, ["has no fold_0"]),
])  # fmt: skip
def test_what_cannot_be_used_is_refused_with_one_line(trained, what, code, words):
    wreck(trained, what)
    before = sorted(trained.folder.rglob("*"))
    trained.refuses(code, words, "nnunet", RESULT, *FAST, "--grid", "8x9", "--predict", "test")
    assert sorted(trained.folder.rglob("*")) == before


def test_options_without_effect_and_folds_that_are_not_there_are_refused(trained):
    for words, said in [(["--alpha", "0.2"], "there is no --predict"), (["--sets", "s"], "there is no --predict"),
                        (["--coding", "bits"], "there is no --predict"), (["--folds", "7"], "has fold 0, 1, 2"),
                        (["--folds", "x"], "--folds"), (["--resize", "6x6", "--padding", "background"], "--padding")]:  # fmt: skip
        trained.refuses(2, [said], "nnunet", RESULT, *FAST, *words)
    trained.refuses(4, ["no folder"], "nnunet", "nowhere")
    trained.refuses(4, ["no folder"], "nnunet", RESULT, "--predict", "nowhere")


def test_predictions_are_looked_at_before_the_calibration(trained):
    trained.refuses(3, ["holds no file that can be read"], "nnunet", RESULT, *FAST, "--predict", RESULT)
    own = trained.does("nnunet", RESULT, *FAST, "--grid", "8x9", "--predict", f"{RESULT}/fold_0/validation", "--sets", "own")
    assert [line for line in own.warnings if "outputs that the calibrator was made from" in line]
    new = trained.does("nnunet", RESULT, *FAST, "--grid", "8x9", "--predict", "test")
    assert not [line for line in new.warnings if "made from" in line]


def test_the_labels_are_found_by_the_variables_of_nnunet(trained, monkeypatch):
    moved = trained.folder / "elsewhere"
    shutil.move(trained.folder / "nnUNet_preprocessed", moved)
    monkeypatch.setenv("nnUNet_preprocessed", str(moved))
    trained.does("nnunet", RESULT, *FAST)
    monkeypatch.delenv("nnUNet_preprocessed")
    raw = trained.folder / "nnUNet_raw" / "Dataset004_Parts"
    raw.mkdir(parents=True)
    shutil.move(moved / "Dataset004_Parts" / "gt_segmentations", raw / "labelsTr")
    trained.does("nnunet", RESULT, *FAST)
    assert run("nnunet", RESULT, *FAST, "--labels", raw / "labelsTr", cwd=trained.folder).code == 0
