"""Disks for tests: small ones that fill up, and ones that turn read-only. Only root can mount."""

import contextlib
import os
import subprocess

import pytest

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")


def _mount(*arguments):
    done = subprocess.run(["mount", *map(str, arguments)], capture_output=True, text=True)
    return done.stderr.strip() if done.returncode else ""


@contextlib.contextmanager
def small_disk(folder, size):
    """A disk of `size` (like 8m) at `folder`, gone afterwards whatever still uses it."""
    folder.mkdir()
    problem = _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder)
    if problem:
        pytest.skip(f"mounting is not allowed here: {problem}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def make_read_only(folder):
    """Whether it is done: not as long as somebody has a file open there to write."""
    problem = _mount("-o", "remount,ro", folder)
    assert not problem or "busy" in problem, problem
    return not problem
