"""`outlast store map`, `unmap` and `maps` as typed, and what the moving verbs make of them."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def here(tmp_path, monkeypatch, nobody):
    (tmp_path / "here/data").mkdir(parents=True)
    (tmp_path / "here/data/a.txt").write_text("hello")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("COLUMNS", "300")  # paths of tests are long
    return tmp_path / "here"


@pytest.mark.parametrize("name", ["map", "unmap", "maps"])
def test_page_of_each_map_verb_is_complete(outlast, name):
    code, out, err = outlast("store", name, "--help")
    assert code == 0, err
    assert out.startswith(f"Usage: outlast store {name} ") and out.count(f"outlast store {name}") >= 3
    assert "Exit codes:" in out and max(map(len, out.splitlines())) <= 110


def test_map_makes_the_folder_says_so_and_can_be_taken_back(outlast, here):
    assert outlast("store", "maps")[1].startswith("no folder plays a bucket")
    code, out, _ = outlast("store", "map", "obs://lab", "bucket")
    assert code == 0 and out.startswith(f"{here}/bucket plays obs://lab now\nthe folder is new")
    assert (here / "bucket").is_dir()
    code, out, _ = outlast("store", "map", "obs://lab/", "data")
    assert out == f"{here}/data plays obs://lab now instead of {here}/bucket\n"
    assert outlast("store", "map", "obs://lab", "./data")[1] == f"{here}/data plays obs://lab now\n"
    made = json.loads(outlast("store", "map", "hdfs://127.0.0.1:50070", "hdfs", "--json")[1])
    assert made["made"] and made["address"] == "hdfs://127.0.0.1:50070"
    (here / "hdfs").rmdir()
    out = outlast("store", "maps")[1]
    assert f"obs://lab               {here}/data\n" in out and f"{here}/hdfs  missing\n" in out
    assert [each["exists"] for each in json.loads(outlast("store", "maps", "--json")[1])] == [False, True]
    code, out, _ = outlast("store", "unmap", "obs://lab")
    assert code == 0 and out == f"obs://lab is itself again; {here}/data stays as it is\n"
    assert outlast("store", "unmap", "obs://lab")[0] == 10 and (here / "data/a.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["obs://lab/data", "bucket"], "a folder plays all of it: obs://lab"),
        (["bucket", "obs://lab"], "map a bucket or a name node"),
        (["obs://lab", "obs://other"], "is no folder of this machine"),
        (["obs://lab", "data/a.txt"], "is a file"),
        (["obs://lab", "data/a.txt/below"], "cannot make the folder"),
        (["obs://lab", "/"], "cannot play a bucket"),
        (["obs://lab", ""], "is no folder"),
    ],
)
def test_nonsense_is_refused_and_nothing_is_kept(outlast, here, arguments, words):
    code, out, err = outlast("store", "map", *arguments)
    assert code == 2 and words in err and out == ""
    assert outlast("store", "maps", "--json")[1].strip() == "[]"


def test_the_moving_verbs_use_the_folder_and_need_no_keys(outlast, here):
    assert outlast("ls", "obs://lab/")[0] == 11
    outlast("store", "map", "obs://lab", "bucket")
    code, out, err = outlast("cp", "data", "obs://lab/set/")
    assert code == 0 and "to obs://lab/set/data/" in out, err
    assert (here / "bucket/set/data/a.txt").read_text() == "hello"
    assert outlast("cat", "s3://lab/set/data/a.txt")[1] == "hello"
    assert "a.txt" in outlast("ls", "-r", "/lab/set")[1]
    assert outlast("sync", "obs://lab/set/data/", "home")[0] == 0 and (here / "home/a.txt").exists()
    assert outlast("mb", "obs://lab")[1] == "obs://lab/ is there already\n"
    assert outlast("rm", "-r", "obs://lab/set", "--yes")[0] == 0 and not (here / "bucket/set").exists()
    assert outlast("cp", "data/a.txt", "obs://lab/../x")[0] == 2 and not (here / "x").exists()


def test_a_project_is_prepared_in_the_folder_and_what_only_a_bucket_can_is_refused(outlast, here):
    outlast("store", "map", "obs://lab", "bucket")
    code, out, err = outlast("store", "init", "obs://lab/mnist")
    assert code == 0 and "/lab/mnist/code/" in out, err
    assert sorted(path.name for path in (here / "bucket/mnist").iterdir()) == [
        "checkpoints", "code", "data", "log", "output",
    ]  # fmt: skip
    for arguments in (["sign", "obs://lab/f"], ["publish", "obs://lab"]):
        code, _, err = outlast("store", *arguments)
        assert code == 2 and "is played by the folder" in err and "outlast store unmap obs://lab" in err
