"""Starting a stint as a process of its own that outlives us, and ending all that it left."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from outlast.inside.place import SECRET_PREFIX, Place
from outlast.inside.processes import kill_trees, with_environment
from outlast.platforms.bundle import inside_folder
from outlast.platforms.local.jobs import JobFolder, write_private

# What a stint gets of our own environment. The rest stays here: a key for some cloud that happens to be set in the
# user's shell is none of a script's business. `--env NAME` and `--secret NAME` pass more.
_PASSED = frozenset(
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM TZ TMPDIR VIRTUAL_ENV CONDA_PREFIX LD_LIBRARY_PATH LIBRARY_PATH "
    "CPATH SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY "
    "http_proxy https_proxy no_proxy all_proxy".split()
)
_PASSED_PREFIXES = ("LC_", "PYTHON", "PIP_", "UV_", "CUDA_", "NVIDIA_", "NCCL_", "ASCEND_", "HCCL_", "HF_", "TORCH_")
# A shell that limits itself to some cards has had its say when the machine was looked at.
_NOT_PASSED = frozenset({"CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "PYTHONSTARTUP", "PYTHONHOME"})

#: Children of this process, kept until they are reaped: a stint may outlive the object that started it.
_children: dict[int, tuple[subprocess.Popen[bytes], JobFolder | None]] = {}


def runner_command(cache: Path, *, create: bool = True) -> tuple[str, ...]:
    """What runs a stint, its place file to follow. Isolated, without site packages: it needs none and starts faster."""
    return (sys.executable, "-I", "-S", "-u", str(inside_folder(cache, create=create)))


def stint_environment(environ: Mapping[str, str], secrets: Mapping[str, str]) -> dict[str, str]:
    """Variables for the runner: the harmless part of ours, and the secrets under their prefix."""
    passed = {
        name: value
        for name, value in environ.items()
        if (name in _PASSED or name.startswith(_PASSED_PREFIXES)) and name not in _NOT_PASSED
    }
    return passed | {SECRET_PREFIX + name: value for name, value in secrets.items()}


def start(folder: JobFolder, given: dict[str, Any], places: Sequence[Place], command: Sequence[str]) -> int:
    """Start the runners of one job, one for each node, detached; return node 0's pid. Under the lock of the queue.

    Node 0's runner inherits a locked file, and holds that lock by merely living. `started.json` is written before the
    process exists: killed in between, we leave a job that has ended without having begun, never one that could be
    started a second time.
    """
    lock = os.open(folder.path / "alive.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        environ = stint_environment(os.environ, folder.secrets())
        write_private(folder.path / "started.json", given)
        first, *others = places
        child = _spawn(folder, first, command, environ, pass_fds=(lock,))
        _children[child.pid] = (child, folder)
        folder.note_pid(child.pid)
        for place in others:
            # The names by which `leftovers` finds it: no lock ties it to the job.
            marks = {"OUTLAST_RUN": place.run, "OUTLAST_STINT": str(place.stint)}
            other = _spawn(folder, place, command, environ | marks)
            _children[other.pid] = (other, None)
        folder.drop_secrets()
        return child.pid
    finally:
        os.close(lock)


def _spawn(
    folder: JobFolder, place: Place, command: Sequence[str], environ: Mapping[str, str], pass_fds: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    place_file = folder.path / (f"place-{place.node}.json" if place.node else "place.json")
    place.write(str(place_file))
    with folder.log.open("ab") as log:
        return subprocess.Popen(
            [*command, str(place_file)],
            cwd=place.work,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=pass_fds,
        )


def reap() -> None:
    """Collect the exit codes of runners that this process started and that have ended."""
    for pid, (child, folder) in list(_children.items()):
        code = child.poll()
        if code is not None:
            del _children[pid]
            if folder is not None:
                # The folder may be gone: its run was removed meanwhile.
                with contextlib.suppress(OSError):
                    folder.note_exit(code)


def end_all(folder: JobFolder, run: str, stint: int, wait_s: float = 10.0) -> list[int]:
    """End the runner and every process of its stint; return those that would not go."""
    roots = folder.holders() | leftovers(run, stint)
    pid = folder.pid()
    if pid is not None:
        roots.add(pid)
    alive = kill_trees(roots, wait_s) if roots else []
    reap()
    return alive or sorted(leftovers(run, stint))


def leftovers(run: str, stint: int) -> set[int]:
    """Processes whose environment says that they belong to this stint, wherever they stand in the tree."""
    return set(with_environment({"OUTLAST_RUN": run, "OUTLAST_STINT": str(stint)}))
