"""A miniature COCO and a miniature Decathlon through every stage of an experiment."""

import json

import nibabel
import numpy as np
import pytest
from conftest import discs, kandinsky
from PIL import Image


def run(declaration, data, out, *more, **options):
    return kandinsky(
        "experiment", declaration, "--data", data, "-o", out, "--threads", 1, "--device", "cpu", *more, **options
    )


@pytest.fixture
def coco(tmp_path):
    """Photos of two shapes with discs as polygons."""
    folder = tmp_path / "coco"
    (folder / "photos").mkdir(parents=True)
    images, annotations = [], []
    pictures, labels = discs(40, 48, 64, seed=3)
    for i, (picture, label) in enumerate(zip(pictures, labels)):
        name = f"{i:012d}.jpg"
        Image.fromarray(np.moveaxis(picture, 0, -1)).save(folder / "photos" / name, quality=95)
        images.append({"id": i, "file_name": name, "height": 48, "width": 64})
        rows, columns = np.nonzero(label)
        y, x, r = rows.mean(), columns.mean(), (rows.max() - rows.min()) / 2
        angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
        outline = np.stack([x + r * np.cos(angles), y + r * np.sin(angles)], 1).ravel().round(2).tolist()
        annotations.append({"id": i, "image_id": i, "category_id": 1, "segmentation": [outline], "iscrowd": 0})
    categories = [{"id": 1, "name": "person"}, {"id": 2, "name": "cat"}]
    (folder / "instances.json").write_text(
        json.dumps({"images": images, "annotations": annotations, "categories": categories})
    )
    return folder


@pytest.fixture
def decathlon(tmp_path):
    """Scans of 26 x 30 x 6 voxels with two structures."""
    folder = tmp_path / "decathlon"
    for name in ("imagesTr", "labelsTr"):
        (folder / name).mkdir(parents=True)
    random = np.random.default_rng(4)
    for i in range(16):
        labels = np.zeros((26, 30, 6), np.uint8)
        x, y = random.integers(8, 16, 2)
        labels[x : x + 6, y : y + 5, 1:5] = 1
        labels[x : x + 6, y + 5 : y + 10, 2:5] = 2
        image = (300 + 200 * labels + random.normal(0, 40, labels.shape)).astype(np.int16)
        for kind, volume in (("imagesTr", image), ("labelsTr", labels)):
            nibabel.save(nibabel.Nifti1Image(volume, np.eye(4)), folder / kind / f"scan_{i:03d}.nii.gz")
    return folder


COCO = {"format": "coco", "images": "photos", "labels": "instances.json", "categories": ["person"], "grid": [64, 48],
        "intensity": "byte", "class_names": ["background", "person"]}  # fmt: skip
DECATHLON = {"format": "decathlon", "images": "imagesTr", "labels": "labelsTr", "grid": [32, 32],
             "only_annotated": True, "intensity": "percentile", "class_names": ["none", "front", "back"]}  # fmt: skip


def check_results(out, classes):
    results = json.loads((out / "results.json").read_text())["results"]
    assert {row["method"] for row in results} == {"pixel", "image", "kmeans", "genann", "fcc"}
    assert {row["class"] for row in results} == set(classes)
    assert all(0 <= row["mean_ce"] <= 0.5 for row in results)
    assert "fcc" in (out / "table.txt").read_text()


def test_a_miniature_coco_goes_through_every_stage(coco, declaration, tmp_path):
    file = declaration(COCO, {"train": 16, "calibration": 12, "test": 12}, [1], 1)
    out = tmp_path / "run"
    first = run(file, coco, out)
    for stage in ("prepare", "train", "infer", "compare"):
        assert f"{stage}: done in" in first.stdout
    assert np.load(out / "train_images.npy").shape == (16, 3, 48, 64)
    assert np.load(out / "test_probs.npy").shape == (12, 1, 48, 64)
    assert 0.02 < np.load(out / "train_labels.npy").mean() < 0.2
    check_results(out, [1])
    again = run(file, coco, out)
    for stage in ("prepare", "train", "infer", "compare"):
        assert f"{stage}: done already" in again.stdout


def test_a_miniature_decathlon_is_split_by_patient(decathlon, declaration, tmp_path):
    file = declaration(DECATHLON, {"train": 6, "calibration": 5, "test": 5}, [1, 2], 3)
    out = tmp_path / "run"
    run(file, decathlon, out)
    groups = {part: set(np.load(out / f"{part}_groups.npy")) for part in ("train", "calibration", "test")}
    assert [len(groups[part]) for part in ("train", "calibration", "test")] == [6, 5, 5]
    assert not (groups["train"] & groups["calibration"] or groups["calibration"] & groups["test"])
    labels = np.load(out / "train_labels.npy")
    assert labels.shape == (6 * 4, 32, 32)  # the slices with an annotation
    assert labels.reshape(len(labels), -1).any(1).all()
    check_results(out, [1, 2])


def test_a_stage_is_made_again_when_its_output_was_changed_or_its_recipe_is_another(coco, declaration, tmp_path):
    file = declaration(COCO, {"train": 16, "calibration": 12, "test": 12}, [1], 1)
    out = tmp_path / "run"
    run(file, coco, out)
    with open(out / "test_probs.npy", "r+b") as changed:
        changed.seek(200)
        changed.write(b"\1")
    text = run(file, coco, out).stdout
    assert "train: done already" in text and "infer: done in" in text and "compare: done already" in text
    assert run(file, coco, out, "--quiet").stdout == ""
    (out / "calibration_probs.npy").unlink()
    assert "infer: done in" in run(file, coco, out).stdout
    text = run(file, coco, out, "--epochs", 2).stdout
    assert "prepare: done already" in text and "train: done in" in text and "compare: done in" in text


def test_a_trained_model_takes_the_place_of_training(coco, declaration, tmp_path):
    file = declaration(COCO, {"train": 16, "calibration": 12, "test": 12}, [1], 1)
    run(file, coco, tmp_path / "a")
    text = run(file, coco, tmp_path / "b", "--model", tmp_path / "a" / "unet.pt", "--batch", 3).stdout
    assert "train:" not in text
    assert (tmp_path / "a" / "table.txt").read_text().split()[:8] == (tmp_path / "b" / "table.txt").read_text().split()[:8]
    maps = np.load(tmp_path / "b" / "test_probs.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "a" / "test_probs.npy"), maps)
    other = declaration({**COCO, "intensity": "percentile"}, {"train": 16, "calibration": 12, "test": 12}, [1], 1)
    text = run(other, coco, tmp_path / "b", "--model", tmp_path / "a" / "unet.pt").stdout
    assert "prepare: done already" in text and "infer: done in" in text
    assert (np.load(tmp_path / "b" / "test_probs.npy") != maps).any()


def test_a_declaration_with_a_mistake_is_refused(coco, declaration, tmp_path):
    file = declaration({**COCO, "gird": [1, 1]}, {"train": 1, "calibration": 1, "test": 1}, [1], 1)
    result = run(file, coco, tmp_path / "run", check=False)
    assert result.returncode == 3
    assert "small.json" in result.stderr and '"gird"' in result.stderr
    file = declaration(COCO, {"train": 1, "calibration": 1, "test": 1}, [1], 1)
    written = json.loads(file.read_text())
    written["training"]["optimizer"] = "sgdd"
    file.write_text(json.dumps(written))
    result = run(file, coco, tmp_path / "run", check=False)
    assert result.returncode == 3 and result.stderr.count("\n") == 1, result.stderr
    assert all(part in result.stderr for part in ("small.json", '"optimizer" of "training"', '"sgdd"', "adam or adamw"))
    result = run("no-such", coco, tmp_path / "run", check=False)
    assert result.returncode == 2 and "no-such" in result.stderr


def test_too_few_scans_are_an_error(coco, declaration, tmp_path):
    file = declaration(COCO, {"train": 30, "calibration": 12, "test": 12}, [1], 1)
    result = run(file, coco, tmp_path / "run", check=False)
    assert result.returncode == 3 and "54" in result.stderr and "40" in result.stderr
