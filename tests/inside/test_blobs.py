"""Bytes by digest: sent once, verified when they come back."""

import hashlib
import os

import pytest

from outlast.inside.blobs import PIECE_BYTES, Blobs
from outlast.inside.errors import Changed, Damaged, PlaceError
from outlast.inside.layout import blob_key
from outlast.inside.stores.file import FileStore
from outlast.testing import MemoryStore

SIZES = [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES, 5 * PIECE_BYTES + 17]


@pytest.fixture(params=["file", "memory"])
def store(request, tmp_path):
    return FileStore(str(tmp_path / "store")) if request.param == "file" else MemoryStore()


@pytest.mark.parametrize("size", SIZES)
def test_files_come_back_as_they_went(store, tmp_path, size):
    body = os.urandom(size)
    (tmp_path / "in").write_bytes(body)
    blobs = Blobs(store)
    sha256, sent = blobs.put_file(str(tmp_path / "in"))
    assert (sha256, sent) == (hashlib.sha256(body).hexdigest(), size)
    assert blobs.has(sha256, size) and not blobs.has(sha256, size + 1)
    blobs.get_file(sha256, size, str(tmp_path / "out"), 0o751)
    assert (tmp_path / "out").read_bytes() == body
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o751
    assert blobs.get_bytes(sha256) == body and blobs.put_bytes(body) == sha256


@pytest.mark.parametrize("size", [10, 2 * PIECE_BYTES])
def test_what_is_there_already_is_not_sent_again(store, tmp_path, size):
    (tmp_path / "in").write_bytes(os.urandom(size))
    blobs = Blobs(store)
    assert [blobs.send_file(str(tmp_path / "in")).is_new for _ in range(3)] == [True, False, False]
    assert len(list(store.list(""))) == 1


@pytest.mark.parametrize("size", [100, 2 * PIECE_BYTES])
@pytest.mark.parametrize("damage", ["flip", "cut", "grow", "lose"])
def test_damage_never_appears_under_the_final_name(store, tmp_path, size, damage):
    body = os.urandom(size)
    blobs = Blobs(store)
    sha256 = blobs.put_bytes(body)
    key = blob_key(sha256)
    bad = {"flip": body[:-1] + bytes([body[-1] ^ 1]), "cut": body[:-1], "grow": body + b"x"}
    store.delete(key) if damage == "lose" else store.put(key, bad[damage])
    (tmp_path / "out").write_bytes(b"as it was")
    with pytest.raises(Damaged, match=sha256 if damage != "grow" else "more than"):
        blobs.get_file(sha256, size, str(tmp_path / "out"), 0o644)
    assert (tmp_path / "out").read_bytes() == b"as it was"
    assert not list(tmp_path.glob(".outlast-*"))
    assert not blobs.has(sha256, size)
    # The same bytes heal the store: a training that repeats itself bit for bit must not run into the damage again.
    (tmp_path / "in").write_bytes(body)
    assert blobs.send_file(str(tmp_path / "in")).is_new
    assert blobs.has(sha256, size)
    blobs.get_file(sha256, size, str(tmp_path / "out"), 0o644)
    assert (tmp_path / "out").read_bytes() == body


def test_small_damage_is_found_by_get_bytes_too(store):
    blobs = Blobs(store)
    sha256 = blobs.put_bytes(b"right")
    store.put(blob_key(sha256), b"wrong")
    with pytest.raises(Damaged):
        blobs.get_bytes(sha256)
    with pytest.raises(Damaged):
        blobs.get_bytes("0" * 64)


def test_bytes_spoilt_on_the_way_are_fetched_again(tmp_path):
    class Flaky(MemoryStore):
        reads = 0

        def get_range(self, key, start, length):
            self.reads += 1
            body = super().get_range(key, start, length)
            return b"X" + body[1:] if self.reads == 1 else body

    store = Flaky()
    sha256 = Blobs(store).put_bytes(b"some bytes")
    Blobs(store).get_file(sha256, 10, str(tmp_path / "out"), 0o644)
    assert (tmp_path / "out").read_bytes() == b"some bytes"
    assert Blobs(store).has(sha256, 10), "not the store's damage"


def test_a_file_rewritten_between_hashing_and_sending_is_not_stored(tmp_path):
    path = tmp_path / "in"
    path.write_bytes(b"a" * (2 * PIECE_BYTES))
    store = MemoryStore()

    def rewrite(verb, _key):
        if verb == "put":
            with path.open("r+b") as file:
                file.seek(PIECE_BYTES)
                file.write(b"changed")

    store.on_call = rewrite
    with pytest.raises(Changed):
        Blobs(store).put_file(str(path))
    assert list(store.list("")) == []


def test_trouble_of_the_place_is_not_damage(store, tmp_path):
    blobs = Blobs(store)
    sha256 = blobs.put_bytes(b"x")
    with pytest.raises(PlaceError, match="missing"):
        blobs.get_file(sha256, 1, str(tmp_path / "missing" / "out"), 0o644)
    with pytest.raises(PlaceError, match="not-there"):
        blobs.put_file(str(tmp_path / "not-there"))
    if isinstance(store, MemoryStore):
        store.fail_next("get_range", PlaceError("no network"))
        with pytest.raises(PlaceError, match="no network"):
            blobs.get_file(sha256, 1, str(tmp_path / "out"), 0o644)
        assert blobs.has(sha256, 1)
