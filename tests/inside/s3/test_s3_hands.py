"""Processes that help with many files: the same result as one process alone, whatever happens to them."""

from __future__ import annotations

import os
import resource
import signal

import pytest

from hands_seen import watch_hands
from outlast.inside import beside
from outlast.inside.errors import AccessDenied, NotFound
from outlast.inside.move.base import Job, Moving, Report
from outlast.inside.s3 import hands
from outlast.inside.s3.client import S3Client
from outlast.inside.s3.tree import S3Tree

COUNT = 300


class Notes(Report):
    """Remembers everything, and does something after so many files."""

    def __init__(self, after=0, act=lambda: None):
        self.ended, self.trouble, self.bytes = [], {}, 0
        self.stop = False
        self._after, self._act = after, act

    def moved(self, count):
        self.bytes += count

    def done(self, job):
        self.ended.append(job.path)
        if len(self.ended) == self._after:
            self._act()

    def failed(self, job, error):
        self.trouble[job.path] = error

    def stopping(self):
        return self.stop


@pytest.fixture
def started(monkeypatch):
    """The processes that are started, for a few dozen files already."""
    found = watch_hands(monkeypatch)
    monkeypatch.setattr(hands, "_MANY", 20)
    yield found
    assert all(process.returncode is not None for process in found)


@pytest.fixture
def tree(seaweed):
    return S3Tree(seaweed.access, seaweed.bucket())


@pytest.fixture
def source(tmp_path):
    """Files with names of all kinds and contents of their own."""
    folder = tmp_path / "source"
    folder.mkdir()
    for number in range(COUNT):
        name = os.fsencode(f"图 {number}'\n\"😀") if number % 3 else b"plain-%d" % number
        (folder / os.fsdecode(name)).write_bytes(b"%d" % number * (number * 7))
    return folder


def sending(folder):
    return [
        Job(str(path), path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(folder.iterdir())
    ]


def fetching(tree, folder):
    folder.mkdir(exist_ok=True)
    return [
        Job(str(folder / item.path), item.path, item.size_bytes, item.modified_ns, item.digest, item.tag)
        for item in tree.walk("")
    ]


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_many_files_travel_there_and_back_by_several_processes(tree, source, tmp_path, started):
    up, down = Notes(), Notes()
    tree.send(sending(source), up)
    tree.fetch(fetching(tree, tmp_path / "target"), down)
    assert contents(tmp_path / "target") == contents(source)
    assert len(started) == 4
    for notes in (up, down):
        assert sorted(notes.ended) == sorted(contents(source))
        assert notes.bytes == sum(map(len, contents(source).values()))
        assert not notes.trouble


def test_a_few_files_or_files_still_being_looked_for_are_moved_alone(tree, source, started):
    tree.send(sending(source)[:19], Notes())
    tree.send(iter(sending(source)), Notes())
    assert not started


def test_what_a_killed_hand_had_is_done_all_the_same(tree, source, tmp_path, started):
    tree.send(sending(source), Notes())

    def kill():
        for process in started[2:]:
            process.send_signal(signal.SIGKILL)

    notes = Notes(after=30, act=kill)
    tree.fetch(fetching(tree, tmp_path / "target"), notes)
    assert contents(tmp_path / "target") == contents(source)
    assert sorted(notes.ended) == sorted(contents(source))


def test_without_any_process_the_work_is_done_alone(tree, source, monkeypatch, started):
    def refuse(*_args, **_kwargs):
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(beside.subprocess, "Popen", refuse)
    notes = Notes()
    tree.send(sending(source), notes)
    assert sorted(notes.ended) == sorted(contents(source))


def test_stopping_ends_the_hands_and_leaves_no_half_files(tree, source, tmp_path, started):
    tree.send(sending(source), Notes())
    notes = Notes(after=10)
    notes._act = lambda: setattr(notes, "stop", True)
    tree.fetch(fetching(tree, tmp_path / "target"), notes)
    arrived = contents(tmp_path / "target")
    assert all(arrived[name] == contents(source)[name] for name in arrived)
    assert set(notes.ended) <= set(arrived)
    assert not notes.trouble


def test_what_fails_in_a_hand_is_named_as_it_is(tree, source, tmp_path, started):
    tree.send(sending(source), Notes())
    jobs = fetching(tree, tmp_path / "target")
    gone = [job.path for job in jobs[::10]]
    tree.remove(gone)
    notes = Notes()
    tree.fetch(jobs, notes)
    assert sorted(notes.trouble) == sorted(gone)
    assert all(isinstance(error, NotFound) and error.key == path for path, error in notes.trouble.items())
    assert sorted(notes.ended) == sorted(set(contents(source)) - set(gone))


def test_wrong_keys_end_everything_with_one_error(seaweed, tree, source, started):
    wrong = S3Tree(seaweed.access._replace(secret="wrong"), tree.client.bucket)
    with pytest.raises(AccessDenied):
        wrong.send(sending(source), Notes())


def test_a_hand_is_told_the_keys_by_nobody_but_its_input(seaweed, tree, source, started):
    tree.send(sending(source), Notes())
    assert started
    for process in started:
        assert not any(seaweed.access.secret.encode() in told for told in process.told)


def test_hundreds_of_files_in_parts_need_few_descriptors(tree, tmp_path):
    client: S3Client = tree.client
    client.put("one", b"123")
    item = next(iter(tree.walk("")))
    jobs = [Job(str(tmp_path / str(number)), "one", 3, item.modified_ns, "", item.tag) for number in range(600)]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(name) for name in os.listdir("/proc/self/fd"))
    notes = Notes()
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 256, hard))
    try:
        tree.fetch(jobs, notes, Moving(part_bytes=2))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert not notes.trouble
    assert len(notes.ended) == 600
