"""For every n: the n-th allocation, read, write, sync, link, rename ... of a command fails. The program ends with a line
and the right code, and each output is completely the old or completely the new one."""

import os
import re
from fractions import Fraction

import numpy as np
import pytest
from fault_server import FaultServer
from reference import Reference, members
from support import scene

MEMORY = b"out of memory"
OLD = b"what stood there before"
INPUT = ["--probs", "probs.npy", "--labels", "labels.npy", "--threads", "1"]
COMMANDS = {
    "calibrate": (["calibrate", *INPUT, "--method", "image", "-o", "out"], "out"),
    "calibrate with curves": (["calibrate", *INPUT, "--method", "pixel", "-o", "out", "--curves", "curves"],
                              "out curves"),
    "predict": (["predict", "cal.kcal", "--probs", "probs.npy", "--threads", "1", "-o", "out"], "out"),
    "predict more": (["predict", "cal.kcal", "--probs", "probs.npy", "--threads", "1", "-o", "out", "--pvalues",
                      "values", "--thresholds", "limits"], "out values limits"),
    "evaluate": (["evaluate", "cal.kcal", *INPUT, "--bootstrap", "3", "--json", "out"], "out"),
    "predict a folder": (["predict", "cal.kcal", "--probs", "cases", "--threads", "1", "-o", "out"], "folder"),
    "calibrate a folder": (["calibrate", "--probs", "cases", "--labels", "truth", "--threads", "1", "--method",
                            "image", "-o", "out"], "out"),
}
# The errors of failing calls. Allocations and mappings fail for lack of memory; other calls fail because the disk is faulty
# or full, or because a permission is missing.
ERRORS = {
    "malloc": ["ENOMEM"], "mmap": ["ENOMEM"], "map": ["ENOMEM", "EACCES"], "open": ["EACCES", "EMFILE", "EIO"], "stat": ["EIO"],
    "read": ["EIO"], "write": ["ENOSPC", "EIO", "EDQUOT"], "print": ["ENOSPC"], "sync": ["EIO", "ENOSPC"],
    "link": ["ENOSPC", "EACCES"], "rename": ["EIO", "EROFS", "ENOSPC"], "reserve": ["ENOSPC"], "mkdir": ["EROFS"],
}


@pytest.fixture
def small(room):
    """Two images of two classes on 2 x 2 pixels: the same kinds of work with few allocations."""
    room.probs, room.labels = scene(2, 2, (2, 2))
    room.save("probs.npy", room.probs)
    room.save("labels.npy", room.labels)
    room.calibrate("--method", "image", "-q")
    for folder in ("cases", "truth"):
        (room.folder / folder).mkdir()
    for i in range(2):
        room.save(f"cases/c{i}.npy", room.probs[i])
        room.save(f"truth/c{i}.npy", room.labels[i])
    # The command checks recently written files twice, so the first run would make other calls than the rest.
    for path in room.folder.rglob("*.*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    return room


class Watched:
    """The outputs of a command, to be compared with what they were and what they should become."""

    def __init__(self, room, names, old):
        self.room, self.old = room, old
        self.folder = names == "folder"
        self.names = ["out/c0.npy", "out/c1.npy"] if self.folder else names.split()
        self.others = set(self.listing())

    def listing(self):
        """What lies in the folder besides outputs."""
        return [name for name in os.listdir(self.room.folder) if name not in (*self.names, "out", ".out", ".err")]

    def reset(self):
        if self.folder and self.old:
            (self.room.folder / "out").mkdir(exist_ok=True)
        for name in self.names:
            path = self.room.folder / name
            if self.old:
                path.write_bytes(OLD)
            elif path.exists():
                path.unlink()
        if self.folder and not self.old and (self.room.folder / "out").exists():
            (self.room.folder / "out").rmdir()

    def contents(self):
        return [path.read_bytes() if (path := self.room.folder / name).exists() else None for name in self.names]

    def before(self):
        return [OLD if self.old else None] * len(self.names)


def without_seconds(contents):
    return [None if one is None else re.sub(rb'"(fit|evaluate|seconds)": [0-9.e-]+', b"", one) for one in contents]


def judge(outcome, watched, done, codes=(4,)):
    """`done`: the outputs of a run without faults."""
    said = [line for line in outcome.err.split(b"\n") if line and b"warning: " not in line]
    now, said_what = without_seconds(watched.contents()), (outcome, said)
    for one, old, new in zip(now, watched.before(), done):
        assert one in (old, new), said_what
    assert set(watched.listing()) == watched.others, said_what  # nothing else is left behind
    if outcome.status == 0:
        assert now == done and said == [], said_what
    else:
        assert outcome.status in codes and len(said) == 1 and said[0].startswith(b"kandinsky: "), said_what


def faultless(server, watched):
    watched.reset()
    outcome = server.run()
    assert outcome.status == 0, outcome
    return outcome, without_seconds(watched.contents())


@pytest.mark.parametrize("old", [False, True], ids=["no old file", "old file"])
@pytest.mark.parametrize("name", COMMANDS)
def test_each_call_on_files_may_fail(fail_nth, small, name, old):
    args, outputs = COMMANDS[name]
    watched = Watched(small, outputs, old)
    tried = 0
    with FaultServer(fail_nth, args, small.folder) as server:
        first, done = faultless(server, watched)
        for call in first.counts:
            if call == "malloc":
                continue
            for number in range(1, first.counts[call] + 1):
                for later in ("", "+"):
                    for error in ERRORS[call]:
                        watched.reset()
                        outcome = server.run(f"{call}:{number}{later}:{error}")
                        assert outcome.hit, outcome
                        # A faulty disk may also look like a folder of bad files, which is bad data.
                        judge(outcome, watched, done, codes=(3, 4) if "folder" in name else (4,))
                        tried += 1
    print(f"{name}: {tried} failing calls")
    assert tried > 30


@pytest.mark.parametrize("name", ["calibrate", "predict"])
def test_each_allocation_may_fail(fail_nth, small, name):
    args, outputs = COMMANDS[name]
    watched = Watched(small, outputs, True)
    with FaultServer(fail_nth, args, small.folder) as server:
        _, done = faultless(server, watched)
        number = told = 0
        while True:
            number += 1
            watched.reset()
            outcome = server.run(f"malloc:{number}:ENOMEM")
            if not outcome.hit:
                break
            judge(outcome, watched, done)
            told += MEMORY in outcome.err
        print(f"{name}: {number - 1} allocations, {told} of them told as out of memory")
        assert number > 500 and told > 0.8 * number


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_before_each_call_on_files(fail_nth, small, name):
    args, outputs = COMMANDS[name]
    for old in (False, True):
        watched = Watched(small, outputs, old)
        with FaultServer(fail_nth, args, small.folder) as server:
            first, done = faultless(server, watched)
            for call in first.counts:
                for number in range(1, first.counts[call] + 1 if call != "malloc" else 1):
                    watched.reset()
                    outcome = server.run(f"{call}:{number}:KILL")
                    assert outcome.status == -9, outcome
                    for one, before, after in zip(without_seconds(watched.contents()), watched.before(), done):
                        assert one in (before, after), outcome
                    for left in set(watched.listing()) - watched.others:
                        assert left.startswith("."), (left, outcome)  # hidden, where a kill left no time to remove it
                        remove(small.folder / left)


def remove(path):
    if path.is_dir():
        for inner in path.iterdir():
            inner.unlink()
        path.rmdir()
    else:
        path.unlink()


@pytest.mark.parametrize("later", ["", "+"])
def test_each_read_may_fail_where_files_cannot_be_mapped(fail_nth, small, later):
    args, outputs = COMMANDS["calibrate"]
    watched = Watched(small, outputs, True)
    with FaultServer(fail_nth, args, small.folder) as server:
        _, done = faultless(server, watched)
        watched.reset()
        reads = server.run("map:1+:ENODEV").counts["read"]
        assert reads >= 2 and without_seconds(watched.contents()) == done
        for number in range(1, reads + 1):
            watched.reset()
            outcome = server.run(f"read:{number}{later}:EIO,map:1+:ENODEV")
            assert outcome.hit and outcome.status == 4, outcome
            judge(outcome, watched, done)
            watched.reset()
            if later == "":  # an interrupted call is made again
                assert server.run(f"read:{number}:EINTR,map:1+:ENODEV").status == 0
                assert without_seconds(watched.contents()) == done


def test_an_interrupted_write_is_made_again(fail_nth, small):
    args, outputs = COMMANDS["calibrate"]
    watched = Watched(small, outputs, True)
    with FaultServer(fail_nth, args, small.folder) as server:
        first, done = faultless(server, watched)
        for call in ("open", "write"):
            for number in range(1, first.counts[call] + 1):
                watched.reset()
                outcome = server.run(f"{call}:{number}:EINTR")
                assert outcome.status == 0 and without_seconds(watched.contents()) == done, outcome


def test_the_check_notices_a_damaged_output_and_a_file_that_is_left(fail_nth, small):
    """The check can fail: it notices an output that is neither the old nor the new one."""
    args, outputs = COMMANDS["calibrate"]
    watched = Watched(small, outputs, True)
    with FaultServer(fail_nth, args, small.folder) as server:
        _, done = faultless(server, watched)
        outcome = server.run("write:1:ENOSPC")
        judge(outcome, watched, done)
        (small.folder / "out").write_bytes(done[0][:-1])
        with pytest.raises(AssertionError):
            judge(outcome, watched, done)
        watched.reset()
        judge(outcome, watched, done)
        (small.folder / ".stray").write_bytes(b"")
        with pytest.raises(AssertionError):
            judge(outcome, watched, done)


def test_outputs_are_what_numpy_expects(small):
    """A run without faults writes correct sets."""
    small.does("predict", "cal.kcal", "--probs", "probs.npy", "--alpha", "0.5", "--empty", "keep", "-q", "-o", "sets.npy")
    plain = Reference(small.probs, members(small.labels, 2)[0], np.zeros((2, 2), int), pooling="groups")
    expected = plain.sets(small.probs, Fraction(1, 2))
    assert 0 < expected.mean() < 1
    assert small.load("sets.npy").dtype == np.uint8 and np.array_equal(small.load("sets.npy"), expected)
