"""A run that has no room is refused, and one that waits for room is told so."""

from types import SimpleNamespace

import pytest

from outlast.errors import StoreError
from outlast.keeper.home import Home
from outlast.operations import room


@pytest.fixture
def disks(monkeypatch):
    """Free bytes by folder; disks of a test cannot be filled for real without being root."""
    free = {}
    monkeypatch.setattr(room, "_free_bytes", lambda folder: free.get(folder, 1 << 40))
    return free


def test_room_is_asked_of_the_home_and_of_a_store_elsewhere(tmp_path, disks):
    home = Home(tmp_path / "home")
    store = tmp_path / "elsewhere"
    room.require_room(home, store.as_uri(), 1000)
    for folder in (home.path, store):
        disks.clear()
        disks[folder] = room.LEAST_BYTES
        with pytest.raises(StoreError) as caught:
            room.require_room(home, store.as_uri(), 1000)
        assert str(folder) in caught.value.message
        assert "outlast gc" in caught.value.hint
        assert caught.value.exit_code == 12
        assert not caught.value.retryable


def test_store_in_the_home_and_store_far_away_are_not_asked_twice(tmp_path, disks):
    home = Home(tmp_path)
    disks[tmp_path / "store"] = 0
    room.require_room(home, (tmp_path / "store").as_uri(), 0)
    room.require_room(home, "s3://bucket/store", 0)


def test_full_disk_is_said_and_a_small_one_is_not(tmp_path, disks):
    home = Home(tmp_path)
    store = (tmp_path / "store").as_uri()
    disks[tmp_path] = 1 << 20
    assert room.full_disk_notice(home, store) == ""
    disks[tmp_path] = 0
    assert str(tmp_path) in room.full_disk_notice(home, store)


def test_file_system_that_does_not_tell_its_size_is_trusted(tmp_path, monkeypatch):
    nothing = SimpleNamespace(f_blocks=0, f_bavail=0, f_frsize=4096)
    monkeypatch.setattr(room.os, "statvfs", lambda path: nothing)
    assert room.full_disk_notice(Home(tmp_path), (tmp_path / "store").as_uri()) == ""
