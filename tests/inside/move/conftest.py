"""A bucket in memory, and a way to copy between it and this machine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for `import filetrees`

from bucket_tree import BucketTree
from filetrees import Mover


@pytest.fixture
def bucket():
    return BucketTree()


@pytest.fixture
def move(bucket):
    return Mover({"memory": bucket})
