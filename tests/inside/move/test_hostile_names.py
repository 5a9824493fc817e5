"""Names that could do harm: refused by name before anything moves, and never written outside the destination."""

from __future__ import annotations

import os

import pytest
from bucket_tree import BucketTree
from filetrees import Mover, contents, fill
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlast.inside.errors import RequestError

ODD = [
    "with space", "中文 名字.jpg", "it's", 'say "hi"', "new\nline", "-rf", "--help", "100%", "%2e%2e", "a%20b",
    "#hash", "q?x=1", "semi;colon", "star*", "back\\slash", "tab\there", "emoji 🦦", "é", "é",
    ".hidden", "...", "~", "a:b", "&amp;", "<x>",
    "x" * 255, "名" * 85,
]  # fmt: skip

HOSTILE = [
    ("../evil", "empty names"),
    ("a/../../evil", "'..'"),
    ("a//b", "empty names"),
    ("/etc/passwd", "empty names"),
    ("a/./b", "'.'"),
    ("..", "'..'"),
    ("n" * 256, "too long"),
    ("名" * 86, "too long"),
    ("ok/" + "n" * 256, "too long"),
    ("nul\0byte", "NUL"),
]


@pytest.mark.parametrize(("name", "reason"), HOSTILE, ids=[repr(name[:20]) for name, _ in HOSTILE])
def test_a_key_that_cannot_be_a_local_name_is_refused_by_name(tmp_path, name, reason):
    bucket = BucketTree("data/fine", "data/" + name)
    with pytest.raises(RequestError, match="nothing was moved") as caught:
        Mover({"memory": bucket})("s3://memory/data/", tmp_path / "in" / "dst")
    assert reason in str(caught.value) and "s3://memory/data/" in str(caught.value)
    assert contents(tmp_path) == {}


def test_keys_that_are_file_and_folder_at_once_are_refused(tmp_path):
    bucket = BucketTree("data/a", "data/a/b", "data/fine")
    with pytest.raises(RequestError, match=r"dst/a: it would be a file and the folder of \S+/dst/a/b"):
        Mover({"memory": bucket})("s3://memory/data/", tmp_path / "dst")
    assert contents(tmp_path) == {}


def test_many_complaints_are_counted(tmp_path):
    bucket = BucketTree(*(f"data/{number}//x" for number in range(30)))
    with pytest.raises(RequestError, match="and 20 more") as caught:
        Mover({"memory": bucket})("s3://memory/data/", tmp_path / "dst")
    assert str(caught.value).startswith("cannot copy 30 of these; nothing was moved\n")


def test_bytes_that_are_no_text_stay_here_and_are_refused_by_a_bucket(tmp_path, move):
    name = os.fsdecode(b"caf\xe9")
    fill(tmp_path / "src", {name: "x"})
    move(tmp_path / "src", tmp_path / "dst")
    assert os.listdir(os.fsencode(tmp_path / "dst")) == [b"caf\xe9"]
    with pytest.raises(RequestError, match=r"caf\\xe9: its name is no UTF-8"):
        move(tmp_path / "src", "s3://memory/dst")


def test_a_key_longer_than_a_bucket_allows_is_refused(tmp_path, move, bucket):
    deep = "/".join(["d" * 200] * 6)
    fill(tmp_path / "src", {deep: "x"})
    with pytest.raises(RequestError, match="key of 1209 bytes is too long"):
        move(tmp_path / "src", "s3://memory/dst")
    assert bucket.objects == {}


def test_odd_names_go_there_and_back(tmp_path, move):
    files = {f"{number}/{name}": name for number, name in enumerate(ODD)}
    fill(tmp_path / "src", files)
    move(tmp_path / "src", "s3://memory/dst")
    move("s3://memory/dst", tmp_path / "back")
    move(tmp_path / "back", tmp_path / "again")
    assert contents(tmp_path / "again") == {name: data.encode() for name, data in files.items()}


def test_odd_names_go_through_a_real_server_and_back(tmp_path, seaweed):
    from outlast.inside.s3.tree import S3Tree

    bucket = seaweed.bucket()
    move = Mover({bucket: S3Tree(seaweed.access, bucket)})
    # This server keeps a backslash as a slash, whoever sends it.
    files = {f"{number}/{name}": name for number, name in enumerate(ODD) if "\\" not in name}
    files |= {"empty": b"", "deep/" + "d/" * 50 + "x": "x"}
    fill(tmp_path / "src", files)
    assert move(tmp_path / "src", f"s3://{bucket}/dst").complete
    keys = {item["Key"] for item in seaweed.boto.list_objects_v2(Bucket=bucket)["Contents"]}
    assert keys == {"dst/" + name for name in files}
    assert move(f"s3://{bucket}/dst", tmp_path / "back").complete
    assert contents(tmp_path / "back") == contents(tmp_path / "src")
    assert move(f"s3://{bucket}/dst", tmp_path / "back").files == 0


def test_a_link_that_leads_out_of_the_destination_is_refused(tmp_path, move, bucket):
    fill(tmp_path, {"outside/keep": "k", "dst/way": "-> ../outside", "dst/inner/x": "x", "dst/alias": "-> inner"})
    bucket.put("d/way/evil", b"evil")
    with pytest.raises(RequestError, match=r"the link .*/dst/way leads out of the destination"):
        move("s3://memory/d/", f"{tmp_path}/dst/")
    fill(tmp_path / "src", {"way/evil": "evil"})
    with pytest.raises(RequestError, match="leads out of the destination"):
        move(f"{tmp_path}/src/", f"{tmp_path}/dst/")
    assert contents(tmp_path / "outside") == {"keep": b"k"}
    bucket.put("e/alias/y", b"y")
    move("s3://memory/e/", f"{tmp_path}/dst/")
    assert (tmp_path / "dst/inner/y").read_bytes() == b"y"


def test_a_link_in_the_place_of_a_file_is_replaced_and_not_written_through(tmp_path, move, bucket):
    fill(tmp_path, {"outside": "mine", "dst/f": "-> ../outside"})
    bucket.put("f", b"new")
    move("s3://memory/f", f"{tmp_path}/dst/")
    assert contents(tmp_path) == {"outside": b"mine", "dst/f": b"new"}


def test_the_destination_itself_may_be_a_link(tmp_path, move, bucket):
    fill(tmp_path, {"big/x": "x", "dst": "-> big"})
    bucket.put("d/f", b"f")
    move("s3://memory/d/", f"{tmp_path}/dst")
    assert contents(tmp_path / "big") == {"x": b"x", "f": b"f"}


key_parts = st.sampled_from(["a", "b", "..", ".", "", "link", "中", " ", "a" * 300])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(key_parts, min_size=1, max_size=4).map("/".join), min_size=1, max_size=5, unique=True))
def test_nothing_outside_the_destination_is_ever_written(tmp_path_factory, keys):
    top = tmp_path_factory.mktemp("any")
    fill(top, {"outside/keep": "k", "dst/link": "-> ../outside", "dst/here": "h"})
    before = contents(top / "outside")
    bucket = BucketTree(*("p/" + key for key in keys))
    try:
        Mover({"memory": bucket})("s3://memory/p/", f"{top}/dst/")
    except RequestError:
        assert contents(top / "dst") == {"link": "-> ../outside", "here": b"h"}
    assert contents(top / "outside") == before and sorted(os.listdir(top)) == ["dst", "outside"]
