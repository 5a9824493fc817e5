"""A packed place may come from anybody: nothing is written outside the folder, and nothing damaged gets a name."""

from __future__ import annotations

import json
import os

import pytest
from filetrees import contents, fill

from outlast.inside.errors import Damaged, InsideError, RequestError
from outlast.inside.move.packed import INDEX_NAME, Packed
from outlast.inside.move.packing import send_packed
from outlast.inside.move.unpacking import fetch_packed

FILES = {"a/one": b"1" * 1000, "a/two": b"2" * 1000, "b/three": b"3" * 1000}
INDEX = f"set/{INDEX_NAME}"


@pytest.fixture
def packed(tmp_path, bucket):
    send_packed(str(fill(tmp_path / "source", FILES)), bucket, "set")
    return bucket


def rewrite(bucket, change):
    """Change the parsed lines of the index."""
    lines = [json.loads(line) for line in bucket.objects[INDEX][0].splitlines()]
    change(lines)
    lines[0]["members"] = len(lines) - 1
    bucket.put(INDEX, b"\n".join(json.dumps(line).encode() for line in lines) + b"\n")


def outside(tmp_path):
    return {name: data for name, data in contents(tmp_path).items() if not name.startswith(("source", "back"))}


@pytest.mark.parametrize("path", ["../evil", "/tmp/outlast-evil", "a/../../evil", "a//b", "./x", "..", "a\0b"])
def test_a_path_that_leaves_the_folder_is_refused_by_name(packed, tmp_path, path):
    rewrite(packed, lambda lines: lines[1].update(path=path))
    with pytest.raises(RequestError, match="refused member"):
        fetch_packed(packed, "set", str(tmp_path / "back"))
    assert outside(tmp_path) == {} and contents(tmp_path / "back") == {}


@pytest.mark.parametrize("target", ["../..", "../../x", "/etc", "one/../../..", ""])
def test_a_link_that_leads_out_is_refused_by_name(packed, tmp_path, target):
    rewrite(packed, lambda lines: lines[1].update(kind="link", target=target))
    with pytest.raises(RequestError, match="refused member 'a/one'"):
        fetch_packed(packed, "set", str(tmp_path / "back"))


@pytest.mark.parametrize("kind", ["device", "fifo", "hardlink", "socket"])
def test_other_kinds_are_refused_by_name(packed, tmp_path, kind):
    rewrite(packed, lambda lines: lines[1].update(kind=kind))
    with pytest.raises(RequestError, match=f"refused member 'a/one': a {kind}"):
        fetch_packed(packed, "set", str(tmp_path / "back"))


def test_the_same_name_twice_is_refused(packed, tmp_path):
    rewrite(packed, lambda lines: lines[2].update(path="a/one"))
    with pytest.raises(Damaged, match="comes twice"):
        fetch_packed(packed, "set", str(tmp_path / "back"))


def test_a_member_below_a_link_of_the_archive_is_not_written_through_it(packed, tmp_path):
    def change(lines):
        lines[1:] = [
            {"path": "a", "shard": 0, "mtime": 0, "mode": 511, "kind": "link", "target": "b"},
            {**lines[1], "path": "a/one"},
            {**lines[3], "path": "b/three"},
        ]

    rewrite(packed, change)
    with pytest.raises(RequestError, match="in its way"):
        fetch_packed(packed, "set", str(tmp_path / "back"))
    assert not (tmp_path / "back" / "b" / "one").exists()


def test_a_link_that_was_there_before_is_not_written_through(packed, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    fill(tmp_path / "back", {"a": f"-> {tmp_path}/elsewhere"})
    with pytest.raises(RequestError, match="a/one"):
        fetch_packed(packed, "set", str(tmp_path / "back"))
    assert os.listdir(tmp_path / "elsewhere") == []


def test_a_link_in_the_place_of_a_file_is_replaced_not_followed(packed, tmp_path):
    fill(tmp_path, {"precious": "keep me"})
    fill(tmp_path / "back", {"a/one": f"-> {tmp_path}/precious"})
    fetch_packed(packed, "set", str(tmp_path / "back"))
    assert (tmp_path / "precious").read_text() == "keep me"
    assert contents(tmp_path / "back") == FILES


def test_a_folder_in_the_place_of_a_file_stops_with_its_name(packed, tmp_path):
    fill(tmp_path / "back", {"a/one/inside": "1"})
    with pytest.raises(RequestError, match="a/one"):
        fetch_packed(packed, "set", str(tmp_path / "back"))
    assert (tmp_path / "back" / "a/one/inside").read_text() == "1"


def test_damaged_bytes_never_get_a_name(packed, tmp_path):
    shard = bytearray(packed.objects["set/shard-000000.tar"][0])
    members = {member.path: member for member in Packed(packed, "set").members()}
    shard[members["a/two"].offset + 10] ^= 1
    packed.put("set/shard-000000.tar", bytes(shard))
    with pytest.raises(Damaged, match="a/two"):
        fetch_packed(packed, "set", str(tmp_path / "back"))
    assert contents(tmp_path / "back") == {"a/one": FILES["a/one"]}
    assert not any(name.startswith(".outlast") for name in os.listdir(tmp_path / "back/a"))
    with pytest.raises(Damaged, match="a/two"):
        b"".join(Packed(packed, "set").read(members["a/two"]))


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[1].update(shard=7),
        lambda lines: lines[1].update(shard=-1),
        lambda lines: lines[1].update(offset=-512),
        lambda lines: lines[1].update(offset=10**9),
        lambda lines: lines[1].update(size=10**12),
        lambda lines: lines[1].update(mtime=10**30),
        lambda lines: lines[1].update(size="many"),
        lambda lines: lines[1].pop("path"),
        lambda lines: lines[0].update(format="other"),
        lambda lines: lines[0].update(version=99),
        lambda lines: lines[0].update(shards=[[1]]),
        lambda lines: lines.__setitem__(1, [1, 2]),
    ],
)
def test_an_index_that_lies_is_refused(packed, tmp_path, change):
    rewrite(packed, change)
    with pytest.raises(InsideError):
        fetch_packed(packed, "set", str(tmp_path / "back"))
    assert outside(tmp_path) == {}


def test_a_cut_index_is_noticed(packed, tmp_path):
    whole = packed.objects[INDEX][0]
    packed.put(INDEX, b"".join(whole.splitlines(keepends=True)[:-1]))
    with pytest.raises(Damaged, match="2 members of 3"):
        fetch_packed(packed, "set", str(tmp_path / "back"))
