"""Beginning uploads in parts, and leaving nothing behind of those that are not completed."""

from __future__ import annotations

import time
from typing import List, NamedTuple, Sequence, Tuple

from ..errors import InsideError
from ..net.connection import Steps
from ..net.drive import finish
from . import wire
from .server import Server

#: Between two aborts of one upload: a part that is under way takes seconds where the server has much to do.
_ABORT_PAUSES_S = (0.2, 1.0, 3.0, 5.0)
#: Dates of answers are whole seconds, and the moment an upload begins is not that of its answer.
_CLOCK_NS = 2 * 10**9


class Begun(NamedTuple):
    """An upload that has begun. When its answer came only after further tries, an earlier one may have begun, too."""

    upload: str
    tries: int = 1
    from_ns: int = 0  # by the server's clock
    to_ns: int = 0


def begin(server: Server, key: str, headers: Sequence[Tuple[str, str]] = ()) -> Steps[Begun]:
    """Begin an upload. Whoever ends it, in whichever way, calls `end_doubles`."""
    asked_at = time.monotonic()
    answer = yield from server.call("POST", key, [("uploads", "")], headers)
    took_ns = int((time.monotonic() - asked_at) * 1e9)
    now_ns = wire.time_ns(answer.head.header("date")) or time.time_ns()
    upload = wire.upload_id_of(answer.body)
    return Begun(upload, answer.tries, now_ns - took_ns - _CLOCK_NS, now_ns + _CLOCK_NS)


def end_doubles(server: Server, key: str, begun: Begun) -> Steps[None]:
    """Let go of uploads that our own tries began and whose names we never heard.

    They are known by their time, and by having no part: whoever else sends something under this key at this moment
    has sent a part until now. What is not certain stays; it is invisible, and the server's rules end it some day.
    """
    if begun.tries < 2:
        return
    try:
        listed = yield from server.call("GET", "", [("uploads", ""), ("prefix", key)])
        for other, began_ns in wire.uploads_of(listed.body, key):
            if other == begun.upload or not begun.from_ns <= began_ns <= begun.to_ns:
                continue
            parts = yield from server.call("GET", key, [("uploadId", other), ("max-parts", "1")], ok=(200, 404))
            if parts.status == 200 and not wire.parts_of(parts.body)[0]:
                yield from server.call("DELETE", key, [("uploadId", other)], ok=(200, 204, 404))
    except InsideError:
        pass  # listing may not be allowed; what was asked for is done


def abandon(server: Server, key: str, begun: Begun) -> None:
    """Let go of a multipart upload that will not be completed."""
    try:
        finish(_abandoned(server, key, begun.upload))
        finish(end_doubles(server, key, begun))
    except InsideError:
        pass  # what is left behind is invisible; the first error is the one to tell


def _abandoned(server: Server, key: str, upload: str) -> Steps[None]:
    """Abort until the server has nothing more of it.

    A part whose try was broken off may still be under way and land after the abort, so S3 asks to repeat it until no
    part is listed. And "no such upload" is only believed the second time: a server whose own look-up failed may say
    the same.
    """
    query: List[Tuple[str, str]] = [("uploadId", upload)]
    was_unknown = False
    for pause_s in _ABORT_PAUSES_S:
        aborted = yield from server.call("DELETE", key, query, ok=(200, 204, 404))
        listed = yield from server.call("GET", key, [*query, ("max-parts", "1")], ok=(200, 404))
        is_empty = listed.status == 404 or not wire.parts_of(listed.body)[0]
        if is_empty and (aborted.status != 404 or was_unknown):
            return
        was_unknown = aborted.status == 404
        yield pause_s
