"""The faults that `servers.faulty` can be told to cause, each by a function with a name.

Every one takes the same matching: `number` (the proxy's n-th request), `method`, `path` (a regular expression searched
in path and query), `skip` (so many matches pass first), `times` (how many it spoils; `ALWAYS` for all).
"""

from __future__ import annotations

import dataclasses
import re
import threading
from email.utils import formatdate
from typing import Any

ALWAYS = 1 << 60


@dataclasses.dataclass(eq=False)
class Fault:
    """One fault and the requests it is for; made by the functions below."""

    kind: str
    number: int = 0
    method: str = ""
    path: str = ""
    skip: int = 0
    times: int = 1
    at: int | None = None  # byte of the body; None: the middle when its length is known, else the first
    reset: bool = False  # cut with RST instead of FIN
    early: bool = False  # answer before the request's body is read, then close
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    date: str = ""
    piece_bytes: int = 64
    pause_s: float = 0.01
    words: tuple[str, str] = ("", "")  # what stands in the answer, and what is to stand there instead
    reached: threading.Event = dataclasses.field(default_factory=threading.Event)  # a stall has begun
    released: threading.Event = dataclasses.field(default_factory=threading.Event)  # set it to let a stall go on
    left: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.left = self.times

    @property
    def name(self) -> str:
        return f"{self.kind} {self.status}" if self.status else self.kind

    def takes(self, number: int, method: str, target: str) -> bool:
        """Is this request to be spoiled? A yes uses the fault up."""
        matches = self.number in (0, number) and self.method in ("", method) and re.search(self.path, target)
        if not matches or not self.left:
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.left -= 1
        return True

    def offset(self, length: int | None) -> int:
        return self.at if self.at is not None else (length or 0) // 2


def drop(**matching: Any) -> Fault:
    """Cut the connection instead of handing the request on: nothing has happened on the server."""
    return Fault("drop", **matching)


def drop_after(**matching: Any) -> Fault:
    """Let the server do it, then cut the connection without its answer."""
    return Fault("drop after", **matching)


def cut(**matching: Any) -> Fault:
    """Cut the connection in the middle of the answer's body; its Content-Length promised more."""
    return Fault("cut", **matching)


def truncate(**matching: Any) -> Fault:
    """Hand on half of the body under a Content-Length that fits: well-formed, and wrong."""
    return Fault("truncate", **matching)


def corrupt(**matching: Any) -> Fault:
    """Change one byte of the answer's body."""
    return Fault("corrupt", **matching)


def corrupt_request(**matching: Any) -> Fault:
    """Change one byte of the request's body."""
    return Fault("corrupt request", **matching)


def rephrase(old: str, new: str, **matching: Any) -> Fault:
    """Hand the answer on with other words in its body."""
    return Fault("rephrase", words=(old, new), **matching)


def stall_after(**matching: Any) -> Fault:
    """Let the server do it, and keep its answer back until the client gives up or `released` is set."""
    return Fault("stall after", **matching)


def stall(**matching: Any) -> Fault:
    """Say nothing until the client gives up; setting `released` lets the request go on."""
    return Fault("stall", **matching)


def stall_in_body(**matching: Any) -> Fault:
    """The same in the middle of the answer's body."""
    return Fault("stall in body", **matching)


def drip(piece_bytes: int = 64, pause_s: float = 0.01, **matching: Any) -> Fault:
    """Hand the answer's body on in small pieces with a pause after each."""
    return Fault("drip", piece_bytes=piece_bytes, pause_s=pause_s, **matching)


def far_date(seconds: float = 86_400.0 * 400, now: float = 0.0, **matching: Any) -> Fault:
    """Answer as the server did, with a Date header that far from `now` (1970 unless told)."""
    return Fault("date", date=formatdate(now + seconds, usegmt=True), **matching)


def answer(status: int, code: str = "", headers: tuple[tuple[str, str], ...] = (), **matching: Any) -> Fault:
    """Answer with an S3 error in place of the server, which never hears of the request."""
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>as told</Message></Error>'
    return Fault("answer", status=status, headers=headers, body=body if code else "", **matching)


def slow_down(retry_after_s: float | None = 0, **matching: Any) -> Fault:
    """503 SlowDown, with Retry-After unless it is None."""
    headers = () if retry_after_s is None else (("Retry-After", f"{retry_after_s:g}"),)
    return answer(503, "SlowDown", headers, **matching)


def server_error(**matching: Any) -> Fault:
    """500 InternalError."""
    return answer(500, "InternalError", **matching)


def too_many(retry_after_s: float | None = 0, **matching: Any) -> Fault:
    """429 with Retry-After unless it is None."""
    headers = () if retry_after_s is None else (("Retry-After", f"{retry_after_s:g}"),)
    return answer(429, "TooManyRequests", headers, **matching)


def skewed(date: str, **matching: Any) -> Fault:
    """403 RequestTimeTooSkewed with the Date that the server believes in (an HTTP date)."""
    return answer(403, "RequestTimeTooSkewed", (("Date", date),), **matching)
