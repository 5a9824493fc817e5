"""Code and data that users send, by parts: each part may be sent again, and what is whole is what its digest says.

uploads/<user>/<sha256>/
  upload.json      what was announced; written once
  parts/000001     parts that arrived whole
  content/         the files, once all of it was verified: the folder that was packed, or the one file
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import tarfile
import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool

from outlast.errors import NotFoundError, UsageError
from outlast.inside.errors import InsideError
from outlast.inside.records import now_text
from outlast.inside.unpack import unpack
from outlast.server.refusals import Conflict, TooLarge
from outlast.store.registry import translate

#: The size of every part but the last. Small enough to be sent again without regret, large enough for fast networks.
PART_BYTES = 8 << 20
#: The largest upload: parts are counted with six digits, and a pack of code is smaller by far.
MOST_BYTES = 1 << 42
_PIECE_BYTES = 1 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[^/\0]{1,255}")


@dataclass(frozen=True)
class Upload:
    """What somebody announced to send: a tar of a folder, or one file."""

    sha256: str
    size_bytes: int
    kind: Literal["folder", "file"]
    name: str
    created_at: str

    @property
    def part_count(self) -> int:
        return max(1, -(-self.size_bytes // PART_BYTES))

    def part_size(self, number: int) -> int:
        """How long a part is; `UsageError` for a number that it does not have."""
        if not 1 <= number <= self.part_count:
            raise UsageError(f"part {number} does not exist; this upload has the parts 1 to {self.part_count}")
        return min(PART_BYTES, self.size_bytes - (number - 1) * PART_BYTES)


class Uploads:
    """The uploads of one home. Every user has their own: nobody learns what others have sent."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def begin(self, user: str, sha256: str, size_bytes: int, kind: Literal["folder", "file"], name: str) -> Upload:
        """Announce an upload, or find the one that was announced before: then the rest of it is missing."""
        if not _SHA256.fullmatch(sha256):
            raise UsageError("sha256 must be 64 hex digits in lower case")
        if not 0 <= size_bytes <= MOST_BYTES:
            raise TooLarge(f"an upload has at most {MOST_BYTES} bytes, this one would have {size_bytes}")
        if name and (not _NAME.fullmatch(name) or name in (".", "..")):
            raise UsageError(f"{name!r} is not the name of a file")
        upload = Upload(sha256, size_bytes, kind, name or "file", now_text())
        folder = self._folder(user, sha256)
        (folder / "parts").mkdir(mode=0o700, parents=True, exist_ok=True)
        aside = folder / f".{uuid.uuid4().hex}"
        aside.write_text(json.dumps(asdict(upload)))
        try:
            os.link(aside, folder / "upload.json")
        except FileExistsError:
            known = self.find(user, sha256)
            if (known.size_bytes, known.kind) != (size_bytes, kind):
                raise Conflict(
                    f"an upload of {sha256[:12]}… was announced as a {known.kind} of {known.size_bytes} bytes",
                    hint="remove that one first",
                ) from None
            return known
        finally:
            aside.unlink()
        return upload

    def find(self, user: str, sha256: str) -> Upload:
        try:
            body = json.loads((self._folder(user, sha256) / "upload.json").read_bytes())
        except FileNotFoundError:
            raise NotFoundError(f"no upload {sha256[:64]!r}", hint="announce it first: POST /api/v1/uploads") from None
        return Upload(**body)

    def all(self, user: str) -> list[Upload]:
        """Everything that a user has sent or begun to send, newest first."""
        folder = self.folder_of(user)
        names = [path.parent.name for path in folder.glob("*/upload.json")] if folder.is_dir() else []
        return sorted((self.find(user, name) for name in names), key=lambda upload: upload.created_at, reverse=True)

    def status(self, user: str, sha256: str) -> dict[str, Any]:
        """An upload, and which of its parts are still missing."""
        upload = self.find(user, sha256)
        missing = [] if self.is_complete(user, sha256) else self._missing(user, upload)
        return {
            **asdict(upload), "part_bytes": PART_BYTES, "parts": upload.part_count, "missing": missing,
            "complete": self.is_complete(user, sha256),
        }  # fmt: skip

    def is_complete(self, user: str, sha256: str) -> bool:
        return (self._folder(user, sha256) / "content").is_dir()

    async def put_part(self, user: str, sha256: str, number: int, body: AsyncIterator[bytes], digest: str = "") -> None:
        """Take one part; it counts when it is whole, and is checked against `digest` when one is given."""
        upload = self.find(user, sha256)
        size_bytes = upload.part_size(number)
        folder = self._folder(user, sha256) / "parts"
        if self.is_complete(user, sha256):
            return
        aside = folder / f".{uuid.uuid4().hex}"
        try:
            found = await _receive(body, aside, size_bytes)
            if digest and digest.lower() != found:
                raise UsageError(f"part {number} does not match its digest", hint="send it again")
            await run_in_threadpool(aside.replace, folder / f"{number:06d}")
        finally:
            aside.unlink(missing_ok=True)

    def complete(self, user: str, sha256: str) -> Path:
        """Verify the whole and unpack it; returns where it lies. May be repeated."""
        upload = self.find(user, sha256)
        folder = self._folder(user, sha256)
        with _locked(folder):
            if self.is_complete(user, sha256):
                return self.content(user, sha256)
            missing = self._missing(user, upload)
            if missing:
                some = ", ".join(map(str, missing[:8]))
                raise Conflict(f"{len(missing)} of {upload.part_count} parts are missing: {some}", hint="send them")
            joined = folder / ".joined"
            if _join(folder / "parts", joined, upload.part_count) != sha256:
                shutil.rmtree(folder / "parts")
                (folder / "parts").mkdir(mode=0o700)
                joined.unlink()
                raise UsageError(f"what was sent is not {sha256[:12]}…", hint="send all parts again")
            _settle(joined, folder, upload)
            shutil.rmtree(folder / "parts")
        return self.content(user, sha256)

    def content(self, user: str, sha256: str) -> Path:
        """Where a verified upload lies: the folder, or the file. `Conflict` while it is not complete."""
        upload = self.find(user, sha256)
        if not self.is_complete(user, sha256):
            raise Conflict(
                f"the upload {sha256[:12]}… is not complete", hint="send the missing parts, then complete it"
            )
        content = self._folder(user, sha256) / "content"
        return content / upload.name if upload.kind == "file" else content

    def folder(self, user: str, sha256: str, name: str | None = None) -> Path:
        """The folder of a verified upload; with `name` under that name, as runs are called after their folder."""
        content = self.content(user, sha256)
        content = content if content.is_dir() else content.parent
        if name is None or name in (".", ".."):
            return content
        link = content.parent / "named" / name
        link.parent.mkdir(mode=0o700, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            link.symlink_to(content)
        return link

    def remove(self, user: str, sha256: str) -> None:
        """Remove an upload, whole or half."""
        self.find(user, sha256)
        shutil.rmtree(self._folder(user, sha256))

    def folder_of(self, user: str) -> Path:
        """Where everything lies that a user has sent."""
        return self._root / _safe(user)

    def used_bytes(self, user: str) -> int:
        """What a user's uploads take, those that are still coming included."""
        return sum(upload.size_bytes for upload in self.all(user))

    def _missing(self, user: str, upload: Upload) -> list[int]:
        there = {path.name for path in (self._folder(user, upload.sha256) / "parts").iterdir()}
        return [number for number in range(1, upload.part_count + 1) if f"{number:06d}" not in there]

    def _folder(self, user: str, sha256: str) -> Path:
        if not _SHA256.fullmatch(sha256):
            raise NotFoundError(f"no upload {sha256[:64]!r}")
        return self.folder_of(user) / sha256


def _safe(user: str) -> str:
    return "u-" + quote(user, safe="")


async def _receive(body: AsyncIterator[bytes], aside: Path, size_bytes: int) -> str:
    """Write a body to a file; its digest. `UsageError` unless it is exactly so long."""
    digest = hashlib.sha256()
    total, waiting = 0, bytearray()
    with aside.open("wb", buffering=0) as file:

        def write(piece: bytes) -> None:
            digest.update(piece)
            file.write(piece)

        async for piece in body:
            total += len(piece)
            if total > size_bytes:
                raise TooLarge(f"this part has {size_bytes} bytes, and more came")
            waiting += piece
            if len(waiting) >= _PIECE_BYTES:
                await run_in_threadpool(write, bytes(waiting))
                waiting.clear()
        write(bytes(waiting))
        if total != size_bytes:
            raise UsageError(f"this part has {size_bytes} bytes, and {total} came", hint="send it again")
        await run_in_threadpool(os.fsync, file.fileno())
    return digest.hexdigest()


def _join(parts: Path, joined: Path, count: int) -> str:
    digest = hashlib.sha256()
    with joined.open("wb") as out:
        for number in range(1, count + 1):
            with (parts / f"{number:06d}").open("rb") as part:
                while piece := part.read(_PIECE_BYTES):
                    digest.update(piece)
                    out.write(piece)
    return digest.hexdigest()


def _settle(joined: Path, folder: Path, upload: Upload) -> None:
    """Put verified bytes where they are used; `content` appears whole or not at all."""
    aside = folder / f".content-{uuid.uuid4().hex}"
    aside.mkdir(mode=0o700)
    try:
        if upload.kind == "file":
            joined.replace(aside / upload.name)
        else:
            _require_plain(joined)
            try:
                unpack(str(joined), str(aside))
            except InsideError as error:
                raise translate(error) from None
            joined.unlink()
        aside.rename(folder / "content")
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        joined.unlink(missing_ok=True)
        raise


def _require_plain(joined: Path) -> None:
    """A tar without compression or holes unpacks to what was sent, never to more: no small file fills the disk."""
    try:
        with tarfile.open(joined, "r:") as archive:
            total = sum(member.size for member in archive)
    except tarfile.TarError:
        raise UsageError("what was sent is no tar archive", hint="pack the folder without compression") from None
    if total > joined.stat().st_size:
        raise UsageError("the archive unpacks to more than was sent", hint="pack the folder without holes")


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
