"""Faults while a run is on its way: it ends or waits with words, and nothing that was committed is lost."""

import json
import sys

import pytest
from disks import make_read_only, needs_root, small_disk
from lab import AS_SOMEBODY, Lab, can_be_somebody

from outlast.inside.checkpoints import Checkpoints
from outlast.inside.stores import open_store

QUICK = "print('hello')\n"

#: Saves three states, fills the disk, and waits until somebody has made room again; then it saves and ends.
FILLING = """
import os, time
os.makedirs("ckpt", exist_ok=True)
def save(number):
    with open("ckpt/part", "w") as out: out.write(str(number) * 1000)
    os.replace("ckpt/part", "ckpt/state.txt")
for number in range(3):
    save(number)
    print("epoch %d" % number, flush=True)
    while number == 2 and not os.path.exists("fill-now"): time.sleep(0.02)
with open("ballast", "wb", buffering=0) as ballast:
    try:
        while True: ballast.write(bytes(1 << 16))
    except OSError: pass
    try:
        while True: ballast.write(b"x")
    except OSError: pass
    print("the disk is full now", flush=True)
while True:
    try:
        save(9)
        break
    except OSError:
        time.sleep(0.05)
print("there is room again", flush=True)
"""


def failed(lab, *arguments, **options):
    """A run that fails: exit code 1, no traceback of ours; returns what was printed and the run."""
    done = lab.outlast("run", *arguments, check=False, **options)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert "outlast/cli" not in done.stdout + done.stderr
    run = done.stdout.split()[1]
    return done.stdout, lab.show(run)


def joined(text):
    """Without the line breaks that the terminal's width has put in."""
    return " ".join(text.split())


def tree(folder):
    found = sorted(path for path in folder.rglob("*") if not path.is_fifo())
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in found}


# ---- the request turns out to be wrong on the machine


def test_preparation_that_uses_the_limit_up_is_told_with_a_longer_one(lab):
    slow = lab.write("slow-python", f'#!/bin/sh\nsleep 1.5\nexec {sys.executable} "$@"\n')
    slow.chmod(0o755)
    output, view = failed(lab, lab.write("p/train.py", QUICK), "--limit", "1s", "--python", slow)
    assert view["stint_count"] == 1
    assert "the limit of 1 s is shorter than the start-up" in joined(output)
    assert "give at least --limit" in joined(output)
    assert view["stints"][0]["reason"] == "setup-error"


def test_requirement_that_does_not_exist_fails_at_once_and_names_the_line(lab):
    lab.write("p/requirements.txt", "--no-index\nno-such-package-zzz==9.9\n")
    output, view = failed(lab, lab.write("p/train.py", QUICK), "--requirements", "requirements.txt")
    assert view["stint_count"] == 1
    assert view["stints"][0]["reason"] == "setup-error"
    assert "requirements.txt line 2 (no-such-package-zzz==9.9) cannot be installed" in joined(output)
    assert "correct it and start a new run" in joined(output)


def test_script_that_dies_at_once_is_not_started_again(lab):
    output, view = failed(lab, lab.write("p/train.py", "raise ValueError('bad shape 3')\n"), "--limit", "1h")
    assert view["stint_count"] == 1
    assert (view["stints"][0]["reason"], view["stints"][0]["exit_code"]) == ("script-error", 1)
    assert "the script failed in stint 1 (exit code 1) before it saved anything new" in joined(output)
    assert "ValueError: bad shape 3" in view["message"]
    assert f"outlast logs {view['id']}" in output


def test_script_that_never_saves_is_told_after_one_stint(lab):
    script = lab.write("p/train.py", "import time\nwhile True: time.sleep(0.05)\n")
    output, view = failed(lab, script, "--checkpoint", "ckpt", "--limit", "5s", "--grace", "200ms")
    assert view["stint_count"] == 1
    assert view["stints"][0]["reason"] == "time-limit"
    assert "left no checkpoint in 'ckpt'" in joined(output)
    assert "--checkpoint PATH" in joined(output)
    assert lab.runners() == lab.scripts() == []


# ---- the disk


@needs_root
def test_disk_without_room_is_refused_up_front(tmp_path):
    with small_disk(tmp_path / "disk", "4m") as disk:
        lab = Lab(disk)
        try:
            done = lab.outlast("run", lab.write("p/train.py", QUICK), check=False)
            assert done.returncode == 12
            assert f"error: the disk that holds {lab.home} has 4.0 MB left" in done.stderr
            assert "outlast gc" in done.stderr
            assert not (lab.home / "store").exists()
            assert lab.pids() == []
        finally:
            lab.close()


@needs_root
def test_disk_that_fills_up_makes_the_run_wait_and_loses_nothing(tmp_path):
    with small_disk(tmp_path / "disk", "24m") as disk:
        lab = Lab(tmp_path)
        lab.home = disk / "home"
        lab.environ["OUTLAST_HOME"] = str(lab.home)
        try:
            attached = lab.start("run", lab.write("p/train.py", FILLING), "--checkpoint", "ckpt")
            store = open_store((lab.home / "store").as_uri())
            run = lab.until(lambda: next((lab.home / "store/runs").glob("*"), None)).name
            known = lab.until(lambda: Checkpoints(store, run).ids())
            code = lab.until(lambda: next((lab.home / "work").glob("*/0001/tree/code"), None))
            (code / "fill-now").touch()
            lab.until(lambda: "the run waits for room" in attached.output.read_text())
            # Everything that only reads still works, and whatever needs room says so.
            assert "outlast gc" in lab.show(run)["notice"]
            assert "the disk is full" in lab.outlast("ps").stdout, lab.story()
            stopped = lab.outlast("stop", run, check=False)
            assert stopped.returncode == 12
            assert "no space left" in stopped.stderr
            assert set(known) <= set(Checkpoints(store, run).ids())
            (code / "ballast").unlink()
            assert attached.wait(150) == 0, attached.output.read_text()
            assert "there is room again" in lab.outlast("logs", run).stdout
            view = lab.show(run)
            assert view["state"] == "succeeded"
            assert view["notice"] == ""
            assert view["stint_count"] == 1
            assert set(known) < {checkpoint["id"] for checkpoint in view["checkpoints"]}
            lab.outlast("fetch", run, "--what", "checkpoint", "--to", tmp_path / "fetched")
            assert next((tmp_path / "fetched").rglob("state.txt")).read_text() == "9" * 1000
        finally:
            lab.close()


@needs_root
def test_removing_a_run_makes_room_on_a_full_disk(tmp_path):
    with small_disk(tmp_path / "disk", "16m") as disk:
        lab = Lab(tmp_path)
        lab.home = disk / "home"
        lab.environ["OUTLAST_HOME"] = str(lab.home)
        try:
            # The index needs some room to forget a run; what the script left in its folder gives that.
            run = lab.submit(lab.write("p/train.py", QUICK + "open('left', 'wb').write(bytes(1 << 20))\n"))
            lab.wait(run)
            with (disk / "ballast").open("wb", buffering=0) as ballast, pytest.raises(OSError):
                while True:
                    ballast.write(bytes(4096))
            refused = lab.outlast("run", "p/train.py", check=False)
            assert refused.returncode == 12
            lab.outlast("rm", run)
            assert list((lab.home / "store/runs").rglob("*.json")) == []
        finally:
            lab.close()


# ---- the home folder


@needs_root
def test_home_that_turned_read_only_is_named_by_every_command(tmp_path):
    with small_disk(tmp_path / "disk", "64m") as disk:
        lab = Lab(disk)
        try:
            script = lab.write("p/train.py", QUICK)
            run = lab.submit(script)
            lab.wait(run)
            lab.close()
            lab.until(lambda: make_read_only(disk))  # the kernel closes the files of what was killed in its own time
            before = tree(lab.home)
            for arguments in (["run", script], ["show", run]):
                done = lab.outlast(*arguments, check=False, cwd=tmp_path)
                assert done.returncode == 2, done.stderr
                assert f"the home folder {lab.home} is on a read-only file system" in done.stderr
                assert "OUTLAST_HOME=" in done.stderr
            setting = lab.outlast("config", "set", "grace_s", "5", check=False, cwd=tmp_path)
            assert setting.returncode == 2
            assert "OUTLAST_HOME" in setting.stderr
            doctor = json.loads(lab.outlast("doctor", "--json", check=False, cwd=tmp_path).stdout)
            assert next(finding for finding in doctor if finding["name"] == "home folder")["ok"] is False
            assert tree(lab.home) == before
            assert lab.pids() == []
        finally:
            lab.close()


@pytest.mark.skipif(not can_be_somebody(), reason="user namespaces are not allowed here")
def test_home_of_somebody_else_is_named(lab):
    lab.home.mkdir(mode=0o500)
    done = lab.outlast("run", lab.write("p/train.py", QUICK), check=False, before=AS_SOMEBODY)
    assert done.returncode == 2
    assert f"the home folder {lab.home} cannot be written by this user" in done.stderr
    assert "OUTLAST_HOME=" in done.stderr
    assert list(lab.home.iterdir()) == []


def test_home_of_a_newer_version_is_left_as_it_is(lab):
    lab.write("home/version.json", json.dumps({"home_format": 99, "outlast": "7.3", "id": "abc"}))
    before = tree(lab.home)
    script = lab.write("p/train.py", QUICK)
    for arguments in (["run", script], ["ps"], ["gc"]):
        done = lab.outlast(*arguments, check=False)
        assert done.returncode == 2
        assert f"the home folder {lab.home} was written by outlast 7.3 (home format 99)" in done.stderr
        assert "upgrade outlast" in done.stderr
    doctor = json.loads(lab.outlast("doctor", "--json", check=False).stdout)
    finding = next(finding for finding in doctor if finding["name"] == "home folder")
    assert finding["ok"] is False
    assert "7.3" in finding["value"]
    assert tree(lab.home) == before
    assert lab.pids() == []


def test_index_of_a_newer_version_is_said_while_the_run_waits(lab):
    """The first stint needs no index, so it starts; whoever watches learns why nothing follows it."""
    import sqlite3

    run = lab.submit(lab.write("p/train.py", QUICK))
    lab.wait(run)
    lab.close()
    database = sqlite3.connect(lab.home / "index.db")
    with database:
        database.execute("UPDATE meta SET schema_version = 99")
    database.close()
    done = lab.outlast("ps", check=False)
    assert done.returncode == 2
    assert "has schema 99" in done.stderr
    assert "upgrade outlast" in done.stderr
    attached = lab.start("run", lab.write("p/long.py", "import time\nwhile True: time.sleep(0.05)\n"))
    lab.until(lambda: "has schema 99" in attached.output.read_text())
    assert "upgrade outlast" in attached.output.read_text()
