"""The tree in a real HDFS: moving files there and back, whole and verified, also when things go wrong midway."""

import json
import os
import threading
from pathlib import Path

import pytest

from outlast.inside.errors import Changed, Damaged, InsideError, NotFound, PlaceError, RequestError
from outlast.inside.hdfs.fetching import RESUME_FROM_BYTES, part_name
from outlast.inside.hdfs.tree import HdfsTree
from outlast.inside.move.base import FILE, FOLDER, Item, Job, Moving, Report
from outlast.inside.net.retry import Policy
from servers.faults import ALWAYS, corrupt, corrupt_request, cut, drop
from servers.faulty import Faulty

QUICK = Policy(first_s=0.01, longest_s=0.05)
HOW = Moving(workers=2)


class Notes(Report):
    """Remembers what it is told; may ask to stop."""

    def __init__(self, stop_after_bytes=None):
        self.bytes, self.finished, self.failures = 0, [], []
        self._stop_after_bytes = stop_after_bytes
        self._lock = threading.Lock()

    def moved(self, count):
        with self._lock:
            self.bytes += count

    def done(self, job):
        self.finished.append(job)

    def failed(self, job, error):
        self.failures.append(error)

    def stopping(self):
        return self._stop_after_bytes is not None and self.bytes >= self._stop_after_bytes


@pytest.fixture
def tree(hadoop):
    return HdfsTree(hadoop.access, hadoop.authority)


@pytest.fixture
def folder(hadoop):
    return hadoop.folder()


@pytest.fixture
def nodes(hadoop):
    """A proxy before the data node, and a tree that uses it."""
    with (
        Faulty(f"http://{hadoop.data_node}") as data_node,
        Faulty(hadoop.url, {hadoop.data_node: data_node.authority}) as name_node,
    ):
        yield data_node, HdfsTree(hadoop.access, name_node.authority, QUICK)


def put(tree, path, body=b"x"):
    tree.write(path, iter([body]), len(body))
    return tree.stat(path)


def job_for(tree, path, local):
    item = tree.stat(path)
    return Job(str(local), path, item.size_bytes, item.modified_ns, item.digest, item.tag)


def test_walk_shows_files_and_empty_folders_sorted(tree, folder):
    for name in ("b/1", "b-1", "a", "b/c/d", "数 据/x y"):
        put(tree, f"{folder}/{name}")
    tree.make_folder(f"{folder}/empty/inner")
    tree.client.put_aside(f"{folder}/b", lambda: iter([b"unfinished"]))
    found = [(item.path[len(folder) + 1 :], item.kind) for item in tree.walk(folder)]
    assert found == [
        ("a", FILE), ("b-1", FILE), ("b/1", FILE), ("b/c/d", FILE), ("empty/inner", FOLDER), ("数 据/x y", FILE),
    ]  # fmt: skip
    children = [(item.path[len(folder) + 1 :], item.kind) for item in tree.children(folder)]
    assert children == [("a", FILE), ("b-1", FILE), ("b", FOLDER), ("empty", FOLDER), ("数 据", FOLDER)]
    assert list(tree.walk(f"{folder}/none")) == list(tree.children(f"{folder}/a")) == []


def test_stat_knows_files_folders_and_nothing(tree, folder):
    item = put(tree, f"{folder}/f", b"123")
    assert (item.size_bytes, item.kind) == (3, FILE) and item.tag and item.modified_ns > 10**18
    assert tree.stat(folder) == Item(folder, 0, tree.stat(folder).modified_ns, FOLDER)
    assert tree.stat(f"{folder}/none") is None and tree.stat("/").kind == FOLDER
    assert put(tree, f"{folder}/f", b"456").tag != item.tag


def test_write_appears_whole_or_not_at_all(tree, folder):
    put(tree, f"{folder}/f", b"old")
    with pytest.raises(Damaged, match="3 bytes"):
        tree.write(f"{folder}/f", iter([b"new"]), 4)

    def breaks():
        yield b"ne"
        raise RequestError("the source broke")

    with pytest.raises(RequestError, match="broke"):
        tree.write(f"{folder}/f", breaks(), 3)
    with pytest.raises(RequestError):
        put(tree, folder)
    assert b"".join(tree.read(f"{folder}/f")) == b"old"
    assert [each.name for each in tree.client.list(folder)] == ["f"]


def test_remove_takes_files_and_folders_that_look_empty(tree, folder):
    put(tree, f"{folder}/d/f")
    tree.client.put_aside(f"{folder}/d", lambda: iter([b"left by a killed writer"]))
    with pytest.raises(RequestError):
        tree.remove([f"{folder}/d"])
    tree.remove([f"{folder}/d/f", f"{folder}/d", f"{folder}/never/was"])
    assert tree.stat(f"{folder}/d") is None


def test_files_go_there_and_come_back(tree, folder, tmp_path):
    bodies = {"a b": b"", "数据%20": b"1", "it's": os.urandom(70_000), "large": os.urandom(RESUME_FROM_BYTES + 5)}
    jobs = []
    for name, body in bodies.items():
        (tmp_path / name).write_bytes(body)
        jobs.append(Job(str(tmp_path / name), f"{folder}/sub %/{name}", len(body)))
    notes = Notes()
    tree.send(jobs, notes, HOW._replace(full_check=True))
    total = sum(map(len, bodies.values()))
    assert notes.failures == [] and len(notes.finished) == len(jobs) and notes.bytes == total
    back = tmp_path / "back"
    back.mkdir()
    items = list(tree.walk(folder))
    notes = Notes()
    tree.fetch(
        [job_for(tree, item.path, back / Path(item.path).name) for item in items],
        notes,
        HOW._replace(full_check=True),
    )
    assert notes.failures == [] and notes.bytes == total
    assert {path.name: path.read_bytes() for path in back.iterdir()} == bodies
    for item in items:
        assert (back / Path(item.path).name).stat().st_mtime_ns == item.modified_ns


def test_a_source_that_changes_while_it_is_read_is_noticed(tree, folder, tmp_path):
    source = tmp_path / "f"
    source.write_bytes(bytes(3 << 20))

    class Rewrites(Report):
        def moved(self, count):
            source.write_bytes(b"other")

    put(tree, f"{folder}/f", b"old")
    with pytest.raises(Changed, match="while it was read"):
        tree.send_one(Job(str(source), f"{folder}/f", 3 << 20), Rewrites(), HOW)
    assert b"".join(tree.read(f"{folder}/f")) == b"old"
    assert [each.name for each in tree.client.list(folder)] == ["f"]
    with pytest.raises(NotFound):
        tree.send_one(Job(str(tmp_path / "none"), f"{folder}/f", 1), Report(), HOW)


def test_a_fetch_that_was_cut_goes_on_later_and_only_for_the_same_file(nodes, tree, folder, tmp_path):
    data_node, proxied = nodes
    body = os.urandom(RESUME_FROM_BYTES + 999)
    put(tree, f"{folder}/f", body)
    job = job_for(tree, f"{folder}/f", tmp_path / "f")
    for replaced in (False, True):
        data_node.clear()
        data_node.add(cut(at=5 << 20), drop(times=ALWAYS))
        notes = Notes()
        proxied.fetch([job], notes, HOW)
        assert [type(error) for error in notes.failures] == [PlaceError] and notes.bytes == 0
        part = tmp_path / ".f.outlast-part"
        assert part.stat().st_size >= 4 << 20 and not (tmp_path / "f").exists()
        if replaced:
            body = os.urandom(len(body))
            put(tree, f"{folder}/f", body)
            job = job_for(tree, f"{folder}/f", tmp_path / "f")
        data_node.clear()
        notes = Notes()
        proxied.fetch([job], notes, HOW)
        assert notes.failures == [] and notes.bytes == len(body)
        assert [("offset=0" in seen.target) for seen in data_node.seen] == [replaced]
        assert (tmp_path / "f").read_bytes() == body
        assert [path.name for path in tmp_path.iterdir()] == ["f"]
        (tmp_path / "f").unlink()


def test_a_file_replaced_since_it_was_listed_is_not_fetched(tree, folder, tmp_path):
    (tmp_path / "f").write_bytes(b"mine")
    put(tree, f"{folder}/f", b"12345")
    job = job_for(tree, f"{folder}/f", tmp_path / "f")
    put(tree, f"{folder}/f", b"67890")
    with pytest.raises(Changed):
        tree.fetch_one(job, Report(), HOW)
    tree.remove([f"{folder}/f"])
    with pytest.raises(NotFound):
        tree.fetch_one(job, Report(), HOW)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"mine"]


def test_a_full_check_finds_one_wrong_bit_on_either_way(nodes, tree, folder, tmp_path):
    data_node, proxied = nodes
    source = tmp_path / "f"
    source.write_bytes(bytes(100_000))
    data_node.add(corrupt_request(method="PUT", at=50_000))
    with pytest.raises(Damaged, match="checksum"):
        proxied.send_one(Job(str(source), f"{folder}/f", 100_000), Report(), Moving(full_check=True))
    assert list(tree.walk(folder)) == []
    put(tree, f"{folder}/f", bytes(100_000))
    data_node.add(corrupt(method="GET"))
    with pytest.raises(Damaged, match="checksum"):
        proxied.fetch_one(job_for(tree, f"{folder}/f", tmp_path / "g"), Report(), Moving(full_check=True))
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("verb", ["send", "fetch"])
def test_stopping_ends_a_large_file_midway(tree, folder, tmp_path, verb):
    local = tmp_path / "f"
    path = f"{folder}/f"
    if verb == "send":
        local.write_bytes(bytes(20 << 20))
        job = Job(str(local), path, 20 << 20)
    else:
        put(tree, path, bytes(20 << 20))
        job = job_for(tree, path, local)
    notes = Notes(stop_after_bytes=2 << 20)
    getattr(tree, verb)([job], notes, HOW)
    assert notes.finished == [] and notes.bytes == 0
    assert (tree.stat(path) is None) if verb == "send" else not local.exists()


def test_two_fetches_of_one_file_do_not_mix(tree, folder, tmp_path):
    put(tree, f"{folder}/f", os.urandom(RESUME_FROM_BYTES))
    job = job_for(tree, f"{folder}/f", tmp_path / "f")

    class Second(Report):
        def moved(self, count):
            if count > 0:
                with pytest.raises(PlaceError, match="another process"):
                    tree.fetch_one(job, Report(), HOW)

    tree.fetch_one(job, Second(), HOW)
    assert (tmp_path / "f").stat().st_size == RESUME_FROM_BYTES


def test_a_torn_note_is_no_reason_to_continue(tree, folder, tmp_path):
    body = os.urandom(RESUME_FROM_BYTES)
    put(tree, f"{folder}/f", body)
    job = job_for(tree, f"{folder}/f", tmp_path / "f")
    for note in ("", "{", json.dumps({"path": f"{folder}/other", "tag": job.tag})):
        (tmp_path / ".f.outlast-part").write_bytes(bytes(RESUME_FROM_BYTES))
        (tmp_path / ".f.outlast-part.json").write_text(note)
        tree.fetch_one(job, Report(), HOW)
        assert (tmp_path / "f").read_bytes() == body


def test_a_local_folder_in_the_way_is_left_alone(tree, folder, tmp_path):
    put(tree, f"{folder}/f")
    (tmp_path / "f" / "inner").mkdir(parents=True)
    with pytest.raises(InsideError, match=str(tmp_path)):
        tree.fetch_one(job_for(tree, f"{folder}/f", tmp_path / "f"), Report(), HOW)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["f", "inner"]


def test_part_names_stay_within_what_a_folder_can_hold():
    assert part_name("/a/b") == "/a/.b.outlast-part"
    assert len(Path(part_name("/a/" + "数" * 80)).name.encode()) < 250
