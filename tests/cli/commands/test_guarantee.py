"""The guarantee of every rule in `calibrate`, `inspect`, its JSON and `predict`; expected() derives it independently."""

import json
import re

import numpy as np
import pytest
from support import Room, scene

FIXED, FOUND = ("image", "mask"), ("kmeans", "genann", "fcc")  # regions that are given, and those found on the scores
PIXEL = "Take a pixel, and a new image that has the class at that pixel: the image's set at that pixel contains the class with probability at least 1 - alpha"
REGION = "Take a region, a new (image|group) that contains the class in that region, and a random pixel of the class in that region of the"
IMAGE = "Take a new (image|group) that contains the class, and a random pixel of the class in it:"
NOTHING = "No (general )?finite-sample guarantee"
ALPHA = "probability at least 1 - alpha, if calibration and new (images|groups) are exchangeable"


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    room = Room(tmp_path_factory.mktemp("guarantee"))
    probs, labels = scene(24, classes=2, grid=(8, 10), seed=5)
    room.save("probs.npy", probs)
    room.save("labels.npy", labels)
    room.save("groups.npy", np.arange(24) // 2)
    room.save("mask.npy", (np.arange(80).reshape(8, 10) % 3).astype(np.uint8))
    return room


def expected(method, pooling, split, grouped):
    if method == "field":
        return IMAGE if split and pooling == "groups" else NOTHING
    if method == "pixel":
        if not grouped:
            return PIXEL
        return REGION if pooling == "groups" else NOTHING
    if pooling == "pixels":
        return NOTHING
    if method == "image":
        return IMAGE
    return REGION if method in FIXED or split else NOTHING


@pytest.mark.parametrize("grouped", [False, True], ids=["images", "grouped"])
@pytest.mark.parametrize("split", [False, True], ids=["whole", "split"])
@pytest.mark.parametrize("pooling", ["groups", "pixels"])
@pytest.mark.parametrize("method", ["pixel", "field", *FIXED, *FOUND])
def test_the_guarantee_is_that_of_the_rule_wherever_it_is_printed(room, method, pooling, split, grouped):
    words = ["calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "--method", method, "--pooling", pooling, "-o", "cal.kcal"]
    words += {"mask": ["--mask", "mask.npy"], "genann": ["--genann-generations", "5"]}.get(method, [])
    if method in (*FIXED, "pixel"):
        if split:
            room.refuses(2, ["--split has no effect", "learns nothing"], *words, "--split", "0.5")
            return
    else:
        words += ["--split", "0.5"] if split else ["--promise", "none"]
    words += ["--groups", "groups.npy"] if grouped else []
    said = room.does(*words).out
    sentence = json.loads(room.does("inspect", "cal.kcal", "--json").out)["guarantee"]
    wanted = expected(method, pooling, split, grouped)
    assert re.match(wanted, sentence), sentence
    assert bool(re.search(ALPHA, sentence)) == (wanted != NOTHING), sentence
    if wanted != NOTHING:
        assert (" new group" in sentence) == grouped, sentence
    assert sentence in room.does("inspect", "cal.kcal").out
    assert sentence in said
    assert sentence in room.does("predict", "cal.kcal", "--probs", "probs.npy", "-o", "sets.npy").out


@pytest.mark.parametrize("grouped", [False, True], ids=["images", "grouped"])
@pytest.mark.parametrize("method", ["field", *FOUND])
def test_what_is_learnt_again_without_each_group_is_promised_for_the_image(room, method, grouped):
    words = ["calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "--method", method, "--promise", "loo",
             "-o", "cal.kcal"]
    words += {"genann": ["--genann-generations", "5", "--genann-radii", "2"], "fcc": ["--fcc-curves", "2"]}.get(method, [])
    words += ["--groups", "groups.npy"] if grouped else []
    said = room.does(*words).out
    sentence = json.loads(room.does("inspect", "cal.kcal", "--json").out)["guarantee"]
    assert re.match(IMAGE, sentence) and re.search(ALPHA, sentence) and (" new group" in sentence) == grouped, sentence
    assert sentence in said


def test_the_released_code_has_no_guarantee(room):
    room.does("calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "--method", "pixel", "--compat", "released", "-o", "cal.kcal")
    assert re.match(NOTHING, json.loads(room.does("inspect", "cal.kcal", "--json").out)["guarantee"])


def test_a_choice_has_a_guarantee_only_if_made_on_other_images_than_those_that_set_the_thresholds(room):
    words = ["calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "-m", "auto", "-o", "cal.kcal"]
    room.does(*words, "--promise", "none")
    assert re.match(NOTHING, json.loads(room.does("inspect", "cal.kcal", "--json").out)["guarantee"])
    room.does(*words, "--split", "0.5")
    told = json.loads(room.does("inspect", "cal.kcal", "--json").out)
    for cls, stratum in enumerate(told["strata"]):
        wanted = expected(stratum["method"], "groups", True, False)
        own = re.search(rf"Class(es)? [0-9, ]*\b{cls}\b[0-9, ]*: (.*)", told["guarantee"])
        assert re.match(wanted, own[2] if own else told["guarantee"])


LABELLED = "Take a pixel, and a new image with a label at that pixel: the image's set at that pixel contains the label with probability at least 1 - alpha"


@pytest.mark.parametrize("pooling", ["groups", "pixels"])
def test_the_guarantee_is_for_labels_if_all_classes_share_a_curve(room, pooling):
    words = ["calibrate", "--probs", "probs.npy", "--method", "pixel", "--condition", "none", "--pooling", pooling, "-o", "cal.kcal"]
    said = room.does(*words, "--labels", "labels.npy").out
    assert LABELLED in said and ALPHA.split(",")[0] in said, said
    # A group may have several images with a label there, and masks several labels in one image.
    weighed = "Take a region, a new " if pooling == "groups" else "No finite-sample guarantee"
    assert weighed in room.does(*words, "--labels", "labels.npy", "--groups", "groups.npy").out
    room.save("masks.npy", (room.load("labels.npy")[:, None] <= np.arange(2)[:, None, None]).astype(np.uint8))
    assert weighed in room.does(*words, "--labels", "masks.npy").out
    assert weighed in room.does("inspect", "cal.kcal").out
