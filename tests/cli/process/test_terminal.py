"""Progress: a bar on a terminal, erased at the end, and nothing in a pipe."""

import os
import pty
import re
import subprocess

import numpy as np
import pytest
from support import Room, command, scene

DATA = ["--probs", "probs.npy", "--labels", "labels.npy"]
WORK = {
    "calibrate pixel": ["calibrate", *DATA, "--method", "pixel", "-o", "out.kcal"],
    "calibrate kmeans": ["calibrate", *DATA, "--method", "kmeans", "-o", "out.kcal"],
    "predict": ["predict", "cal.kcal", "--probs", "probs.npy", "--alpha", "0.4", "-o", "sets.npy"],
    "p-values": ["predict", "cal.kcal", "--probs", "probs.npy", "--pvalues", "p.npy"],
    "evaluate": ["evaluate", "cal.kcal", *DATA],
    "compare": ["compare", "--cal-probs", "probs.npy", "--cal-labels", "labels.npy", "--test-probs", "probs.npy",
                "--test-labels", "labels.npy", "--methods", "pixel,image"],
    "demo": ["demo", "--images", "12", "--test-images", "4", "--size", "24x16", "-o", "demo"],
}
BAR = re.compile(r"\[#* *\] +\d+ %")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    room = Room(tmp_path_factory.mktemp("terminal"))
    probs, labels = scene(60, grid=(20, 30))  # enough images for no warning
    room.save("probs.npy", probs)
    room.save("labels.npy", labels)
    room.calibrate("--method", "image")
    room.save("few_probs.npy", probs[:3])
    room.save("few_labels.npy", np.minimum(labels[:3], 1))
    return room


def on_terminal(args, folder, stdout=subprocess.PIPE):
    """Runs with standard error on a terminal, or both outputs when stdout is None: (code, stdout, terminal's text)."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen([command(), *args], cwd=folder, stdin=subprocess.DEVNULL, stderr=theirs,
                                   stdout=theirs if stdout is None else stdout)
        os.close(theirs)
        sent = b""
        try:
            while more := os.read(ours, 4096):
                sent += more
        except OSError:  # the program has closed its end
            pass
        out, _ = process.communicate(timeout=60)
    finally:
        os.close(ours)
    return process.returncode, (out or b"").decode(), sent.decode()


def screen(sent):
    """The lines that are visible at the end."""
    lines = []
    for line in sent.split("\n"):
        shown = ""
        for piece in re.split(r"(\r|\x1b\[K)", line):
            if piece == "\r":
                at = 0
            elif piece == "\x1b[K":
                shown = shown[:at]
            elif piece:
                at = at if shown else 0
                shown = shown[:at] + piece + shown[at + len(piece) :]
                at += len(piece)
        lines.append(shown)
    return [line for line in lines if line.strip()]


def test_the_rendered_screen_is_parsed_correctly():
    assert screen("ab\r\x1b[Kc\r\nde\r\x1b[K") == ["c"]
    assert screen("abc\rX\r\n") == ["Xbc"]
    assert screen("stage [## ] 70 %") == ["stage [## ] 70 %"]


@pytest.mark.parametrize("args", WORK.values(), ids=WORK)
def test_progress_is_shown_on_a_terminal_and_erased_at_the_end(place, args):
    code, out, sent = on_terminal(args, place.folder)
    assert code == 0
    assert BAR.search(sent), sent
    assert screen(sent) == []
    assert "\r" not in out and "\x1b" not in out and not BAR.search(out)


@pytest.mark.parametrize("args", WORK.values(), ids=WORK)
def test_a_bar_and_the_results_share_a_terminal_without_traces(place, args):
    code, _, sent = on_terminal(args, place.folder, stdout=None)
    assert code == 0 and BAR.search(sent)
    assert screen(sent) and not [line for line in screen(sent) if BAR.search(line)]


@pytest.mark.parametrize("args", WORK.values(), ids=WORK)
def test_progress_is_silent_in_a_pipe(place, args):
    result = place.does(*args)
    assert result.err == ""
    assert "\r" not in result.out and "\x1b" not in result.out


@pytest.mark.parametrize("args", WORK.values(), ids=WORK)
def test_quiet_is_silent_on_a_terminal_too(place, args):
    code, _, sent = on_terminal([*args, "--quiet"], place.folder)
    assert (code, sent) == (0, "")


def test_warnings_and_errors_are_on_separate_lines(place):
    few = ["calibrate", "--probs", "few_probs.npy", "--labels", "few_labels.npy", "-m", "kmeans", "-o", "out.kcal"]
    code, _, sent = on_terminal(few, place.folder)
    assert code == 0 and BAR.search(sent)
    assert len(screen(sent)) == 2 and all(line.startswith("kandinsky: warning: ") for line in screen(sent))
    probs = place.load("probs.npy")
    probs[11, 2, 19, 29] = 2
    place.save("bad.npy", probs)
    bad = ["calibrate", "--probs", "bad.npy", "--labels", "labels.npy", "-o", "bad.kcal"]
    code, _, sent = on_terminal(bad, place.folder)
    assert code == 3
    assert len(screen(sent)) == 1 and screen(sent)[0].startswith("kandinsky: bad.npy: probability 2 ")
    assert not (place.folder / "bad.kcal").exists()


def test_names_of_files_cannot_command_the_terminal(room):
    for side, arrays in (("probs", room.probs), ("labels", room.labels)):
        (room.folder / side).mkdir()
        for i, array in enumerate(arrays):
            room.save(f"{side}/good{i}.npy", array)
        (room.folder / side / "bad\x1b[31m.npy").write_bytes(b"x")
    line = ["calibrate", "--probs", "probs", "--labels", "labels", "--method", "image", "-o", "a.kcal"]
    refused = room.run(*line)
    assert refused.code == 3 and "\x1b" not in refused.err and "bad\\x1b[31m.npy" in refused.err
    skipped = room.run(*line, "--skip-bad")
    assert skipped.code == 0 and skipped.warnings
    assert "\x1b" not in skipped.err and "\x1b" not in skipped.out and "bad\\x1b[31m.npy" in skipped.err
