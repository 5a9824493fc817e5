"""Cursors: where a page ended, as text that only the server reads."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from outlast.errors import UsageError

#: Rows of a page, unless asked for otherwise, and at most.
USUAL_ROWS = 100
MOST_ROWS = 1000


def write_cursor(*parts: Any) -> str:
    """The cursor of a row by what it is sorted by."""
    return base64.urlsafe_b64encode(json.dumps(parts, ensure_ascii=False).encode()).decode().rstrip("=")


def read_cursor(text: str, count: int) -> list[Any]:
    """The parts of a cursor that `write_cursor` made of `count` of them; `UsageError` for anything else."""
    try:
        parts = json.loads(base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        parts = None
    if not isinstance(parts, list) or len(parts) != count or not all(isinstance(part, str) for part in parts[-2:]):
        raise UsageError(f"cursor {text[:40]!r} is none of this list", hint="begin again without a cursor")
    return parts
