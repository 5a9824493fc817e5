"""Every test of a bucket's tree once more, with Ceph behind it and either signature."""

from __future__ import annotations

import pytest
from test_s3_tree import *  # noqa: F403 - all tests of that file, whose `seaweed` is another server here

pytestmark = pytest.mark.soak


@pytest.fixture
def seaweed(gateway):
    return gateway
