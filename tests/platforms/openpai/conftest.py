"""One trusting server and one with accounts, for all tests of this platform."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from openpai_lab import TrustingLab
from pai_lab import pai  # noqa: F401 - a fixture


@pytest.fixture(scope="session")
def trusting(tmp_path_factory):
    lab = TrustingLab(tmp_path_factory.mktemp("trusting"))
    yield lab
    lab.close()
