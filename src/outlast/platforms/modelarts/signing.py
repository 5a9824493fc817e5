"""SDK-HMAC-SHA256, as a client does it. Pure: the moment is given.

The secret key signs directly, there is no derived key; the canonical path ends with a slash that the request has not.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote

_ALGORITHM = "SDK-HMAC-SHA256"

Pairs = Iterable[tuple[str, str]]


class Request(NamedTuple):
    """One request as it goes out, before it is signed."""

    method: str
    host: str  # as the Host header has it, port included
    path: str  # not encoded
    query: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    @property
    def target(self) -> str:
        """The path and query of the request line."""
        path = "/".join(_encoded(part) for part in self.path.split("/"))
        return f"{path}?{_query(self.query)}" if self.query else path


def moment(at_s: float) -> str:
    """A time as `X-Sdk-Date` has it."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(at_s))


def sign(request: Request, headers: Pairs, key: str, secret: str, at: str) -> list[tuple[str, str]]:
    """The headers together with those that prove who asks. Every one of them is signed, and so is the body."""
    given = [*headers, ("X-Sdk-Date", at)]
    text = canonical(request, given)
    to_sign = "\n".join((_ALGORITHM, at, hashlib.sha256(text.encode()).hexdigest()))
    signature = hmac.new(secret.encode(), to_sign.encode(), hashlib.sha256).hexdigest()
    names = ";".join(name for name, _ in _signed(request, given))
    proof = f"{_ALGORITHM} Access={key}, SignedHeaders={names}, Signature={signature}"
    return [*given, ("Authorization", proof)]


def canonical(request: Request, headers: Pairs) -> str:
    """The text that is signed."""
    signed = _signed(request, headers)
    path = request._replace(query=()).target
    return "\n".join((
        request.method,
        path if path.endswith("/") else path + "/",
        _query(request.query),
        "".join(f"{name}:{value}\n" for name, value in signed),
        ";".join(name for name, _ in signed),
        hashlib.sha256(request.body).hexdigest(),
    ))  # fmt: skip


def _signed(request: Request, headers: Pairs) -> list[tuple[str, str]]:
    return sorted((name.lower(), value.strip()) for name, value in [("Host", request.host), *headers])


def _query(pairs: Pairs) -> str:
    return "&".join(f"{name}={value}" for name, value in sorted((_encoded(a), _encoded(b)) for a, b in pairs))


def _encoded(text: str) -> str:
    return quote(text, safe="~")
