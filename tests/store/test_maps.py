"""What is kept of the folders that play buckets."""

from __future__ import annotations

import pytest

from outlast.errors import HomeError, NotFoundError, SpecError
from outlast.store.maps import forget_map, load_maps, read_root, save_map


def test_maps_are_kept_replaced_and_forgotten(tmp_path):
    assert load_maps(tmp_path) == {} and list(tmp_path.iterdir()) == []
    assert save_map(tmp_path, "obs://lab", tmp_path / "a") == ""
    assert save_map(tmp_path, "obs://lab", tmp_path / "b") == str(tmp_path / "a")
    save_map(tmp_path, "hdfs://127.0.0.1:50070", tmp_path / "h")
    assert list(load_maps(tmp_path)) == ["hdfs://127.0.0.1:50070", "obs://lab"]
    assert forget_map(tmp_path, "obs://lab") == str(tmp_path / "b")
    with pytest.raises(NotFoundError, match="no folder plays obs://lab; mapped: hdfs"):
        forget_map(tmp_path, "obs://lab")
    (tmp_path / "maps.json").write_text("{")
    with pytest.raises(HomeError, match="damaged"):
        load_maps(tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("./folder", "on this machine already"),
        ("file:///x", "on this machine already"),
        ("obs://lab/data", "names something in obs://lab"),
        ("obs://me@lab", "names a profile"),
        ("obs://L", "no good bucket name"),
        ("ftp://x", "unknown kind of address"),
        ("", "must not be empty"),
    ],
)
def test_only_whole_buckets_and_name_nodes_can_be_played(text, words):
    with pytest.raises(SpecError, match=words):
        read_root(text)


@pytest.mark.parametrize("text", ["obs://lab", "obs://lab/", "s3://lab", "hdfs://127.0.0.1:50070/"])
def test_the_root_is_kept_without_its_slash(text):
    assert read_root(text).root == text.rstrip("/")
