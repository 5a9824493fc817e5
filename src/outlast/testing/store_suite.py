"""What every store must pass. Join with a subclass whose `store` fixture gives an empty store:

class TestMyStore(StoreSuite):
    @pytest.fixture
    def store(self, tmp_path):
        return MyStore(tmp_path)
"""

from __future__ import annotations

import io
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from outlast.inside.errors import NotFound, RequestError
from outlast.inside.stores.base import Store, Streams

BAD_KEYS = ["", "/", "/etc/passwd", "..", "../x", "a/../b", "a//b", "a/", "./a", "a/./b", "a\0b", "\ud800"]
GOOD_KEYS = ["a", "runs/x/spec.json", "größe/数据 集/é.bin", "a b/c%20d", ".hidden", "a/..b", "x" * 200, "q?#&=+"]


class StoreSuite:
    """One test per promise of `outlast.store.base.Store`. A slow store may take smaller counts."""

    races = 10
    rewrites = 40
    churns = 50

    @pytest.fixture
    def store(self) -> Store:
        raise NotImplementedError("override the store fixture")

    @pytest.mark.parametrize("key", GOOD_KEYS)
    def test_put_then_get_gives_the_same_bytes(self, store: Store, key: str) -> None:
        store.put(key, b"\x00one")
        assert store.get(key) == b"\x00one"
        assert [entry.key for entry in store.list("")] == [key]

    @pytest.mark.parametrize("verb", ["put", "put_quick"])
    def test_put_replaces(self, store: Store, verb: str) -> None:
        for body in (b"a long first version", b"second"):
            getattr(store, verb)("k/one", body)
            assert store.get("k/one") == body
        head = store.head("k/one")
        assert head is not None and head.size_bytes == 6

    def test_put_if_absent_keeps_what_is_there(self, store: Store) -> None:
        assert store.put_if_absent("claim", b"mine") is True
        assert store.put_if_absent("claim", b"yours") is False
        assert store.put_if_absent("claim", io.BytesIO(b"theirs")) is False
        assert store.get("claim") == b"mine"

    def test_of_eight_writers_exactly_one_wins(self, store: Store) -> None:
        for turn in range(self.races):
            barrier = threading.Barrier(8)

            def write(name: int, barrier: threading.Barrier = barrier, key: str = f"race/{turn}") -> bool:
                barrier.wait(timeout=30)
                return store.put_if_absent(key, b"%d" % name * 10_000)

            with ThreadPoolExecutor(8) as pool:
                won = list(pool.map(write, range(8)))
            assert won.count(True) == 1
            assert store.get(f"race/{turn}") == b"%d" % won.index(True) * 10_000

    def test_readers_see_old_or_new_bytes_never_a_mixture(self, store: Store) -> None:
        versions = [bytes([value]) * 200_000 for value in (1, 2)]
        store.put("k", versions[0])
        done = threading.Event()

        def rewrite() -> None:
            for turn in range(self.rewrites):
                store.put_quick("k", versions[turn % 2])
            done.set()

        writer = threading.Thread(target=rewrite)
        writer.start()
        try:
            while not done.is_set():
                assert store.get("k") in versions
        finally:
            writer.join()

    def test_deleting_beside_a_writer_never_loses_its_write(self, store: Store) -> None:
        done = threading.Event()

        def churn() -> None:
            while not done.is_set():
                store.put_quick("same/folder/other", b"x")
                store.delete("same/folder/other")

        thread = threading.Thread(target=churn)
        thread.start()
        try:
            for turn in range(self.churns):
                store.put_quick("same/folder/k", b"%d" % turn)
                assert store.get("same/folder/k") == b"%d" % turn
                store.delete("same/folder/k")
        finally:
            done.set()
            thread.join()

    @pytest.mark.parametrize(
        ("start", "length", "expected"),
        [(0, 4, b"0123"), (3, 2, b"34"), (8, 10, b"89"), (9, 1, b"9"), (10, 1, b""), (99, 5, b""), (2, 0, b"")],
    )
    def test_ranges_end_where_the_object_ends(self, store: Store, start: int, length: int, expected: bytes) -> None:
        store.put("k", b"0123456789")
        assert store.get_range("k", start, length) == expected

    def test_negative_ranges_are_refused(self, store: Store) -> None:
        store.put("k", b"0123456789")
        with pytest.raises(RequestError):
            store.get_range("k", -1, 2)
        with pytest.raises(RequestError):
            store.get_range("k", 1, -2)

    def test_empty_objects_exist(self, store: Store) -> None:
        store.put("empty", b"")
        head = store.head("empty")
        assert head is not None and head.size_bytes == 0
        assert store.get("empty") == b""
        assert store.get_range("empty", 0, 10) == b""
        target = io.BytesIO()
        assert store.read_into("empty", target) == 0

    def test_missing_keys_are_not_found(self, store: Store) -> None:
        store.put("a/b", b"x")
        for key in ("missing", "a", "a/b/c", "a/bb"):
            assert store.head(key) is None
            assert store.touch(key) is False
            with pytest.raises(NotFound) as caught:
                store.get(key)
            assert caught.value.key == key
            with pytest.raises(NotFound):
                store.get_range(key, 0, 1)
            with pytest.raises(NotFound):
                store.read_into(key, io.BytesIO())

    def test_list_is_sorted_and_goes_by_prefix(self, store: Store) -> None:
        keys = ["a", "a-b/x", "a.txt", "ab", "b/1", "b/10", "b/2", "b/c/d", "b-1", "bé", "b数"]
        for key in reversed(keys):
            store.put(key, key.encode())
        assert [entry.key for entry in store.list("")] == sorted(keys)
        for prefix in ("a", "b", "b/", "b/1", "b/c", "b/c/d", "zz", "b/c/d/e", "bé", "none/"):
            expected = sorted(key for key in keys if key.startswith(prefix))
            assert [entry.key for entry in store.list(prefix)] == expected, prefix
        sizes = {entry.key: entry.size_bytes for entry in store.list("")}
        assert sizes == {key: len(key.encode()) for key in keys}

    def test_unfinished_writes_are_not_listed(self, store: Store) -> None:
        store.put("seen", b"x")
        if isinstance(store, Streams):
            writer = store.writer()
            writer.write(b"half")
            assert [entry.key for entry in store.list("")] == ["seen"]
            writer.abort()

        class Breaks(io.RawIOBase):
            def read(self, size: int = -1) -> bytes:
                assert [entry.key for entry in store.list("")] == ["seen"]
                raise RequestError("the source broke")

        for put in (store.put, store.put_if_absent):
            with pytest.raises(RequestError, match="broke"):
                put("new", Breaks())  # type: ignore[arg-type]
        assert [entry.key for entry in store.list("")] == ["seen"]

    def test_delete_is_idempotent_and_leaves_the_rest(self, store: Store) -> None:
        store.put("d/one", b"1")
        store.put("d/two", b"2")
        for _ in range(2):
            store.delete("d/one")
        store.delete("never/was")
        store.delete("d")
        assert [entry.key for entry in store.list("")] == ["d/two"]
        store.put("d/one", b"again")
        assert store.get("d/one") == b"again"

    def test_many_keys_go_at_once_and_missing_ones_do_not_matter(self, store: Store) -> None:
        for name in ("a", "b", "c"):
            store.put(f"m/{name}", b"x")
        store.delete_all(())
        store.delete_all(f"m/{name}" for name in ("a", "b", "never"))
        assert [entry.key for entry in store.list("m/")] == ["m/c"]

    def test_large_objects_travel_through_file_objects(self, store: Store) -> None:
        body = os.urandom(10 << 20) + b"tail"
        store.put("big", io.BytesIO(body))
        target = io.BytesIO()
        assert store.read_into("big", target) == len(body)
        assert target.getvalue() == body
        assert store.get_range("big", len(body) - 4, 100) == b"tail"

    def test_file_objects_are_read_from_where_they_stand(self, store: Store) -> None:
        source = io.BytesIO(b"skipped and kept")
        source.seek(12)
        store.put("k", source)
        assert store.get("k") == b"kept"

    @pytest.mark.parametrize("key", BAD_KEYS)
    def test_bad_keys_are_refused_by_every_verb(self, store: Store, key: str) -> None:
        for call in (
            lambda: store.put(key, b""),
            lambda: store.put_quick(key, b""),
            lambda: store.put_if_absent(key, b""),
            lambda: store.get(key),
            lambda: store.get_range(key, 0, 1),
            lambda: store.head(key),
            lambda: store.touch(key),
            lambda: store.delete(key),
        ):
            with pytest.raises(RequestError):
                call()
        assert list(store.list("")) == []

    @pytest.mark.parametrize("prefix", ["/", "../", "a/../", "a//", "\0"])
    def test_bad_prefixes_are_refused(self, store: Store, prefix: str) -> None:
        with pytest.raises(RequestError):
            list(store.list(prefix))

    def test_touch_makes_a_key_look_new_and_keeps_its_bytes(self, store: Store) -> None:
        store.put("k", b"x")
        before = store.head("k")
        assert store.touch("k") is True
        after = store.head("k")
        assert before is not None and after is not None
        assert after.modified_at >= before.modified_at
        assert store.get("k") == b"x"

    def test_the_address_is_known(self, store: Store) -> None:
        assert "://" in store.url

    def test_a_writer_gets_its_key_last(self, store: Store) -> None:
        if not isinstance(store, Streams):
            pytest.skip("this store takes no bytes before their key")
        for replace, expected in ((False, True), (False, False), (True, True)):
            writer = store.writer()
            writer.write(b"some")
            writer.write(b" bytes %d" % replace)
            assert writer.commit("k/late", replace=replace) is expected
            writer.abort()
        assert store.get("k/late") == b"some bytes 1"
        assert [entry.key for entry in store.list("")] == ["k/late"]
