"""collect: true sizes, groups for every image, names that a table can hold."""

import csv

import numpy as np
import pytest
from support import Room, scene


@pytest.fixture
def files(tmp_path):
    room = Room(tmp_path)
    room.all = scene(6, seed=5)
    room.names = ["plain_1", "a, b", 'say "x"', "z_2", "y_3", "x_4"]
    for side, arrays in zip(["p", "y"], room.all):
        (tmp_path / side).mkdir()
        for name, one in zip(room.names, arrays):
            np.save(tmp_path / side / f"{name}.npy", one)
    return room


def test_sizes_are_true(files):
    assert "6 images of 6 cases, 5 x 7 pixels" in files.does("collect", "--probs", "p", "--labels", "y", "-o", "a").out
    assert "6 images of 6 cases, 5 x 7 pixels" in files.does("collect", "--labels", "y", "-o", "b").out
    assert "3 x 4 pixels" in files.does("collect", "--probs", "p", "--resize", "4x3", "-o", "c").out


def test_names_with_commas_and_quotes_survive(files):
    files.does("collect", "--probs", "p", "-o", "a")
    with open(files.folder / "a" / "images.csv", newline="") as table:
        rows = list(csv.reader(table))
    assert rows == [["name", "slice"], *[[name, "0"] for name in sorted(files.names)]]


def test_groups_are_always_there(files):
    files.does("collect", "--probs", "p", "--labels", "y", "-o", "a")
    groups = files.load("a/groups.npy")
    assert groups.dtype == np.int64 and groups.shape == (6,) and len(set(groups)) == 6
    files.does("collect", "--probs", "p", "--labels", "y", "--group-by", "^(.)", "-o", "b")
    assert files.load("b/groups.npy").shape == (6,)
    files.does("calibrate", "--probs", "a/probs.npy", "--labels", "a/labels.npy", "--groups", "a/groups.npy", "-m", "image", "-o", "a.kcal")


def test_options_without_anything_to_read_are_refused(files):
    files.refuses(2, ["--logits has no effect"], "collect", "--labels", "y", "--logits", "sigmoid", "-o", "a")
    files.refuses(2, ["--only-annotated has no effect"], "collect", "--probs", "p", "--only-annotated", "-o", "a")
    files.refuses(2, ["--axis has no effect", "not volumes"], "collect", "--probs", "p", "--axis", "coronal", "-o", "a")
