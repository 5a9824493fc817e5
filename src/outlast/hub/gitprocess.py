"""Running git so that only our own words configure it: no file of a user, of the machine or of a repository.

The settings travel in the environment, where they win over the configuration of any repository.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from subprocess import DEVNULL, PIPE

from outlast.errors import PlatformError, UsageError

#: The largest push. Large files travel by LFS, so a pack holds text.
PUSH_LIMIT_BYTES = 1 << 30
#: A file above this size must be in LFS.
PLAIN_LIMIT_BYTES = 200 * 1024
_TIMEOUT_S = 600.0

_CONFIG = {
    "safe.directory": "*",  # the server may run as another user than the one who made the home
    "receive.fsckObjects": "true",
    "transfer.fsckObjects": "true",
    "receive.maxInputSize": str(PUSH_LIMIT_BYTES),
    "receive.advertisePushOptions": "false",
    "receive.autogc": "true",
    "gc.autoDetach": "false",  # what a push started ends with it
    "http.getanyfile": "false",
    "http.uploadpack": "true",
    "uploadpack.allowFilter": "true",
    "core.fsync": "committed",
    "core.symlinks": "false",
    "core.logAllRefUpdates": "true",
    "core.bigFileThreshold": "16m",
    "pack.windowMemory": "64m",
    "pack.threads": "2",
    "init.defaultBranch": "main",
    "protocol.allow": "never",  # a server never fetches: no submodule and no alternate leads anywhere
    "user.name": "outlast",
    "user.email": "outlast@localhost",
}


def git_environment(hooks: Path | None = None, **words: str) -> dict[str, str]:
    """The whole environment of a git process; `words` are added."""
    config = dict(_CONFIG)
    config["core.hooksPath"] = str(hooks) if hooks is not None else os.devnull
    found = {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "HOME": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_COUNT": str(len(config)),
        # The hook is ours and runs with our interpreter and packages.
        "OUTLAST_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    for number, (name, value) in enumerate(config.items()):
        found[f"GIT_CONFIG_KEY_{number}"] = name
        found[f"GIT_CONFIG_VALUE_{number}"] = value
    return found | words


def run_git(
    folder: Path, *words: str, data: bytes = b"", environ: Mapping[str, str] | None = None
) -> bytes:  # fmt: skip
    """What a git command prints; `GitFailed` with its own words when it does not end with 0."""
    command = ["git", "--git-dir", str(folder), *words]
    try:
        done = subprocess.run(
            command, input=data, capture_output=True, env=environ or git_environment(), timeout=_TIMEOUT_S, check=False
        )  # fmt: skip
    except FileNotFoundError:
        raise PlatformError("git is not installed", hint="install it, like: apt install git git-lfs") from None
    if done.returncode:
        raise GitFailed(
            done.stderr.decode("utf-8", "replace").strip() or f"git {words[0]} ended with {done.returncode}"
        )
    return done.stdout


def pipe_git(source: tuple[Path, list[str]], target: tuple[Path, list[str]], data: bytes) -> None:
    """Let one git write what another reads; `GitFailed` when either fails. `data` is the first one's input."""
    with tempfile.TemporaryFile() as given:
        given.write(data)
        given.seek(0)
        begin = ["git", "--git-dir", str(source[0]), *source[1]]
        with subprocess.Popen(begin, stdin=given, stdout=PIPE, stderr=DEVNULL, env=git_environment()) as first:
            end = ["git", "--git-dir", str(target[0]), *target[1]]
            done = subprocess.run(
                end, stdin=first.stdout, stdout=DEVNULL, stderr=PIPE, env=git_environment(), check=False
            )  # fmt: skip
    if first.returncode or done.returncode:
        raise GitFailed(done.stderr.decode("utf-8", "replace").strip() or f"git {source[1][0]} failed")


class GitFailed(UsageError):
    """Git said no; the message is its own."""

    code = "git"
