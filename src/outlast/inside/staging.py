"""Code and inputs, put where the script expects them.

The code folder lies some levels down in the stint's own `tree` folder: as many as the inputs climb with `..`, so that
`../data` lands inside the tree and never beside another stint.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import shutil
import stat
import subprocess
from typing import Any, Dict, List, NamedTuple, Sequence, Set, Tuple
from urllib.parse import unquote, urlsplit

from .blobs import Blobs
from .errors import Damaged, NotFound, PlaceError, RequestError
from .stores import is_remote as is_remote_address
from .unpack import unpack

_CHUNK_BYTES = 1 << 20

Input = Dict[str, Any]  # one entry of the spec's `inputs`: name, source, path, writable; `fetched`: a copy of ours


class Stopping(Exception):
    """The stint shall end while its inputs are still on their way."""


class Staged(NamedTuple):
    """What the sandbox still has to show: pairs of a source and the path at which the script finds it."""

    binds: List[Tuple[str, str]]  # read-only
    writable_binds: List[Tuple[str, str]]  # a private copy, at an absolute path
    notices: List[str]


def code_dir_for(tree: str, inputs: Sequence[Input]) -> str:
    """Where in the stint's `tree` the code lies: deep enough for every `..` of its inputs. Touches nothing."""
    paths = [posixpath.normpath(str(given["path"])) for given in inputs if not _is_absolute(given)]
    taken = {part for path in paths if _levels_up(path) for part in path.split("/")}
    steps = ["up%d" % level for level in range(1, _depth(inputs))] + ["code"]
    return os.path.join(tree, *[_free_name(step, taken) for step in steps])


def _depth(inputs: Sequence[Input]) -> int:
    """How many folders lie between the tree and the inside of the code folder."""
    levels = [_levels_up(posixpath.normpath(str(given["path"]))) for given in inputs if not _is_absolute(given)]
    return max([1, *levels])


def _tree_of(code_dir: str, inputs: Sequence[Input]) -> str:
    return os.path.normpath(os.path.join(code_dir, *[".."] * _depth(inputs)))


def _free_name(name: str, taken: Set[str]) -> str:
    """`../code` is an input, not the code folder itself."""
    while name in taken:
        name += "_"
    return name


def _levels_up(path: str) -> int:
    return sum(1 for part in path.split("/") if part == "..")


def _is_absolute(given: Input) -> bool:
    return posixpath.isabs(str(given["path"]))


def fetch_code(blobs: Blobs, sha256: str, size: int, cache: str, into: str) -> int:
    """Put the code pack under `into` and return the number of files.

    The pack is kept in the cache by its digest and checked again each time; a damaged copy is fetched anew. What
    an earlier, killed attempt left under `into` is removed first.
    """
    packs = os.path.join(cache, "packs")
    pack = os.path.join(packs, sha256 + ".tar")
    try:
        os.makedirs(packs, exist_ok=True)
        if not _is_intact(pack, sha256, size):
            blobs.get_file(sha256, size, pack, 0o644)
        if os.path.lexists(into):
            shutil.rmtree(into)
        os.makedirs(into)
        return unpack(pack, into)
    except NotFound:
        raise RequestError("the code pack %s is not in the store; submit the run again" % sha256[:12]) from None
    except Damaged as error:
        raise RequestError("the code pack is damaged: %s; submit the run again" % error) from None
    except OSError as error:
        raise PlaceError("cannot unpack the code into %s: %s" % (into, error.strerror)) from None


def _is_intact(path: str, sha256: str, size: int) -> bool:
    try:
        if os.path.getsize(path) != size:
            return False
        digest = hashlib.sha256()
        with open(path, "rb") as file:
            for piece in iter(lambda: file.read(_CHUNK_BYTES), b""):
                digest.update(piece)
    except OSError:
        return False
    return digest.hexdigest() == sha256


def is_remote(given: Input) -> bool:
    """Whether an input lies somewhere else than in a file or folder of this machine."""
    return is_remote_address(str(given["source"]))


def source_path(source: str) -> str:
    """The local path of an input's address; `RequestError` for an address that is not a file."""
    if source.startswith("/"):
        return source
    parts = urlsplit(source)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        raise RequestError("%s is not the address of a file of this machine" % source)
    return unquote(parts.path)


def stage_inputs(inputs: Sequence[Input], code_dir: str, sandboxed: bool) -> Staged:
    """Put every input where the script looks for it, relative to `code_dir` or at an absolute path.

    Read-only by default: in the sandbox a read-only mount whose mount point is made here, otherwise a symbolic
    link. A writable input is a copy of this stint's own. `RequestError` names an input that cannot be had.
    """
    staged = Staged([], [], [])
    targets = _targets(inputs, code_dir)
    tree = _tree_of(code_dir, inputs)
    # Outer folders first, so that an inner mount point is made inside what is already there.
    for given, source, target in sorted(targets, key=lambda each: each[2].count("/")):
        try:
            if _is_absolute(given):
                _stage_absolute(given, source, target, tree, sandboxed, staged)
            else:
                _stage_relative(given, source, target, tree, sandboxed, staged)
        except OSError as error:
            raise PlaceError("cannot stage input %s at %s: %s" % (given["name"], target, error.strerror)) from None
    if not sandboxed and any(not given.get("writable") and not given.get("fetched") for given in inputs):
        staged.notices.append(
            "inputs are links to the originals: without a sandbox nothing keeps the script from changing them"
        )
    return staged


def _targets(inputs: Sequence[Input], code_dir: str) -> List[Tuple[Input, str, str]]:
    found: List[Tuple[Input, str, str]] = []
    for given in inputs:
        source = source_path(str(given["source"]))
        if not os.path.exists(source):
            raise RequestError("input %s is missing: there is no %s on this machine" % (given["name"], source))
        if not os.access(source, os.R_OK):
            raise RequestError("input %s cannot be read: no permission for %s" % (given["name"], source))
        target = os.path.normpath(os.path.join(code_dir, str(given["path"])))
        _refuse_overlap(given, target, code_dir, found)
        found.append((given, os.path.realpath(source), target))
    return found


def _refuse_overlap(given: Input, target: str, code_dir: str, earlier: List[Tuple[Input, str, str]]) -> None:
    if (code_dir + "/").startswith(target + "/"):
        raise RequestError(
            "input %s at %s would hide the code itself; give it another path" % (given["name"], given["path"])
        )
    for other, _, taken in earlier:
        inside = (target + "/").startswith(taken + "/") or (taken + "/").startswith(target + "/")
        if inside:
            raise RequestError(
                "inputs %s and %s lie in each other (%s, %s); give them separate paths"
                % (other["name"], given["name"], other["path"], given["path"])
            )


def _stage_absolute(given: Input, source: str, target: str, tree: str, sandboxed: bool, staged: Staged) -> None:
    if not given.get("writable"):
        if sandboxed:
            _require_mount_point(given, target)
            staged.binds.append((source, target))
        elif os.path.realpath(target) != source:
            raise RequestError(
                "input %s cannot appear at %s without a sandbox; give it a relative path" % (given["name"], target)
            )
        return
    if not sandboxed:
        raise RequestError(
            "input %s wants a writable copy at %s, which needs the sandbox; give it a relative path"
            % (given["name"], target)
        )
    _require_mount_point(given, target)
    copy = os.path.join(os.path.dirname(tree), "copies", str(given["name"]))
    _copy(source, copy)
    staged.writable_binds.append((copy, target))


def _require_mount_point(given: Input, target: str) -> None:
    """The system is read-only in the sandbox: a mount point cannot be made there, it must exist."""
    if not os.path.exists(target):
        raise RequestError(
            "input %s cannot appear at %s: there is no such path on this machine; create it, or give a relative path"
            % (given["name"], target)
        )


def _stage_relative(given: Input, source: str, target: str, tree: str, sandboxed: bool, staged: Staged) -> None:
    _clear(given, target, tree, staged)
    if given.get("writable"):
        _copy(source, target)
    elif sandboxed:
        if os.path.isdir(source):
            os.mkdir(target)
        else:
            with open(target, "wb"):
                pass
        staged.binds.append((source, target))
    else:
        os.symlink(source, target)


def _clear(given: Input, target: str, tree: str, staged: Staged) -> None:
    """Make room for an input. The tree is the stint's own, so what the code pack put there may go."""
    parent = os.path.dirname(target)
    os.makedirs(parent, exist_ok=True)
    # A link in the code must not lead us out of the tree.
    if not (os.path.realpath(parent) + "/").startswith(os.path.realpath(tree) + "/"):
        raise RequestError("input %s at %s would land outside the work folder" % (given["name"], given["path"]))
    if not os.path.lexists(target):
        return
    if os.path.isdir(target) and not os.path.islink(target):
        if os.listdir(target):
            staged.notices.append("input %s replaces the folder %s of the code" % (given["name"], given["path"]))
        shutil.rmtree(target)
    else:
        os.unlink(target)


def _copy(source: str, target: str) -> None:
    """A copy that shares its blocks with the original where the filesystem can, and that its owner may write to."""
    if os.path.lexists(target):
        shutil.rmtree(target) if os.path.isdir(target) else os.unlink(target)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    command = ["cp", "-R", "--reflink=auto", "--preserve=mode,timestamps", "--", source, target]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
        )
    except FileNotFoundError:
        _copy_plainly(source, target)
    else:
        if done.returncode:
            words = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["cp failed"]
            raise PlaceError("cannot copy %s: %s" % (source, words[-1]))
    _let_owner_write(target)


def _copy_plainly(source: str, target: str) -> None:
    if os.path.isdir(source):
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copy2(source, target)


def _let_owner_write(path: str) -> None:
    def add(each: str, bits: int) -> None:
        if not os.path.islink(each):
            os.chmod(each, stat.S_IMODE(os.lstat(each).st_mode) | bits)

    add(path, 0o700 if os.path.isdir(path) else 0o600)
    for folder, folders, files in os.walk(path):
        for name in folders:
            add(os.path.join(folder, name), 0o700)
        for name in files:
            add(os.path.join(folder, name), 0o600)
