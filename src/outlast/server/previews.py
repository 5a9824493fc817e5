"""The beginning of a file as something that can be looked at."""

from __future__ import annotations

import base64
import csv
import io
import json
from pathlib import PurePosixPath
from typing import Any

PREVIEW_BYTES = 256 << 10
#: Enough of a file to know a picture by.
PICTURE_HEAD_BYTES = 16
_ROWS = 100
_PICTURES = {
    b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif", b"BM": "image/bmp",
}  # fmt: skip


def preview(path: str, head: bytes, size_bytes: int) -> dict[str, Any]:
    """What a file shows: `picture`, `json`, `table`, `text` or nothing but its size (`bytes`).

    A picture is known by its first bytes, never by its name: a page called a.png stays a text.
    """
    cut = size_bytes > len(head)
    body: dict[str, Any] = {"kind": "bytes", "size_bytes": size_bytes, "cut": cut}
    picture = picture_type(head)
    if picture is not None and not cut:
        data = base64.b64encode(head).decode()
        return body | {"kind": "picture", "media_type": picture, "url": f"data:{picture};base64,{data}"}
    text = _text(head, cut)
    if text is None:
        return body
    suffix = PurePosixPath(path).suffix.lower()
    if suffix in (".json", ".jsonc") and not cut:
        try:
            return body | {"kind": "json", "value": json.loads(text, parse_constant=str)}
        except (ValueError, RecursionError):
            pass
    if suffix in (".csv", ".tsv"):
        rows = list(csv.reader(io.StringIO(text), delimiter="\t" if suffix == ".tsv" else ","))
        return body | {"kind": "table", "rows": rows[:_ROWS], "cut": cut or len(rows) > _ROWS}
    return body | {"kind": "text", "text": text}


def picture_type(head: bytes) -> str | None:
    """The media type of a picture, by its first bytes; None for everything else."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _PICTURES.items() if head.startswith(start)), None)


def _text(head: bytes, cut: bool) -> str | None:
    """UTF-8, or GB 18030 as older Chinese files have it; None for what is no text."""
    if b"\0" in head:
        return None
    for encoding in ("utf-8", "gb18030"):
        for lost in range(4 if cut else 1):  # the cut may have gone through a character
            try:
                return head[: len(head) - lost].decode(encoding)
            except UnicodeDecodeError:
                continue
    return None
