"""Bytes on their way to a browser: whole or by range, in pieces, never all in memory."""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from outlast.errors import StoreError
from outlast.server.errors import refusal

PIECE_BYTES = 1 << 20
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


def sends(media_type: str, *, by_range: bool = True) -> dict[str, Any]:
    """What the schema says of a route that sends bytes: `@router.get(…, **sends("text/plain"))`."""
    content = {"content": {media_type: {"schema": {"type": "string", "format": "binary"}}}}
    found: dict[int | str, dict[str, Any]] = {200: {"description": "all of it", **content}}
    if by_range:
        found[206] = {"description": "the part that was asked for", **content}
    return {"response_class": Response, "responses": found}


#: Reads up to so many bytes from a place on.
Read = Callable[[int, int], bytes]


class Part(NamedTuple):
    """The bytes that were asked for: where they start, and how many they are."""

    start: int
    size_bytes: int
    is_whole: bool = True


def asked_part(request: Request, size_bytes: int, tag: str = "") -> Part | None:
    """The part that a request means; None when it lies past the end. Several ranges at once mean the whole."""
    whole = Part(0, size_bytes)
    match = _RANGE.fullmatch(request.headers.get("range", "").replace(" ", ""))
    if match is None or match.groups() == ("", ""):
        return whole
    if "if-range" in request.headers and request.headers["if-range"] != tag:
        return whole
    first, last = match.groups()
    if not first:
        count = min(int(last), size_bytes)
        return Part(size_bytes - count, count, is_whole=False) if count else None
    start, end = int(first), min(int(last) if last else size_bytes, size_bytes - 1)
    return Part(start, end - start + 1, is_whole=False) if start <= end else None


def send_part(
    request: Request, size_bytes: int, pieces: Callable[[int, int], AsyncIterator[bytes]], *, media_type: str,
    tag: str = "", headers: Mapping[str, str] | None = None,
) -> Response:  # fmt: skip
    """The answer to a request for a file: 200, 206, 304 or 416. `pieces` gives the bytes from a place on."""
    base = {"Accept-Ranges": "bytes", **({"ETag": tag} if tag else {}), **(headers or {})}
    if tag and request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=base)
    part = asked_part(request, size_bytes, tag)
    if part is None:
        base["Content-Range"] = f"bytes */{size_bytes}"
        return refusal(416, "no_such_range", f"there are only {size_bytes} bytes", headers=base)
    base["Content-Length"] = str(part.size_bytes)
    if not part.is_whole:
        base["Content-Range"] = f"bytes {part.start}-{part.start + part.size_bytes - 1}/{size_bytes}"
    body = pieces(part.start, part.size_bytes)
    return StreamingResponse(body, 200 if part.is_whole else 206, base, media_type=media_type)


def by_pieces(read: Read) -> Callable[[int, int], AsyncIterator[bytes]]:
    """Pieces of what `read` gives; an end that comes too early breaks the connection instead of looking whole."""

    async def pieces(start: int, size_bytes: int) -> AsyncIterator[bytes]:
        while size_bytes:
            piece = await run_in_threadpool(read, start, min(PIECE_BYTES, size_bytes))
            if not piece:
                raise StoreError(f"{size_bytes} bytes are missing")
            start, size_bytes = start + len(piece), size_bytes - len(piece)
            yield piece

    return pieces


async def verified(pieces: AsyncIterator[bytes], sha256: str) -> AsyncIterator[bytes]:
    """The same bytes; the last piece goes out only when all of them are what their digest says."""
    digest = hashlib.sha256()
    held = b""
    async for piece in pieces:
        digest.update(piece)
        if held:
            yield held
        held = piece
    if digest.hexdigest() != sha256:
        raise StoreError(f"blob {sha256} does not match its digest", retryable=False)
    if held:
        yield held


def from_thread(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    """Pieces of an ordinary iterator, each made in a thread."""
    return iterate_in_threadpool(pieces)


def attachment(name: str) -> dict[str, str]:
    """The header that names a downloaded file, whatever letters it has. Nothing downloaded is ever run as a page."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name) or "file"
    return {"Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"}
