"""Same data and seed, same bytes: for any number of threads and any order of the images."""

import json

import numpy as np
import pytest
from support import PATIENCE, Room, default_methods, methods, run, short_for, without_times

METHODS = methods()
ORDER = np.random.default_rng(0).permutation(24)


class Scenes(Room):
    """Scenes of the demo, larger than the tiles the work is cut into, and the same in another order."""

    def __init__(self, folder):
        self.folder = folder
        size = ["--images", "24", "--test-images", "24", "--size", "96x64" if PATIENCE == 1 else "48x32"]
        assert run("demo", "-o", "demo", *size, "-q", cwd=folder).code == 0
        (folder / "demo").rename(folder / "plain")
        (folder / "mixed").mkdir()
        groups = np.arange(24) // 2 * 5 - 7
        for name in ("cal_probs", "cal_labels", "test_probs", "test_labels"):
            self.save(f"mixed/{name}.npy", self.load(f"plain/{name}.npy")[ORDER])
        self.save("plain/groups.npy", groups)
        self.save("mixed/groups.npy", groups[ORDER])
        height, width = self.load("plain/cal_labels.npy").shape[1:]
        self.save("map.npy", np.add.outer(np.arange(height), np.arange(width)) // 20)

    def calibrated(self, where, method, *args):
        """The bytes of calibrator, curves and region map."""
        outputs = {"-o": "c.kcal", "--curves": "curves.npy", "--regions": "regions.npy"}
        if method == "field":
            del outputs["--regions"]  # field has no regions
        data = ["--probs", f"{where}/cal_probs.npy", "--labels", f"{where}/cal_labels.npy"]
        words = [word for pair in outputs.items() for word in pair] + short_for(method) + self.map(method)
        self.does("calibrate", *data, "--method", method, *words, *args)
        return [(self.folder / name).read_bytes() for name in outputs.values()]

    def predicted(self, where, *args):
        outputs = ["-o", "sets.npy", "--pvalues", "p.npy"]
        self.does("predict", "c.kcal", "--probs", f"{where}/test_probs.npy", *outputs, *args)
        return self.load("sets.npy"), self.load("p.npy")

    def evaluated(self, where, *args):
        data = ["--probs", f"{where}/test_probs.npy", "--labels", f"{where}/test_labels.npy"]
        return without_times(self.does("evaluate", "c.kcal", *data, "--json", "-", *args).out)

    def compared(self, where, *args):
        files = [(part, what) for part in ("cal", "test") for what in ("probs", "labels")]
        data = [f"--{part}-{what}={where}/{part}_{what}.npy" for part, what in files]
        return without_times(self.does("compare", *data, "--json", "-", *args).out)

    def map(self, method):
        return ["--mask", "map.npy"] if method == "mask" else []


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    return Scenes(tmp_path_factory.mktemp("scenes"))


def test_the_list_of_methods_was_understood():
    assert {"pixel", "image", "kmeans", "mask"} <= set(METHODS)
    assert set(METHODS) - set(default_methods()) == {"mask", "auto"}


@pytest.mark.parametrize("method", METHODS)
def test_threads_change_nothing(scenes, method):
    one, two = ["--threads", "1"], ["--threads", "2"]
    assert scenes.calibrated("plain", method, *one) == scenes.calibrated("plain", method, *two)
    for a, b in zip(scenes.predicted("plain", *one), scenes.predicted("plain", *two)):
        assert (a == b).all()
    assert scenes.evaluated("plain", *one) == scenes.evaluated("plain", *two)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("grouped", [False, True], ids=["images", "groups"])
def test_the_order_of_the_images_changes_nothing(scenes, method, grouped):
    # Twelve groups are few enough for leave-one-out, which searches for regions twelve times.
    rule = ["--promise", "none"] if method in ("genann", "fcc", "auto") else []

    def groups(where):
        return ["--groups", f"{where}/groups.npy", *rule] if grouped else []

    assert scenes.calibrated("plain", method, *groups("plain")) == scenes.calibrated("mixed", method, *groups("mixed"))
    for a, b in zip(scenes.predicted("plain"), scenes.predicted("mixed")):
        assert (a[ORDER] == b).all() and not (a == b).all()
    assert scenes.evaluated("plain") == scenes.evaluated("mixed")


@pytest.mark.parametrize("pooling", ["pixels", "groups"])
def test_little_memory_changes_nothing(scenes, pooling):
    for method in ("image", "kmeans"):
        plenty = scenes.calibrated("plain", method, "--pooling", pooling)
        assert scenes.calibrated("plain", method, "--pooling", pooling, "--memory", "1M") == plenty


def test_the_program_run_twice_writes_the_same_bytes(scenes):
    assert scenes.calibrated("plain", "kmeans") == scenes.calibrated("plain", "kmeans")


def test_draws_do_not_depend_on_threads_or_the_order_of_the_images(scenes):
    draws = ["--methods", "image,kmeans,pixel", "--promise", "none", "--sample", "9", "--draws", "3"]
    first = scenes.compared("plain", *draws, "--threads", "1")
    assert scenes.compared("plain", *draws, "--threads", "2") == first
    assert scenes.compared("mixed", *draws) == first
    grouped = scenes.compared("plain", *draws, "--cal-groups=plain/groups.npy")
    assert grouped != first
    assert scenes.compared("mixed", *draws, "--cal-groups=mixed/groups.npy") == grouped


def test_another_seed_is_recorded_and_draws_otherwise(scenes):
    scenes.calibrated("plain", "kmeans", "--seed", "1")
    assert json.loads(scenes.does("inspect", "c.kcal", "--json").out)["options"]["seed"] == 1
    draws = ["--methods", "image", "--sample", "9", "--draws", "3"]
    assert scenes.compared("plain", *draws, "--seed", "1") != scenes.compared("plain", *draws, "--seed", "2")


def test_other_data_has_another_fingerprint(scenes):
    def fingerprint():
        return json.loads(scenes.does("inspect", "c.kcal", "--json").out)["data"]["fingerprint"]

    scenes.calibrated("plain", "image")
    plain = fingerprint()
    scenes.calibrated("mixed", "image")
    assert fingerprint() == plain
    scenes.calibrated("plain", "image", "--groups", "plain/groups.npy")
    assert fingerprint() != plain
