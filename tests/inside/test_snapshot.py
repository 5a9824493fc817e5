"""A snapshot holds files still; what cannot be trusted is noticed."""

import os
from pathlib import Path

import pytest

from outlast.inside import snapshot as snapshot_module
from outlast.inside.errors import Changed, StoreFull
from outlast.inside.seen import see
from outlast.inside.snapshot import COPY_BELOW_BYTES, check_shot, copy_shot, solidify, take_snapshot

BIG = COPY_BELOW_BYTES + 1


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "big").write_bytes(b"B" * BIG)
    (folder / "small").write_bytes(b"s" * 100)
    return folder


@pytest.fixture(params=["links", "copies"])
def ways(request, monkeypatch):
    """Both ways to hold a large file: as on this file system, and as if scratch were on another one."""
    if request.param == "copies":

        def cross(*_args, **_kwargs):
            raise OSError(18, "Invalid cross-device link")

        monkeypatch.setattr(snapshot_module.os, "link", cross)
    return request.param


def take(root, *names, outputs=()):
    looks = [see(str(root), name) for name in names]
    return take_snapshot(str(root), looks, str(root.parent / "scratch"), [see(str(root), name) for name in outputs])


def held(snapshot):
    return [Path(shot.path).read_bytes() for shot in snapshot.shots]


def rewrite(path, body):
    """In place, as torch.save does; the clock moves even if the kernel's tick did not."""
    before = path.stat().st_mtime_ns
    path.write_bytes(body)
    os.utime(path, ns=(before + 10_000_000, before + 10_000_000))


def test_renamed_and_deleted_files_stay_held(root, ways):
    snapshot = take(root, "big", "small")
    (root / "big").unlink()
    (root / "small").replace(root / "other")
    assert held(snapshot) == [b"B" * BIG, b"s" * 100]
    for shot in snapshot.shots:
        if shot.is_linked:
            check_shot(str(root), shot)
    snapshot.discard()
    assert not (root.parent / "scratch").exists()


def test_a_file_replaced_by_rename_is_still_the_old_one(root, ways):
    snapshot = take(root, "big")
    (root / "new").write_bytes(b"N" * BIG)
    (root / "new").replace(root / "big")
    assert held(snapshot) == [b"B" * BIG]


def test_rewriting_in_place_is_noticed_or_harmless(root, ways):
    snapshot = take(root, "big", "small")
    rewrite(root / "big", b"X" * BIG)
    rewrite(root / "small", b"Y" * 100)
    big, small = snapshot.shots
    assert held(snapshot)[1] == b"s" * 100, "small files are copied"
    if big.is_linked:
        with pytest.raises(Changed, match="big was rewritten"):
            check_shot(str(root), big)
        with pytest.raises(Changed):
            solidify(str(root), big)
        assert Path(copy_shot(big).path).read_bytes() == b"X" * BIG
    else:
        assert held(snapshot)[0] == b"B" * BIG
    assert not small.is_linked


def test_a_solid_copy_no_longer_changes(root):
    (shot,) = take(root, "big").shots
    solid = solidify(str(root), shot) if shot.is_linked else shot
    rewrite(root / "big", b"X" * BIG)
    assert Path(solid.path).read_bytes() == b"B" * BIG


@pytest.mark.parametrize("name", ["big", "small"])
def test_what_changed_since_it_was_seen_is_refused(root, name):
    look = see(str(root), name)
    rewrite(root / name, b"other")
    with pytest.raises(Changed, match=name):
        take_snapshot(str(root), [look], str(root.parent / "scratch"))
    (root / name).unlink()
    with pytest.raises(Changed, match="vanished"):
        take_snapshot(str(root), [look], str(root.parent / "scratch"))
    assert not (root.parent / "scratch").exists()


def test_outputs_are_taken_as_they_are_and_left_out_when_gone(root):
    looks = [see(str(root), "big"), see(str(root), "small")]
    rewrite(root / "small", b"longer now" * 20)
    (root / "big").unlink()
    snapshot = take_snapshot(str(root), [], str(root.parent / "scratch"), looks)
    assert held(snapshot) == [b"longer now" * 20]


def test_links_are_followed_to_their_files(root):
    (root / "latest").symlink_to("big")
    snapshot = take(root, "latest")
    (root / "latest").unlink()
    assert held(snapshot) == [b"B" * BIG]


def test_a_folder_or_nothing_is_not_a_file(root):
    assert see(str(root.parent), "work") is None
    assert see(str(root), "missing") is None
    assert see(str(root), "nul\0") is None


def test_no_room_for_copies_falls_back_to_links_and_else_says_so(root, monkeypatch):
    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(snapshot_module.shutil, "copyfile", full)
    assert all(shot.is_linked for shot in take(root, "small").shots)
    monkeypatch.setattr(snapshot_module.os, "link", full)
    with pytest.raises(StoreFull):
        take_snapshot(str(root), [see(str(root), "small")], str(root.parent / "scratch2"))
