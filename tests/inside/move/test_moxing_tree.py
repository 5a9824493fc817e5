"""OBS through MoXing. Ours stands in for the platform's, which cannot be had outside its containers."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from outlast.inside.move.moxtree import find_moxing

SOURCE = Path(__file__).resolve().parents[3] / "src"
SCRIPT = """
import os, sys
from moxing.framework import file
from outlast.inside.errors import Changed, NotFound, PlaceError
from outlast.inside.move.base import FILE, FOLDER, Job, Report
from outlast.inside.move.moxtree import MoxTree

class Notes(Report):
    def __init__(self):
        self.ended, self.trouble, self.bytes = [], {}, 0
    def moved(self, count):
        self.bytes += count
    def done(self, job):
        self.ended.append(job.path)
    def failed(self, job, error):
        self.trouble[job.path] = error

tree, here = MoxTree(file, "mine"), sys.argv[1]
notes = Notes()

def job(name, path, **fields):
    status = os.stat(os.path.join(here, name))
    return Job(os.path.join(here, name), path, status.st_size, status.st_mtime_ns)._replace(**fields)
"""


@pytest.fixture
def play(tmp_path):
    (tmp_path / "bucket").mkdir()
    (tmp_path / "here").mkdir()

    def run(script):
        env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{SOURCE / 'outlast/inside/mox'}{os.pathsep}{SOURCE}",
            "OUTLAST_MAPS": '{"obs://mine": "%s"}' % (tmp_path / "bucket"),
            "MOX_SILENT_MODE": "1",
        }
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT + textwrap.dedent(script), str(tmp_path / "here")],
            env=env, capture_output=True, text=True, timeout=150,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return tmp_path

    return run


def test_files_travel_there_and_back(play):
    folder = play("""
        for number in range(5):
            with open(os.path.join(here, "f%d" % number), "wb") as out:
                out.write(os.urandom(number * 1000))
        tree.send((job("f%d" % n, "in/sub/f%d" % n) for n in range(5)), notes)
        assert notes.trouble == {} and notes.bytes == 10000, (notes.trouble, notes.bytes)
        items = list(tree.walk("in"))
        assert [item.path for item in items] == ["in/sub/f%d" % n for n in range(5)], items
        def back(item):
            return Job(os.path.join(here, "b" + item.path[-1]), item.path, item.size_bytes, item.modified_ns)

        tree.fetch(map(back, items), notes)
        assert notes.trouble == {}, notes.trouble
        assert sorted(os.listdir(here)) == sorted(["f%d" % n for n in range(5)] + ["b%d" % n for n in range(5)])
        assert tree.stat("in").kind == FOLDER and tree.stat("in/sub/f1").kind == FILE and tree.stat("no") is None
        assert [(i.path, i.kind) for i in tree.children("in")] == [("in/sub", FOLDER)]
    """)
    for number in range(5):
        sent, came = (folder / "here" / f"{letter}{number}" for letter in "fb")
        assert sent.read_bytes() == came.read_bytes() == (folder / f"bucket/in/sub/f{number}").read_bytes()


def test_streams_ranges_and_removals(play):
    play("""
        tree.write("a/k", [b"01234", b"56789"], 10)
        assert b"".join(tree.read("a/k")) == b"0123456789"
        assert b"".join(tree.read("a/k", 3, 4)) == b"3456"
        for wrong in (lambda: tree.write("torn", [b"x"], 5), lambda: list(tree.read("none"))):
            try:
                wrong()
            except (Changed, NotFound):
                continue
            raise AssertionError(wrong)
        assert tree.stat("torn") is None
        tree.make_folder("empty")
        tree.remove(["a", "never"])
        assert tree.stat("a/k") is not None, "a full folder is no empty one"
        tree.remove(["a/k", "empty"])
        assert [item for item in tree.walk("") if item.kind == FILE] == []
    """)


def test_what_changes_or_breaks_is_named_and_leaves_nothing(play):
    play("""
        with open(os.path.join(here, "f"), "wb") as out:
            out.write(b"x")
        tree.send([job("f", "k", size_bytes=7)], notes)
        assert isinstance(notes.trouble["k"], Changed)
        tree.fetch([Job(os.path.join(here, "g"), "nothing", 3)], notes)
        assert "nothing" in notes.trouble and isinstance(notes.trouble["nothing"], PlaceError)
        assert os.listdir(here) == ["f"]
    """)


def test_neither_our_own_drop_in_nor_a_stranger_of_that_name_is_asked(tmp_path, monkeypatch):
    assert find_moxing() is None
    (tmp_path / "moxing.py").write_text("unrelated = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "moxing", raising=False)
    assert find_moxing() is None
    monkeypatch.delitem(sys.modules, "moxing", raising=False)
