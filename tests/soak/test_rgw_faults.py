"""Every test of what can go wrong between client and server once more, with Ceph behind it."""

from __future__ import annotations

import pytest
from test_s3_faults import *  # noqa: F403 - all tests of that file, whose `seaweed` is another server here

pytestmark = pytest.mark.soak


@pytest.fixture
def seaweed(ceph):
    return ceph
