import contextlib
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# The command's own test helpers: how to run it, a room of small inputs, and the plain numpy reference.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from support import Room, scene  # noqa: E402

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=60, database=None)
settings.load_profile("fixed")


@pytest.fixture
def room(tmp_path):
    return Room(tmp_path)


@pytest.fixture(scope="session")
def small():
    """Thirty images of three classes, 5 x 7, and their labels."""
    return scene(30, seed=3)


@pytest.fixture
def small_files():
    """A context in which no file can grow beyond a size, as on a full disk. Python ignores SIGXFSZ, so writing fails."""
    resource = pytest.importorskip("resource")

    @contextlib.contextmanager
    def limited(size):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited


@pytest.fixture
def saved(tmp_path):
    """The bytes of the file that a calibrator writes."""

    def bytes_of(calibrator):
        path = tmp_path / "bytes_of.kcal"
        calibrator.save(path)
        return path.read_bytes()

    return bytes_of
