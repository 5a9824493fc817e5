"""The run folder in a bucket of a real server."""

from __future__ import annotations

import pytest

from outlast.inside.s3.store import S3Store
from outlast.testing.store_suite import StoreSuite


class TestS3Store(StoreSuite):
    @pytest.fixture
    def store(self, seaweed):
        return S3Store(seaweed.access, seaweed.bucket(), "some/prefix")
