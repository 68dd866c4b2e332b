"""The Python package compiles only a part of src/cli; without this test a missing file would fail only at import."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def taken():
    """The files of src/cli that the package takes, by the filters of CMakeLists.txt."""
    excluded = re.findall(r'KANDINSKY_CLI_SOURCES EXCLUDE REGEX "([^"]+)"', (ROOT / "CMakeLists.txt").read_text())
    names = [path.relative_to(ROOT).as_posix() for path in (ROOT / "src" / "cli").rglob("*.cpp")]
    return sorted(n for n in names if not any(re.search(one, f"/{n}") for one in excluded))


def symbols(objects, kind):
    told = subprocess.run(["nm", kind, *objects], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r" (_ZNK?9kandinsky3cli\w+)$", told, re.MULTILINE))


def test_what_the_package_takes_of_the_command_needs_nothing_else_of_it():
    folder = Path(os.environ["KANDINSKY_COMMAND"]).parents[1] / "CMakeFiles" / "kandinsky_front.dir"
    objects = [folder / f"{name}.o" for name in taken()]
    if shutil.which("nm") is None or not all(one.exists() for one in objects):
        pytest.skip("there is no nm, or no object files beside the command")
    assert len(objects) == 3
    missing = symbols(objects, "--undefined-only") - symbols(objects, "--defined-only")
    assert not missing, f"the Python package leaves out what defines {', '.join(sorted(missing))}"
