"""A hundred thousand keys are listed in order, in the memory that a few thousand take."""

from __future__ import annotations

import os

import pytest

from outlast.inside.move.base import Job, Report
from outlast.inside.s3.tree import S3Tree

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]
KEYS = 100_000


@pytest.mark.parametrize("name", ["seaweed", "ceph"])
def test_a_hundred_thousand_keys_are_listed_in_order_with_flat_memory(name, request, start_task):
    server = request.getfixturevalue(name)
    bucket = server.bucket()
    keys = [f"{number % 100:02d}/{number:06d} image%41+.png" for number in range(KEYS)]
    S3Tree(server.access, bucket).send((Job(os.devnull, key, 0) for key in keys), Report())
    told = start_task(server.access, "walk", bucket=bucket).hear()
    assert (told["count"], told["last"]) == (KEYS, max(keys))
    assert told["peak_mib"] - told["early_mib"] < 4, told
