"""Reading a local folder as a data set, and shrinking it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for `import layouts`

from outlast.datasets.choosing import Keep
from outlast.datasets.mini import make_mini
from outlast.datasets.reading import open_dataset
from outlast.inside.move.address import parse
from outlast.inside.move.local import LocalTree


@pytest.fixture
def dataset():
    return lambda folder: open_dataset(LocalTree(), parse(str(folder)))


@pytest.fixture
def shrink(tmp_path, dataset):
    """Make a small copy; (the folder, what it came to)."""
    made = iter(range(100))

    def call(source, keep, seed=0):
        target = tmp_path / f"mini-{next(made)}"
        return target, make_mini(dataset(source), target, Keep.parse(str(keep)), seed)

    return call
