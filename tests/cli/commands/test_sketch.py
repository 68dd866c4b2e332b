"""calibrate --sketch: one walk, from files and from pipes, to the same bytes; its error told and kept."""

import io
import json
import os
import threading

import numpy as np
import pytest
from support import scene

SKETCH = ["--sketch", "0.01", "--pooling", "pixels"]


def as_npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.fixture
def many(room):
    """150 images: more than one block of them."""
    room.probs, room.labels = scene(150, seed=3)
    room.save("probs.npy", room.probs)
    room.save("labels.npy", room.labels)
    return room


def feed(path, data):
    """Writes into a pipe from a thread, as another program would."""
    def write():
        with open(path, "wb") as pipe:
            pipe.write(data)
    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("method", ["pixel", "image", "kmeans", "genann", "fcc"])
def test_a_pipe_gives_the_bytes_of_the_file(many, method):
    many.calibrate("--method", method, *SKETCH, output="file.kcal")
    many.does("calibrate", "--probs", "-", "--labels", "labels.npy", "-o", "pipe.kcal", "--method", method, *SKETCH,
              stdin=open(many.folder / "probs.npy", "rb"))
    assert (many.folder / "file.kcal").read_bytes() == (many.folder / "pipe.kcal").read_bytes()


def test_pooling_groups_has_the_same_fallback_from_a_pipe(many):
    labels = many.labels.copy()
    labels[:, :2] = 0  # pixels where the other classes have no score
    many.save("labels.npy", labels)
    words = ["--method", "pixel", "--pooling", "groups", "--sketch", "0.01"]
    many.calibrate(*words, output="file.kcal")
    many.does("calibrate", "--probs", "-", "--labels", "labels.npy", "-o", "pipe.kcal", *words,
              stdin=open(many.folder / "probs.npy", "rb"))
    assert (many.folder / "file.kcal").read_bytes() == (many.folder / "pipe.kcal").read_bytes()


def test_two_named_pipes_of_any_number_format_are_read_side_by_side(many):
    many.calibrate("--method", "pixel", *SKETCH, output="file.kcal")
    for name in ("p", "y"):
        os.mkfifo(many.folder / name)
    threads = [feed(many.folder / "p", as_npy(many.probs.astype(">f4"))),
               feed(many.folder / "y", as_npy(many.labels.astype(np.int64)))]
    many.does("calibrate", "--probs", "p", "--labels", "y", "-o", "pipe.kcal", "--method", "pixel", *SKETCH)
    for thread in threads:
        thread.join(timeout=60)
    assert (many.folder / "file.kcal").read_bytes() == (many.folder / "pipe.kcal").read_bytes()


@pytest.mark.parametrize("method", ["pixel", "image"])
def test_thresholds_are_above_the_exact_ones_by_the_told_error_at_most(many, method):
    many.calibrate("--method", method, "--curves", "exact.npy", "--pooling", "pixels")
    many.calibrate("--method", method, "--curves", "sketch.npy", *SKETCH)
    error = json.loads(many.does("inspect", "cal.kcal", "--json").out)["options"]["sketch"]["error"]
    assert 0 < error <= 0.01
    exact, sketch = many.load("exact.npy"), many.load("sketch.npy")
    known = np.isfinite(exact)
    assert np.array_equal(exact[~known], sketch[~known])
    above = sketch[known].astype(np.float64) - exact[known]
    assert above.min() >= 0 and above.max() <= error


def test_inspect_tells_the_error_in_words(many):
    many.calibrate("--method", "kmeans", *SKETCH)
    line = next(line for line in many.does("inspect", "cal.kcal").out.splitlines() if line.startswith("precision"))
    assert "at most 0.0099" in line and "never below" in line
    many.calibrate("--method", "kmeans", "--pooling", "pixels")
    assert "precision" not in many.does("inspect", "cal.kcal").out


def test_groups_come_from_a_file(many):
    many.save("groups.npy", np.arange(150) // 3)
    many.calibrate("--groups", "groups.npy", "--method", "image", *SKETCH, output="file.kcal")
    many.does("calibrate", "--probs", "probs.npy", "--labels", "-", "--groups", "groups.npy", "-o", "pipe.kcal",
              "--method", "image", *SKETCH, stdin=open(many.folder / "labels.npy", "rb"))
    assert (many.folder / "file.kcal").read_bytes() == (many.folder / "pipe.kcal").read_bytes()
    assert "50 groups" in many.does("inspect", "pipe.kcal").out


def refuses_stream(room, code, parts, data, *args):
    room.save("stream.bin.npy", np.zeros(1))
    path = room.folder / "stream.bin.npy"
    path.write_bytes(data)
    with open(path, "rb") as stream:
        room.refuses(code, parts, "calibrate", "--probs", "-", "--labels", "labels.npy", "-o", "x.kcal", *args,
                     stdin=stream)


def test_bad_streams_are_refused_in_one_line(many):
    good, words = as_npy(many.probs), ["--method", "pixel", *SKETCH]
    refuses_stream(many, 3, ["standard input", "ends after"], good[:-5], *words)
    refuses_stream(many, 3, ["standard input", "after its 150 rows"], good + b"x", *words)
    refuses_stream(many, 3, ["standard input", "magic"], b"PK" + good[2:], *words)
    refuses_stream(many, 3, ["standard input", "Fortran"], as_npy(np.asfortranarray(many.probs)), *words)
    refuses_stream(many, 3, ["standard input", "100"], as_npy(many.probs[:100]), *words)
    bad = many.probs.copy()
    bad[130, 1, 2, 3] = 7
    refuses_stream(many, 3, ["image 130, class 1, row 2, column 3"], as_npy(bad), *words)
    refuses_stream(many, 2, ["--sketch"], good, "--method", "pixel")


def test_what_needs_more_than_one_walk_is_refused(many):
    data = ["calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "-o", "x.kcal", "--sketch", "0.01"]
    many.refuses(2, ["--sketch", "field"], *data, "--method", "field", "--pooling", "pixels")
    many.refuses(2, ["--sketch", "field"], *data, "--pooling", "pixels")
    many.refuses(2, ["--sketch", "auto"], *data, "--method", "auto", "--pooling", "pixels")
    many.refuses(2, ["--pooling pixels"], *data, "--method", "image")
    many.refuses(2, ["--split"], *data, "--method", "pixel", "--split", "0.5")
    many.refuses(2, ["--memory"], *data[:-1], "0.00002", "--method", "pixel", "--memory", "1M")
    many.refuses(2, ["--sketch"], *data[:-1], "-1", "--method", "pixel")
