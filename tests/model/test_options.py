"""Every option of train, infer and experiment changes the written files, is listed as having no effect on them, or is refused.
tests/cli/options/test_matrix.py has the refusals that need no network. A new option fails here until a table names it."""

import itertools
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nibabel
import numpy as np
import pytest
import test_experiment
from conftest import COMMAND, discs, kandinsky
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from command_help import program_help  # noqa: E402

OPTIONS = {one.name: {option.long for option in one.options()} - {"--help", "--version"} for one in program_help(COMMAND)[1]}
SAME, REFUSED = "same", "refused"
FINE = "fine"  # it may change the last bits: libtorch divides its sums among threads
TRAIN = {"--images": "images.npy", "--labels": "labels.npy", "--output": "net.pt", "--log": "log.csv", "--width": "2", "--depth": "1",
         "--epochs": "3", "--batch": "2", "--rate": "0.01", "--checkpoint": "none", "--threads": "1", "--device": "cpu"}  # fmt: skip
PHOTOS = {"--images": "photos", "--labels": "masks"}
VOLUMES = {"--images": "imagesTr", "--labels": "labelsTr", "--intensity": "percentile"}
COCO = {"--images": "photos", "--labels": "annotations.json", "--categories": "disc"}
KEEP = {"--checkpoint": "state"}
INFER = {"--model": "net.pt", "--images": "images.npy", "--output": "probs.npy", "--threads": "1", "--device": "cpu"}
SCANS = {"--images": "imagesTr"}

# Option: (its words, options given in both calls, and the expected effect unless the written files must change).
CASES = {
    "train": {
        "--images": ({"--images": "others.npy"}, {}), "--labels": ({"--labels": "few.npy"}, {}), "--ignore": ({"--ignore": "2"}, {}),
        "--intensity": ({"--intensity": "none"}, {}), "--groups": ({"--groups": "groups.npy"}, {"--intensity": "percentile"}),
        "--val-images": ({"--val-images": "others.npy", "--val-labels": "few.npy"}, {}),
        "--val-labels": ({"--val-labels": "labels.npy"}, {"--val-images": "others.npy", "--val-labels": "few.npy"}),
        "--output": ({"--output": "another.pt"}, {}), "--log": ({"--log": "another.csv"}, {}), "--classes": ({"--classes": "1"}, {}),
        "--width": ({"--width": "3"}, {}), "--depth": ({"--depth": "2"}, {}), "--epochs": ({"--epochs": "2"}, {}),
        "--batch": ({"--batch": "3"}, {}), "--rate": ({"--rate": "0.05"}, {}), "--last-rate": ({"--last-rate": "0.005"}, {}),
        "--warm-up": ({"--warm-up": "2"}, {}), "--cycle": ({"--cycle": "2"}, {}), "--growth": ({"--growth": "3"}, {"--cycle": "2"}),
        "--share": ({"--share": "0.3"}, {}), "--anneal": ({"--anneal": "1"}, {"--share": "0.3"}), "--optimizer": ({"--optimizer": "adam"}, {"--decay": "0.5"}),
        "--decay": ({"--decay": "0.5"}, {}), "--no-augment": ({"--no-augment": ""}, {}), "--seed": ({"--seed": "5"}, {}),
        "--checkpoint": (KEEP, {}), "--checkpoint-every": ({"--checkpoint-every": "2"}, KEEP, SAME), "--fresh": ({"--fresh": ""}, KEEP, SAME),
        "--device": ({"--device": "auto"}, {}, SAME), "--mixed": ({"--mixed": ""}, {}, REFUSED), "--threads": ({"--threads": "2"}, {}, FINE),
        "--quiet": ({"--quiet": ""}, {}, SAME),
        "--resize": ({"--resize": "16x16"}, PHOTOS), "--grid": ({"--grid": "16x16"}, VOLUMES), "--axis": ({"--axis": "coronal"}, VOLUMES | {"--resize": "8x8"}),
        "--orient": ({"--orient": "stored"}, VOLUMES), "--only-annotated": ({"--only-annotated": ""}, VOLUMES),
        "--padding": ({"--padding": "background"}, VOLUMES | {"--grid": "16x16"}), "--group-by": ({"--group-by": "^(sc)"}, VOLUMES),
        "--categories": ({"--categories": "blob"}, COCO), "--crowd": ({"--crowd": "ignore"}, COCO), "--letterbox": ({"--letterbox": "16x8"}, COCO),
        "--overlap": ({"--overlap": "masks"}, COCO, REFUSED),
    },
    "infer": {
        "--model": ({"--model": "second.pt"}, {}), "--images": ({"--images": "others.npy"}, {}),
        # A change of scale alone is undone by the network's instance norms, up to the last bits; percentiles clip as well.
        "--intensity": ({"--intensity": "percentile"}, {}),
        "--groups": ({"--groups": "groups.npy"}, {"--intensity": "percentile"}), "--output": ({"--output": "another.npy"}, {}),
        "--dtype": ({"--dtype": "float32"}, {}), "--multiple": ({"--multiple": "16"}, {}), "--outputs": ({"--outputs": "softmax"}, {}, REFUSED),
        "--batch": ({"--batch": "3"}, {}, SAME), "--device": ({"--device": "auto"}, {}, SAME), "--mixed": ({"--mixed": ""}, {}, REFUSED),
        "--threads": ({"--threads": "2"}, {}, SAME), "--quiet": ({"--quiet": ""}, {}, SAME),
        "--grid": ({"--grid": "16x16"}, SCANS), "--resize": ({"--resize": "16x16"}, SCANS), "--axis": ({"--axis": "coronal"}, SCANS | {"--resize": "8x8"}),
        "--orient": ({"--orient": "stored"}, SCANS),
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Arrays, photos with masks and annotations, volumes, and two trained networks."""
    folder = tmp_path_factory.mktemp("world")
    random = np.random.default_rng(8)
    images, labels = discs(6, 8, 8, seed=1)
    labels[:, :2, :2] = 2
    np.save(folder / "images.npy", images)
    np.save(folder / "labels.npy", labels)
    np.save(folder / "others.npy", images[::-1] // 2)
    np.save(folder / "few.npy", np.minimum(np.roll(labels, 1, 1), 1))
    np.save(folder / "groups.npy", np.arange(6) // 3)
    for name in ("photos", "masks", "imagesTr", "labelsTr"):
        (folder / name).mkdir()
    annotations = []
    for i in range(6):
        Image.fromarray(np.moveaxis(images[i], 0, -1)).save(folder / "photos" / f"p{i}.png")
        Image.fromarray(labels[i]).save(folder / "masks" / f"p{i}.png")
        for category, crowd, box in [(1, 0, [1, 1, 5, 1, 5, 5, 1, 5]), (2, 0, [0, 6, 3, 6, 3, 8, 0, 8]), (1, 1, [6, 0, 8, 0, 8, 3, 6, 3])]:
            annotations.append({"id": len(annotations), "image_id": i, "category_id": category, "segmentation": [box], "iscrowd": crowd})
    files = [{"id": i, "file_name": f"p{i}.png", "height": 8, "width": 8} for i in range(6)]
    categories = [{"id": 1, "name": "disc"}, {"id": 2, "name": "blob"}]
    (folder / "annotations.json").write_text(json.dumps({"images": files, "annotations": annotations, "categories": categories}))
    for i in range(4):
        truth = np.zeros((8, 8, 4), np.uint8)
        truth[1 + i : 4 + i, 2:6, 1:3] = 1
        for kind, volume in (("imagesTr", 300 * truth + random.normal(0, 40 + 30 * i, truth.shape)), ("labelsTr", truth)):
            volume = volume.astype(np.int16 if kind == "imagesTr" else np.uint8)
            nibabel.save(nibabel.Nifti1Image(volume, np.diag([-1.0, 1.0, 1.0, 1.0])), folder / kind / f"scan_{i}.nii.gz")
    for name, seed in [("net.pt", "0"), ("second.pt", "1")]:
        kandinsky(*words_of("train", TRAIN | {"--output": name, "--seed": seed}), cwd=folder)
    (folder / "log.csv").unlink()
    one_channel = VOLUMES | {"--output": "scans.pt"}
    kandinsky(*words_of("train", TRAIN | one_channel), cwd=folder)
    (folder / "log.csv").unlink()
    return folder


def words_of(name, options):
    return [name, *(word for option, value in options.items() for word in ([option, value] if value else [option]))]


def call(world, name, options, here):
    """The files that a call writes, and the result of the call."""
    here.mkdir()
    given = {option: str(world / value) if (world / value).exists() and option not in ("--output", "--log") else value
             for option, value in options.items() if value != ""} | {option: "" for option, value in options.items() if value == ""}  # fmt: skip
    result = kandinsky(*words_of(name, given), cwd=here, check=False)
    return {one.name: one.read_bytes() for one in sorted(here.rglob("*")) if one.is_file()}, result


@pytest.mark.parametrize("name", ["train", "infer"])
def test_every_option_changes_what_is_written_or_is_refused(world, tmp_path, name):
    assert set(CASES[name]) == OPTIONS[name], f"new or gone: {set(CASES[name]) ^ OPTIONS[name]}"
    base, made, numbers, lock = {"train": TRAIN, "infer": INFER}[name], {}, itertools.count(), threading.Lock()

    def written(options):
        with lock:
            own, files = made.setdefault(tuple(sorted(options.items())), (threading.Lock(), []))
        with own:
            if not files:
                files.append(call(world, name, options, tmp_path / str(next(numbers))))
        return files[0]

    def judge(case):
        option, (given, beside, *rule) = case
        model = {"--model": "scans.pt"} if name == "infer" and beside.get("--images") == "imagesTr" else {}
        files, result = written(base | model | beside | given)
        if rule == [REFUSED]:
            fine = result.returncode in (2, 3) and result.stderr.count("\n") == 1 and not files
        else:
            before, plain = written(base | model | beside)
            fine = result.returncode == plain.returncode == 0 and (rule == [FINE] or (files == before) == (rule == [SAME]))
        return None if fine else f"{option}: {result.returncode} {result.stderr} {sorted(files)}"

    with ThreadPoolExecutor(3) as pool:
        wrong = [one for one in pool.map(judge, CASES[name].items()) if one]
    assert not wrong, "\n".join(wrong)


# Experiments take long, so their own tests also try their options.
EXPERIMENT = {
    "--data": "test_a_miniature_coco_goes_through_every_stage", "--output": "test_a_miniature_coco_goes_through_every_stage",
    "--epochs": "test_a_stage_is_made_again_when_its_output_was_changed_or_its_recipe_is_another",
    "--model": "test_a_trained_model_takes_the_place_of_training", "--batch": "test_a_trained_model_takes_the_place_of_training",
    "--device": "test_a_miniature_coco_goes_through_every_stage", "--threads": "test_a_miniature_coco_goes_through_every_stage",
    "--mixed": "refused with --device cpu, tests/cli/options/test_matrix.py", "--quiet": "test_a_stage_is_made_again_when_its_output_was_changed_or_its_recipe_is_another",
}  # fmt: skip


def test_every_option_of_an_experiment_has_a_test():
    assert set(EXPERIMENT) == OPTIONS["experiment"]
    for test in EXPERIMENT.values():
        assert hasattr(test_experiment, test) or test.startswith("refused")
