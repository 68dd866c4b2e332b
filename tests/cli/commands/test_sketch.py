"""calibrate --sketch: one pass over a pipe; its error is printed and kept; files are refused."""

import io
import json
import os
import threading

import numpy as np
import pytest
from support import scene

SKETCH = ["--score", "lac", "--sketch", "0.01", "--pooling", "pixels"]


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


def stream(room, *args, output="cal.kcal", source="probs.npy"):
    """Calibrates with the probabilities on standard input."""
    with open(room.folder / source, "rb") as pipe:
        room.does("calibrate", "--probs", "-", "--labels", "labels.npy", "-o", output, *args, stdin=pipe)
    return (room.folder / output).read_bytes()


@pytest.mark.parametrize("method", ["pixel", "image", "kmeans", "genann", "fcc"])
def test_every_hard_method_calibrates_from_a_pipe(many, method):
    first = stream(many, "--method", method, *SKETCH)
    assert first == stream(many, "--method", method, *SKETCH, "--threads", "1", output="again.kcal")
    assert f"method        {method}" in many.does("inspect", "cal.kcal").out


def test_pooling_groups_has_no_fallback(many):
    labels = many.labels.copy()
    labels[:, :2] = 0  # pixels where the other classes have no score
    many.save("labels.npy", labels)
    stream(many, "--method", "pixel", "--pooling", "groups", "--sketch", "0.01")
    many.calibrate("--method", "pixel", "--pooling", "groups", output="exact.kcal")
    fallback = [json.loads(many.does("inspect", name, "--json").out)["options"]["fallback"]
                for name in ("cal.kcal", "exact.kcal")]
    assert fallback[0] == fallback[1] == "none"


def test_two_named_pipes_of_any_number_format_are_read_side_by_side(many):
    one = stream(many, "--method", "pixel", *SKETCH)
    for name in ("p", "y"):
        os.mkfifo(many.folder / name)
    threads = [feed(many.folder / "p", as_npy(many.probs.astype(">f4"))),
               feed(many.folder / "y", as_npy(many.labels.astype(np.int64)))]
    many.does("calibrate", "--probs", "p", "--labels", "y", "-o", "pipe.kcal", "--method", "pixel", *SKETCH)
    for thread in threads:
        thread.join(timeout=60)
    assert (many.folder / "pipe.kcal").read_bytes() == one


@pytest.mark.parametrize("method", ["pixel", "image"])
def test_thresholds_exceed_the_exact_ones_by_at_most_the_stated_error(many, method):
    many.calibrate("--method", method, "--curves", "exact.npy", "--pooling", "pixels")
    stream(many, "--method", method, "--curves", "sketch.npy", *SKETCH)
    error = json.loads(many.does("inspect", "cal.kcal", "--json").out)["options"]["sketch"]["error"]
    assert 0 < error <= 0.01
    exact, sketch = many.load("exact.npy"), many.load("sketch.npy")
    known = np.isfinite(exact)
    assert np.array_equal(exact[~known], sketch[~known])
    above = sketch[known].astype(np.float64) - exact[known]
    assert above.min() >= 0 and above.max() <= error


def test_inspect_prints_the_error_in_words(many):
    stream(many, "--method", "kmeans", *SKETCH)
    line = next(line for line in many.does("inspect", "cal.kcal").out.splitlines() if line.startswith("precision"))
    assert "at most 0.0099" in line and "never below" in line
    many.calibrate("--method", "kmeans", "--pooling", "pixels")
    assert "precision" not in many.does("inspect", "cal.kcal").out


def test_groups_come_from_a_file_and_either_array_from_the_pipe(many):
    many.save("groups.npy", np.arange(150) // 3)
    one = stream(many, "--groups", "groups.npy", "--method", "image", *SKETCH)
    with open(many.folder / "labels.npy", "rb") as pipe:
        many.does("calibrate", "--probs", "probs.npy", "--labels", "-", "--groups", "groups.npy", "-o", "pipe.kcal",
                  "--method", "image", *SKETCH, stdin=pipe)
    assert (many.folder / "pipe.kcal").read_bytes() == one
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


def test_what_needs_more_than_one_pass_is_refused(many):
    good = as_npy(many.probs)
    refuses_stream(many, 2, ["--sketch", "field"], good, "--method", "field", *SKETCH)
    refuses_stream(many, 2, ["--sketch", "field"], good, *SKETCH)
    refuses_stream(many, 2, ["--sketch", "auto"], good, "--method", "auto", *SKETCH)
    refuses_stream(many, 2, ["--pooling pixels"], good, "--method", "image", "--sketch", "0.01")
    for method in ("pixel", "image"):
        refuses_stream(many, 2, ["--sketch", "--adapt image"], good, "--method", method, "--sketch", "0.01", "--adapt", "image")
    refuses_stream(many, 2, ["--sketch", "field"], good, "--sketch", "0.01", "--adapt", "image")
    refuses_stream(many, 2, ["--split"], good, "--method", "pixel", *SKETCH, "--split", "0.5")
    refuses_stream(many, 2, ["--checkpoint"], good, "--method", "pixel", *SKETCH, "--checkpoint", "work")
    refuses_stream(many, 2, ["--memory"], good, "--score", "lac", "--method", "pixel", "--sketch", "0.00002", "--memory", "1M")
    refuses_stream(many, 2, ["--sketch"], good, "--method", "pixel", "--sketch", "-1")
    refuses_stream(many, 2, ["--quantiles"], good, "--method", "kmeans", *SKETCH, "--quantiles", "2")


def test_files_can_be_read_again_and_are_refused(many):
    files = ["--probs", "probs.npy", "--labels", "labels.npy", "-o", "x.kcal"]
    many.refuses(2, ["--sketch", "read once", "leave it out"], "calibrate", *files, "--method", "pixel", *SKETCH)


def test_near_from_a_pipe_is_off_by_at_most_the_error(many):
    stream(many, "--method", "image", "--sketch", "0.01", "--pooling", "pixels")
    many.does("predict", "cal.kcal", "--thresholds", "sketch.npy")
    many.calibrate("--score", "near", "--method", "image", "--pooling", "pixels")
    many.does("predict", "cal.kcal", "--thresholds", "exact.npy")
    above = many.load("sketch.npy").astype(float) - many.load("exact.npy")
    assert (above >= 0).all() and (above <= 0.01 + 1e-6).all() and (above > 0).any()
