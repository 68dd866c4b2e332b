import pytest
from support import Room


@pytest.fixture
def room(tmp_path):
    return Room(tmp_path)
