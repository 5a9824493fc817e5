"""A server over a folder, in this process; `served.folder` is what it serves."""

import pytest
from webhdfs_served import Served


@pytest.fixture
def served(tmp_path):
    with Served(tmp_path / "served") as server:
        yield server
