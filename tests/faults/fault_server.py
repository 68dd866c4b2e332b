"""Runs one command line again and again, each time with another call failing (see fail_nth.cpp)."""

import os
import subprocess
from dataclasses import dataclass

from support import command

CALLS = ["malloc", "mmap", "map", "open", "stat", "read", "write", "print", "sync", "link", "rename", "reserve", "mkdir"]


@dataclass
class Outcome:
    plan: str
    status: int  # the exit code, or minus the signal
    hit: bool  # whether the call that was to fail was reached
    counts: dict  # calls of each kind
    out: bytes
    err: bytes


class FaultServer:
    def __init__(self, library, args, cwd):
        self.files = {name: open(cwd / f".{name}", "w+b") for name in ("out", "err")}
        plans_in, self.plans = os.pipe()
        self.answers, answers_out = os.pipe()
        environment = os.environ | {"LD_PRELOAD": library, "KANDINSKY_FAIL_SERVE": f"{plans_in},{answers_out}"}
        self.process = subprocess.Popen(
            [command(), *map(str, args)], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
            stdout=self.files["out"], stderr=self.files["err"], pass_fds=[plans_in, answers_out])
        os.close(plans_in)
        os.close(answers_out)
        self.lines = os.fdopen(self.answers, "r")

    def run(self, plan="none"):
        for file in self.files.values():
            file.seek(0)  # the program shares the position
            file.truncate()
        os.write(self.plans, plan.encode() + b"\n")
        status, hit, *counts = map(int, self.lines.readline().split())
        texts = {name: os.pread(file.fileno(), 1 << 20, 0) for name, file in self.files.items()}
        return Outcome(plan, os.waitstatus_to_exitcode(status), bool(hit), dict(zip(CALLS, counts)), **texts)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.plans)
        self.process.wait()
        self.lines.close()
        for file in self.files.values():
            file.close()
