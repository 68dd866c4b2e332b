"""Options that must be the same at prediction are stored in the calibrator, applied automatically, and refused if contradicted."""

import json

import numpy as np
import pytest
from support import Room, scene


def logit(p):
    return np.log(p / (1 - p)).astype(np.float32)


@pytest.fixture
def logits(tmp_path):
    room = Room(tmp_path)
    probs, labels = scene(12, seed=6)
    labels[:, 0, 0] = 9
    room.save("z.npy", logit(probs))
    room.save("y.npy", labels)
    for side, arrays in [("Z", logit(probs)), ("Y", labels)]:
        (tmp_path / side).mkdir()
        for i, one in enumerate(arrays):
            np.save(tmp_path / side / f"s{i:02}.npy", one)
    return room


@pytest.mark.parametrize("probs,labels,more", [("z.npy", "y.npy", ()), ("Z", "Y", ("--grid", "6x5", "--padding", "background"))])
def test_logits_and_ignored_labels_are_repeated(logits, probs, labels, more):
    reading = ("--logits", "sigmoid", "--ignore", "9,255")
    logits.does("calibrate", "--probs", probs, "--labels", labels, "-m", "image", *reading, *more, "-o", "a.kcal")
    data = json.loads(logits.does("inspect", "a.kcal", "--json").out)["data"]
    assert data["logits"] == "sigmoid" and data["ignore"] == [9, 255]
    evaluate = ("evaluate", "a.kcal", "--probs", probs, "--labels", labels)
    assert logits.does(*evaluate).out == logits.does(*evaluate, "--logits", "sigmoid", "--ignore", "255,9").out
    logits.refuses(2, ["--logits none contradicts", "sigmoid"], *evaluate, "--logits", "none")
    logits.refuses(2, ["--ignore 255 contradicts", "9,255"], *evaluate, "--ignore", "255")
    predict = ("predict", "a.kcal", "--probs", probs, "-o")
    logits.does(*predict, "one.npy")
    logits.does(*predict, "two.npy", "--logits", "sigmoid")
    np.testing.assert_array_equal(logits.load("one.npy"), logits.load("two.npy"))
    logits.refuses(2, ["--logits softmax contradicts"], *predict, "three.npy", "--logits", "softmax")
    if more:
        logits.refuses(2, ["--grid contradicts"], *evaluate, "--grid", "5x5")


def test_a_pipe_records_the_same(logits):
    words = ("calibrate", "--labels", "y.npy", "-m", "pixel", "--pooling", "pixels", "--sketch", "0.01", "--logits", "sigmoid",
             "--ignore", "9", "-o", "a.kcal", "--score", "lac")  # fmt: skip
    with open(logits.folder / "z.npy", "rb") as pipe:
        logits.does(*words, "--probs", "-", stdin=pipe)
    meta = json.loads(logits.does("inspect", "a.kcal", "--json").out)
    assert meta["data"]["logits"] == "sigmoid" and meta["data"]["ignore"] == [9]
    # The fallback of a pipe is that of a file.
    files = [word for word in words if word not in ("--sketch", "0.01")]
    logits.does(*files[:-4], "-o", "b.kcal", "--score", "lac", "--probs", "z.npy")
    assert json.loads(logits.does("inspect", "b.kcal", "--json").out)["options"]["fallback"] == meta["options"]["fallback"]


def test_sets_go_through_pipes(room):
    room.calibrate("-m", "image")
    room.does("predict", "cal.kcal", "--probs", "probs.npy", "-o", "sets.npy")
    expected = (room.folder / "sets.npy").read_bytes()
    with open(room.folder / "probs.npy", "rb") as source, open(room.folder / "piped.npy", "wb") as target:
        result = room.run("predict", "cal.kcal", "--probs", "-", "-o", "-", stdin=source, stdout=target)
    assert result.code == 0 and (room.folder / "piped.npy").read_bytes() == expected
    with open(room.folder / "labels.npy", "rb") as source:
        room.refuses(3, ["standard input", "four axes"], "predict", "cal.kcal", "--probs", "-", "-o", "a.npy", stdin=source)
