"""The run folder in a bucket of Ceph."""

from __future__ import annotations

import pytest

from outlast.inside.s3.store import S3Store
from outlast.testing.store_suite import StoreSuite

pytestmark = pytest.mark.soak


class TestStoreInCeph(StoreSuite):
    @pytest.fixture
    def store(self, gateway):
        return S3Store(gateway.access, gateway.bucket(), "some/prefix")


class TestStoreWithoutConditionalWrites(StoreSuite):
    """A server that would not refuse: a claim waits for the server's clock."""

    races = 1
    churns = 2

    @pytest.fixture
    def store(self, ceph):
        return S3Store(ceph.access._replace(conditional=False), ceph.bucket(), "some/prefix")
