"""SDK-HMAC-SHA256, as a verifier does it: pure, so that published vectors and every forgery can be tried.

The secret key signs directly, there is no derived key. The canonical path ends with a slash that the request has not.
"""

from __future__ import annotations

import calendar
import hashlib
import hmac
import re
import time
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, quote

ALGORITHM = "SDK-HMAC-SHA256"
#: How far the clock of a client may be off, in either direction.
WINDOW_S = 15 * 60.0
_DATE = "%Y%m%dT%H%M%SZ"
_HEADER = re.compile(
    rf"{ALGORITHM}\s+Access=([^,\s]{{1,200}}),\s*SignedHeaders=([a-z0-9;_-]{{1,4000}}),\s*Signature=([0-9a-f]{{64}})"
)
_UNSIGNED = "UNSIGNED-PAYLOAD"
#: Without these a signature could be used elsewhere, or at any time.
_NEEDED = frozenset({"host", "x-sdk-date"})


class Refused(Exception):
    """A signature that proves nothing; the words are for the one who asked."""


class Asked(NamedTuple):
    """A request as it came. Header names are lower case, in the order they were sent."""

    method: str
    path: str  # percent-decoded
    query: str  # as it was sent
    headers: Sequence[tuple[str, str]]
    body: bytes = b""

    def header(self, name: str) -> str | None:
        return next((value for given, value in self.headers if given == name), None)


class Signature(NamedTuple):
    """What an Authorization header claims."""

    access: str
    signed: tuple[str, ...]
    signature: str


def read_header(text: str) -> Signature:
    match = _HEADER.fullmatch(text.strip())
    if match is None:
        raise Refused("the Authorization header cannot be read")
    return Signature(match[1], tuple(match[2].split(";")), match[3])


def verify(asked: Asked, given: Signature, secret: str, now: float) -> None:
    """Raise `Refused` unless whoever holds `secret` signed this request, body included, at about this time."""
    missing = _NEEDED - set(given.signed)
    if missing:
        raise Refused(f"signature fail: the header {min(missing)} is not signed")
    moment = asked.header("x-sdk-date") or ""
    _check_time(moment, now)
    shown = ""
    for payload in _payloads(asked):
        shown = canonical(asked, given.signed, payload)
        if hmac.compare_digest(sign(shown, moment, secret), given.signature):
            return
    # The server's view of the request is what one needs to find the difference; it holds nothing the client lacks.
    raise Refused("verify ak sk signature fail, canonicalRequest:" + shown.replace("\n", "|"))


def canonical(asked: Asked, signed: Sequence[str], payload: str) -> str:
    """The text that is signed."""
    path = "/".join(_encoded(part) for part in asked.path.split("/"))
    pairs = sorted((_encoded(name), _encoded(value)) for name, value in parse_qsl(asked.query, keep_blank_values=True))
    headers = "".join(f"{name}:{_single(asked, name)}\n" for name in signed)
    query = "&".join(f"{name}={value}" for name, value in pairs)
    slash = "" if path.endswith("/") else "/"
    return "\n".join((asked.method, path + slash, query, headers, ";".join(signed), payload))


def sign(text: str, moment: str, secret: str) -> str:
    """The signature of a canonical request."""
    to_sign = "\n".join((ALGORITHM, moment, hashlib.sha256(text.encode()).hexdigest()))
    return hmac.new(secret.encode(), to_sign.encode(), hashlib.sha256).hexdigest()


def _encoded(text: str) -> str:
    return quote(text, safe="~")


def _single(asked: Asked, name: str) -> str:
    values = [value for given, value in asked.headers if given == name]
    if len(values) != 1:
        raise Refused(f"signature fail: the signed header {name} {'is missing' if not values else 'came twice'}")
    return values[0].strip()


def _check_time(moment: str, now: float) -> None:
    try:
        at = calendar.timegm(time.strptime(moment, _DATE))
    except ValueError:
        raise Refused("signature fail: X-Sdk-Date is missing, or not like 20240102T030405Z") from None
    if abs(now - at) > WINDOW_S:
        here = time.strftime(_DATE, time.gmtime(now))
        raise Refused(f"signature expired: X-Sdk-Date is {moment}, the server's clock says {here}")


def _payloads(asked: Asked) -> list[str]:
    """What may stand for the body in the canonical request.

    Clients send the digest along, and it must be that of the body. Those that leave a body unsigned are refused: the
    same signature would fit any other body.
    """
    digest = hashlib.sha256(asked.body).hexdigest()
    said = asked.header("x-sdk-content-sha256")
    if said is None or said == digest:
        return [digest]
    if said != _UNSIGNED:
        raise Refused("signature fail: X-Sdk-Content-Sha256 is not the digest of the body")
    if asked.body:
        raise Refused("signature fail: the body is not signed; send it as application/json")
    return [digest, _UNSIGNED]
