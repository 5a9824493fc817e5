"""The store in a real HDFS: the suite of every store, and what only this one promises."""

import socket

import pytest

from outlast.inside.errors import AccessDenied, RequestError, StoreFull
from outlast.inside.hdfs.client import HdfsClient
from outlast.inside.hdfs.store import TEMP_FOLDER, HdfsStore
from outlast.inside.stores import open_store
from outlast.inside.stores.access import Access
from outlast.testing.store_suite import StoreSuite


class TestHdfsStore(StoreSuite):
    races = 2
    rewrites = 8
    churns = 6

    @pytest.fixture
    def store(self, hadoop):
        return HdfsStore(hadoop.access, hadoop.authority, hadoop.folder() + "/größe 50%")


@pytest.fixture
def folder(hadoop):
    return hadoop.folder()


@pytest.fixture
def store(hadoop, folder):
    return HdfsStore(hadoop.access, hadoop.authority, folder)


@pytest.fixture
def client(hadoop):
    return HdfsClient(hadoop.access, hadoop.authority)


def test_an_address_opens_the_store(hadoop, folder, monkeypatch):
    monkeypatch.setenv("HADOOP_USER_NAME", hadoop.access.user)
    store = open_store(f"hdfs://{hadoop.authority}{folder}/")
    assert store.url == f"hdfs://{hadoop.authority}{folder}"
    store.put("k", b"x")
    assert open_store(store.url, Access("hdfs", user="reader")).get("k") == b"x"


def test_opening_needs_no_network():
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    assert open_store(f"hdfs://127.0.0.1:{port}/x").url == f"hdfs://127.0.0.1:{port}/x"


def test_a_key_below_another_key_is_refused(store):
    store.put("a", b"x")
    store.put("d/e", b"x")
    for put in (store.put, store.put_if_absent):
        with pytest.raises(RequestError):
            put("a/b", b"y")
        with pytest.raises(RequestError):
            put("d", b"y")
    assert [entry.key for entry in store.list("")] == ["a", "d/e"]


def test_names_that_hdfs_cannot_hold_are_refused_before_anything_is_sent(store, folder, client):
    for key in ("a:b", "runs/12:30/x"):
        with pytest.raises(RequestError, match=":"):
            store.put(key, b"")
    with pytest.raises(RequestError):
        store.put("y" * 300, b"")
    with pytest.raises(RequestError, match="unfinished"):
        store.put(TEMP_FOLDER + "/x", b"")
    assert list(store.list("")) == []
    assert client.list(f"{folder}/{TEMP_FOLDER}") == []


def test_what_killed_writers_left_goes_after_a_day_with_the_next_write(hadoop, store, folder, client):
    part = client.put_aside(f"{folder}/{TEMP_FOLDER}", lambda: iter([b"left behind"]))
    store.put("k", b"x")
    assert client.status(part.path) is not None
    client.set_modified(part.path, 1000)
    HdfsStore(hadoop.access, hadoop.authority, folder).put("k", b"y")
    assert client.status(part.path) is None


def test_deleting_the_last_key_leaves_no_empty_folders(store, folder, client):
    store.put("runs/x/stints/0001/log/000001", b"")
    store.delete("runs/x/stints/0001/log/000001")
    assert [each.name for each in client.list(folder)] == [TEMP_FOLDER]


def test_a_full_quota_says_so_and_keeps_what_was_there(hadoop, store, folder):
    store.put("old", b"kept")
    hadoop.administer("-setSpaceQuota", "2m", folder)
    # The data node answers "201 Created" here, having thrown the bytes away.
    for put in (store.put, store.put_if_absent):
        with pytest.raises(StoreFull, match="quota"):
            put("new", bytes(5 << 20))
    assert [entry.key for entry in store.list("")] == ["old"]
    assert store.get("old") == b"kept"


def test_another_user_may_read_and_not_write(hadoop, store, folder):
    store.put("k", b"x")
    theirs = HdfsStore(hadoop.access_of("stranger"), hadoop.authority, folder)
    assert theirs.get("k") == b"x"
    for call in (lambda: theirs.put("k", b"y"), lambda: theirs.put_if_absent("n", b"y"), lambda: theirs.delete("k")):
        with pytest.raises(AccessDenied, match=r"user=stranger.*outlast login hdfs"):
            call()
    assert [entry.key for entry in store.list("")] == ["k"]


@pytest.mark.parametrize("user", ["two words", "1st", "a/b", "ü"])
def test_a_user_name_that_hadoop_refuses_is_refused_here(user):
    with pytest.raises(RequestError, match="user name"):
        HdfsStore(Access("hdfs", user=user), "127.0.0.1:1", "/x")
