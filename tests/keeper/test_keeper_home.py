"""The home folder: private, versioned, and honest about why it cannot be used."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading

import pytest

from outlast import __version__
from outlast.errors import HomeError
from outlast.keeper.home import HOME_FORMAT, Home
from outlast.keeper.secrets import SecretsFile

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="mounting needs root")


def test_new_home_is_private_and_complete(tmp_path):
    home = Home(tmp_path / "a" / "home")
    assert stat.S_IMODE(home.path.stat().st_mode) == 0o700
    assert stat.S_ISFIFO(home.fifo.stat().st_mode)
    assert home.inbox.is_dir() and home.work.is_dir() and home.cache.is_dir() and home.local.is_dir()
    assert json.loads((home.path / "version.json").read_text())["home_format"] == HOME_FORMAT


def test_opening_again_keeps_the_id(tmp_path):
    assert Home(tmp_path / "h").id == Home(tmp_path / "h").id
    assert Home(tmp_path / "other").id != Home(tmp_path / "h").id


def test_first_commands_at_the_same_time_agree_on_the_id(tmp_path):
    ids = []
    threads = [threading.Thread(target=lambda: ids.append(Home(tmp_path / "h").id)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 8 and len(set(ids)) == 1
    assert not [path for path in (tmp_path / "h").iterdir() if path.name.startswith(".version")]


def test_home_of_a_newer_version_is_refused_by_name(tmp_path):
    Home(tmp_path)
    body = {"home_format": HOME_FORMAT + 1, "outlast": "99.1", "id": "x"}
    (tmp_path / "version.json").write_text(json.dumps(body))
    with pytest.raises(HomeError) as caught:
        Home(tmp_path)
    message = str(caught.value)
    assert str(tmp_path) in message and "99.1" in message and __version__ in message and "upgrade" in message
    assert caught.value.exit_code == 2


def test_home_of_a_newer_version_is_not_touched(tmp_path):
    body = json.dumps({"home_format": HOME_FORMAT + 1, "outlast": "99.1", "id": "x"})
    (tmp_path / "version.json").write_text(body)
    with pytest.raises(HomeError):
        Home(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["version.json"]


def test_damaged_version_file_is_named(tmp_path):
    Home(tmp_path)
    (tmp_path / "version.json").write_text("{")
    with pytest.raises(HomeError, match=r"version\.json is damaged"):
        Home(tmp_path)


def test_home_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(HomeError, match=r"is not a folder.*OUTLAST_HOME"):
            Home(path)


def test_plain_file_in_place_of_the_pipe_is_replaced(tmp_path):
    Home(tmp_path).fifo.unlink()
    (tmp_path / "keeper.wake").write_text("copied")
    assert stat.S_ISFIFO(Home(tmp_path).fifo.stat().st_mode)


@needs_root
def test_read_only_home_names_the_path_and_the_way_out(tmp_path):
    mount = tmp_path / "mount"
    mount.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(mount)], capture_output=True)
    if made.returncode:
        pytest.skip(f"cannot mount here: {made.stderr!r}")
    try:
        Home(mount / "home")
        subprocess.run(["mount", "-o", "remount,ro", str(mount)], check=True)
        for path in (mount / "home", mount / "new"):
            with pytest.raises(HomeError) as caught:
                Home(path)
            message = str(caught.value)
            assert str(path) in message and "read-only" in message and "OUTLAST_HOME" in message
    finally:
        subprocess.run(["umount", str(mount)], check=True)


@needs_root
def test_home_on_a_full_disk_says_so(tmp_path):
    mount = tmp_path / "mount"
    mount.mkdir()
    options = ["-t", "tmpfs", "-o", "size=64k,nr_inodes=3", "tmpfs", str(mount)]
    if subprocess.run(["mount", *options], capture_output=True).returncode:
        pytest.skip("cannot mount here")
    try:
        with pytest.raises(HomeError, match="no space left"):
            Home(mount / "home")
    finally:
        subprocess.run(["umount", str(mount)], check=True)


@needs_root
def test_home_of_another_user_is_refused(tmp_path):
    home = tmp_path / "home"
    Home(home)
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom outlast.keeper.home import Home\n"
        "from outlast.errors import HomeError\nos.setgid(65534); os.setuid(65534)\n"
        "try: Home(Path(sys.argv[1]))\nexcept HomeError as error: print(error)"
    )
    tmp_path.chmod(0o755)
    done = subprocess.run([sys.executable, "-c", code, str(home)], capture_output=True, text=True)
    assert "cannot be written by this user" in done.stdout and "OUTLAST_HOME" in done.stdout, done.stderr


def test_secrets_file_is_readable_by_its_owner_only(tmp_path):
    old = os.umask(0)
    try:
        file = SecretsFile(Home(tmp_path))
        file.save_run("r1", {"TOKEN": "s3cret"})
        assert stat.S_IMODE((tmp_path / "secrets.json").stat().st_mode) == 0o600
        file.save_named("KEY", "v")
        assert stat.S_IMODE((tmp_path / "secrets.json").stat().st_mode) == 0o600
    finally:
        os.umask(old)
    assert file.of_run("r1") == {"TOKEN": "s3cret"} and file.of_run("r2") == {}
    assert file.named() == {"KEY": "v"}
    file.forget_run("r1")
    assert file.of_run("r1") == {} and "s3cret" not in (tmp_path / "secrets.json").read_text()


def test_run_without_secrets_writes_no_file(tmp_path):
    home = Home(tmp_path)
    SecretsFile(home).save_run("r1", {})
    assert not home.secrets.exists()


def test_damaged_secrets_file_never_quotes_a_value(tmp_path):
    home = Home(tmp_path)
    home.secrets.write_text('{"runs": {"r": {"TOKEN": "s3cret"')
    with pytest.raises(HomeError) as caught:
        SecretsFile(home).of_run("r")
    assert "s3cret" not in str(caught.value)


def test_secrets_of_many_processes_are_all_kept(tmp_path):
    home = Home(tmp_path)
    code = (
        "import sys\nfrom pathlib import Path\nfrom outlast.keeper.home import Home\n"
        "from outlast.keeper.secrets import SecretsFile\n"
        "for n in range(10): SecretsFile(Home(Path(sys.argv[1]))).save_run(sys.argv[2] + str(n), {'A': 'b'})"
    )
    children = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name]) for name in "abc"]
    assert [child.wait() for child in children] == [0, 0, 0]
    file = SecretsFile(home)
    assert all(file.of_run(f"{name}{number}") == {"A": "b"} for name in "abc" for number in range(10))
