"""Skipping, verifying, streaming between trees, syncing with deletion, and the way there and back."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bucket_tree import BucketTree
from filetrees import Mover, contents, fill
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlast.inside.errors import Damaged, NotFound, PlaceError, RequestError
from outlast.inside.move.base import Item, Moving
from outlast.inside.move.plan import would_pay
from outlast.inside.move.unchanged import looks_unchanged

SOURCE = Path(__file__).parents[3] / "src"
OLD_PYTHON = Path("~/.pyenv/versions/3.7.16/bin/python3.7").expanduser()


@pytest.mark.parametrize(
    ("source", "target", "is_local", "same"),
    [
        (Item("s", 5, 100), Item("t", 5, 100), True, True),
        (Item("s", 5, 100), Item("t", 6, 100), True, False),
        (Item("s", 5, 100), Item("t", 5, 101), True, False),
        (Item("s", 5, 2_500_000_000), Item("t", 5, 2_000_000_000), True, True),  # a disk that keeps whole seconds
        (Item("s", 5, 2_500_000_000), Item("t", 5, 1_000_000_000), True, False),
        (Item("s", 5, 100), Item("t", 5, 100), False, True),
        (Item("s", 5, 100), Item("t", 5, 900), False, True),
        (Item("s", 5, 100), Item("t", 5, 99), False, False),
        (Item("s", 5, 0), Item("t", 5, 900), False, False),
        (Item("s", 5, 900, digest="md5:a"), Item("t", 5, 1, digest="md5:a"), False, True),
        (Item("s", 5, 1, digest="md5:a"), Item("t", 5, 1, digest="md5:b"), True, False),
        (Item("s", 5, 1, digest="md5:a"), Item("t", 5, 1, digest="crc32:b"), True, True),
        (Item("s", 0, 1), Item("t", 0, 1, "folder"), True, False),
    ],
)
def test_what_counts_as_unchanged(source, target, is_local, same):
    assert looks_unchanged(source, target, is_local) is same


def test_unchanged_files_are_skipped_and_changed_ones_copied(tmp_path, move):
    for target in (str(tmp_path / "dst"), "s3://memory/dst"):
        fill(tmp_path / "src", {"a": "a", "b": "b", "empty": None})
        assert (move(tmp_path / "src", target).files, move(tmp_path / "src", target).files) == (2, 0)
        later = time.time_ns() + 10**9
        (tmp_path / "src/a").write_text("c")
        os.utime(tmp_path / "src/a", ns=(later, later))
        outcome = move(tmp_path / "src", target)
        assert (outcome.files, outcome.skipped, outcome.skipped_bytes) == (1, 1, 1)
        assert move(tmp_path / "src", target, force=True).files == 2
        shutil.rmtree(tmp_path / "src")


def test_checksum_finds_a_change_that_size_and_time_hide(tmp_path, move, bucket):
    fill(tmp_path / "src", {"a": "a", "b": "b"})
    for target, spoil in (
        (str(tmp_path / "dst"), lambda: _spoil(tmp_path / "dst/a", tmp_path / "src/a")),
        ("s3://memory/dst", lambda: bucket.put("dst/a", b"x")),
    ):
        move(tmp_path / "src", target)
        spoil()
        assert move(tmp_path / "src", target).files == 0
        assert move(tmp_path / "src", target, checksum=True).files == 1
        assert move(tmp_path / "src", target, checksum=True).files == 0


def _spoil(path, like):
    path.write_text("x")
    os.utime(path, ns=(like.stat().st_atime_ns, like.stat().st_mtime_ns))


class Flaky(BucketTree):
    """Damages or refuses the first writes."""

    def __init__(self, *keys, faults=()):
        super().__init__(*keys)
        self.faults = list(faults)

    def write(self, path, pieces, size_bytes):
        super().write(path, pieces, size_bytes)
        if self.faults:
            fault = self.faults.pop(0)
            if isinstance(fault, Exception):
                del self.objects[path]
                raise fault
            self.put(path, fault)


@pytest.mark.parametrize("faults", [[PlaceError("cut")], [b"short"], [b"x" * 3], [PlaceError("1"), b"23"]])
def test_a_stream_that_breaks_or_arrives_damaged_is_tried_again(faults):
    here, there = BucketTree("abc"), Flaky(faults=faults)
    outcome = Mover({"here": here, "there": there})("s3://here/abc", "s3://there/abc")
    assert outcome.complete and there.objects["abc"][0] == b"abc" and there.faults == []


def test_a_stream_that_keeps_failing_is_named_and_the_others_arrive():
    here = BucketTree("d/abc", "d/xyz")

    class Broken(BucketTree):
        def write(self, path, pieces, size_bytes):
            if path.endswith("abc"):
                raise Damaged("it always breaks")
            super().write(path, pieces, size_bytes)

    there = Broken()
    outcome = Mover({"here": here, "there": there})("s3://here/d", "s3://there/e")
    assert outcome.failures == [("s3://here/d/abc", "it always breaks")] and list(there.objects) == ["e/xyz"]


def test_within_one_tree_the_bytes_stay_there():
    class Clever(BucketTree):
        def copy_within(self, source, target, size_bytes):
            self.objects[target] = self.objects[source]
            return True

        def read(self, path, start=0, length=None):
            raise AssertionError("nothing needs to be read")

    tree = Clever("d/x", "d/y/z")
    Mover({"memory": tree})("s3://memory/d", "s3://memory/e")
    assert sorted(tree.objects) == ["d/x", "d/y/z", "e/x", "e/y/z"]


def test_sync_removes_extras_only_below_the_destination(tmp_path, move):
    fill(tmp_path / "src", {"keep": "k", "sub/x": "x"})
    fill(
        tmp_path / "dst",
        {"keep": "old", "extra": "e", "gone/deep/f": "f", "sub/y": "y", "hollow": None, "l": "-> keep"},
    )
    fill(tmp_path, {"beside": "b"})
    outcome = move(f"{tmp_path}/src/", f"{tmp_path}/dst/", delete=True)
    assert contents(tmp_path / "dst") == {"keep": b"k", "sub/x": b"x"} and outcome.removed == 5
    assert sorted(os.listdir(tmp_path / "dst")) == ["keep", "sub"] and (tmp_path / "beside").exists()


def test_sync_removes_extras_in_a_bucket(tmp_path, move, bucket):
    fill(tmp_path / "src", {"keep": "k"})
    for key in ("dst/extra", "dst/gone/f", "dst2/other", "dst"):
        bucket.put(key, b"")
    move(f"{tmp_path}/src/", "s3://memory/dst/", delete=True)
    assert sorted(bucket.objects) == ["dst", "dst/keep", "dst2/other"]


def test_without_delete_extras_stay(tmp_path, move):
    fill(tmp_path / "src", {"keep": "k"})
    fill(tmp_path / "dst", {"extra": "e"})
    assert move(f"{tmp_path}/src/", f"{tmp_path}/dst/").removed == 0
    assert contents(tmp_path / "dst") == {"keep": b"k", "extra": b"e"}


def test_delete_refuses_an_empty_or_missing_source(tmp_path, move):
    (tmp_path / "src").mkdir()
    fill(tmp_path / "dst", {"precious": "p"})
    with pytest.raises(RequestError, match="holds no files; --delete would remove 1 at"):
        move(f"{tmp_path}/src/", f"{tmp_path}/dst/", delete=True)
    with pytest.raises(NotFound):
        move(f"{tmp_path}/missing/", f"{tmp_path}/dst/", delete=True, force=True)
    assert contents(tmp_path / "dst") == {"precious": b"p"}
    move(f"{tmp_path}/src/", f"{tmp_path}/dst/", delete=True, force=True)
    assert contents(tmp_path / "dst") == {}


def test_delete_needs_one_folder_and_never_the_root(tmp_path, move):
    fill(tmp_path, {"f": "f", "d/x": "x"})
    with pytest.raises(RequestError, match="--delete needs one folder"):
        move(tmp_path / "f", f"{tmp_path}/dst/", delete=True)
    with pytest.raises(RequestError, match="refused for the root"):
        move(f"{tmp_path}/d/", "/", delete=True)


def test_nothing_is_removed_when_a_file_could_not_be_copied(tmp_path):
    class Refusing(BucketTree):
        def send_one(self, job, report, how):
            raise PlaceError("not now")

    fill(tmp_path / "src", {"a": "a"})
    tree = Refusing("dst/extra")
    outcome = Mover({"memory": tree})(f"{tmp_path}/src/", "s3://memory/dst/", delete=True)
    assert outcome.removed == 0 and len(outcome.failures) == 1 and list(tree.objects) == ["dst/extra"]


def test_nothing_is_ever_removed_at_the_source(tmp_path, move):
    before = contents(fill(tmp_path / "src", {"a": "a", "sub/b": "b", "l": "-> a", "empty": None}))
    move(f"{tmp_path}/src/", f"{tmp_path}/dst/", delete=True)
    move(f"{tmp_path}/src/", "s3://memory/x/", force=True)
    assert contents(tmp_path / "src") == before


def test_empty_folders_are_kept_everywhere(tmp_path, move, bucket):
    fill(tmp_path / "src", {"a/empty": None, "f": "f"})
    move(tmp_path / "src", "s3://memory/dst")
    assert "dst/a/empty/" in bucket.objects
    move("s3://memory/dst", tmp_path / "back")
    (tmp_path / "bare").mkdir()
    move(tmp_path / "bare", "s3://memory/bare")
    move("s3://memory/bare", f"{tmp_path}/back/")
    assert contents(tmp_path / "back") == {"a/empty": None, "f": b"f", "bare": None}


def test_packing_is_proposed_for_many_small_files_only():
    def steps(count, size):
        from outlast.inside.move.plan import Step

        return [Step(Item(str(number), size, 0), None, "") for number in range(count)]

    assert would_pay(steps(2001, 10_000))
    assert not would_pay(steps(2000, 10_000)) and not would_pay(steps(3000, 65_536)) and not would_pay([])


names = st.text(
    st.characters(blacklist_characters="/\0", blacklist_categories=("Cs",)), min_size=1, max_size=12
).filter(lambda name: name not in (".", "..") and ".outlast-part" not in name)
trees = st.recursive(
    st.binary(max_size=64), lambda below: st.dictionaries(names, below, max_size=4), max_leaves=12
).filter(lambda tree: isinstance(tree, dict))


def flatten(tree, prefix=""):
    for name, value in tree.items():
        if isinstance(value, bytes):
            yield prefix + name, value
        elif value:
            yield from flatten(value, prefix + name + "/")
        else:
            yield prefix + name, None


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trees)
def test_any_tree_goes_there_and_back_unchanged(tmp_path_factory, tree):
    top = tmp_path_factory.mktemp("round")
    (top / "src").mkdir()
    files = dict(flatten(tree))
    fill(top / "src", files)
    move = Mover({"memory": BucketTree(), "other": BucketTree()})
    move(top / "src", "s3://memory/a/b")
    move("s3://memory/a/b", "s3://other/c")
    move("s3://other/c", top / "back")
    move(top / "back", top / "again")
    assert contents(top / "again") == contents(top / "src") == files
    assert move(top / "back", top / "again").files == 0


def test_there_and_back_through_a_real_server_with_large_and_empty_files(tmp_path, seaweed):
    from outlast.inside.s3.tree import S3Tree

    one, two = seaweed.bucket(), seaweed.bucket()
    move = Mover({name: S3Tree(seaweed.access, name) for name in (one, two)})
    files = {f"many/{number:03d}": os.urandom(number * 7) for number in range(60)}
    fill(tmp_path / "src", {**files, "large": os.urandom(20 << 20), "sub/none": None})
    assert move(tmp_path / "src", f"s3://{one}/data").complete
    assert move(f"s3://{one}/data", f"s3://{two}/data", how=Moving(full_check=True)).complete
    assert move(f"s3://{two}/data", f"s3://{two}/data2").complete
    assert move(f"s3://{two}/data2", tmp_path / "back").complete
    assert contents(tmp_path / "back") == contents(tmp_path / "src")
    again = move(f"s3://{two}/data2", tmp_path / "back")
    assert (again.files, again.skipped) == (0, 61)
    assert move(tmp_path / "src", f"s3://{one}/data", checksum=True).files == 0
    (tmp_path / "src/many/007").unlink()
    removed = move(f"{tmp_path}/src/", f"s3://{one}/data/", delete=True).removed
    assert removed == 1 and "Contents" in seaweed.boto.list_objects_v2(Bucket=one)


@pytest.mark.skipif(not OLD_PYTHON.exists(), reason="Python 3.7 is not installed")
def test_python_3_7_copies_too(tmp_path):
    fill(tmp_path / "src", {"a": "a", "sub/b": "b", "l": "-> a", "e": None})
    code = "import sys, outlast; print(outlast.copy(sys.argv[1], sys.argv[2], checksum=True).files)"
    bundle = tmp_path / "outlast"
    bundle.mkdir()
    (bundle / "__init__.py").write_bytes((SOURCE / "outlast/__init__.py").read_bytes())
    (bundle / "inside").symlink_to(SOURCE / "outlast/inside")
    done = subprocess.run(
        [str(OLD_PYTHON), "-B", "-c", code, f"{tmp_path}/src", f"{tmp_path}/dst"],
        capture_output=True, text=True, env={"PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.stdout == "3\n", done.stderr
    assert contents(tmp_path / "dst") == contents(tmp_path / "src")


def test_a_copy_within_a_stint_needs_only_the_standard_library(tmp_path):
    fill(tmp_path / "src", {"a": "a"})
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from outlast.inside.move.script import copy;"
        "print(copy(sys.argv[2], sys.argv[3]).files, sorted({name.split('.')[0] for name in sys.modules}"
        " - set(sys.stdlib_module_names) - {'outlast', '__main__'}))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(SOURCE), f"{tmp_path}/src/", f"{tmp_path}/dst/"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "1 []\n", done.stderr


def test_files_beside_large_folders_are_skipped_too(tmp_path, move, bucket):
    fill(tmp_path, {"f": "f", **{f"data/{number}": "x" for number in range(50)}})
    assert move(tmp_path / "f", tmp_path / "data", "s3://memory/").files == 51
    assert move(tmp_path / "f", tmp_path / "data", "s3://memory/").files == 0
    bucket.put("data/7/below", b"")
    assert move(tmp_path / "f", tmp_path / "data", "s3://memory/").files == 0


def test_a_file_that_was_only_touched_is_not_sent_again(tmp_path, move):
    fill(tmp_path / "src", {"a": "a", "b": "b"})
    move(tmp_path / "src", "s3://memory/dst")
    later = time.time_ns() + 10**10
    os.utime(tmp_path / "src/a", ns=(later, later))
    assert move(tmp_path / "src", "s3://memory/dst").files == 0
    move("s3://memory/dst", tmp_path / "back")
    os.utime(tmp_path / "back/a", ns=(later, later))
    assert move("s3://memory/dst", tmp_path / "back").files == 0
    (tmp_path / "back/a").write_text("x")
    assert move("s3://memory/dst", tmp_path / "back").files == 1


KILLED = """
import json, os, sys
from outlast.inside.move import engine
from outlast.inside.move.address import parse
from outlast.inside.move.plan import Options, Place
from outlast.inside.s3.tree import S3Tree
from outlast.inside.move.local import LocalTree
from outlast.inside.stores.access import Access

class Telling(engine.Listener):
    def done(self, job):
        print(job.path, flush=True)
        sys.stdin.readline()

bucket = sys.argv[1].partition("://")[2].partition("/")[0]
trees = {"": LocalTree(), bucket: S3Tree(Access.from_json(os.environ["ACCESS"]), bucket)}
ends = [Place(address, trees[address.authority]) for address in map(parse, sys.argv[1:])]
engine.copy(ends[:1], ends[1], Options(), Telling())
"""


def test_a_download_that_was_killed_goes_on(tmp_path, seaweed):
    from outlast.inside.s3.tree import S3Tree

    bucket = seaweed.bucket()
    move = Mover({bucket: S3Tree(seaweed.access, bucket)})
    files = {f"{number:02d}": os.urandom(50_000) for number in range(40)}
    assert move(fill(tmp_path / "src", files), f"s3://{bucket}/data").complete
    environ = {**os.environ, "ACCESS": seaweed.access.to_json()}
    killed = subprocess.Popen(
        [sys.executable, "-c", KILLED, f"s3://{bucket}/data", f"{tmp_path}/dst"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ,
    )  # fmt: skip
    for _ in range(5):
        killed.stdout.readline()
        killed.stdin.write(b"\n")
        killed.stdin.flush()
    killed.stdout.readline()
    killed.kill()
    killed.communicate()
    there = {name for name in os.listdir(tmp_path / "dst") if not name.startswith(".")}
    assert 5 <= len(there) < 40
    assert all((tmp_path / "dst" / name).read_bytes() == files[name] for name in there)
    outcome = move(f"s3://{bucket}/data", tmp_path / "dst")
    assert outcome.complete and outcome.skipped == len(there) and contents(tmp_path / "dst") == files


def test_there_and_back_through_a_real_hdfs(tmp_path, hadoop, bucket):
    from outlast.inside.hdfs.tree import HdfsTree

    top = f"hdfs://{hadoop.authority}{hadoop.folder()}"
    move = Mover({hadoop.authority: HdfsTree(hadoop.access, hadoop.authority), "memory": bucket})
    fill(tmp_path / "src", {"a b": "a", "中/文": "x" * 3000, "empty": b"", "none": None, "100%": "p", "to": "-> a b"})
    expected = {**contents(tmp_path / "src"), "to": b"a"}
    assert move(tmp_path / "src", f"{top}/data").complete
    assert move(tmp_path / "src", f"{top}/data").files == 0
    assert move(f"{top}/data", "s3://memory/data").complete
    assert move("s3://memory/data", f"{top}/again/").complete
    assert move(f"{top}/again/data/", tmp_path / "back").complete
    assert contents(tmp_path / "back") == expected
    shutil.rmtree(tmp_path / "back/中")
    assert move(f"{tmp_path}/back/", f"{top}/data/", delete=True).removed == 1
    assert move(f"{top}/data/", tmp_path / "last").complete and "中" not in os.listdir(tmp_path / "last")
    with pytest.raises(RequestError, match="a folder of that name is there"):
        move(tmp_path / "src/a b", f"{top}/data")
    fill(tmp_path / "src", {"a:b": "x"})
    with pytest.raises(RequestError, match="HDFS does not allow ':' in names"):
        move(tmp_path / "src", f"{top}/new")
