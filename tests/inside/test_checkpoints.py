"""Verified restore: the newest good checkpoint comes back, a torn one never does."""

import shutil

import pytest

from outlast.inside import layout
from outlast.inside.blobs import Blobs
from outlast.inside.checkpoints import Checkpoints
from outlast.inside.errors import Damaged, NotFound, PlaceError, RequestError
from outlast.inside.records import Manifest
from outlast.testing import MemoryStore

RUN = "1115-quiet-otter-7ka"


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def checkpoints(store):
    return Checkpoints(store, RUN)


def commit(store, stint, number, files, parent=None, mode=0o644):
    entries = {}
    for path, body in files.items():
        entries[path] = {"sha256": Blobs(store).put_bytes(body), "size": len(body), "mode": mode}
    manifest = Manifest(RUN, stint, number, entries, parent)
    assert Checkpoints(store, RUN).commit(manifest)
    return layout.checkpoint_id(stint, number)


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def spoil(store, body):
    key = next(entry.key for entry in store.list("blobs/sha256/") if store.get(entry.key) == body)
    store.put(key, b"?" * len(body))


def test_ids_are_sorted_by_stint_then_number(store, checkpoints):
    for stint, number in [(10, 2), (2, 1), (2, 11), (12345, 1), (1, 1_000_000)]:
        commit(store, stint, number, {})
    store.put(layout.checkpoints_prefix(RUN) + "notes.txt", b"")
    assert checkpoints.ids() == ["0001-1000000", "0002-000001", "0002-000011", "0010-000002", "12345-000001"]
    assert checkpoints.last() == "12345-000001"
    assert checkpoints.last(until="0010-000001") == "0002-000011"
    assert checkpoints.last(wanted="0002-000001") == "0002-000001"
    with pytest.raises(RequestError, match=r"no checkpoint '0009-000001'.*12345-000001"):
        checkpoints.last(wanted="0009-000001")


def test_a_run_without_checkpoints_starts_from_nothing(checkpoints, tmp_path):
    assert checkpoints.last() is None and list(checkpoints.line()) == []
    restored = checkpoints.restore(checkpoints.line(), str(tmp_path))
    assert (restored.checkpoint, restored.manifest, restored.skipped, restored.size_bytes) == (None, None, [], 0)


def test_a_manifest_is_not_committed_before_its_blobs(checkpoints):
    entry = {"sha256": "0" * 64, "size": 1, "mode": 0o644}
    with pytest.raises(Damaged, match="0000"):
        checkpoints.commit(Manifest(RUN, 1, 1, {"a": entry}))
    assert checkpoints.ids() == []


def test_nothing_committed_is_ever_rewritten(store, checkpoints):
    commit(store, 1, 1, {"a": b"first"})
    before = store.get(layout.checkpoint_key(RUN, "0001-000001"))
    assert checkpoints.commit(Manifest.from_bytes(before)) is True, "the same again is no conflict"
    assert checkpoints.commit(Manifest(RUN, 1, 1, {})) is False
    assert store.get(layout.checkpoint_key(RUN, "0001-000001")) == before


def test_files_come_back_with_their_modes_and_known_digests(store, checkpoints, tmp_path):
    commit(store, 1, 1, {"ckpt/deep/é.pt": b"weights", "out/run.sh": b""}, mode=0o4755)
    restored = checkpoints.restore(checkpoints.line(), str(tmp_path / "work"))
    assert tree(tmp_path / "work") == {"ckpt/deep/é.pt": b"weights", "out/run.sh": b""}
    assert (tmp_path / "work/out/run.sh").stat().st_mode & 0o7777 == 0o755
    assert restored.checkpoint == "0001-000001" and restored.size_bytes == 7 and not restored.skipped
    assert {key[0]: sha for key, sha in restored.known.items()} == {
        path: each["sha256"] for path, each in restored.manifest.files.items()
    }


def test_a_damaged_checkpoint_is_skipped_and_named(store, checkpoints, tmp_path):
    first = commit(store, 1, 1, {"ckpt/a": b"old a", "ckpt/b": b"old b"})
    second = commit(store, 1, 2, {"ckpt/a": b"new a", "ckpt/c": b"new c", "ckpt/sub/d": b"new d"}, first)
    spoil(store, b"new d")
    (tmp_path / "ckpt").mkdir()
    (tmp_path / "ckpt" / "a").write_bytes(b"from the code pack")
    restored = checkpoints.restore(checkpoints.line(), str(tmp_path))
    assert restored.checkpoint == first
    assert [name for name, _ in restored.skipped] == [second] and "digest" in restored.skipped[0][1]
    assert tree(tmp_path) == {"ckpt/a": b"old a", "ckpt/b": b"old b"}
    assert not (tmp_path / "ckpt" / "sub").exists()


def test_when_all_are_damaged_the_folder_is_as_it_was(store, checkpoints, tmp_path):
    commit(store, 1, 1, {"ckpt/a": b"one"})
    commit(store, 1, 2, {"ckpt/a": b"two"}, "0001-000001")
    spoil(store, b"one")
    spoil(store, b"two")
    (tmp_path / "train.py").write_text("x")
    restored = checkpoints.restore(checkpoints.line(), str(tmp_path))
    assert restored.checkpoint is None and len(restored.skipped) == 2
    assert tree(tmp_path) == {"train.py": b"x"} and not (tmp_path / "ckpt").exists()


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"\xff\xfe", b"{}", b'{"format": "x"}', b'{"run": "r", "stint": 1, "number": 2, "files": []}'],
)
def test_a_torn_manifest_is_skipped(store, checkpoints, tmp_path, data):
    first = commit(store, 1, 1, {"a": b"one"})
    store.put(layout.checkpoint_key(RUN, "0001-000002"), data)
    restored = checkpoints.restore(checkpoints.line(), str(tmp_path))
    assert restored.checkpoint == first and restored.skipped[0][0] == "0001-000002"


def test_a_manifest_of_another_checkpoint_is_not_believed(store, checkpoints):
    commit(store, 1, 1, {"a": b"one"})
    store.put(layout.checkpoint_key(RUN, "0002-000001"), store.get(layout.checkpoint_key(RUN, "0001-000001")))
    with pytest.raises(Damaged, match="0001-000001"):
        checkpoints.read("0002-000001")
    with pytest.raises(NotFound):
        checkpoints.read("0003-000001")


def test_a_manifest_from_a_newer_version_stops_with_a_word(store, checkpoints, tmp_path):
    store.put(layout.checkpoint_key(RUN, "0001-000001"), b'{"format": 2}')
    with pytest.raises(RequestError, match="upgrade outlast"):
        checkpoints.restore(["0001-000001"], str(tmp_path))


@pytest.mark.parametrize("path", ["../x", "/tmp/x", "a/../../x", "", "a//b", "a/./b", "nul\0"])
def test_unsafe_paths_never_reach_the_disk(store, checkpoints, tmp_path, path):
    sha256 = Blobs(store).put_bytes(b"evil")
    manifest = Manifest(RUN, 1, 1, {path: {"sha256": sha256, "size": 4, "mode": 0o644}})
    store.put(layout.checkpoint_key(RUN, "0001-000001"), manifest.to_bytes())
    restored = checkpoints.restore(["0001-000001"], str(tmp_path / "in" / "work"))
    assert "unsafe path" in restored.skipped[0][1]
    assert tree(tmp_path) == {}


def test_incomplete_entries_are_damage(store, checkpoints):
    good = {"sha256": "0" * 64, "size": 1, "mode": 0o644}
    for files in ({"a": {**good, "sha256": "xyz"}}, {"a": {**good, "size": -1}}, {"a": {**good, "mode": "rw"}},
                  {"a": None}, {"a": good, "a/b": good}):  # fmt: skip
        store.put(layout.checkpoint_key(RUN, "0001-000001"), Manifest(RUN, 1, 1, files).to_bytes())
        with pytest.raises(Damaged):
            checkpoints.read("0001-000001")


def test_nothing_is_written_through_a_link_that_leads_out(store, checkpoints, tmp_path):
    (tmp_path / "victim").mkdir()
    work = tmp_path / "work"
    work.mkdir()
    (work / "ckpt").symlink_to(tmp_path / "victim")
    (work / "leaf").symlink_to(tmp_path / "victim" / "leaf")
    commit(store, 1, 1, {"ckpt/a": b"one"})
    commit(store, 1, 2, {"leaf": b"two"})
    with pytest.raises(RequestError, match="link out of the work folder"):
        checkpoints.restore(["0001-000001"], str(work))
    checkpoints.restore(["0001-000002"], str(work))
    assert (work / "leaf").read_bytes() == b"two" and not (work / "leaf").is_symlink()
    assert list((tmp_path / "victim").iterdir()) == []


def test_a_link_that_stays_inside_is_followed(store, checkpoints, tmp_path):
    (tmp_path / "big").mkdir()
    (tmp_path / "ckpt").symlink_to("big")
    commit(store, 1, 1, {"ckpt/a": b"one"})
    checkpoints.restore(["0001-000001"], str(tmp_path))
    assert (tmp_path / "big" / "a").read_bytes() == b"one"


def test_trouble_of_the_place_is_raised_and_leaves_nothing_half(store, checkpoints, tmp_path):
    commit(store, 1, 1, {"ckpt/a": b"one", "ckpt/b": b"two"})
    calls = []

    def fail_late(verb, key):
        if verb == "get_range":
            calls.append(key)
            if len(calls) > 2:
                raise PlaceError("no network")

    store.on_call = fail_late
    with pytest.raises(PlaceError, match="no network"):
        checkpoints.restore(checkpoints.line(), str(tmp_path / "work"))
    assert tree(tmp_path) == {}


def test_the_line_follows_parents_and_leaves_abandoned_branches(store, checkpoints):
    commit(store, 1, 1, {})
    commit(store, 1, 2, {}, "0001-000001")
    commit(store, 2, 1, {}, "0001-000002")  # abandoned: the user went back to 0001-000001
    commit(store, 3, 1, {}, "0001-000001")
    commit(store, 3, 2, {}, "0003-000001")
    assert list(checkpoints.line()) == ["0003-000002", "0003-000001", "0001-000001"]
    assert list(checkpoints.line("0002-000001")) == ["0002-000001", "0001-000002", "0001-000001"]
    store.put(layout.checkpoint_key(RUN, "0003-000001"), b"torn")
    assert list(checkpoints.line())[:3] == ["0003-000002", "0003-000001", "0002-000001"]
    store.delete(layout.checkpoint_key(RUN, "0003-000001"))
    assert list(checkpoints.line())[:2] == ["0003-000002", "0002-000001"]


def test_the_line_goes_on_behind_cleaned_checkpoints(store, checkpoints):
    for number in range(1, 5):
        commit(store, 1, number, {}, layout.checkpoint_id(1, number - 1) if number > 1 else None)
    for number in (2, 3):
        key = layout.checkpoint_key(RUN, layout.checkpoint_id(1, number))
        store.put(layout.cleaned_key(RUN, layout.checkpoint_id(1, number)), store.get(key))
        store.delete(key)
    assert list(checkpoints.line()) == ["0001-000004", "0001-000001"]
    assert list(checkpoints.line("0001-000003")) == ["0001-000001"]


def test_a_cycle_of_parents_ends(store, checkpoints):
    commit(store, 1, 1, {}, "0001-000002")
    commit(store, 1, 2, {}, "0001-000001")
    commit(store, 1, 3, {}, "nonsense")
    assert list(checkpoints.line()) == ["0001-000003", "0001-000002", "0001-000001"]


def test_restoring_twice_gives_the_same(store, checkpoints, tmp_path):
    commit(store, 1, 1, {"ckpt/a": b"one"})
    for _ in range(2):
        checkpoints.restore(checkpoints.line(), str(tmp_path))
        assert tree(tmp_path) == {"ckpt/a": b"one"}
    shutil.rmtree(tmp_path / "ckpt")
