"""What requests at several doors have in common."""

from __future__ import annotations

import base64
import binascii

from starlette.requests import Request

#: Stands for a header that lets nobody in.
_WRONG = "?"


def header_token(request: Request) -> str:
    """The token in `Authorization`: of `Bearer`, or the password of `Basic`. Empty only without such a header."""
    header = request.headers.get("authorization", "")
    scheme, _, text = header.partition(" ")
    if scheme.lower() == "bearer":
        return text.strip() or _WRONG
    try:
        plain = base64.b64decode(text, validate=True).decode() if scheme.lower() == "basic" else ""
    except (binascii.Error, UnicodeDecodeError):
        plain = ""
    return plain.partition(":")[2] or (_WRONG if header else "")
