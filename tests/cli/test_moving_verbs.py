"""cp, sync, ls, du, cat, rm and mb as a user types them, on this machine and against a real S3 server."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading

import pytest

from outlast.cli.moving import Watch


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with data in it, as the working folder."""
    folder = tmp_path / "here"
    (folder / "data/sub").mkdir(parents=True)
    (folder / "data/a.txt").write_text("hello")
    (folder / "data/sub/中 b.bin").write_bytes(bytes(range(256)))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def s3(seaweed, monkeypatch):
    """The address of a new bucket whose keys are in the environment."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "OBS_", "S3_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ENDPOINT_URL", seaweed.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", seaweed.key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", seaweed.secret)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    return "s3://" + seaweed.bucket()


def test_cp_says_the_final_place_and_skips_the_second_time(outlast, here):
    code, out, err = outlast("cp", "data", "dst")
    assert code == 0 and out.startswith(f"copied 2 files, 261 B, to {here}/dst/ in ") and err == ""
    code, out, _ = outlast("cp", "data", "dst")
    assert code == 0 and out == f"nothing to copy: {here}/dst/ has everything; 2 there already\n"
    assert (here / "dst/a.txt").read_text() == "hello"


def test_cp_dry_run_prints_what_lands_where_and_moves_nothing(outlast, here):
    code, out, _ = outlast("cp", "data", "dst/", "--dry-run")
    assert code == 0 and not (here / "dst").exists()
    assert f"{here}/data/a.txt -> {here}/dst/data/a.txt\n" in out
    assert out.endswith(f"2 files, 261 B, would be copied to {here}/dst/data/\n")
    plan = json.loads(outlast("cp", "data", "dst/", "--dry-run", "--json")[1])
    assert [step["to"] for step in plan["copy"]] == [f"{here}/dst/data/a.txt", f"{here}/dst/data/sub/中 b.bin"]
    assert plan["size_bytes"] == 261 and plan["skip"] == plan["remove"] == []


def test_cp_dry_run_counts_what_it_does_not_print(outlast, here):
    for number in range(40):
        (here / "data" / f"{number:02d}").write_text("x")
    out = outlast("cp", "data/", "dst/", "--dry-run")[1]
    assert out.count(" -> ") == 20 and "  and 22 more\n" in out


def test_cp_json_is_the_only_output(outlast, here):
    code, out, err = outlast("cp", "data", "dst", "--json")
    body = json.loads(out)
    assert code == 0 and err == "" and body["complete"] and (body["files"], body["size_bytes"]) == (2, 261)
    assert outlast("cp", "data", "dst", "--quiet") == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["cp", "data"], 2, "cp needs a source and a destination"),
        (["cp", "nothing", "dst"], 10, "there is nothing at"),
        (["cp", "data/a.txt", "data"], 2, "to copy into it write"),
        (["cp", "data", "ftp://x/y"], 2, "unknown kind of address ftp://"),
        (["cp", "data", "s3://UPPER/x"], 2, "no good bucket name"),
        (["cp", "--pack", "data", "dst"], 2, "outlast data pack"),
        (["cp", "--pack", "data", "a", "dst/"], 2, "--pack takes one folder"),
        (["sync", "data/a.txt", "dst", "--delete"], 2, "needs one folder"),
        (["cat", "data"], 2, "is a folder"),
        (["cat", "data/a.txt", "--range", "5-2"], 2, "cannot be read"),
        (["cat", "nothing"], 10, "there is nothing at"),
        (["ls", "nothing"], 10, "there is nothing at"),
        (["rm", "./data"], 2, "is on this machine"),
        (["rm", "/etc/hostname", "--yes"], 2, "is on this machine"),
    ],
)
def test_mistakes_are_one_message_and_an_exit_code(outlast, here, arguments, code, words):
    got, out, err = outlast(*arguments)
    assert (got, out) == (code, "") and err.startswith("error: ") and words in err and "Traceback" not in err


def test_a_file_that_cannot_be_copied_is_named_and_the_exit_code_is_one(outlast, here, monkeypatch):
    from outlast.inside.errors import Changed
    from outlast.inside.move import local

    plain = local.copy_file

    def unsteady(source, *rest):
        if source.endswith("a.txt"):
            raise Changed(f"{source} changed while it was read")
        plain(source, *rest)

    monkeypatch.setattr(local, "copy_file", unsteady)
    code, out, err = outlast("cp", "data", "dst")
    assert code == 1 and out.startswith("copied 1 file, 256 B")
    assert err.startswith("error: 1 of 2 files could not be copied\n") and "data/a.txt changed while it was read" in err
    body = json.loads(outlast("cp", "data", "dst", "--json")[1])
    assert body["failures"][0]["path"].endswith("data/a.txt") and body["complete"] is False


def test_sync_delete_shows_and_asks_and_needs_somebody_to_answer(outlast, here):
    (here / "dst").mkdir()
    (here / "dst/extra").write_text("e")
    code, out, err = outlast("sync", "data/", "dst/", "--delete")
    assert code == 2 and f"  {here}/dst/extra\n" in out and "--yes" in err
    assert sorted(os.listdir(here / "dst")) == ["extra"]
    assert "extra (would be removed)" in outlast("sync", "data/", "dst/", "--delete", "--dry-run")[1]
    code, out, _ = outlast("sync", "data/", "dst/", "--delete", "--yes")
    assert code == 0 and out.endswith("; 1 removed\n") and sorted(os.listdir(here / "dst")) == ["a.txt", "sub"]


def test_ls_and_du_of_this_machine(outlast, here):
    (here / "data/link").symlink_to("a.txt")
    rows = [line.split() for line in outlast("ls", "data")[1].splitlines()]
    assert [row[-1] for row in rows] == ["a.txt", "a.txt", "sub/"] and rows[0][:2] == ["5", "B"]
    body = json.loads(outlast("ls", "data", "--recursive", "--json")[1])
    assert [(item["name"], item["kind"]) for item in body] == [
        ("a.txt", "file"),
        ("link", "link"),
        ("sub/中 b.bin", "file"),
    ]
    assert outlast("ls", "data/a.txt")[1].endswith("  a.txt\n")
    measured = json.loads(outlast("du", "data", "--json")[1])
    assert (measured["files"], measured["size_bytes"]) == (3, 261)
    assert {"name": "sub/", "files": 1, "size_bytes": 256} in measured["children"]
    assert outlast("du", "data")[1].splitlines()[-1].split()[:3] == ["261", "B", "3"]


def test_cat_is_byte_for_byte(outlast, here):
    done = subprocess.run(
        [sys.executable, "-m", "outlast.cli.entry", "cat", "data/sub/中 b.bin", "--range", "250-"], capture_output=True
    )
    assert done.stdout == bytes(range(250, 256)) and done.returncode == 0, done.stderr
    assert outlast("cat", "data/a.txt", "--range", "1-3")[1] == "ell"


def test_hostile_names_do_not_break_the_output(outlast, here):
    (here / "data" / os.fsdecode(b"bad\xff\nname")).write_text("x")
    code, out, _ = outlast("ls", "data")
    assert code == 0 and r"'bad\\xff\nname'" in out
    assert outlast("cp", "data", "dst", "--dry-run", "--json")[0] == 0
    code, _, err = outlast("cp", "data", "s3://bucket/x")
    assert code == 11 and err.count("\n") == 2
    assert outlast("cp", "data", "dst")[0] == 0


def test_everything_against_a_real_server(outlast, here, s3):
    assert outlast("cp", "data", f"{s3}/runs/data")[1].startswith(f"copied 2 files, 261 B, to {s3}/runs/data/ in ")
    assert outlast("cp", "data", f"{s3}/runs/data")[1].endswith("2 there already\n")
    rows = [line.split()[-1] for line in outlast("ls", f"{s3}/runs/data")[1].splitlines()]
    assert rows == ["a.txt", "sub/"]
    body = json.loads(outlast("ls", s3, "--recursive", "--json")[1])
    assert [item["name"] for item in body] == ["runs/data/a.txt", "runs/data/sub/中 b.bin"]
    assert f"{s3.rpartition('/')[2]}/" in outlast("ls", "s3://")[1]
    assert json.loads(outlast("du", f"{s3}/runs/", "--json")[1])["size_bytes"] == 261
    assert outlast("cat", f"{s3}/runs/data/a.txt", "--range", "0-1")[1] == "he"
    assert outlast("cp", f"{s3}/runs/data/", "back/")[0] == 0
    assert (here / "back/sub/中 b.bin").read_bytes() == bytes(range(256))
    assert outlast("cp", "data/a.txt", f"{s3}/runs")[0] == 2
    assert outlast("sync", "data/", f"{s3}/runs/data/", "--checksum")[1].startswith("nothing to copy")


def test_rm_of_places_asks_and_needs_recursive_for_folders(outlast, here, s3):
    outlast("cp", "data", f"{s3}/keep/data")
    outlast("cp", "data", f"{s3}/old")
    assert "is a folder" in outlast("rm", f"{s3}/old")[2]
    code, out, err = outlast("rm", f"{s3}/old", "--recursive")
    assert code == 2 and f"  {s3}/old/a.txt\n" in out and "nobody is here to answer" in err
    assert outlast("rm", f"{s3}/old/a.txt", "--yes")[1] == f"removed 1 file at {s3}/old/a.txt\n"
    assert outlast("rm", f"{s3}/old/", "--recursive", "--yes")[1] == f"removed 1 file at {s3}/old/\n"
    assert outlast("rm", f"{s3}/old/", "--recursive", "--yes")[0] == 10
    assert outlast("rm", s3, "--yes")[0] == 2 and "whole bucket" in outlast("rm", s3, "--recursive")[2]
    assert outlast("ls", f"{s3}/keep/data")[0] == 0
    assert outlast("rm", s3, "--recursive", "--yes")[0] == 0
    assert outlast("ls", s3) == (0, "", "")


def test_mb_makes_buckets_and_folders_once(outlast, here, s3):
    bucket = s3 + "-new"
    assert outlast("mb", bucket)[1] == f"made {bucket}/\n"
    assert outlast("mb", bucket)[1] == f"{bucket}/ is there already\n"
    assert outlast("mb", f"{bucket}/deep/folder")[1] == f"made {bucket}/deep/folder/\n"
    assert json.loads(outlast("ls", f"{bucket}/deep", "--json")[1])[0]["name"] == "folder/"
    assert outlast("mb", "new/one")[1] == f"made {here}/new/one/\n" and (here / "new/one").is_dir()
    assert outlast("mb", "data/a.txt")[0] == 2


def test_pack_goes_out_packed_and_comes_home_unpacked(outlast, here, s3):
    code, out, err = outlast("cp", "--pack", "data", f"{s3}/packed")
    assert code == 0 and out.startswith(f"copied 2 files, 261 B, to {s3}/packed/") and "packed" in err
    names = [item["name"] for item in json.loads(outlast("ls", f"{s3}/packed", "--json")[1])]
    assert "index.jsonl" in names and "shard-000000.tar" in names
    assert outlast("cp", "--pack", f"{s3}/packed", "home")[0] == 0
    assert (here / "home/sub/中 b.bin").read_bytes() == bytes(range(256))
    assert "outlast cp --pack" in outlast("cp", f"{s3}/packed", "raw")[2]
    outlast("cp", "data", f"{s3}/plain")
    code, _, err = outlast("cp", "--pack", f"{s3}/plain", "never")
    assert code == 2 and "is not packed; copy it without --pack" in err and not (here / "never").exists()
    (here / "alias").symlink_to("data")
    assert outlast("cp", "--pack", "alias", f"{s3}/alias")[0] == 0


def test_packing_is_proposed_with_the_exact_command(outlast, here, s3):
    (here / "many").mkdir()
    for number in range(2001):
        (here / "many" / str(number)).write_text("x")
    code, _, err = outlast("cp", "many", f"{s3}/many dir/", "--dry-run")
    assert code == 0 and err == f"hint: 2001 small files go faster packed: outlast cp --pack many '{s3}/many dir/'\n"


def test_the_spelling_of_modelarts_forms_is_an_address_of_obs(outlast, here, s3, seaweed, tmp_path):
    from outlast.store.profiles import Profiles

    bucket = s3.rpartition("/")[2]
    code, _, err = outlast("ls", f"/{bucket}/data")
    assert code == 10 and "obs://" not in err  # no keys for OBS: a path like any other
    (tmp_path / "home").mkdir()
    # This server knows the signature of S3 only.
    Profiles(tmp_path / "home").save("obs", seaweed.access._replace(kind="obs", signature="v4"), in_file=True)
    code, out, err = outlast("cp", "data", f"/{bucket}/data")
    assert code == 0 and out.startswith(f"copied 2 files, 261 B, to obs://{bucket}/data/"), err
    assert f"/{bucket}/data is read as obs://{bucket}/data, because this machine has no folder /{bucket}" in " ".join(
        err.split()
    )
    assert outlast("cat", f"/{bucket}/data/a.txt")[1] == "hello"
    assert outlast("ls", str(here / "data"))[2] == ""
    assert outlast("rm", f"/{bucket}/data", "--recursive", "--yes")[0] == 0


def test_unknown_words_and_missing_keys_say_what_to_do(outlast, here, s3, monkeypatch):
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    code, _, err = outlast("ls", s3)
    assert code == 11 and "outlast login s3" in err
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    assert outlast("ls", s3)[0] == 11
    assert outlast("cp", "data", "dst", "--profile", "nobody")[0] == 0
    assert outlast("cp", "data", f"{s3}/x", "--profile", "nobody")[0] == 11


STEPPED = """
import sys
from outlast.inside.move import copying, local
from outlast.cli.entry import main

local._WORKERS = 1
plain = copying.Tally.add

def stepped(self, count):
    print("moved", flush=True)
    sys.stdin.readline()
    plain(self, count)

copying.Tally.add = stepped
sys.exit(main(sys.argv[1:]))
"""


def test_ctrl_c_ends_cleanly_and_the_same_command_goes_on(here, outlast):
    for number in range(20):
        (here / "data" / f"{number}").write_text("x")
    child = subprocess.Popen(
        [sys.executable, "-c", STEPPED, "cp", "data", "dst"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for _ in range(3):
        assert child.stdout.readline() == "moved\n"
        child.stdin.write("\n")
        child.stdin.flush()
    assert child.stdout.readline() == "moved\n"
    child.send_signal(signal.SIGINT)
    out, err = child.communicate("\n" * 30, timeout=150)
    assert child.returncode == 130, err
    copied = int(re.search(r"copied (\d+) file", out)[1])
    assert 3 <= copied < 22 and "the same command goes on" in err and "Traceback" not in err
    assert not any(name.startswith(".") for name in os.listdir(here / "dst"))
    assert outlast("cp", "data", "dst")[1].endswith(f"; {copied} there already\n")


def test_the_progress_line_tells_bytes_files_rate_and_time_left():
    watch = Watch(quiet=True)
    watch.all_files, watch.all_bytes = 3000, 8 << 30
    threads = [threading.Thread(target=lambda: [watch.moved(1 << 20) for _ in range(1024)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    watch.moved(-(1 << 30))
    assert watch.line(3.0) == "3.0 GB of 8.0 GB, 0 of 3000 files, 1.0 GB/s, 5.0 s left"
    watch.all_bytes = 0
    assert watch.line(0.0) == "3.0 GB, 0 of 3000 files, 0 B/s"


def test_a_bar_is_drawn_on_a_terminal(tmp_path):
    """Through a real pseudo-terminal, with a copy that waits until the bar was seen."""
    import pty

    source = tmp_path / "big"
    source.write_bytes(b"x" * 100_000)
    code = (
        "import sys, os; from outlast.cli import moving, waiting; moving.PATIENCE_S = 0.0\n"
        "from outlast.inside.move import copying; plain = copying.Tally.add\n"
        "copying.Tally.add = lambda self, count: (os.read(int(sys.argv[1]), 1), plain(self, count))\n"
        "from outlast.cli.entry import main; sys.exit(main(sys.argv[2:]))"
    )
    reader, writer = os.pipe()
    master, slave = pty.openpty()
    environ = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(reader), "cp", str(source), str(tmp_path / "copy")],
        stdin=slave, stdout=subprocess.PIPE, stderr=slave, pass_fds=[reader], env=environ,
    )  # fmt: skip
    os.close(slave)
    seen = b""
    while b"files" not in seen:
        seen += os.read(master, 4096)
    os.write(writer, b"!")
    out, _ = child.communicate(timeout=150)
    for fd in (reader, writer, master):
        os.close(fd)
    assert child.returncode == 0 and out.startswith(b"copied 1 file, 97.7 KB")
    assert b"1 files" in seen or b"0 of 1 files" in seen
