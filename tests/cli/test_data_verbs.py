"""`outlast data` from the command line, on real folders."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest


@pytest.fixture
def images(tmp_path):
    for at in range(40):
        file = tmp_path / "images" / f"class{at % 4}" / f"{at:03}.jpg"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(bytes([at]) * 2000)
    (tmp_path / "images" / "labels.csv").write_text(
        "file,label\n" + "".join(f"{at:03}.jpg,{at % 4}\n" for at in range(40))
    )
    return tmp_path / "images"


@pytest.fixture
def packed(images, tmp_path, outlast):
    assert outlast("data", "pack", str(images), str(tmp_path / "packed"))[0] == 0
    return tmp_path / "packed"


def test_packing_says_what_landed_where_and_again_that_it_was_there(images, tmp_path, outlast):
    code, out, err = outlast("data", "pack", str(images), str(tmp_path / "packed"))
    assert (code, err) == (0, "")
    assert out == f"packed 41 files, 78.5 KB in 1 shard: {tmp_path}/packed/\n"
    code, out, _ = outlast("data", "pack", str(images), str(tmp_path / "packed"), "--json")
    said = json.loads(out)
    assert code == 0 and (said["files"], said["shards"], said["skipped"]) == (41, 1, 1)
    assert "1 shard was there already" in outlast("data", "pack", str(images), str(tmp_path / "packed"))[1]


def test_unpacking_gives_back_what_was_packed(images, packed, tmp_path, outlast):
    code, out, _ = outlast("data", "unpack", str(packed), str(tmp_path / "back/"))
    assert code == 0 and out.startswith("unpacked 41 files")
    code, out, _ = outlast("data", "check", str(images), str(tmp_path / "back"), "--full")
    assert (code, out) == (0, "equal: 41 files with the same bytes\n")
    code, out, _ = outlast("data", "unpack", str(packed), str(tmp_path / "back"))
    assert code == 0 and "41 files were there already" in out


def test_one_file_can_be_listed_and_read(packed, outlast):
    code, out, _ = outlast("data", "ls", str(packed))
    assert code == 0 and len(out.splitlines()) == 41 and out.splitlines()[0].endswith("class0/000.jpg")
    entry = json.loads(outlast("data", "ls", str(packed), "--json")[1])[5]
    assert entry["path"] == "class0/020.jpg" and entry["size_bytes"] == 2000 and entry["shard"] == 0
    code, out, _ = outlast("data", "cat", str(packed), "labels.csv")
    assert code == 0 and out.startswith("file,label\n000.jpg,0\n")
    code, _, err = outlast("data", "cat", str(packed), "nothing.csv")
    assert code == 10 and "nothing.csv" in err


def test_differences_have_their_own_exit_code(images, packed, outlast):
    (images / "class0/000.jpg").unlink()
    (images / "class1/001.jpg").write_bytes(b"short")
    (images / "new.txt").write_text("new")
    code, out, _ = outlast("data", "check", str(packed), str(images))
    assert code == 1
    assert out.splitlines() == [
        "missing: class0/000.jpg",
        "extra: new.txt",
        "different: class1/001.jpg: 2000 bytes here, 5 there",
        "different: 1 missing, 1 extra, 1 different, 39 the same",
    ]
    said = json.loads(outlast("data", "check", str(packed), str(images), "--json")[1])
    assert said["missing"] == ["class0/000.jpg"] and not said["equal"]


@pytest.mark.parametrize("packing", [False, True])
def test_a_small_copy_comes_with_a_table(images, packed, tmp_path, outlast, packing):
    code, out, _ = outlast("data", "mini", str(packed if packing else images), str(tmp_path / "mini"), "--keep", "8")
    assert code == 0
    assert out.splitlines()[0].split() == ["folder", "or", "class", "kept", "of"]
    assert out.splitlines()[1].split() == ["class0", "[0]", "2", "10"]
    assert f"before: 41 files, 78.5 KB; after: 9 files, 15.7 KB: {tmp_path}/mini/" in out
    rows = (tmp_path / "mini/labels.csv").read_text().splitlines()[1:]
    assert {row.split(",")[0] for row in rows} == {path.name for path in (tmp_path / "mini").glob("*/*.jpg")}
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_a_small_copy_never_lands_in_its_source_or_on_other_files(images, tmp_path, outlast):
    code, _, err = outlast("data", "mini", str(images), str(images / "mini"))
    assert code == 2 and "never written to" in err
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_text("mine")
    code, _, err = outlast("data", "mini", str(images), str(tmp_path / "full"))
    assert code == 2 and "not empty" in err and "--force" in err
    code, out, _ = outlast("data", "mini", str(images), str(tmp_path / "full"), "--force", "--json", "--keep", "10%")
    assert code == 0 and json.loads(out)["kept"] == 4 and (tmp_path / "full/file").read_text() == "mine"
    assert (tmp_path / "full/labels.csv").exists()
    code, _, err = outlast("data", "mini", str(images), str(tmp_path / "full/file"), "--force")
    assert code == 2 and "is a file" in err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["pack", "{images}", "{images}/packed"], 2, "the shards would be packed too"),
        (["pack", "{images}/labels.csv", "{tmp}/x"], 2, "is not a folder"),
        (["pack", "{tmp}/nothing", "{tmp}/x"], 10, "there is nothing at"),
        (["pack", "{images}", "{tmp}"], 2, "holds other things already"),
        (["pack", "{images}", "{tmp}/x", "--shard-size", "3"], 2, "cannot be smaller than 1 MB"),
        (["pack", "{images}", "{tmp}/x", "--shard-size", "big"], 2, "is not a size"),
        (["unpack", "{images}", "{tmp}/x"], 10, "no packed place"),
        (["unpack", "ftp://x/y", "{tmp}/x"], 2, "unknown kind of address"),
        (["ls", "{images}"], 10, "no packed place"),
        (["check", "{images}", "{tmp}/nothing"], 10, "there is nothing at"),
        (["mini", "{images}", "{tmp}/x", "--keep", "none"], 2, "cannot keep"),
        (["pakc", "{images}"], 2, "did you mean 'pack'"),
        ([], 2, "pack, unpack, ls, cat, check, mini"),
    ],
)
def test_mistakes_are_named_and_nothing_is_written(images, tmp_path, outlast, arguments, code, words):
    words_given = [word.format(images=images, tmp=tmp_path) for word in arguments]
    found, out, err = outlast("data", *words_given)
    assert (found, out) == (code, "") and words in err and "Traceback" not in err
    assert not (tmp_path / "x").exists() and not (images / "packed").exists()


def test_a_packing_that_was_killed_goes_on(images, tmp_path):
    for at in range(3):
        (images / f"large{at}").write_bytes(os.urandom(3 << 20))
    # Ends the process at the second shard, as kill -9 would.
    script = (
        "import os, sys\n"
        "from outlast.inside.move import landing\n"
        "real, count = landing.Landing._confirm, []\n"
        "def confirm(self, *a):\n"
        "    real(self, *a)\n"
        "    count.append(1)\n"
        "    len(count) == 2 and os._exit(9)\n"
        "landing.Landing._confirm = confirm\n"
        "from outlast.cli.entry import main\n"
        "main(sys.argv[1:])\n"
    )
    command = ["data", "pack", str(images), str(tmp_path / "packed"), "--shard-size", "4MB"]
    assert subprocess.run([sys.executable, "-c", script, *command], capture_output=True).returncode == 9
    assert not (tmp_path / "packed/index.jsonl").exists()
    done = subprocess.run([sys.executable, "-m", "outlast.cli.entry", *command], capture_output=True, text=True)
    assert done.returncode == 0 and "2 shards were there already" in done.stdout, done.stderr
    assert not [name for name in os.listdir(tmp_path / "packed") if not name.startswith(("shard-", "index.jsonl"))]
