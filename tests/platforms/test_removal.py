"""Folders of stints go away, also when their owners are still at it or took away their own rights."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from outlast.platforms.local.removal import remove_tree


def test_missing_folder_is_fine(tmp_path):
    remove_tree(tmp_path / "never-there")


def test_folder_that_its_owner_is_emptying_too_is_removed_without_a_word(tmp_path):
    home = tmp_path / "home"
    for _ in range(50):
        for name in "abcdefgh":
            (home / name / "desk").mkdir(parents=True)
            (home / name / "desk" / "file").touch()
        with ThreadPoolExecutor(2) as pool:
            for _ in range(2):
                pool.submit(shutil.rmtree, home, ignore_errors=True)
            remove_tree(home)
        assert not home.exists()


def test_folder_that_still_grows_is_removed_once_it_stops(tmp_path):
    home = tmp_path / "home"
    home.mkdir()

    def grow():
        for number in range(300):
            try:
                (home / str(number)).touch()
            except FileNotFoundError:
                return

    with ThreadPoolExecutor(1) as pool:
        growing = pool.submit(grow)
        remove_tree(home)
    growing.result()
    assert not home.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_folder_without_rights_is_removed_by_its_owner(tmp_path):
    home = tmp_path / "home"
    (home / "a" / "b").mkdir(parents=True)
    (home / "a" / "b" / "file").touch()
    for path in (tmp_path, home, home / "a", home / "a" / "b"):
        os.chown(path, 65534, 65534)
    (home / "a" / "b").chmod(0)
    (home / "a").chmod(0o500)
    # The folders above are private to root: who stands in the folder already need not pass through them.
    code = "import os, sys; from pathlib import Path; from outlast.platforms.local.removal import remove_tree\n"
    code += "os.chdir(sys.argv[1]); os.setgid(65534); os.setuid(65534)\n"
    code += "remove_tree(Path('home')); sys.exit(os.path.exists('home'))"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr
