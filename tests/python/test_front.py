"""A package built on its own takes a part of src/cli alone; what is missing there would show only when it is imported."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def taken():
    """The files of src/cli that the package takes, by the filters of CMakeLists.txt."""
    text = (ROOT / "CMakeLists.txt").read_text()
    include = re.search(r'KANDINSKY_CLI_SOURCES INCLUDE REGEX "([^"]+)"', text)[1]
    excluded = re.findall(r'KANDINSKY_CLI_SOURCES EXCLUDE REGEX "([^"]+)"', text)
    names = [f"/{path.name}" for path in (ROOT / "src" / "cli").glob("*.cpp")]
    return sorted(n[1:] for n in names if re.search(include, n) and not any(re.search(one, n) for one in excluded))


def symbols(objects, kind):
    told = subprocess.run(["nm", kind, *objects], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r" (_ZNK?9kandinsky3cli\w+)$", told, re.MULTILINE))


def test_what_the_package_takes_of_the_command_needs_nothing_else_of_it():
    folder = Path(os.environ["KANDINSKY_COMMAND"]).parents[1] / "CMakeFiles" / "kandinsky_front.dir" / "src" / "cli"
    objects = [folder / f"{name}.o" for name in taken()]
    if shutil.which("nm") is None or not all(one.exists() for one in objects):
        pytest.skip("there is no nm, or no object files beside the command")
    assert len(objects) > 3
    missing = symbols(objects, "--undefined-only") - symbols(objects, "--defined-only")
    assert not missing, f"the Python package leaves out what defines {', '.join(sorted(missing))}"
