"""A store of ours on a server of ours: the suite of every store."""

import pytest
from webhdfs_served import Served

from outlast.inside.hdfs.store import HdfsStore
from outlast.testing.store_suite import StoreSuite


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with Served(tmp_path_factory.mktemp("served")) as server:
        yield server


class TestHdfsStoreOnAFolder(StoreSuite):
    races = 4
    rewrites = 20
    churns = 10

    @pytest.fixture
    def store(self, shared, tmp_path):
        return HdfsStore(shared.access, shared.authority, f"/{tmp_path.name}/größe 50%")
