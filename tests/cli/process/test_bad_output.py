"""Outputs that cannot be written or finished: exit code 4 or the signal, nothing partial, and old files stay."""

import os
import pty
import resource
import signal
import stat
import subprocess
from contextlib import contextmanager

import numpy as np
import pytest
from support import command, expect_refusal, snapshot

INPUT = ["--probs", "probs.npy", "--labels", "labels.npy"]
TEST = ["--cal-probs", "probs.npy", "--cal-labels", "labels.npy", "--test-probs", "probs.npy", "--test-labels",
        "labels.npy"]


def writers(target):
    """Every way to write a file, with the file's name to be chosen."""
    yield ["calibrate", *INPUT, "-o", target]
    yield ["calibrate", *INPUT, "-o", "other.kcal", "--curves", target]
    yield ["calibrate", *INPUT, "-m", "kmeans", "-o", "other.kcal", "--regions", target]
    yield ["predict", "cal.kcal", "--probs", "probs.npy", "-o", target]
    yield ["predict", "cal.kcal", "--probs", "probs.npy", "--packed", "-o", target]
    yield ["predict", "cal.kcal", "--probs", "probs.npy", "--pvalues", target]
    yield ["predict", "cal.kcal", "--thresholds", target]
    yield ["evaluate", "cal.kcal", *INPUT, "--quiet", "--json", target]
    yield ["evaluate", "cal.kcal", *INPUT, "--quiet", "--ce-map", target]
    yield ["evaluate", "cal.kcal", *INPUT, "--quiet", "--ece-map", target]
    yield ["compare", *TEST, "--methods", "image,field", "--quiet", "--json", target]


NAMES = [" ".join(a for a in args if not a.endswith((".npy", ".kcal"))) for args in writers("")]


@pytest.fixture
def calibrated(room):
    room.calibrate("--method", "pixel")
    return room


@pytest.fixture(params=range(len(NAMES)), ids=NAMES)
def writer(request):
    return lambda target: list(writers(target))[request.param]


# ---- places that cannot be written to ----------------------------------------------------------
def test_a_missing_folder_is_a_file_error_before_any_work(calibrated, writer):
    calibrated.refuses(4, ["nowhere/out", "No such file"], *writer("nowhere/out"))


def test_a_file_in_place_of_a_folder_is_a_file_error(calibrated, writer):
    calibrated.refuses(4, ["labels.npy/out", "Not a directory"], *writer("labels.npy/out"))


def test_a_folder_in_place_of_the_output_is_a_file_error(calibrated, writer):
    (calibrated.folder / "taken").mkdir()
    calibrated.refuses(4, ["taken", "directory"], *writer("taken"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into read-only folders")
def test_a_read_only_folder_is_a_file_error(calibrated, writer):
    locked = calibrated.folder / "locked"
    locked.mkdir()
    locked.chmod(0o500)
    try:
        calibrated.refuses(4, ["locked/out", "Permission denied"], *writer("locked/out"))
    finally:
        locked.chmod(0o700)


def test_demo_into_a_file_is_a_file_error(room):
    small = ["--images", "4", "--test-images", "4", "--size", "16x12"]
    room.refuses(4, ["labels.npy"], "demo", *small, "-o", "labels.npy")


@pytest.mark.parametrize("flags", [["-o", "-"], ["-o", "other.kcal", "--curves", "-"]], ids=["-o", "--curves"])
def test_standard_output_is_refused_where_only_files_are_written(room, flags):
    room.refuses(2, [f"{flags[-2]} cannot write to standard output", "give a file name"], "calibrate", *INPUT, *flags)


# ---- full disks --------------------------------------------------------------------------------
def test_a_full_device_is_a_file_error_and_stays_a_device(calibrated, writer):
    result = calibrated.run(*writer("/dev/full"))
    said = [line for line in result.complaints if "No space left" in line]
    assert result.code == 4 and len(said) == 1 and "/dev/full" in said[0], result
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    assert not [name for name in snapshot(calibrated.folder) if "tmp" in name or name.startswith(".")]


PRINTERS = {
    "calibrate": ["calibrate", *INPUT, "-o", "other.kcal"],
    "predict": ["predict", "cal.kcal", "--probs", "probs.npy", "-o", "sets.npy"],
    "evaluate": ["evaluate", "cal.kcal", *INPUT],
    "evaluate --json -": ["evaluate", "cal.kcal", *INPUT, "--json", "-"],
    "compare": ["compare", *TEST, "--methods", "image,field"],
    "compare --json -": ["compare", *TEST, "--methods", "image,field", "--json", "-"],
    "inspect": ["inspect", "cal.kcal"],
    "inspect --json": ["inspect", "cal.kcal", "--json"],
}


@pytest.mark.parametrize("args", PRINTERS.values(), ids=PRINTERS)
def test_full_standard_output_is_a_file_error(calibrated, args):
    with open("/dev/full", "wb") as full:
        result = calibrated.run(*args, stdout=full)
    expect_refusal(result, 4, "standard output", "No space left")


@contextmanager
def small_disk(folder, size):
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except OSError as problem:
        pytest.skip(f"no small disk: {problem}")
    if done.returncode != 0:
        pytest.skip(f"no small disk: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def big_predict(room):
    """predict with an output of 700 kB."""
    room.save("many.npy", np.repeat(room.probs, 1700, axis=0).astype(np.float16))
    return ["predict", "cal.kcal", "--probs", "many.npy", "-o"]


def test_a_disk_that_fills_up_keeps_the_old_file_and_nothing_else(calibrated):
    args = big_predict(calibrated)
    with small_disk(calibrated.folder / "disk", "64k") as disk:
        (disk / "sets.npy").write_bytes(b"old")
        calibrated.refuses(4, ["disk/sets.npy", "No space left"], *args, "disk/sets.npy")
        assert os.listdir(disk) == ["sets.npy"]


def test_a_file_size_limit_keeps_the_old_file_and_nothing_else(calibrated):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that writing fails instead of ending the program
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    args = big_predict(calibrated)
    (calibrated.folder / "sets.npy").write_bytes(b"old")
    calibrated.refuses(4, ["sets.npy", "too large"], *args, "sets.npy", preexec_fn=limit)
    calibrated.refuses(4, ["new.npy", "too large"], *args, "new.npy", preexec_fn=limit)


# ---- existing outputs --------------------------------------------------------------------------
def test_bad_input_leaves_existing_outputs_as_they_were(calibrated, writer):
    bad = calibrated.probs.copy()
    bad[-1, -1, -1, -1] = 7
    calibrated.save("bad.npy", bad)
    (calibrated.folder / "out").write_bytes(b"old")
    (calibrated.folder / "other.kcal").write_bytes(b"old")
    args = ["bad.npy" if arg == "probs.npy" else arg for arg in writer("out")]
    if "bad.npy" in args:
        calibrated.refuses(3, ["bad.npy", "image 3"], *args)
    else:
        calibrated.refuses(4, ["gone.kcal"], *["gone.kcal" if arg == "cal.kcal" else arg for arg in args])


def test_a_successful_run_replaces_the_old_file(calibrated, writer):
    (calibrated.folder / "out").write_bytes(b"old")
    calibrated.does(*writer("out"))
    assert (calibrated.folder / "out").stat().st_size > 100


# ---- interrupts --------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Inputs that take some seconds to read: sparse files of zeros, which take no space on the disk."""
    folder = tmp_path_factory.mktemp("large")
    shape = (3000, 2, 240, 320)
    for name, dtype, size in (("probs.npy", np.float16, shape), ("labels.npy", np.uint8, (shape[0], *shape[2:]))):
        with open(folder / name, "wb") as file:
            header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": size}
            np.lib.format.write_array_header_1_0(file, header)
            file.truncate(file.tell() + int(np.prod(size)) * np.dtype(dtype).itemsize)
    np.save(folder / "small_probs.npy", np.full((12, 2, 240, 320), 0.5, np.float16))
    np.save(folder / "small_labels.npy", np.zeros((12, 240, 320), np.uint8))
    small = ["--probs", "small_probs.npy", "--labels", "small_labels.npy", "--method", "image", "-o", "cal.kcal"]
    subprocess.run([command(), "calibrate", *small], cwd=folder, check=True, capture_output=True)
    return folder


def interrupt(args, folder, number):
    """Sends the signal as soon as a progress bar shows that the work has begun; returns how the program ended."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen([command(), *args], cwd=folder, stdout=subprocess.PIPE, stderr=theirs)
        os.close(theirs)
        shown = b""
        while b"%" not in shown:
            shown += os.read(ours, 4096)
        process.send_signal(number)
        out, _ = process.communicate(timeout=60)  # it stops soon; the bound is generous for busy machines
        try:
            while more := os.read(ours, 4096):
                shown += more
        except OSError:  # the other end is closed
            pass
    finally:
        os.close(ours)
    return process.returncode, out, shown


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "args",
    [
        ["calibrate", *INPUT, "--method", "pixel", "-o", "out"],
        ["calibrate", *INPUT, "--method", "kmeans", "-o", "out"],
        ["predict", "cal.kcal", "--probs", "probs.npy", "-o", "out"],
        ["evaluate", "cal.kcal", *INPUT, "--json", "out"],
    ],
    ids=["calibrate pixel", "calibrate kmeans", "predict", "evaluate"],
)
@pytest.mark.parametrize("old", [False, True], ids=["no old file", "old file"])
def test_an_interrupted_command_ends_by_the_signal_and_writes_nothing(large, args, number, old):
    if old:
        (large / "out").write_bytes(b"old")
    names = {path.name for path in large.iterdir()}
    code, out, shown = interrupt(args, large, number)
    assert code in (-number, 128 + number), (code, shown)
    assert {path.name for path in large.iterdir()} == names
    assert out == b""
    assert b"interrupted; no output was written" in shown.splitlines()[-1]
    if old:
        assert (large / "out").read_bytes() == b"old"
        (large / "out").unlink()
