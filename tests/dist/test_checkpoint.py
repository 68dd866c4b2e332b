"""--checkpoint: a run that is killed at any moment continues to the same bytes."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "cli"), str(Path(__file__).resolve().parent / "mpi")]
from support import PATIENCE, Room, command, scene, without_times
from test_mpi import ENVIRONMENT, PLUGIN, mpirun

KEEP = ["--checkpoint", "state", "--checkpoint-every", "0"]


class Scenes(Room):
    def __init__(self, folder):
        self.folder = folder
        (folder / "demo").mkdir()
        for part, images in (("cal", 120), ("test", 80)):
            probs, labels = scene(images, classes=2, grid=(40, 48), seed=images)
            self.save(f"demo/{part}_probs.npy", probs)
            self.save(f"demo/{part}_labels.npy", labels)
        data = ["--probs", "demo/cal_probs.npy", "--labels", "demo/cal_labels.npy"]
        test = ["--probs", "demo/test_probs.npy", "--labels", "demo/test_labels.npy"]
        self.does("calibrate", *data, "-m", "kmeans", "-o", "judged.kcal", "-q")
        self.work = {
            "calibrate": ("c.kcal", ["calibrate", *data, "--memory", "2M", "-m", "field", "-o", "c.kcal", "-q"]),
            "pixel": ("c.kcal", ["calibrate", *data, "--memory", "2M", "-m", "pixel", "-o", "c.kcal", "-q"]),
            "evaluate": ("e.json", ["evaluate", "judged.kcal", *test, "--bootstrap", "20", "--json", "e.json", "-q"]),
        }

    def alone(self, what):
        output, args = self.work[what]
        start = time.monotonic()
        self.does(*args)
        taken = time.monotonic() - start
        made = (self.folder / output).read_bytes()
        (self.folder / output).unlink()
        return made, taken

    def state(self):
        return list((self.folder / "state").glob("*.kckp")) if (self.folder / "state").exists() else []


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    return Scenes(tmp_path_factory.mktemp("scenes"))


def kill_ranks(process):
    """Ends mpirun and all its ranks at once, as when the power fails."""
    listed = subprocess.run(["ps", "--ppid", str(process.pid), "-o", "pid="], capture_output=True, check=False).stdout
    for pid in [*map(int, listed.split()), process.pid]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def killed_again_and_again(scenes, what, start_line, seed):
    """Kills the run at random moments, then lets it finish. Returns the largest number of state files after a kill."""
    output, args = scenes.work[what]
    wanted, taken = scenes.alone(what)

    def expect_output():
        made = (scenes.folder / output).read_bytes()
        (scenes.folder / output).unlink()
        assert without_times(made) == without_times(wanted) if output.endswith(".json") else made == wanted

    moments, saved = random.Random(seed), 0
    for attempt in range(8):
        if attempt >= 3 and saved > 0:
            break
        process = subprocess.Popen(start_line([*args, *KEEP]), cwd=scenes.folder, env=ENVIRONMENT,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        # The first kills are at random moments. If none of them left a state, later ones wait for a state.
        until = time.monotonic() + moments.uniform(0.1, 1) * (taken + 0.5)
        while process.poll() is None and (not scenes.state() if attempt >= 3 else time.monotonic() < until):
            time.sleep(0.002)
        if process.poll() is None:
            kill_ranks(process)
            process.wait()
            saved = max(saved, len(scenes.state()))
        if (scenes.folder / output).exists():  # the run had finished, so its output is complete
            expect_output()
    done = subprocess.run(start_line([*args, *KEEP]), cwd=scenes.folder, env=ENVIRONMENT, check=False,
                          capture_output=True, timeout=120 * PATIENCE)
    assert done.returncode == 0, done
    expect_output()
    assert not (scenes.folder / "state").exists()
    return saved


@pytest.mark.parametrize("what", ["calibrate", "pixel", "evaluate"])
def test_a_killed_process_goes_on_to_the_same_bytes(scenes, what):
    assert killed_again_and_again(scenes, what, lambda args: [command(), *args], seed=what) > 0


@pytest.mark.skipif(shutil.which("mpirun") is None or not PLUGIN.exists(), reason="skipped killed ranks: no mpirun")
@pytest.mark.parametrize("what", ["calibrate", "evaluate"])
def test_killed_ranks_go_on_to_the_same_bytes(scenes, what):
    assert killed_again_and_again(scenes, what, lambda args: mpirun(3, *args), seed=what + " on ranks") > 0


def stopped_after_a_save(scenes, args, number=signal.SIGKILL):
    """Ends the run with a signal as soon as it has saved a state; returns what it said."""
    for _ in range(30):  # it may end before the signal
        shutil.rmtree(scenes.folder / "state", ignore_errors=True)
        with subprocess.Popen([command(), *args, *KEEP], cwd=scenes.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
            while not scenes.state() and process.poll() is None:
                time.sleep(0.001)
            process.send_signal(number)
            _, told = process.communicate(timeout=120 * PATIENCE)
        if process.returncode == -number and scenes.state():
            return told.decode()
    raise AssertionError(f"the run could not be stopped: {told}")


def test_an_interrupted_run_says_that_it_can_continue(scenes):
    output, args = scenes.work["calibrate"]
    told = stopped_after_a_save(scenes, args, signal.SIGINT)
    assert told == "kandinsky: interrupted; no output was written; the same command continues from the state in state\n"
    wanted, _ = scenes.alone("calibrate")
    scenes.does(*args, *KEEP)
    assert (scenes.folder / output).read_bytes() == wanted


def test_another_number_of_threads_continues_to_the_same_bytes(scenes):
    output, args = scenes.work["calibrate"]
    wanted, _ = scenes.alone("calibrate")
    stopped_after_a_save(scenes, [*args, "--threads", "1"])
    scenes.does(*args, "--threads=2", *KEEP)
    assert (scenes.folder / output).read_bytes() == wanted


@pytest.mark.parametrize("kind", ["archive", "folder", "file of a method"])
def test_a_run_on_changed_inputs_is_another_run(scenes, kind):
    probs, labels = scene(120, classes=2, grid=(40, 48), seed=5)
    mask, method = np.zeros((40, 48), np.int32), "field"

    def write():
        if kind == "folder":
            for i in range(120):
                for side, one in (("P", probs[i]), ("Y", labels[i])):
                    (scenes.folder / side).mkdir(exist_ok=True)
                    np.save(scenes.folder / side / f"i{i}.npy", one)
        else:
            np.savez(scenes.folder / "in.npz", probs=probs, labels=labels)
            scenes.save("mask.npy", mask)

    write()
    data = ["--probs", "P", "--labels", "Y"] if kind == "folder" else ["--probs", "in.npz:probs", "--labels", "in.npz:labels"]
    more = ["--mask", "mask.npy"] if kind == "file of a method" else []
    args = ["calibrate", *data, "--memory", "2M", "-m", "mask" if more else method, *more, "-o", "c.kcal", "-q"]
    stopped_after_a_save(scenes, args)
    if kind == "file of a method":
        mask[:20] = 1
        scenes.save("mask.npy", mask)
    elif kind == "archive":
        probs = probs[::-1]
        write()
    else:
        times = (scenes.folder / "P").stat().st_mtime_ns
        np.save(scenes.folder / "P" / "i7.npy", probs[8])
        assert (scenes.folder / "P").stat().st_mtime_ns == times
    scenes.refuses(2, ["state", "another run"], *args, *KEEP)
    shutil.rmtree(scenes.folder / "state")


def test_the_state_of_another_run_is_refused(scenes):
    _, args = scenes.work["calibrate"]
    stopped_after_a_save(scenes, args)
    scenes.refuses(2, ["state", "another run"], *args, "--seed", "7", *KEEP)
    damaged = scenes.state()[0]
    damaged.write_bytes(damaged.read_bytes()[:-1])
    wanted, _ = scenes.alone("calibrate")
    scenes.does(*args, *KEEP)
    assert (scenes.folder / "c.kcal").read_bytes() == wanted


def test_a_folder_that_cannot_be_made_is_reported(scenes):
    Path(scenes.folder / "file").write_text("")
    scenes.refuses(4, ["file/state"], *scenes.work["calibrate"][1], "--checkpoint", "file/state")
