"""A few files changed on a branch as one commit, without a clone: what a page does when somebody edits or uploads."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from outlast.errors import NotFoundError, UsageError
from outlast.hub.bare import Bare
from outlast.hub.fastimport import stream
from outlast.hub.gitprocess import GitFailed, git_environment, run_git
from outlast.hub.names import check_revision

_PATH_LIMIT_BYTES = 1024
#: What some file system takes for `.git`.
_GIT_NAMES = (".git", "git~1")


class Moved(UsageError):
    """Somebody else was faster; look again."""

    code = "conflict"
    http_status = 409


def branch_tip(bare: Bare, branch: str = "", parent: str = "") -> tuple[str, str | None]:
    """A branch that can be committed to, and its commit; None while the repository is empty.

    `parent` is the commit that somebody looked at: `Moved` when the branch is elsewhere by now.
    """
    branches = bare.refs("heads")
    branch = check_revision(branch) if branch else bare.head()
    if branches and branch not in branches:
        raise NotFoundError(f"no branch {branch!r}", hint=f"there are: {', '.join(list(branches)[:8])}")
    tip = branches.get(branch)
    if parent and parent != tip:
        raise _moved(branch)
    return branch, tip


def check_file_path(path: str) -> str:
    """`path` if a file of a repository can lie there on every system that clones it."""
    parts = path.split("/")
    plain = [part.rstrip(". ").lower() for part in parts]
    bad = not path.isprintable() or "\\" in path or any(part in ("", ".", "..") for part in parts)
    if bad or len(path.encode()) > _PATH_LIMIT_BYTES:
        raise UsageError(f"{path!r} cannot be the name of a file", hint="write it like configs/base.yaml")
    if any(name.partition(":")[0] in _GIT_NAMES for name in plain) or plain[-1] == ".gitmodules":
        raise UsageError(f"{path} is a name that git keeps for itself", hint="choose another name")
    return path


def commit_changes(
    bare: Bare, files: Mapping[str, tuple[bytes, int]], removed: Collection[str], message: str, author: str, *,
    branch: str, tip: str | None,
) -> str:  # fmt: skip
    """Put `files` (path → content, mode) onto a branch and take `removed` away; the new commit.

    `UsageError` when nothing would change, or a file would take the place of a folder; `Moved` when the branch is no
    longer at `tip`. It happens as a whole or not at all.
    """
    there = {each.path: each.oid for each in bare.items(tip, recursive=True)} if tip else {}
    gone = _below(there, removed)
    _refuse_places(set(there) - gone, files)
    new = {path: file for path, file in files.items() if there.get(path) != _blob_id(file[0]) or path in gone}
    if not new and not gone:
        raise UsageError("nothing would change", hint="the branch has exactly these files already")
    data = stream(new, message, author, tip, branch=branch, removed=gone - set(new))
    try:
        run_git(bare.folder, "fast-import", "--quiet", "--done", "--date-format=now", data=data)
    except GitFailed as error:
        # Git moves a branch only forward: a commit that does not follow its tip is left alone.
        if "Not updating" in error.message or "cannot lock ref" in error.message:
            raise _moved(branch) from None
        raise
    bare.settle_head()
    return bare.commit(branch)


def lfs_paths(bare: Bare, commit: str | None, paths: Iterable[str]) -> set[str]:
    """Those of `paths` that the `.gitattributes` of a revision give to LFS."""
    if commit is None:
        return set()
    with tempfile.TemporaryDirectory() as folder:
        environ = git_environment(GIT_INDEX_FILE=str(Path(folder) / "index"))
        run_git(bare.folder, "read-tree", commit, environ=environ)
        asked = b"".join(path.encode() + b"\0" for path in paths)
        words = ("check-attr", "--cached", "--stdin", "-z", "filter")
        told = run_git(bare.folder, *words, data=asked, environ=environ).decode().split("\0")
    return {path for path, value in zip(told[0::3], told[2::3], strict=False) if value == "lfs"}


def _below(there: Iterable[str], removed: Collection[str]) -> set[str]:
    """The files that are meant by files and folders; `NotFoundError` for one that is not there."""
    found: set[str] = set()
    for path in removed:
        inner = {each for each in there if each == path or each.startswith(f"{path}/")}
        if not inner:
            raise NotFoundError(f"there is no {path!r} to remove")
        found |= inner
    return found


def _refuse_places(there: set[str], files: Iterable[str]) -> None:
    folders = {above for path in there for above in _above(path)}
    for path in files:
        if path in folders:
            raise UsageError(f"{path} is a folder", hint="choose another name for the file")
        file = next((above for above in _above(path) if above in there), None)
        if file is not None:
            raise UsageError(f"{file} is a file, and {path} would lie in it", hint="choose another folder")


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()


def _moved(branch: str) -> Moved:
    return Moved(f"{branch} has moved on since you looked", hint="look at it again, then repeat your change")
