"""No output may be one of the inputs: not by its path, another spelling, a symbolic link or a hard link."""

import os
import shutil

import numpy as np
import pytest
from support import snapshot

CALIBRATE = ("calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "-m", "image")
EVALUATE = ("evaluate", "cal.kcal", "--probs", "probs.npy", "--labels", "labels.npy")


@pytest.fixture
def made(room):
    room.calibrate("-m", "image")
    room.save("groups.npy", np.arange(4))
    room.save("mask.npy", np.zeros((5, 7), int))
    for side, arrays in [("p", room.probs), ("y", room.labels)]:
        (room.folder / side).mkdir()
        for i, one in enumerate(arrays):
            np.save(room.folder / side / f"s{i}.npy", one)
    return room


@pytest.mark.parametrize("words", [
    (*CALIBRATE, "-o", "probs.npy"),
    (*CALIBRATE, "-o", "labels.npy"),
    (*CALIBRATE, "-o", "a.kcal", "--regions", "labels.npy"),
    (*CALIBRATE, "-o", "a.kcal", "--curves", "probs.npy"),
    (*CALIBRATE, "--groups", "groups.npy", "-o", "groups.npy"),
    ("calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "-m", "mask", "--mask", "mask.npy", "-o", "mask.npy"),
    ("predict", "cal.kcal", "--probs", "probs.npy", "-o", "probs.npy"),
    ("predict", "cal.kcal", "--probs", "probs.npy", "-o", "cal.kcal"),
    ("predict", "cal.kcal", "--probs", "probs.npy", "--pvalues", "probs.npy"),
    ("predict", "cal.kcal", "--thresholds", "cal.kcal"),
    ("predict", "cal.kcal", "--probs", "p", "-o", "p"),
    ("predict", "cal.kcal", "--probs", "p", "--pvalues", "p/s0.npy"),
    (*EVALUATE, "--json", "labels.npy"),
    (*EVALUATE, "--ce-map", "cal.kcal"),
    (*EVALUATE, "--ece-map", "probs.npy"),
    ("compare", "--cal-probs", "probs.npy", "--cal-labels", "labels.npy", "--test-probs", "probs.npy", "--test-labels", "labels.npy",
     "--methods", "image", "--json", "labels.npy"),
    ("report", "cal.kcal", "--probs", "probs.npy", "--labels", "labels.npy", "-o", "probs.npy"),
    ("report", "cal.kcal", "--probs", "probs.npy", "--labels", "labels.npy", "-o", "cal.kcal"),
    ("report", "cal.kcal", "--probs", "p", "--labels", "y", "--figures", "y"),
    ("collect", "--probs", "p", "--labels", "y", "-o", "p"),
    ("collect", "--probs", "p", "--labels", "y", "-o", "./y/"),
    ("infer", "--model", "cal.kcal", "--images", "p", "-o", "p"),
    ("infer", "--model", "cal.kcal", "--images", "probs.npy", "-o", "probs.npy"),
    ("train", "--images", "probs.npy", "--labels", "labels.npy", "-o", "labels.npy"),
    ("train", "--images", "probs.npy", "--labels", "labels.npy", "-o", "net.pt", "--log", "probs.npy"),
    ("experiment", "none.json", "--data", "p", "-o", "p"),
])  # fmt: skip
def test_an_output_that_is_an_input_is_refused(made, words):
    made.refuses(2, ["would overwrite", "name another one"], *words)


@pytest.mark.parametrize("spell", ["./probs.npy", "p/../probs.npy", "link.npy", "hard.npy"])
def test_another_spelling_or_link_is_the_same_file(made, spell):
    (made.folder / "link.npy").symlink_to("probs.npy")
    os.link(made.folder / "probs.npy", made.folder / "hard.npy")
    made.refuses(2, ["--output", "the input of --probs"], *CALIBRATE, "-o", spell)


def test_files_of_input_folders_are_kept_and_others_may_be_written_there(made):
    words = ("calibrate", "--probs", "p", "--labels", "y", "-m", "image")
    made.refuses(2, ["a file of --labels y"], *words, "-o", "a.kcal", "--regions", "y/s1.npy")
    for _ in range(2):  # the second time the file exists
        made.does(*words, "-o", "p/cal.kcal")
    os.link(made.folder / "y" / "s2.npy", made.folder / "hard.npy")
    made.refuses(2, ["a file of --labels y"], *words, "-o", "a.kcal", "--curves", "hard.npy")


def test_a_key_of_an_archive_is_its_file(made):
    np.savez(made.folder / "both.npz", probs=made.probs, labels=made.labels)
    made.refuses(2, ["would overwrite"], "calibrate", "--probs", "both.npz:probs", "--labels", "both.npz:labels", "-o", "both.npz")


def test_a_subfolder_that_cannot_be_listed_does_not_hide_the_other_files(made):
    locked = [made.folder / "y" / f"locked{i}" for i in range(20)]
    for folder in locked:
        folder.mkdir(mode=0)
    made.folder.chmod(0o755)
    try:
        who = {"user": 65534} if os.geteuid() == 0 else {}  # root may list every folder
        for i in range(len(made.labels)):  # in whatever order the folder is listed
            words = ("calibrate", "--probs", "p", "--labels", "y", "-m", "image", "-o", "a.kcal", "--regions", f"y/s{i}.npy")
            made.refuses(2, ["a file of --labels y"], *words, **who)
    finally:
        for folder in locked:
            folder.chmod(0o700)


@pytest.mark.parametrize("words", [
    ("predict", "cal.kcal", "--probs", "p", "-o", "D", "--pvalues", "./D/"),
    ("outline", "--cal-probs", "p", "--cal-labels", "y", "--probs", "p", "-o", "D", "--contours", "D"),
    ("report", "cal.kcal", "--probs", "p", "--labels", "y", "-o", "D", "--figures", "D"),
    ("train", "--images", "probs.npy", "--labels", "labels.npy", "-o", "net.pt", "--log", "net.pt"),
    ("train", "--images", "probs.npy", "--labels", "labels.npy", "-o", "net.pt", "--checkpoint", "net.pt"),
    ("train", "--images", "probs.npy", "--labels", "labels.npy", "-o", "net.pt", "--log", "net.pt.checkpoint"),
])  # fmt: skip
def test_two_outputs_may_not_have_one_name(made, words):
    made.refuses(2, ["both write", "a name of its own"], *words)


def test_two_outputs_may_not_be_one_file(made):
    before = snapshot(made.folder)
    made.refuses(2, ["both write"], *CALIBRATE, "-o", "a.npy", "--curves", "p/../a.npy")
    assert snapshot(made.folder) == before
    shutil.rmtree(made.folder / "p")
