"""A server of our own plays Xihe: the same routes, the real git and git-lfs, real instances."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "hub")]  # for `xihe_lab` and `hub_lab`

from hub_lab import hub_lab  # noqa: E402, F401 - a fixture
from xihe_lab import bench, completed, journey, tampering  # noqa: E402, F401 - fixtures
