"""Files that shrink or change while a command reads them are reported and refused; no result comes from a partial file."""

import os
import random
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from support import PATIENCE, Result, command, expect_refusal, scene, snapshot

INPUT = ["--probs", "probs.npy", "--labels", "labels.npy"]
LONG_AGO = 1_000_000_000


def state(process):
    """The state of a process as the system's letter: T if it is stopped, Z if it has ended."""
    return Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def ended(process):
    out, err = process.communicate(timeout=120 * PATIENCE)
    return Result(process.returncode, out.decode(), err.decode())


def launch(room, args, **environment):
    return subprocess.Popen([command(), *args], cwd=room.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=os.environ | environment)


def stopped_while_reading(room, args, name):
    """The command, stopped soon after it has mapped the file."""
    process = launch(room, args)
    while name not in Path(f"/proc/{process.pid}/maps").read_text():
        assert process.poll() is None, ended(process)
        time.sleep(0.001)
    process.send_signal(signal.SIGSTOP)
    while state(process) not in "TZ":
        time.sleep(0.001)
    assert state(process) == "T", "it ended before it could be stopped: the data are too small"
    return process


def age(folder):
    """Sets the times of files far back: any change then has a clearly later time, although times are exact to milliseconds only."""
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (LONG_AGO, LONG_AGO))


# ---- arrays that take a while to read ----------------------------------------------------------
@pytest.fixture
def sparse(room):
    """Large arrays of zeros that take no space on the disk."""
    for name, dtype, shape in [("probs.npy", np.float32, (300, 2, 240, 320)), ("labels.npy", np.uint8, (300, 240, 320))]:
        np.lib.format.open_memmap(room.folder / name, "w+", dtype, shape).flush()
    room.save("few.npy", np.zeros((2, 2, 240, 320), np.float32))
    room.save("few_labels.npy", np.zeros((2, 240, 320), np.uint8))
    room.calibrate("--method", "image", "-q", probs="few.npy", labels="few_labels.npy")
    (room.folder / "out").write_bytes(b"old")
    age(room.folder)
    return room


READERS = {
    "calibrate image": ["calibrate", *INPUT, "--method", "image", "-o", "out"],
    "calibrate pixel": ["calibrate", *INPUT, "--method", "pixel", "-o", "out"],
    "predict": ["predict", "cal.kcal", "--probs", "probs.npy", "-o", "out"],
    "evaluate": ["evaluate", "cal.kcal", *INPUT, "--json", "out"],
}


def cut(path):
    os.truncate(path, path.stat().st_size // 3)


def cut_to_nothing(path):
    os.truncate(path, 0)


def write_a_byte(path):
    with open(path, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\0")


def grow(path):
    with open(path, "ab") as file:
        file.write(b"\0")


def replace(path):
    shutil.copyfile(path, path.with_suffix(".new"))
    os.replace(path.with_suffix(".new"), path)


@pytest.mark.parametrize("args", READERS.values(), ids=READERS)
@pytest.mark.parametrize("change, word", [(cut, "shrank"), (cut_to_nothing, "shrank"), (write_a_byte, "changed"),
                                          (grow, "changed")])
def test_a_mapped_array_that_changes_is_refused(sparse, args, change, word):
    names = set(os.listdir(sparse.folder))
    process = stopped_while_reading(sparse, args, "probs.npy")
    change(sparse.folder / "probs.npy")
    process.send_signal(signal.SIGCONT)
    expect_refusal(ended(process), 4, "probs.npy", word, "run again")
    assert (sparse.folder / "out").read_bytes() == b"old"
    assert set(os.listdir(sparse.folder)) == names


def test_figures_appear_only_if_the_inputs_stayed_the_same(room):
    room.save("probs.npy", np.zeros((60, 2, 120, 160), np.float32))
    room.save("labels.npy", np.zeros((60, 120, 160), np.uint8))
    room.calibrate("--method", "image", "-q")
    age(room.folder)
    args = ["report", "cal.kcal", *INPUT, "--figures", "figures"]
    process = stopped_while_reading(room, args, "probs.npy")
    write_a_byte(room.folder / "probs.npy")
    process.send_signal(signal.SIGCONT)
    expect_refusal(ended(process), 4, "probs.npy", "changed", "run again")
    assert not list(room.folder.glob("figures/*"))
    age(room.folder)
    room.does(*args, "-q")
    assert list(room.folder.glob("figures/*.png"))


def test_labels_that_shrink_are_refused_by_their_name(sparse):
    process = stopped_while_reading(sparse, READERS["calibrate pixel"], "labels.npy")
    cut(sparse.folder / "labels.npy")
    process.send_signal(signal.SIGCONT)
    expect_refusal(ended(process), 4, "labels.npy", "shrank")
    assert (sparse.folder / "out").read_bytes() == b"old"


def test_a_replaced_array_is_refused_and_a_removed_one_is_not(sparse):
    process = stopped_while_reading(sparse, READERS["predict"], "probs.npy")
    replace(sparse.folder / "probs.npy")
    process.send_signal(signal.SIGCONT)
    expect_refusal(ended(process), 4, "probs.npy", "changed")
    process = stopped_while_reading(sparse, READERS["predict"], "probs.npy")
    (sparse.folder / "probs.npy").unlink()
    process.send_signal(signal.SIGCONT)
    assert ended(process).code == 0
    assert np.load(sparse.folder / "out", mmap_mode="r").shape == (300, 2, 240, 320)


def test_a_change_soon_after_the_writing_of_a_file_is_seen(room):
    """Times of files advance in steps of some milliseconds: a file that was written just now has to be waited for."""
    room.save("probs.npy", np.zeros((40, 2, 240, 320), np.float32))
    room.save("labels.npy", np.zeros((40, 240, 320), np.uint8))
    for _ in range(3):
        write_a_byte(room.folder / "labels.npy")
        process = stopped_while_reading(room, READERS["calibrate pixel"], "labels.npy")
        write_a_byte(room.folder / "labels.npy")
        process.send_signal(signal.SIGCONT)
        expect_refusal(ended(process), 4, "labels.npy", "changed")


# ---- a change at every call --------------------------------------------------------------------
FOLDERS = ["--probs", "cases", "--labels", "truth"]
CHANGED = {
    "arrays": (["calibrate", *INPUT, "--method", "image", "--threads", "1", "-q", "-o", "out"], "labels.npy"),
    "folders": (["calibrate", *FOLDERS, "--method", "image", "--threads", "1", "-q", "-o", "out"], "truth/c1.npy"),
    "folder to folder": (["predict", "cal.kcal", "--probs", "cases", "--alpha", "0.5", "--threads", "1", "-q", "-o",
                          "out"], "cases/c1.npy"),
}


@pytest.fixture
def cases(room):
    room.probs, room.labels = scene(6, 2, (4, 5))
    room.save("probs.npy", room.probs)
    room.save("labels.npy", room.labels)
    for folder in ("cases", "truth"):
        (room.folder / folder).mkdir()
    for i in range(6):
        room.save(f"cases/c{i}.npy", room.probs[i])
        room.save(f"truth/c{i}.npy", room.labels[i])
    room.calibrate("--method", "image", "-q")
    return room


def outputs(room):
    out = room.folder / "out"
    if not out.exists():
        return None
    return snapshot(out) if out.is_dir() else out.read_bytes()


def clear(room):
    out = room.folder / "out"
    if out.is_dir():
        shutil.rmtree(out)
    elif out.exists():
        out.unlink()


@pytest.mark.parametrize("shrinks", [False, True], ids=["changes", "shrinks"])
@pytest.mark.parametrize("name", CHANGED)
def test_a_file_that_changes_at_any_call_gives_the_old_the_new_or_no_result(fail_nth, cases, name, shrinks):
    args, changing = CHANGED[name]
    path = cases.folder / changing
    contents = {"old": path.read_bytes()}
    array = np.load(path)
    np.save(path, 1 - array)
    contents["new"] = path.read_bytes()[:-array.nbytes // 2] if shrinks else path.read_bytes()
    whole = {}
    for version, content in contents.items():
        path.write_bytes(content)
        result = cases.run(*args)
        assert (result.code == 0) == (version == "old" or not shrinks), result
        whole[version] = outputs(cases)
        clear(cases)
    assert whole["old"] != whole["new"]
    endings = {"refused": 0, "old": 0, "new": 0}
    for call in ("open", "map", "stat", "write", "sync", "link"):
        for number in range(1, 1000):
            path.write_bytes(contents["old"])
            age(cases.folder)
            process = launch(cases, args, LD_PRELOAD=fail_nth, KANDINSKY_FAIL=f"{call}:{number}:STOP")
            while state(process) not in "TZ":
                time.sleep(0.0005)
            was_stopped = state(process) == "T"
            path.write_bytes(contents["new"])
            process.send_signal(signal.SIGCONT)
            result = ended(process)
            if not was_stopped:
                clear(cases)
                break
            if result.code == 0:
                made = outputs(cases)
                assert made in whole.values(), (call, number)
                endings["old" if made == whole["old"] else "new"] += 1
            else:
                assert outputs(cases) is None
                expect_refusal(result, result.code, changing)
                assert result.code in (3, 4), result
                endings["refused"] += 1
            clear(cases)
    print(f"{name}: {endings}")
    assert endings["refused"] >= 3 and endings["old"] >= 1


@pytest.mark.parametrize("method", ["image", "pixel", "kmeans", "field"])
def test_labels_that_change_all_the_time_never_crash_it(room, method):
    room.probs, room.labels = scene(60, 3, (40, 50))
    room.save("probs.npy", room.probs)
    path = room.folder / room.save("labels.npy", room.labels)
    age(room.folder)
    size, header = path.stat().st_size, path.stat().st_size - room.labels.nbytes
    choice, done = random.Random(7), threading.Event()

    def scribble():
        with open(path, "r+b", buffering=0) as file:
            while not done.is_set():
                file.seek(choice.randrange(header, size))
                file.write(bytes([choice.choice([0, 1, 2, 255])]))

    writer = threading.Thread(target=scribble)
    writer.start()
    try:
        for _ in range(5):
            result = room.run("calibrate", *INPUT, "--method", method, "-q", "-o", "out.kcal")
            if result.code != 0:  # the writer may not have run during the command
                expect_refusal(result, 4, "labels.npy", "changed")
    finally:
        done.set()
        writer.join()
