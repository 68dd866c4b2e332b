"""The tests here use the support of the tests of the command."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "cli"))

from support import Room  # noqa: E402


@pytest.fixture
def room(tmp_path):
    return Room(tmp_path)


@pytest.fixture(scope="session")
def fail_nth():
    """The library to preload. It cannot replace the allocation functions of sanitizers."""
    path = os.environ.get("KANDINSKY_FAIL_LIBRARY", "")
    if not path:
        pytest.skip("KANDINSKY_FAIL_LIBRARY names no library: the program is built with a sanitizer")
    return path
