"""The one slash rule, as a table, between this machine and a real S3 server."""

from __future__ import annotations

import pytest
from filetrees import Mover, contents, fill

from outlast.inside.errors import NotFound, RequestError

TREE = {"data/a.txt": "a", "data/sub/b.txt": "b", "f": "f", "g": "g"}

# sources, destination, what the destination's parent then holds; whether `dst` exists before changes nothing
TABLE = [
    (["data"], "dst", {"dst/a.txt": b"a", "dst/sub/b.txt": b"b"}),
    (["data"], "dst/", {"dst/data/a.txt": b"a", "dst/data/sub/b.txt": b"b"}),
    (["data/"], "dst", {"dst/a.txt": b"a", "dst/sub/b.txt": b"b"}),
    (["data/"], "dst/", {"dst/a.txt": b"a", "dst/sub/b.txt": b"b"}),
    (["f"], "dst", {"dst": b"f"}),
    (["f"], "dst/", {"dst/f": b"f"}),
    (["f"], "new/deep/", {"new/deep/f": b"f"}),
    (["f"], "new/deep", {"new/deep": b"f"}),
    (["f", "g"], "dst/", {"dst/f": b"f", "dst/g": b"g"}),
    (["f", "data"], "dst/", {"dst/f": b"f", "dst/data/a.txt": b"a", "dst/data/sub/b.txt": b"b"}),
    (["f", "data/"], "dst/", {"dst/f": b"f", "dst/a.txt": b"a", "dst/sub/b.txt": b"b"}),
]
IDS = [f"{' '.join(sources)} {target}" for sources, target, _ in TABLE]


@pytest.fixture(scope="module")
def s3_tree(seaweed):
    from outlast.inside.s3.tree import S3Tree

    return S3Tree(seaweed.access, seaweed.bucket())


@pytest.fixture(params=["local", "s3"])
def ends(request, tmp_path):
    """Where a copy starts and ends, with a way to read the end: from here to here, and there and back."""
    fill(tmp_path / "from", TREE)
    (tmp_path / "to").mkdir()
    if request.param == "local":
        return Mover({}), f"{tmp_path}/from/", f"{tmp_path}/to/", lambda: contents(tmp_path / "to")
    tree = request.getfixturevalue("s3_tree")
    bucket = tree.url.rpartition("/")[2]
    top = tmp_path.name  # its own prefix in the shared bucket
    move = Mover({bucket: tree})

    def held():
        return {item.path[len(top) + 1 :]: b"".join(tree.read(item.path)) for item in tree.walk(top)}

    return move, f"{tmp_path}/from/", f"s3://{bucket}/{top}/", held


@pytest.mark.parametrize(("sources", "target", "expected"), TABLE, ids=IDS)
def test_slash_rule(ends, sources, target, expected):
    move, start, end, held = ends
    outcome = move(*(start + source for source in sources), end + target)
    assert outcome.complete and held() == expected
    again = move(*(start + source for source in sources), end + target)
    assert held() == expected and again.failures == []


@pytest.mark.parametrize(("sources", "target", "expected"), TABLE, ids=IDS)
def test_slash_rule_on_the_way_back(s3_tree, tmp_path, sources, target, expected):
    bucket, top = s3_tree.url.rpartition("/")[2], tmp_path.name
    move = Mover({bucket: s3_tree})
    move(f"{fill(tmp_path / 'from', TREE)}/", f"s3://{bucket}/{top}/")
    move(*(f"s3://{bucket}/{top}/{source}" for source in sources), f"{tmp_path}/to/{target}")
    assert contents(tmp_path / "to") == expected


@pytest.mark.parametrize(
    ("sources", "target"), [(sources, target) for sources, target, _ in TABLE if "dst/a.txt" in _ or target == "dst/"]
)
def test_an_existing_folder_changes_nothing(tmp_path, sources, target):
    fill(tmp_path, TREE)
    (tmp_path / "dst").mkdir()
    expected = next(held for given, to, held in TABLE if (given, to) == (sources, target))
    Mover({})(*(f"{tmp_path}/{source}" for source in sources), f"{tmp_path}/{target}")
    assert {name: data for name, data in contents(tmp_path).items() if name.startswith("dst")} == expected


def test_dot_counts_as_having_the_slash(tmp_path, monkeypatch):
    fill(tmp_path, {**TREE, "here/x": "x"})
    monkeypatch.chdir(tmp_path / "here")
    Mover({})("../f", ".")
    Mover({})(".", str(tmp_path / "there"))
    assert contents(tmp_path / "there") == {"f": b"f", "x": b"x"}


def test_a_bucket_counts_as_having_the_slash(tmp_path, move, bucket):
    fill(tmp_path, TREE)
    move(tmp_path / "f", "s3://memory")
    move(tmp_path / "data", "s3://memory/")
    assert sorted(bucket.objects) == ["data/a.txt", "data/sub/b.txt", "f"]
    move("s3://memory", tmp_path / "back")
    assert contents(tmp_path / "back") == {"data/a.txt": b"a", "data/sub/b.txt": b"b", "f": b"f"}


def test_a_file_onto_a_folder_says_to_add_the_slash(tmp_path, move, bucket):
    fill(tmp_path, {**TREE, "dst/x": "x"})
    with pytest.raises(RequestError, match=r"a folder of that name is there; to copy into it write \S+/dst/"):
        move(tmp_path / "f", tmp_path / "dst")
    bucket.put("dst/x", b"x")
    with pytest.raises(RequestError, match="write s3://memory/dst/"):
        move(tmp_path / "f", "s3://memory/dst")


def test_a_folder_onto_a_file_is_refused(tmp_path, move):
    fill(tmp_path, {**TREE, "dst": "file"})
    with pytest.raises(RequestError, match="dst is a file"):
        move(tmp_path / "data", tmp_path / "dst")
    assert (tmp_path / "dst").read_text() == "file"


def test_several_sources_need_the_slash(tmp_path, move):
    fill(tmp_path, TREE)
    with pytest.raises(RequestError, match=r"2 sources need a folder .*dst/"):
        move(tmp_path / "f", tmp_path / "g", tmp_path / "dst")


def test_a_slash_after_a_file_is_refused(tmp_path, move, bucket):
    fill(tmp_path, TREE)
    with pytest.raises(RequestError, match="f is a file; write it without the slash"):
        move(f"{tmp_path}/f/", tmp_path / "dst")
    bucket.put("f", b"f")
    with pytest.raises(RequestError, match="s3://memory/f is a file; write it without the slash"):
        move("s3://memory/f/", tmp_path / "dst")


def test_a_key_that_is_also_a_prefix_must_be_named_clearly(tmp_path, move, bucket):
    bucket.put("a", b"file")
    bucket.put("a/b", b"below")
    with pytest.raises(RequestError, match=r"s3://memory/a is a file and a folder; write s3://memory/a/ .* --single"):
        move("s3://memory/a", tmp_path / "dst")
    move("s3://memory/a", tmp_path / "one", single=True)
    move("s3://memory/a/", tmp_path / "two")
    assert contents(tmp_path) == {"one": b"file", "two/b": b"below"}


@pytest.mark.parametrize("name", ["nothing", "nothing/"])
def test_a_missing_source_is_not_found(tmp_path, move, name):
    for place in (f"{tmp_path}/{name}", f"s3://memory/{name}"):
        with pytest.raises(NotFound):
            move(place, tmp_path / "dst")
    assert contents(tmp_path) == {}


@pytest.mark.parametrize(("source", "target"), [("data", "data"), ("data", "data/sub/x"), ("data/", "data/new/")])
def test_nothing_is_copied_into_itself(tmp_path, move, source, target):
    fill(tmp_path, TREE)
    before = contents(tmp_path)
    with pytest.raises(RequestError, match="itself"):
        move(f"{tmp_path}/{source}", f"{tmp_path}/{target}")
    (tmp_path / "alias").symlink_to("data")
    with pytest.raises(RequestError, match="itself"):
        move(f"{tmp_path}/{source}", f"{tmp_path}/{target.replace('data', 'alias', 1)}")
    (tmp_path / "alias").unlink()
    assert contents(tmp_path) == before


def test_two_sources_that_land_at_one_place_are_refused(tmp_path, move):
    fill(tmp_path, {"one/x": "1", "two/x": "2"})
    with pytest.raises(RequestError, match="two/x: something else lands at"):
        move(f"{tmp_path}/one/", f"{tmp_path}/two/", f"{tmp_path}/dst/")
    assert not (tmp_path / "dst").exists()
