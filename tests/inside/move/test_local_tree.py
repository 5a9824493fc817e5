"""This machine as a tree: what is listed, what a copy keeps, what is noticed."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from filetrees import Mover, contents, fill

from outlast.inside.errors import Damaged, InsideError, NotFound, RequestError
from outlast.inside.move import copying
from outlast.inside.move.aside import PART, Aside, sweep
from outlast.inside.move.base import FOLDER, LINK, Moving, Report
from outlast.inside.move.copying import copy_file
from outlast.inside.move.local import LocalTree, scan


@pytest.fixture
def tree():
    return LocalTree()


def test_walk_is_sorted_by_path_and_shows_empty_folders_and_links(tmp_path, tree):
    fill(tmp_path, {"a/b": "1", "a-b": "22", "a.c/x": "3", "empty": None, "to": "-> a/b", "sub/none": None})
    items = list(tree.walk(str(tmp_path)))
    paths = [item.path for item in items]
    assert paths == sorted(paths)
    assert {os.path.relpath(item.path, tmp_path): item.kind for item in items} == {
        "a/b": "file", "a-b": "file", "a.c/x": "file", "empty": FOLDER, "to": LINK, "sub/none": FOLDER
    }  # fmt: skip
    assert next(item for item in items if item.kind == LINK).target == "a/b"
    assert list(tree.walk(str(tmp_path / "missing"))) == []


def test_unfinished_files_are_never_listed(tmp_path, tree):
    fill(tmp_path, {PART + "abc": "x", ".big.outlast-part": "x", ".big.outlast-part.json": "x", "real": "r"})
    assert [item.path for item in tree.walk(str(tmp_path))] == [str(tmp_path / "real")]
    assert [item.path for item in tree.children(str(tmp_path))] == [str(tmp_path / "real")]


def test_pipes_and_sockets_are_told_and_not_walked(tmp_path, move):
    fill(tmp_path / "src", {"f": "f"})
    os.mkfifo(tmp_path / "src/pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "src/sock"))
        others = []
        assert len(list(scan(str(tmp_path / "src"), others))) == 1
        assert sorted(path.rpartition("/")[2] for path in others) == ["pipe", "sock"]
        outcome = move(tmp_path / "src", tmp_path / "dst")
    assert len(outcome.notices) == 2 and contents(tmp_path / "dst") == {"f": b"f"}


def test_a_copy_keeps_mode_and_time(tmp_path, move):
    fill(tmp_path, {"run.sh": "#!/bin/sh"})
    os.chmod(tmp_path / "run.sh", 0o751)
    os.utime(tmp_path / "run.sh", ns=(1, 1_234_567_890_123_456_789))
    move(tmp_path / "run.sh", tmp_path / "copy.sh")
    found = (tmp_path / "copy.sh").stat()
    assert stat.S_IMODE(found.st_mode) == 0o751 and found.st_mtime_ns == 1_234_567_890_123_456_789


@pytest.mark.parametrize("layout", ["hole first", "hole last", "only hole", "islands"])
def test_holes_stay_holes(tmp_path, move, layout):
    size = 64 << 20
    islands = {"hole first": [size - 5], "hole last": [0], "only hole": [], "islands": [0, 20 << 20, 40 << 20]}
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(size)
        for offset in islands[layout]:
            file.seek(offset)
            file.write(b"data!")
    moved = []

    class Counting(Report):
        def moved(self, count):
            moved.append(count)

    copy_file(str(tmp_path / "sparse"), str(tmp_path / "copy"), Counting(), Moving(full_check=True))
    assert sum(moved) == size == (tmp_path / "copy").stat().st_size
    assert (tmp_path / "copy").stat().st_blocks <= (tmp_path / "sparse").stat().st_blocks + 16
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "sparse").read_bytes()


def test_a_file_that_changes_while_it_is_read_is_noticed(tmp_path, monkeypatch):
    """The source grows with every chunk that is copied, as a log does."""
    monkeypatch.setattr(copying, "CHUNK_BYTES", 1000)
    monkeypatch.setattr(copying, "_CLONE_FROM_BYTES", 1 << 40)
    source = tmp_path / "log"
    source.write_bytes(b"x" * 5000)
    counted = []

    class Growing(Report):
        def moved(self, count):
            counted.append(count)
            with source.open("ab") as file:
                file.write(b"more")

    with pytest.raises(InsideError, match="log changed while it was read"):
        copy_file(str(source), str(tmp_path / "copy"), Growing(), Moving())
    assert sum(counted) == 0 and os.listdir(tmp_path) == ["log"]


def test_a_file_that_changes_once_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(copying, "_CLONE_FROM_BYTES", 1 << 40)
    source = tmp_path / "log"
    source.write_bytes(b"x" * 5000)

    class Once(Report):
        left = 1

        def moved(self, count):
            if self.left:
                self.left = 0
                source.write_bytes(b"final")

    copy_file(str(source), str(tmp_path / "copy"), Once(), Moving())
    assert (tmp_path / "copy").read_bytes() == b"final"


def test_a_file_that_shrinks_or_vanishes_is_named_and_the_others_go_on(tmp_path, move, monkeypatch):
    fill(tmp_path / "src", {"a": "a", "gone": "g", "z": "z"})
    plain = copying._copy_once

    def vanishing(source, target, tally, how):
        if source.endswith("gone"):
            Path(source).unlink()
        return plain(source, target, tally, how)

    monkeypatch.setattr(copying, "_copy_once", vanishing)
    outcome = move(tmp_path / "src", tmp_path / "dst")
    assert [failure.path for failure in outcome.failures] == [str(tmp_path / "src/gone")]
    assert contents(tmp_path / "dst") == {"a": b"a", "z": b"z"} and not outcome.complete


def test_a_write_of_another_length_leaves_the_old_file(tmp_path, tree):
    target = tmp_path / "f"
    target.write_text("old")
    with pytest.raises(Damaged, match="3 bytes arrived instead of 4"):
        tree.write(str(target), [b"new"], 4)
    assert target.read_text() == "old" and os.listdir(tmp_path) == ["f"]
    tree.write(str(tmp_path / "deep/er/g"), [b"a", b"bc"], 3)
    assert (tmp_path / "deep/er/g").read_text() == "abc"


def test_read_by_range(tmp_path, tree):
    (tmp_path / "f").write_bytes(bytes(range(256)) * 8192)
    assert b"".join(tree.read(str(tmp_path / "f"), 250, 10)) == bytes([*range(250, 256), 0, 1, 2, 3])
    assert b"".join(tree.read(str(tmp_path / "f"), 10 << 20)) == b""
    assert max(len(piece) for piece in tree.read(str(tmp_path / "f"))) <= 4 << 20
    with pytest.raises(NotFound):
        list(tree.read(str(tmp_path / "missing")))


def test_remove_takes_files_links_and_empty_folders_only(tmp_path, tree):
    fill(tmp_path, {"f": "f", "to": "-> full", "empty": None, "full/x": "x"})
    tree.remove([str(tmp_path / name) for name in ("f", "to", "empty", "missing", "f/below")])
    assert contents(tmp_path) == {"full/x": b"x"}
    with pytest.raises(RequestError, match="full is not empty"):
        tree.remove([str(tmp_path / "full")])


def test_parts_of_the_dead_are_swept_and_those_of_the_living_stay(tmp_path):
    (tmp_path / (PART + "dead")).write_text("x")
    with Aside(str(tmp_path / "f")) as aside:
        sweep([str(tmp_path)])
        assert os.listdir(tmp_path) == [Path(aside.path).name]
        aside.write(b"whole")
        aside.commit()
    assert contents(tmp_path) == {"f": b"whole"}


SLOW_COPY = """
import sys
from outlast.inside.move import copying
from outlast.inside.move.address import parse
from outlast.inside.move.engine import Listener, copy
from outlast.inside.move.local import LocalTree
from outlast.inside.move.plan import Options, Place

copying.CHUNK_BYTES = 4096
copying._CLONE_FROM_BYTES = 1 << 40

class Slow(Listener):
    def moved(self, count):
        print(count, flush=True)
        sys.stdin.readline()

tree = LocalTree()
copy([Place(parse(sys.argv[1]), tree)], Place(parse(sys.argv[2]), tree), Options(), Slow())
"""


def test_a_copy_that_was_killed_goes_on_and_leaves_no_partial_name(tmp_path):
    files = {f"{number:02d}.bin": os.urandom(20_000) for number in range(20)}
    source, target = fill(tmp_path / "src", files), tmp_path / "dst"
    killed = subprocess.Popen(
        [sys.executable, "-c", SLOW_COPY, f"{source}/", f"{target}/"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    for _ in range(37):
        killed.stdout.readline()
        killed.stdin.write(b"\n")
        killed.stdin.flush()
    killed.kill()
    killed.communicate()
    names = os.listdir(target)
    there = {name: data for name, data in contents(target).items() if not name.startswith(PART)}
    assert 0 < len(there) < len(files) and any(name.startswith(PART) for name in names)
    assert all(data == files[name] for name, data in there.items())
    outcome = Mover({})(f"{source}/", f"{target}/")
    assert outcome.complete and outcome.skipped == len(there)
    assert contents(target) == files


def test_stopping_ends_soon_and_the_next_call_does_the_rest(tmp_path, monkeypatch):
    from outlast.inside.move.engine import Listener

    monkeypatch.setattr(copying, "CHUNK_BYTES", 1000)
    files = {f"{number}": os.urandom(5000) for number in range(30)}
    fill(tmp_path / "src", files)

    class Impatient(Listener):
        count = 0

        def moved(self, count):
            self.count += count

        def stopping(self):
            return self.count > 50_000

    outcome = Mover({})(tmp_path / "src", tmp_path / "dst", listener=Impatient())
    assert outcome.stopped and not outcome.complete and 0 < outcome.files < 30 and outcome.failures == []
    assert not any(name.startswith(PART) for name in os.listdir(tmp_path / "dst"))
    assert Mover({})(tmp_path / "src", tmp_path / "dst").files == 30 - outcome.files
    assert contents(tmp_path / "dst") == files


def test_two_copies_into_one_folder_at_once_agree(tmp_path):
    files = {f"{number}": os.urandom(30_000) for number in range(50)}
    fill(tmp_path / "src", files)
    outcomes = []
    threads = [
        threading.Thread(target=lambda: outcomes.append(Mover({})(tmp_path / "src", tmp_path / "dst", force=True)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [outcome.failures for outcome in outcomes] == [[], [], []] and contents(tmp_path / "dst") == files


def test_thousands_of_files_are_walked_quickly(tmp_path, tree):
    for number in range(2000):
        (tmp_path / str(number)).write_bytes(b"")
    started = time.process_time()
    assert sum(1 for _ in tree.walk(str(tmp_path))) == 2000
    spent = time.process_time() - started
    print(f"2000 files walked in {spent * 1000:.1f} ms of CPU")
    assert spent < 0.5
