"""Training and inference with libtorch on the CPU, through the command."""

import json
import random
import signal
import subprocess
import time

import nibabel
import numpy as np
import pytest
from conftest import COMMAND, discs, kandinsky
from PIL import Image

SMALL = ["--width", 4, "--depth", 2, "--batch", 4, "--threads", 1, "--device", "cpu"]


def train(folder, *more, **options):
    return kandinsky(
        "train", "--images", "images.npy", "--labels", "labels.npy", *SMALL, *more, cwd=folder, **options
    )


def test_the_loss_falls_and_the_network_finds_the_discs(arrays):
    train(arrays, "--epochs", 15, "--rate", 0.01, "--anneal", 0.5, "-o", "unet.pt", "--log", "log.csv")
    log = np.genfromtxt(arrays / "log.csv", delimiter=",", names=True)
    assert len(log) == 15
    assert log["dice_0"][-1] > 0.8
    images, labels = discs(6, seed=9)
    np.save(arrays / "new.npy", images)
    kandinsky("infer", "--model", "unet.pt", "--images", "new.npy", "-o", "probs.npy", cwd=arrays)
    probs = np.load(arrays / "probs.npy")
    assert probs.shape == (6, 1, 32, 32) and probs.dtype == np.float16
    found = probs[:, 0] >= 0.5
    assert 2 * (found & (labels == 1)).sum() / (found.sum() + labels.sum()) > 0.75


def test_the_models_file_opens_with_numpy(arrays):
    train(arrays, "--epochs", 1, "-o", "unet.pt")
    weights = np.load(arrays / "unet.pt")
    assert weights["down0.first.weight"].shape == (4, 3, 3, 3)
    assert not any(name.startswith("first_moment") for name in weights.files)


def test_equal_seeds_give_equal_bytes(arrays):
    for name, seed in (("a.pt", 0), ("b.pt", 0), ("c.pt", 1)):
        train(arrays, "--epochs", 2, "--seed", seed, "-o", name)
    a, b, c = ((arrays / name).read_bytes() for name in ("a.pt", "b.pt", "c.pt"))
    assert a == b
    assert a != c


def test_a_killed_training_resumes_to_the_same_bytes(arrays):
    train(arrays, "--epochs", 8, "-o", "whole.pt", "--checkpoint", "none")
    arguments = ["train", "--images", "images.npy", "--labels", "labels.npy", *SMALL, "--epochs", 8, "-o", "cut.pt"]
    moments = random.Random(20231120)
    unfinished = 0
    for attempt in range(3):
        process = subprocess.Popen(
            [COMMAND, *map(str, arguments)], cwd=arrays, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        # Waits for a checkpoint, then kills at a random moment; the first time at once, before the training can end.
        start = time.monotonic()
        while not (arrays / "cut.pt.checkpoint").exists() and process.poll() is None:
            assert time.monotonic() - start < 300
            time.sleep(0.01)
        time.sleep(moments.uniform(0, 0.3) if attempt > 0 else 0)
        process.kill()
        process.wait()
        unfinished += not (arrays / "cut.pt").exists()
    assert unfinished > 0
    result = kandinsky(*arguments, cwd=arrays)
    assert "resumed" in result.stdout
    assert (arrays / "cut.pt").read_bytes() == (arrays / "whole.pt").read_bytes()


def test_an_interrupted_training_says_how_it_continues(arrays):
    arguments = ["train", "--images", "images.npy", "--labels", "labels.npy", *SMALL, "--epochs", 100000, "-o", "cut.pt"]
    with subprocess.Popen([COMMAND, *map(str, arguments)], cwd=arrays, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        while not (arrays / "cut.pt.checkpoint").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert b"interrupted; no model was written; the same command continues from the last checkpoint" in told
    assert not (arrays / "cut.pt").exists()


def test_a_checkpoint_of_images_that_were_prepared_otherwise_is_refused(arrays):
    train(arrays, "--epochs", 1, "-o", "unet.pt", "--intensity", "byte")
    result = train(arrays, "--epochs", 1, "-o", "unet.pt", "--intensity", "percentile", check=False)
    assert result.returncode == 2 and result.stderr.count("\n") == 1, result.stderr
    assert "unet.pt.checkpoint" in result.stderr and "other options or images" in result.stderr
    assert "resumed" in train(arrays, "--epochs", 1, "-o", "unet.pt", "--intensity", "byte").stdout


def test_calibrating_with_a_model_equals_calibrating_its_stored_maps(arrays):
    train(arrays, "--epochs", 2, "-o", "unet.pt")
    kandinsky("infer", "--model", "unet.pt", "--images", "images.npy", "-o", "probs.npy", cwd=arrays)
    common = ["--labels", "labels.npy", "--method", "kmeans"]
    kandinsky("calibrate", "--probs", "probs.npy", *common, "-o", "stored.kcal", cwd=arrays)
    kandinsky("calibrate", "--model", "unet.pt", "--images", "images.npy", *common, "-o", "direct.kcal", cwd=arrays)
    with np.load(arrays / "stored.kcal") as stored, np.load(arrays / "direct.kcal") as direct:
        names = [name for name in stored.files if name != "meta.json"]
        assert names == [name for name in direct.files if name != "meta.json"]
        for name in names:
            np.testing.assert_array_equal(stored[name], direct[name])


@pytest.mark.parametrize(
    ("arguments", "code", "parts"),
    [
        (["--images", "odd.npy", "--labels", "odd_labels.npy"], 3, ["30 x 30", "multiples of 4"]),
        (["--images", "images.npy", "--labels", "zero.npy"], 3, ["nothing to learn"]),
        (["--images", "images.npy", "--labels", "labels.npy", "--optimizer", "sgd"], 2, ["sgd", "adamw"]),
        (["--images", "images.npy", "--labels", "odd_labels.npy"], 3, ["odd_labels.npy", "[12, 32, 32]"]),
        (["--images", "absent.npy", "--labels", "labels.npy"], 4, ["absent.npy"]),
    ],
)
def test_bad_input_gets_one_line(arrays, arguments, code, parts):
    np.save(arrays / "odd.npy", np.zeros((3, 3, 30, 30), np.uint8))
    np.save(arrays / "odd_labels.npy", np.ones((3, 30, 30), np.uint8))
    np.save(arrays / "zero.npy", np.zeros((12, 32, 32), np.uint8))
    result = kandinsky("train", *SMALL, "--epochs", 1, "-o", "x.pt", *arguments, cwd=arrays, check=False)
    assert result.returncode == code, result.stderr
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr
    assert not (arrays / "x.pt").exists()


def test_a_model_that_cannot_be_written_is_refused_before_training(arrays):
    result = train(arrays, "--epochs", 100000, "-o", "nowhere/unet.pt", "--checkpoint", "state", check=False)
    assert result.returncode == 4 and "nowhere/unet.pt" in result.stderr, result.stderr
    assert result.stdout == "" and not (arrays / "state").exists()


def test_a_table_names_the_groups_of_photos(arrays):
    images, labels = np.load(arrays / "images.npy"), np.load(arrays / "labels.npy")
    for name in ("photos", "masks"):
        (arrays / name).mkdir()
    for i in range(len(images)):
        Image.fromarray(np.moveaxis(images[i], 0, -1)).save(arrays / "photos" / f"p{i:02}.png")
        Image.fromarray(labels[i]).save(arrays / "masks" / f"p{i:02}.png")
    np.save(arrays / "groups.npy", np.arange(12) // 3)
    (arrays / "groups.csv").write_text("".join(f"p{i:02},{i // 3}\n" for i in reversed(range(12))))
    for groups in ("groups.npy", "groups.csv"):
        kandinsky("train", "--images", "photos", "--labels", "masks", "--intensity", "percentile", "--groups", groups, *SMALL,
                  "--epochs", 1, "-o", groups + ".pt", cwd=arrays)  # fmt: skip
    assert (arrays / "groups.csv.pt").read_bytes() == (arrays / "groups.npy.pt").read_bytes()


@pytest.mark.parametrize("depth", [0, 9, 40])
def test_an_impossible_depth_is_refused(arrays, depth):
    words = ["train", "--images", "images.npy", "--labels", "labels.npy", "--width", 4, "--depth", depth, "-o", "x.pt"]
    result = kandinsky(*words, cwd=arrays, check=False)
    assert result.returncode == 2 and result.stderr == f"kandinsky: --depth is {depth}, but must be 1 to 8\n"


def test_a_damaged_or_foreign_model_is_refused(arrays):
    train(arrays, "--epochs", 1, "-o", "unet.pt")
    content = bytearray((arrays / "unet.pt").read_bytes())
    content[len(content) // 2] ^= 1
    (arrays / "damaged.pt").write_bytes(content)
    (arrays / "text.pt").write_text("no network")
    for name, more in (("damaged.pt", []), ("text.pt", ["--outputs", "sigmoid"]), ("text.pt", [])):
        result = kandinsky(
            "infer", "--model", name, "--images", "images.npy", "-o", "p.npy", *more, cwd=arrays, check=False
        )
        assert result.returncode in (2, 3), result.stderr
        assert result.stderr.startswith("kandinsky: ") and result.stderr.count("\n") == 1
        assert name in result.stderr
        assert not (arrays / "p.npy").exists()


def test_a_folder_of_photos_is_inferred_file_by_file(arrays):
    train(arrays, "--epochs", 1, "-o", "unet.pt")
    (arrays / "photos").mkdir()
    sizes = {"a": (24, 40), "b": (33, 21)}  # the second is no multiple of what the network takes
    for name, (height, width) in sizes.items():
        image = np.random.default_rng(len(name)).integers(0, 256, (height, width, 3), dtype=np.uint8)
        Image.fromarray(image).save(arrays / "photos" / f"{name}.png")
    kandinsky("infer", "--model", "unet.pt", "--images", "photos", "-o", "probs", cwd=arrays)
    for name, size in sizes.items():
        probs = np.load(arrays / "probs" / f"{name}.npy")
        assert probs.shape == (1, *size) and probs.dtype == np.float16
        assert 0 <= probs.min() <= probs.max() <= 1


def test_a_folder_of_volumes_is_inferred_in_the_order_of_its_own_files(arrays):
    """Axes are turned for the network and turned back: the maps lie on the voxels they belong to."""
    random = np.random.default_rng(5)
    for name in ("imagesTr", "labelsTr"):
        (arrays / name).mkdir()
    turned = {"scan_1": np.diag([1, 1, 1, 1]), "scan_2": np.diag([-1, 1, -2, 1])}
    for name, affine in turned.items():
        labels = np.zeros((12, 16, 5), np.uint8)
        labels[2:6, 3:12, 1:4] = 1
        image = (100 + 300 * labels + random.normal(0, 5, labels.shape)).astype(np.int16)
        for kind, volume in (("imagesTr", image), ("labelsTr", labels)):
            nibabel.save(nibabel.Nifti1Image(volume, affine.astype(float)), arrays / kind / f"{name}.nii.gz")
    kandinsky("train", "--images", "imagesTr", "--labels", "labelsTr", "--intensity", "percentile", "--width", 4,
              "--depth", 2, "--batch", 2, "--threads", 1, "--device", "cpu", "--epochs", 25, "--rate", 0.01,
              "--no-augment", "--anneal", 1, "-o", "unet.pt", cwd=arrays)  # fmt: skip
    kandinsky("infer", "--model", "unet.pt", "--images", "imagesTr", "-o", "probs", "--dtype", "float32", cwd=arrays)
    for name in turned:
        probs = np.load(arrays / "probs" / f"{name}.npz")["probabilities"]
        labels = np.asarray(nibabel.load(arrays / "labelsTr" / f"{name}.nii.gz").dataobj)
        assert probs.shape == (1, 5, 16, 12)
        found = probs[0].transpose(2, 1, 0) > 0.5
        assert 2 * (found & (labels == 1)).sum() / (found.sum() + labels.sum()) > 0.9
    # One array has the same maps: all slices of a volume are scaled together there too.
    kandinsky("infer", "--model", "unet.pt", "--images", "imagesTr", "-o", "all.npy", "--dtype", "float32", cwd=arrays)
    kandinsky("collect", "--probs", "probs", "--labels", "labelsTr", "-o", "read", cwd=arrays)
    np.testing.assert_allclose(np.load(arrays / "all.npy"), np.load(arrays / "read" / "probs.npy"), atol=1e-5)
    kandinsky("calibrate", "--probs", "probs", "--labels", "labelsTr", "--method", "image", "-o", "a.kcal", cwd=arrays)
    result = kandinsky("inspect", "a.kcal", "--json", cwd=arrays)
    assert json.loads(result.stdout)["data"]["groups"] == 2
