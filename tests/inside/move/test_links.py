"""Symbolic links: kept inside, refused when they lead outside, followed where links cannot be kept."""

from __future__ import annotations

import pytest
from filetrees import contents, fill

from outlast.inside.errors import NotFound, RequestError


def test_links_inside_stay_links(tmp_path, move):
    files = {
        "a/f": "f",
        "same": "-> a/f",
        "a/up": "-> ../a/f",
        "folder": "-> a",
        "later": "-> not-yet",
        "chain": "-> same",
    }
    fill(tmp_path / "src", files)
    move(tmp_path / "src", tmp_path / "dst")
    assert contents(tmp_path / "dst") == {**files, "a/f": b"f"}
    assert move(tmp_path / "src", tmp_path / "dst").files == 0


def test_an_absolute_link_inside_becomes_a_relative_one(tmp_path, move):
    fill(tmp_path / "src", {"deep/er/f": "f"})
    (tmp_path / "src/way").symlink_to(tmp_path / "src/deep/er/f")
    (tmp_path / "src/deep/round").symlink_to("../../src/deep/er")
    move(tmp_path / "src", tmp_path / "dst")
    links = {name: text for name, text in contents(tmp_path / "dst").items() if isinstance(text, str)}
    assert links == {"way": "-> deep/er/f", "deep/round": "-> er"}


@pytest.mark.parametrize("target", ["../outside", "/etc/passwd", "..", "a/../../outside/f", "../src-2/f"])
@pytest.mark.parametrize("destination", ["{tmp}/dst", "s3://memory/dst"])
def test_a_link_that_leads_outside_is_refused_by_name(tmp_path, move, bucket, target, destination):
    fill(tmp_path, {"outside/f": "secret", "src-2/f": "other", "src/a/x": "x", "src/fine": "f"})
    (tmp_path / "src/way out").symlink_to(target)
    with pytest.raises(RequestError, match="src/way out: this link leads outside, to"):
        move(tmp_path / "src", destination.format(tmp=tmp_path))
    assert not (tmp_path / "dst").exists() and bucket.objects == {}


def test_into_a_bucket_links_are_followed(tmp_path, move, bucket):
    fill(tmp_path / "src", {"a/f": "f", "a/g": "-> f", "folder": "-> a", "empty": None, "none": "-> empty"})
    move(tmp_path / "src", "s3://memory/dst")
    assert {key: data for key, (data, _) in bucket.objects.items()} == {
        "dst/a/f": b"f", "dst/a/g": b"f", "dst/folder/f": b"f", "dst/folder/g": b"f",
        "dst/empty/": b"", "dst/none/": b"",
    }  # fmt: skip


@pytest.mark.parametrize(
    "links",
    [
        {"one": "-> two", "two": "-> one"},
        {"self": "-> self"},
        {"a/up": "-> .."},
        {"a/here": "-> ."},
        {"a/to-b": "-> ../b", "b/to-a": "-> ../a"},
    ],
)
def test_circles_are_noticed(tmp_path, move, bucket, links):
    fill(tmp_path / "src", {"a/f": "f", "b/g": "g", **links})
    with pytest.raises(RequestError, match="this link leads in a circle"):
        move(tmp_path / "src", "s3://memory/dst")
    assert bucket.objects == {}


def test_a_circle_of_files_is_refused_here_too_and_one_of_folders_is_kept(tmp_path, move):
    fill(tmp_path / "src", {"a/f": "f", "a/up": "-> .."})
    move(tmp_path / "src", tmp_path / "dst")
    assert contents(tmp_path / "dst") == {"a/f": b"f", "a/up": "-> .."}
    fill(tmp_path / "src", {"one": "-> two", "two": "-> one"})
    with pytest.raises(RequestError, match="circle"):
        move(tmp_path / "src", tmp_path / "new")


def test_a_link_to_nothing_is_refused_by_a_bucket(tmp_path, move):
    fill(tmp_path / "src", {"later": "-> not-yet"})
    with pytest.raises(RequestError, match="later: this link leads to nothing: not-yet"):
        move(tmp_path / "src", "s3://memory/dst")


def test_a_source_that_is_itself_a_link_is_followed(tmp_path, move):
    fill(tmp_path, {"big/f": "f", "data": "-> big", "file": "-> big/f", "gone": "-> nowhere"})
    move(tmp_path / "data", tmp_path / "one")
    move(f"{tmp_path}/data/", tmp_path / "two")
    move(tmp_path / "file", f"{tmp_path}/three/")
    copies = {name: data for name, data in contents(tmp_path).items() if name.split("/")[0] in ("one", "two", "three")}
    assert copies == {"one/f": b"f", "two/f": b"f", "three/file": b"f"}
    with pytest.raises(NotFound, match="nowhere"):
        move(tmp_path / "gone", tmp_path / "four")
