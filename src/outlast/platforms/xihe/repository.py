"""One commit pushed to a repository of Xihe, made without a working folder: small files as they are, large by LFS.

A blob of our store is named by its SHA-256, and so is an LFS object: what goes up is linked, never copied.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from outlast.errors import PlatformError, Unavailable
from outlast.platforms.xihe.wire import PLAIN_LIMIT_BYTES

#: Git waits for so long at most; a large checkpoint over a slow line takes hours.
_PUSH_TIMEOUT_S = 6 * 3600.0
_ASK_TIMEOUT_S = 60.0
_BRANCH = "refs/heads/main"
_HELPER = '!f() { echo "username=$OUTLAST_GIT_USER"; echo "password=$OUTLAST_GIT_TOKEN"; }; f'
#: Words of git, in lower case, and what they mean.
_REFUSED = (
    "authentication failed",
    "could not read username",
    "not found",
    "access denied",
    "error: 401",
    "error: 403",
)
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PROTECTED = ("protected branch", "force push", "non-fast-forward", "denynonfastforwards")

Content = bytes | Path


class Pushed(NamedTuple):
    """What a push consisted of."""

    files: int
    large: int  # of those, by LFS
    size_bytes: int


class Remote:
    """The git side of an account. The token travels in the environment of git, never in an address or argument."""

    def __init__(self, endpoint: str, user: str, token: str, work: Path) -> None:
        """Repositories are made below `work` before they are pushed: there, large files can be linked."""
        self.endpoint = endpoint.rstrip("/")
        self._user = user
        self._token = token
        self._work = work

    def head(self, owner: str, name: str) -> str:
        """The newest commit of a repository; empty when it has none or cannot be seen."""
        try:
            said = self._git(None, "ls-remote", self.address(owner, name), "HEAD", timeout_s=_ASK_TIMEOUT_S)
        except PlatformError:
            return ""
        return said.decode("ascii", "replace").split("\t")[0].strip()

    def commit(self, owner: str, name: str, revision: str) -> str:
        """The commit of a branch, a tag or a full commit id; the newest one without any, empty when there is none."""
        said = self._git(None, "ls-remote", self.address(owner, name), timeout_s=_ASK_TIMEOUT_S)
        rows = [line.split("\t", 1) for line in said.decode("utf-8", "replace").splitlines() if "\t" in line]
        refs = {ref: oid for oid, ref in rows}
        tag = f"refs/tags/{revision}"
        wanted = (f"refs/heads/{revision}", tag + "^{}", tag) if revision else ("HEAD",)
        found = next((refs[ref] for ref in wanted if ref in refs), "")
        return found or (revision if _COMMIT.fullmatch(revision) else "")

    def fetch(self, owner: str, name: str, commit: str, folder: Path) -> None:
        """Bring one commit without its past, as a bare repository."""
        self._git(None, "init", "--quiet", "--bare", str(folder))
        self._git(folder, "remote", "add", "origin", self.address(owner, name))
        self._git(folder, "fetch", "--quiet", "--depth", "1", "origin", commit, timeout_s=_PUSH_TIMEOUT_S)

    def fetch_objects(self, folder: Path, commit: str, path: str) -> None:
        """Bring the LFS objects of a fetched commit, those at and below `path` alone."""
        self._require_lfs("what is named is kept in LFS")
        literal = "".join(f"\\{char}" if char in "\\*?[]{}," else char for char in path)
        some = [f"--include={literal},{literal}/**"] if path else []
        self._git(folder, "lfs", "fetch", *some, "origin", commit, timeout_s=_PUSH_TIMEOUT_S)

    def push(self, owner: str, name: str, files: Mapping[str, Content], message: str, *, lfs: bool) -> Pushed:
        """Make these files the whole content of a repository, as one commit without a past.

        The same files give the same commit, so that a push whose answer was lost can be repeated. Where the branch is
        protected the commit continues what is there.
        """
        self._work.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(prefix="push-", dir=self._work) as folder:
            repository = Path(folder, "repository.git")
            self._git(None, "init", "--quiet", "--bare", str(repository))
            self._git(repository, "remote", "add", "origin", self.address(owner, name))
            large = {path: each for path, each in files.items() if size_of(each) > PLAIN_LIMIT_BYTES}
            if large and not lfs:
                raise Unavailable(f"{next(iter(large))} is too large for a project of xihe", why="refused")
            pointers = {path: _link_object(repository, each) for path, each in large.items()}
            commit = _with_attributes({**files, **pointers}, pointers)
            self._import(repository, commit, message)
            if large:
                self._push_objects(repository)
            self._push_branch(repository, commit, message)
        return Pushed(len(files), len(large), sum(size_of(each) for each in files.values()))

    def address(self, owner: str, name: str) -> str:
        return f"{self.endpoint}/{owner}/{name}.git"

    def _require_lfs(self, why: str) -> None:
        if shutil.which("git-lfs") is None:
            raise Unavailable(
                f"git-lfs is not installed, and {why}", why="refused", hint="install it, like: apt install git-lfs"
            )

    def _push_objects(self, repository: Path) -> None:
        self._require_lfs("the checkpoint is too large without it")
        names = sorted(path.name for path in (repository / "lfs" / "objects").glob("*/*/*"))
        # A few hundred at a time: the length of a command line has an end.
        for start in range(0, len(names), 400):
            chosen = names[start : start + 400]
            self._git(repository, "lfs", "push", "--object-id", "origin", *chosen, timeout_s=_PUSH_TIMEOUT_S)

    def _import(self, repository: Path, files: Mapping[str, Content], message: str, parent: str = "") -> None:
        """Make the commit. Its files pass through a file of their own: many small ones are more than memory holds."""
        stream = repository / "stream"
        with stream.open("wb") as file:
            file.writelines(_stream(files, message, parent))
        self._git(repository, "fast-import", "--quiet", "--force", source=stream)
        stream.unlink()

    def _push_branch(self, repository: Path, files: Mapping[str, Content], message: str) -> None:
        try:
            self._git(repository, "push", "--quiet", "--force", "origin", _BRANCH, timeout_s=_PUSH_TIMEOUT_S)
        except PlatformError as error:
            if not any(word in str(error).lower() for word in _PROTECTED):
                raise
            self._git(repository, "fetch", "--quiet", "--depth", "1", "origin", _BRANCH, timeout_s=_PUSH_TIMEOUT_S)
            tip = self._git(repository, "rev-parse", "FETCH_HEAD").decode().strip()
            self._import(repository, files, message, tip)
            self._git(repository, "push", "--quiet", "origin", _BRANCH, timeout_s=_PUSH_TIMEOUT_S)

    def _git(
        self, repository: Path | None, *words: str, source: Path = Path(os.devnull), timeout_s: float = _ASK_TIMEOUT_S
    ) -> bytes:
        command = ["git", *(["--git-dir", str(repository)] if repository else []), *words]
        try:
            with source.open("rb") as given:
                done = subprocess.run(
                    command, stdin=given, capture_output=True, env=self._environment(), timeout=timeout_s, check=False,
                    cwd=repository,
                )  # fmt: skip
        except FileNotFoundError:
            raise Unavailable(
                "git is not installed", why="refused", hint="install it, like: apt install git git-lfs"
            ) from None
        except subprocess.TimeoutExpired:
            raise Unavailable(f"git {words[0]} to {self.endpoint} took too long", why="down") from None
        if done.returncode:
            raise self._failed(words[0], done.stderr)
        return done.stdout

    def _failed(self, verb: str, stderr: bytes) -> Unavailable:
        said = stderr.decode("utf-8", "replace").replace(self._token or "\0", "***")
        lines = [line.strip() for line in said.splitlines() if line.strip()] or ["no reason was given"]
        refused = any(word in said.lower() for word in _REFUSED)
        return Unavailable(
            f"git {verb} with {self.endpoint} failed: {'; '.join(lines[-3:])}", why="refused" if refused else "down",
            hint="check the git token of the account: outlast login xihe" if refused else "",
        )  # fmt: skip

    def _environment(self) -> dict[str, str]:
        """Only our own words configure git: nothing of the user or of the machine gets in."""
        # Only for the place itself: a repository, or an answer, may name others to get large files from.
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(self.endpoint))
        config = {
            f"credential.{origin}.helper": _HELPER, "core.hooksPath": os.devnull, "init.defaultBranch": "main",
            "user.name": "outlast", "user.email": "outlast@localhost", "lfs.locksverify": "false",
            "http.lowSpeedLimit": "1000", "http.lowSpeedTime": "120", "core.symlinks": "false",
            "protocol.allow": "never", "protocol.http.allow": "always", "protocol.https.allow": "always",
        }  # fmt: skip
        found = {
            "PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "HOME": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0",
            "GIT_CONFIG_COUNT": str(len(config)), "OUTLAST_GIT_USER": self._user, "OUTLAST_GIT_TOKEN": self._token,
        }  # fmt: skip
        for name in ("http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE"):
            found |= {each: os.environ[each] for each in (name, name.upper()) if each in os.environ}
        for number, (name, value) in enumerate(config.items()):
            found |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
        return found


def size_of(content: Content) -> int:
    return content.stat().st_size if isinstance(content, Path) else len(content)


def _read(content: Content) -> bytes:
    return content.read_bytes() if isinstance(content, Path) else content


def _link_object(repository: Path, content: Content) -> bytes:
    """Put a large file where git-lfs looks for it, and return the pointer that git keeps in its place."""
    digest = _digest(content)
    place = repository / "lfs" / "objects" / digest[:2] / digest[2:4] / digest
    place.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        place.write_bytes(content)
    elif not place.exists():
        try:
            os.link(content, place)
        except OSError:  # another file system
            place.symlink_to(content.resolve())
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {size_of(content)}\n".encode()


def _digest(content: Content) -> str:
    """Read once more even where the name says it: a damaged blob must not travel under a good name."""
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    with content.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _with_attributes(files: Mapping[str, Content], pointers: Iterable[str]) -> dict[str, Content]:
    lines = [f"/{path} filter=lfs diff=lfs merge=lfs -text\n" for path in sorted(pointers)]
    return {**files, **({".gitattributes": "".join(lines).encode()} if lines else {})}


def _stream(files: Mapping[str, Content], message: str, parent: str = "") -> Iterator[bytes]:
    """What `git fast-import` reads. The date is fixed: the commit is decided by its content alone."""
    said = message.encode()
    yield f"commit {_BRANCH}\ncommitter outlast <outlast@localhost> 0 +0000\ndata {len(said)}\n".encode() + said + b"\n"
    if parent:
        yield f"from {parent}\ndeleteall\n".encode()
    for path, content in sorted(files.items()):
        data = _read(content)
        yield f"M 100644 inline {_quoted(path)}\ndata {len(data)}\n".encode() + data + b"\n"


def _quoted(path: str) -> str:
    """A path as fast-import takes it, whatever characters it has."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
