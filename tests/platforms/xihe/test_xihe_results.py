"""Archives from strangers: only what a stint may have written gets into the store."""

import hashlib
import io
import os
import tarfile

import pytest

from outlast.errors import PlatformError
from outlast.inside import layout
from outlast.inside.records import End, Manifest
from outlast.inside.stores.file import FileStore
from outlast.platforms.xihe import results
from outlast.platforms.xihe.results import BadResults, unpack_results

RUN = "1116-quiet-otter-7kq"
WEIGHTS = b"weights" * 1000
DIGEST = hashlib.sha256(WEIGHTS).hexdigest()


@pytest.fixture
def store(tmp_path):
    return FileStore(str(tmp_path / "store"))


def manifest():
    files = {"ckpt/a.bin": {"sha256": DIGEST, "size": len(WEIGHTS), "mode": 0o644}}
    return Manifest(run=RUN, stint=2, number=1, files=files).to_bytes()


def whole(**more):
    """What a stint leaves when all is well, by key."""
    return {
        layout.end_key(RUN, 2): End(reason="hand-over").to_bytes(),
        layout.log_key(RUN, 2, 1): b"epoch 1\n",
        layout.checkpoint_key(RUN, "0002-000001"): manifest(),
        layout.blob_key(DIGEST): WEIGHTS,
        **more,
    }


def archive(folder, files, around="output/outlast/", extra=()):
    path = folder / "output.tar.gz"
    with tarfile.open(path, "w:gz") as packed:
        for name, data in files.items():
            entry = tarfile.TarInfo(around + name)
            entry.size = len(data)
            packed.addfile(entry, io.BytesIO(data))
        for entry in extra:
            packed.addfile(entry)
    return path


def unpack(path, store, folder):
    aside = folder / "aside"
    aside.mkdir()
    return unpack_results(path, store, RUN, 2, aside)


def keys(store):
    return {each.key for each in store.list("")}


@pytest.mark.parametrize("around", ["output/outlast/", "outlast/", "./outlast/", "a/b/outlast/"])
def test_what_a_stint_left_gets_into_the_store_whatever_folder_is_around_it(tmp_path, store, around):
    assert unpack(archive(tmp_path, whole(), around), store, tmp_path) == 4
    assert keys(store) == set(whole())
    assert store.get(layout.blob_key(DIGEST)) == WEIGHTS


def test_repeating_changes_nothing_and_a_keepers_end_stays(tmp_path, store):
    fence = End(reason="lost", by="keeper").to_bytes()
    store.put(layout.end_key(RUN, 2), fence)
    for _ in range(2):
        unpack_results(archive(tmp_path, whole()), store, RUN, 2, tmp_path)
    assert store.get(layout.end_key(RUN, 2)) == fence


@pytest.mark.parametrize(
    "name",
    [
        "../../evil", "/etc/evil", "runs/../../evil", f"runs/{RUN}/../evil", "evil",
        f"runs/{RUN}/spec.json", f"runs/{RUN}/control.json", f"runs/{RUN}/stints/0002/order.json",
        f"runs/{RUN}/stints/0003/end.json", f"runs/{RUN}/checkpoints/0003-000001.json",
        f"runs/{RUN}/checkpoints/0001-000009.json", "runs/another/stints/0002/end.json",
        "blobs/sha256/ab/../../../evil", "blobs/damaged/" + DIGEST, f"runs/{RUN}/stints/0002/log/..",
    ],
)  # fmt: skip
def test_names_that_a_stint_may_not_write_are_left_out(tmp_path, store, name):
    assert unpack(archive(tmp_path, whole(**{name: b"evil"})), store, tmp_path) == 4
    assert keys(store) == set(whole())
    assert not list(tmp_path.rglob("*evil*"))


def test_links_are_left_out_and_nothing_is_written_through_them(tmp_path, store):
    secret = tmp_path / "secret"
    secret.write_text("private")
    entries = []
    for name, kind in ((layout.log_key(RUN, 2, 9), tarfile.SYMTYPE), (layout.log_key(RUN, 2, 8), tarfile.LNKTYPE)):
        entry = tarfile.TarInfo("output/outlast/" + name)
        entry.type, entry.linkname = kind, str(secret)
        entries.append(entry)
    device = tarfile.TarInfo("output/outlast/" + layout.log_key(RUN, 2, 7))
    device.type = tarfile.FIFOTYPE
    unpack(archive(tmp_path, whole(), extra=[*entries, device]), store, tmp_path)
    assert keys(store) == set(whole())
    assert secret.read_text() == "private"


def test_a_blob_that_lies_about_its_digest_leaves_no_trace(tmp_path, store):
    with pytest.raises(BadResults, match="does not match its digest"):
        unpack(archive(tmp_path, whole(**{layout.blob_key(DIGEST): b"other"})), store, tmp_path)
    assert keys(store) == set()


def test_a_manifest_whose_bytes_are_missing_is_never_committed_and_neither_is_the_end(tmp_path, store):
    files = whole()
    del files[layout.blob_key(DIGEST)]
    with pytest.raises(BadResults, match=r"names ckpt/a\.bin"):
        unpack(archive(tmp_path, files), store, tmp_path)
    assert keys(store) == set()


def test_bytes_that_are_here_already_need_not_come_again(tmp_path, store):
    files = whole()
    store.put(layout.blob_key(DIGEST), files.pop(layout.blob_key(DIGEST)))
    assert unpack(archive(tmp_path, files), store, tmp_path) == 3


@pytest.mark.parametrize("broken", [b"no manifest", b"[]", b'{"format": 1}', b'{"files": {"a": 1}}'])
def test_a_broken_manifest_is_refused(tmp_path, store, broken):
    with pytest.raises(BadResults):
        unpack(archive(tmp_path, whole(**{layout.checkpoint_key(RUN, "0002-000001"): broken})), store, tmp_path)


def test_an_archive_cut_at_any_place_is_refused_or_whole(tmp_path, store):
    path = archive(tmp_path, whole(big=os.urandom(20_000)))
    data = path.read_bytes()
    for size in range(0, len(data), len(data) // 12):
        path.write_bytes(data[:size])
        with pytest.raises(BadResults, match="no whole archive"):
            unpack_results(path, store, RUN, 2, tmp_path)
        assert keys(store) == set()


def test_an_archive_that_needs_more_than_the_disk_has_is_refused(tmp_path, store, monkeypatch):
    monkeypatch.setattr(results, "_RESERVE_BYTES", 1 << 60)
    with pytest.raises(PlatformError, match="need more than"):
        unpack(archive(tmp_path, whole()), store, tmp_path)
    assert keys(store) == set()


def test_an_archive_of_endless_names_is_refused(tmp_path, store, monkeypatch):
    monkeypatch.setattr(results, "_MOST_FILES", 2)
    with pytest.raises(BadResults, match="more than 2 files"):
        unpack(archive(tmp_path, whole()), store, tmp_path)
