"""Every store passes the same suite."""

import pytest

from outlast.inside.stores.file import FileStore
from outlast.testing import MemoryStore
from outlast.testing.store_suite import StoreSuite


class TestFileStore(StoreSuite):
    @pytest.fixture
    def store(self, tmp_path):
        return FileStore(str(tmp_path / "a store" / "größe"))


class TestFileStoreWithoutHardLinks(StoreSuite):
    @pytest.fixture
    def store(self, tmp_path, monkeypatch):
        def refuse(*_args, **_kwargs):
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr("outlast.inside.stores.file_writer.os.link", refuse)
        return FileStore(str(tmp_path))


class TestMemoryStore(StoreSuite):
    @pytest.fixture
    def store(self):
        return MemoryStore()
