"""Comparing two places finds exactly what was changed."""

from __future__ import annotations

import random
import shutil

import pytest
from layouts import image_folder, put

from outlast.datasets.comparing import _pairs, compare
from outlast.datasets.reading import FOLDER, Thing, open_dataset
from outlast.inside.errors import RequestError
from outlast.inside.move.address import parse
from outlast.inside.move.engine import Listener, copy
from outlast.inside.move.local import LocalTree
from outlast.inside.move.packing import send_packed
from outlast.inside.move.plan import Options, Place
from outlast.inside.s3.tree import S3Tree


@pytest.fixture
def source(tmp_path):
    folder = image_folder(tmp_path / "source")
    put(folder, "a-b/中 文.txt")
    put(folder, "a/x")
    (folder / "empty").mkdir()
    (folder / "link").symlink_to("README.md")
    return folder


@pytest.fixture
def packed(source, tmp_path):
    send_packed(str(source), LocalTree(), str(tmp_path / "packed"), shard_bytes=8192)
    return tmp_path / "packed"


@pytest.mark.parametrize("full", [False, True])
def test_a_packed_place_equals_its_source(source, packed, dataset, full):
    found = compare(dataset(source), dataset(packed), full)
    assert found.equal and found.same == 92
    assert found.by_content == (92 if full else 2)  # the link and the folder are known at once


def test_every_change_is_found_and_nothing_else(source, packed, dataset):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    chance = random.Random(seed)
    files = sorted(path for path in source.rglob("*") if path.is_file() and not path.is_symlink())
    # A folder whose only file goes is an empty one, which is one more change.
    files = [path for path in files if len(list(path.parent.iterdir())) > 1]
    gone, longer, changed = chance.sample(files, 3)
    gone.unlink()
    longer.write_bytes(longer.read_bytes() + b"!")
    changed.write_bytes(bytes(byte ^ 1 for byte in changed.read_bytes()))
    put(source, "new/file")
    names = [str(path.relative_to(source)) for path in (gone, longer, changed)]
    quick, full = (compare(dataset(packed), dataset(source), full) for full in (False, True))
    assert quick.missing == full.missing == [names[0]] and quick.extra == full.extra == ["new/file"]
    assert [path for path, _ in quick.different] == [names[1]]
    assert [path for path, _ in full.different] == sorted(names[1:])


def test_a_link_and_a_file_differ(source, tmp_path, dataset):
    shutil.copytree(source, tmp_path / "copy")  # follows the link
    found = compare(dataset(source), dataset(tmp_path / "copy"), False)
    assert found.different == [("link", "a link here, a file there")]


def test_a_copy_in_a_bucket_equals_its_source(source, seaweed, dataset):
    put(source, "empty.txt")  # which SeaweedFS names after the empty folder
    (source / "other").symlink_to("train/cat")
    tree = S3Tree(seaweed.access, seaweed.bucket())
    bucket = parse(f"{tree.url}/copy")
    copy([Place(parse(str(source)), LocalTree())], Place(bucket, tree), Options(), Listener())
    for full in (False, True):
        there = open_dataset(tree, bucket)
        assert compare(dataset(source), there, full).equal and compare(there, dataset(source), full).equal
    (source / "outside").symlink_to("/etc/hostname")
    assert compare(dataset(source), open_dataset(tree, bucket), False).missing == ["outside"]


def test_what_comes_out_of_order_still_finds_its_twin():
    ours = [Thing("a.txt"), Thing("a", kind=FOLDER), Thing("b"), Thing("c")]
    theirs = [Thing("a", kind=FOLDER), Thing("a.txt"), Thing("b"), Thing("d")]
    for first, second in ((ours, theirs), (theirs, ours)):
        pairs = list(_pairs(iter(first), iter(second)))
        assert {(one and one.path, other and other.path) for one, other in pairs} == {
            ("a.txt", "a.txt"), ("a", "a"), ("b", "b"), (first[3].path, None), (None, second[3].path),
        }  # fmt: skip


def test_two_packed_places_are_compared_by_their_checksums_alone(source, packed, tmp_path, dataset):
    (source / "README.md").write_text("flowers and BEASTS")
    send_packed(str(source), LocalTree(), str(tmp_path / "again"))
    found = compare(dataset(packed), dataset(tmp_path / "again"), False)
    assert found.different == [("README.md", "the same size, but other bytes")] and found.by_content == 91


@pytest.mark.parametrize("path", ["../evil.jpg", "/etc/evil.jpg", "a//b.jpg"])
def test_a_key_that_would_land_elsewhere_is_not_fetched(source, tmp_path, dataset, path):
    with pytest.raises(RequestError, match="refused"):
        dataset(source).fetch([Thing(path, 1)], tmp_path / "mini")
    assert not (tmp_path / "evil.jpg").exists()
