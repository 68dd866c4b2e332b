"""calibrate is killed at 200 random moments: its output is absent, or the old one, or complete."""

import random
import signal
import subprocess
import time

import pytest
from support import command, scene

MOMENTS = 200
OLD = b"what stood there before"
ARGS = ["calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "--method", "pixel", "-q", "-o", "out.kcal"]


@pytest.fixture
def large(room):
    room.probs, room.labels = scene(60, 3, (60, 80))
    room.save("probs.npy", room.probs)
    room.save("labels.npy", room.labels)
    return room


def start(room):
    return subprocess.Popen([command(), *ARGS], cwd=room.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_killed_calibrations_leave_the_old_the_new_or_no_output(large):
    out = large.folder / "out.kcal"
    began = time.monotonic()
    assert start(large).wait() == 0
    usual = time.monotonic() - began
    complete = out.read_bytes()
    names = {path.name for path in large.folder.iterdir()}
    moments = random.Random(20231120)
    killed = finished = hidden = 0
    for number in range(MOMENTS):
        old = number % 2 == 1
        out.unlink()
        if old:
            out.write_bytes(OLD)
        process = start(large)
        time.sleep(moments.uniform(0, 1.1 * usual))
        process.send_signal(signal.SIGKILL)
        code = process.wait()
        assert code in (0, -signal.SIGKILL)
        content = out.read_bytes() if out.exists() else None
        assert content in (complete, OLD if old else None)
        if code == 0:
            assert content == complete
        killed, finished = killed + (code != 0), finished + (content == complete)
        for path in large.folder.iterdir():
            if path.name not in names:  # a hidden file that was not yet removed
                assert path.name.startswith(".kandinsky-") and old
                path.unlink()
                hidden += 1
        out.touch()
    print(f"{MOMENTS} moments: {killed} killed, {finished} outputs complete, {hidden} hidden files left")
    assert killed > 0
