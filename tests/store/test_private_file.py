"""Small JSON files that only their owner can read."""

from __future__ import annotations

import os
import stat
import threading

import pytest

from outlast.errors import HomeError
from outlast.store.private import PrivateFile


@pytest.fixture
def file(tmp_path):
    return PrivateFile(tmp_path / "things.json", ("names",), "move it away")


def test_reading_creates_nothing(file, tmp_path):
    assert file.read() == {"names": {}}
    assert list(tmp_path.iterdir()) == []


def test_only_the_owner_can_read_it_whatever_the_mask_says(file):
    before = os.umask(0)
    try:
        with file.changing() as body:
            body["names"]["a"] = "secret"
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert file.read() == {"names": {"a": "secret"}}


def test_a_file_that_was_opened_to_others_is_private_after_the_next_change(file):
    file.path.write_text('{"names": {}}')
    file.path.chmod(0o644)
    with file.changing():
        pass
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def test_nothing_is_written_when_the_caller_fails(file):
    with pytest.raises(RuntimeError), file.changing() as body:
        body["names"]["a"] = "b"
        raise RuntimeError
    assert not file.path.exists()


def test_damage_is_named_without_quoting_a_value(file):
    file.path.write_text('{"names": {"a": "s3cr3t"')
    with pytest.raises(HomeError, match="damaged") as caught:
        file.read()
    assert "s3cr3t" not in str(caught.value) and "move it away" in caught.value.hint


def test_changes_of_many_threads_are_all_kept(file):
    def add(number):
        with file.changing() as body:
            body["names"][str(number)] = number

    threads = [threading.Thread(target=add, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(file.read()["names"]) == 20


def test_a_folder_that_is_missing_is_named(tmp_path):
    with pytest.raises(HomeError, match="cannot write"), PrivateFile(tmp_path / "no" / "x.json", (), "").changing():
        pass
