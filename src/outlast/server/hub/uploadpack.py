"""Clone and fetch without `git http-backend`: a clone asks three times, and half of the processes only passed bytes on.

With version 2 of the protocol the first answer is the same for every repository, so git is asked for it once.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from outlast.hub.gitprocess import run_git
from outlast.server.hub.backend import Backend

#: What a client may want and have, unpacked; as much as the path takes.
BODY_LIMIT_BYTES = 64 << 20
_GZIP = 47  # of zlib: gzip or deflate, whichever it is
_FRESH = {"Cache-Control": "no-cache, max-age=0, must-revalidate", "Pragma": "no-cache"}
_SERVICE = b"001e# service=git-upload-pack\n0000"


class Advertisement:
    """What every repository offers to those who speak version 2; kept from the first time on."""

    def __init__(self) -> None:
        self._second = b""

    async def answer(self, request: Request, folder: Path, environ: Mapping[str, str]) -> Response:
        """Where every clone and fetch begins."""
        is_second = "version=2" in request.headers.get("git-protocol", "").split(":")
        body = self._second if is_second else b""
        if not body:
            words = ("upload-pack", "--strict", "--stateless-rpc", "--advertise-refs", str(folder))
            body = await run_in_threadpool(lambda: run_git(folder, *words, environ=environ))
        if is_second:
            self._second = body
        else:
            body = _SERVICE + body
        return Response(body, headers=_FRESH, media_type="application/x-git-upload-pack-advertisement")


class UploadPack(Backend):
    """One request for refs or for a pack, answered by `git upload-pack` itself."""

    def __init__(
        self, places: asyncio.Semaphore, environ: Mapping[str, str], folder: Path, *, is_packed: bool
    ) -> None:  # fmt: skip
        super().__init__(places, environ)
        self.command: Sequence[str] = ("git", "upload-pack", "--strict", "--stateless-rpc", str(folder))
        self._inflate = zlib.decompressobj(_GZIP) if is_packed else None
        self._left_bytes = BODY_LIMIT_BYTES

    async def head(self, out: asyncio.StreamReader) -> tuple[int, list[tuple[bytes, bytes]]]:
        fresh = [(name.lower().encode(), value.encode()) for name, value in _FRESH.items()]
        return 200, [(b"content-type", b"application/x-git-upload-pack-result"), *fresh]

    def decode(self, piece: bytes) -> bytes:
        if self._inflate is None:
            return piece
        try:
            found = self._inflate.decompress(piece, self._left_bytes + 1)
        except zlib.error:
            raise HTTPException(400, "the body is no gzip") from None
        self._left_bytes -= len(found)
        if self._left_bytes < 0:
            raise HTTPException(413, "the body is too large")
        return found


def answer_upload_pack(
    request: Request, places: asyncio.Semaphore, environ: Mapping[str, str], folder: Path
) -> Response:
    """Clone and fetch; what is no request of git's is refused as git's own server does."""
    if request.headers.get("content-type") != "application/x-git-upload-pack-request":
        return PlainTextResponse("Unsupported Media Type\n", 415)
    encoding = request.headers.get("content-encoding", "")
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        return PlainTextResponse("Unsupported Content-Encoding\n", 415)
    return UploadPack(places, environ, folder, is_packed="gzip" in encoding)
