"""A folder that plays a bucket: keys in, files below the folder out, and nothing beyond it."""

from __future__ import annotations

import json

import pytest

from outlast.inside.errors import AccessDenied, NotFound, RequestError
from outlast.inside.move.address import parse
from outlast.inside.move.base import FILE, FOLDER, Job, Report
from outlast.inside.move.engine import Listener, copy
from outlast.inside.move.local import LocalTree
from outlast.inside.move.mapped import MappedTree, maps_in
from outlast.inside.move.plan import Options, Place
from outlast.inside.move.trees import open_tree


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "bucket"
    for name in ("a.txt", "data-2/x", "data/b/c.bin", "data/中 d"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "empty").mkdir()
    return folder


@pytest.fixture
def tree(root):
    return MappedTree(str(root), "obs://lab")


def paths(items):
    return [(item.path, item.kind) for item in items]


def test_files_are_seen_under_their_keys_in_the_order_of_a_bucket(tree):
    assert paths(tree.walk("")) == [
        ("a.txt", FILE), ("data-2/x", FILE), ("data/b/c.bin", FILE), ("data/中 d", FILE), ("empty", FOLDER),
    ]  # fmt: skip
    assert paths(tree.children("data")) == [("data/b", FOLDER), ("data/中 d", FILE)]
    assert tree.stat("data").kind == FOLDER and tree.stat("data/b/c.bin").size_bytes == 12
    assert tree.stat("none") is None and tree.stat("a.txt/below") is None and tree.stat("").kind == FOLDER
    assert b"".join(tree.read("data/b/c.bin", 5, 3)) == b"b/c"
    with pytest.raises(NotFound, match=r"no such key: none$"):
        list(tree.read("none"))


def test_writing_removing_and_copying_stay_within_the_folder(tree, root, tmp_path):
    tree.write("new/deep/f", [b"12", b"3"], 3)
    tree.copy_within("new/deep/f", "copy/g", 3)
    tree.make_folder("made/here")
    assert (root / "copy/g").read_text() == "123" and (root / "made/here").is_dir()
    tree.remove(["new/deep/f", "none", "empty", ""])
    assert not (root / "empty").exists() and root.is_dir()
    with pytest.raises(RequestError, match="a folder of that name is there"):
        tree.write("data", [b"x"], 1)
    (tmp_path / "source").write_text("sent")
    notes = Notes()
    tree.send([Job(str(tmp_path / "source"), key, 4) for key in ("in/a", "../out", "in/b")], notes)
    assert notes.ended == ["in/a", "in/b"] and notes.trouble == ["../out"] and not (tmp_path / "out").exists()
    tree.fetch([Job(str(tmp_path / "back"), "in/a", 4)], notes)
    assert (tmp_path / "back").read_text() == "sent"


class Notes(Report):
    def __init__(self):
        self.ended, self.trouble = [], []

    def done(self, job):
        self.ended = sorted([*self.ended, job.path])

    def failed(self, job, error):
        self.trouble.append(job.path)


@pytest.mark.parametrize("key", ["..", "../x", "data/../../x", "/etc/passwd", "data//b", "./a.txt", "a\0b", "out/f"])
def test_what_leads_outside_is_refused_by_every_verb(tree, root, tmp_path, key):
    (tmp_path / "aside").mkdir()
    (tmp_path / "aside/f").write_text("theirs")
    (root / "out").symlink_to(tmp_path / "aside")
    for call in (
        lambda: tree.stat(key), lambda: list(tree.walk(key)), lambda: list(tree.children(key)),
        lambda: list(tree.read(key)), lambda: tree.write(key, [b"x"], 1), lambda: tree.remove([key]),
        lambda: tree.make_folder(key), lambda: tree.copy_within("a.txt", key, 5),
    ):  # fmt: skip
        with pytest.raises(RequestError, match="obs://lab"):
            call()
    assert (tmp_path / "aside/f").read_text() == "theirs"


def test_links_inside_are_shown_as_what_they_lead_to_and_circles_are_named(tree, root):
    (root / "linked").symlink_to("data")
    (root / "alias.txt").symlink_to(root / "a.txt")
    (root / "dangling").symlink_to(root / "nowhere")
    found = paths(tree.walk(""))
    assert ("linked/b/c.bin", FILE) in found and ("alias.txt", FILE) in found
    assert "dangling" not in [path for path, _ in found] and tree.stat("dangling") is None
    assert tree.stat("linked").kind == FOLDER and tree.stat("alias.txt").size_bytes == 5
    (root / "data/up").symlink_to("..")
    with pytest.raises(RequestError, match="obs://lab/data/up cannot be listed: this link leads in a circle"):
        list(tree.walk(""))
    (root / "data/up").unlink()
    (root / "outside").symlink_to("/etc")
    with pytest.raises(RequestError, match="obs://lab/outside is refused"):
        list(tree.walk(""))


def test_the_mover_copies_into_a_mapped_bucket_and_out_again(tree, tmp_path):
    there = Place(parse("obs://lab/data"), tree)
    home = Place(parse(str(tmp_path / "home")), LocalTree())
    assert copy([there], home, Options(), Listener()).files == 2
    again = Place(parse("obs://lab/again"), tree)
    assert copy([home], again, Options(), Listener()).files == 2
    assert copy([home], again, Options(), Listener()).skipped == 2
    assert copy([there], Place(parse("obs://lab/third/"), tree), Options(), Listener()).files == 2
    assert tree.stat("third/data/b/c.bin").size_bytes == 12


def test_a_name_node_that_is_played_has_absolute_paths(root):
    tree = open_tree(parse("hdfs://127.0.0.1:50070/data"), None, {"hdfs://127.0.0.1:50070": str(root)})
    assert paths(tree.children("/data")) == [("/data/b", FOLDER), ("/data/中 d", FILE)]
    assert next(iter(tree.walk("/"))).path == "/a.txt" and tree.stat("/").kind == FOLDER
    assert b"".join(tree.read("/a.txt")) == b"a.txt"


def test_an_address_is_opened_by_its_map_also_under_the_name_that_modelarts_uses(root):
    maps = maps_in({"OUTLAST_MAPS": json.dumps({"obs://lab/": str(root)})})
    for text in ("obs://lab/a.txt", "s3://lab/a.txt", "obs://profile@lab/a.txt"):
        assert open_tree(parse(text), None, maps).stat("a.txt").size_bytes == 5
    with pytest.raises(AccessDenied, match="outlast login obs"):
        open_tree(parse("obs://other/x"), None, maps)
    assert maps_in({}) == {}
    for text in ("[1]", "{", '"x"'):
        with pytest.raises(RequestError, match="OUTLAST_MAPS cannot be read"):
            maps_in({"OUTLAST_MAPS": text})
