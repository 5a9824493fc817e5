"""What a job's tasks said. Links carry their own permission, for an hour: editors and browsers follow them bare."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import deque
from collections.abc import Iterator
from urllib.parse import quote

from starlette.responses import Response, StreamingResponse

from outlast.inside.contracts.openpai.variables import k8s_role_name
from outlast.server.answers import answer
from outlast.server.gateways.openpai.asked import Asked
from outlast.server.gateways.openpai.book import JobBook, JobRow, RoleFacts
from outlast.server.gateways.openpai.refusing import PaiRefusal, no_job
from outlast.server.logtext import LogText

LASTS_S = 3600
#: How much the end of a log is.
TAIL_BYTES = 16384
_FACT = "openpai_log_links"
#: Both streams are one text here, in the order in which they came.
_V2_NAMES = ("stdout", "all")
_FILES = ("user.pai.stdout", "user.pai.stderr", "stdout", "stderr", "all")
_PIECE_BYTES = 1 << 18


def link(asked: Asked, row: JobRow) -> str:
    """The address before `/ROLE/INDEX/FILE`, which works without a token until it has run out."""
    until = int(time.time()) + LASTS_S
    name = row.facts.framework
    return f"{asked.origin}/rest-server/logs/{until}-{_seal(asked, name, until)}/{quote(name, safe='~')}"


def locations(asked: Asked, row: JobRow) -> Response:
    """Where the logs of a task are: `{"locations": [{"name", "uri"}]}`."""
    role, index = _task(row, asked.path["role"], asked.path["index"])
    tail = "?tail-mode=true" if asked.query.get("tail-mode", "").lower() == "true" else ""
    base = f"{link(asked, row)}/{quote(role.name)}/{index}"
    return answer({"locations": [{"name": name, "uri": f"{base}/{name}{tail}"} for name in _V2_NAMES]})


def read(asked: Asked) -> Response:
    """The log of a task as text. The link is the permission."""
    name = asked.path["job"]
    until, _, seal = asked.path["ticket"].partition("-")
    if (
        not until.isdecimal()
        or len(until) > 12
        or not hmac.compare_digest(seal.encode(), _seal(asked, name, int(until)).encode())
    ):
        raise PaiRefusal(403, "ForbiddenUserError", "this link is not valid")
    if int(until) < time.time():
        raise PaiRefusal(403, "ForbiddenUserError", "this link has run out; ask for the job again")
    row = JobBook(asked.state.database).find(name)
    if row is None:
        raise no_job(name)
    role, index = _task(row, asked.path["role"], asked.path["index"])
    if asked.path["file"] not in _FILES:
        raise PaiRefusal(
            404, "NoTaskLogError", f"there is no log {asked.path['file'][:40]}; there are {', '.join(_FILES)}"
        )
    if asked.path["file"].endswith("stderr"):
        return Response(b"", media_type="text/plain; charset=utf-8")
    lines = _of_task(_text(asked, row), row, role, index)
    if asked.query.get("tail-mode", "").lower() == "true":
        return Response(_tail(lines), media_type="text/plain; charset=utf-8")
    return StreamingResponse(lines, media_type="text/plain; charset=utf-8")


def _seal(asked: Asked, framework: str, until: int) -> str:
    accounts = asked.state.accounts
    key = accounts.fact(_FACT)
    if key is None:
        accounts.note(_FACT, secrets.token_hex(32))
        key = accounts.fact(_FACT) or ""
    return hmac.new(key.encode(), f"{until} {framework}".encode(), hashlib.sha256).hexdigest()[:40]


def _task(row: JobRow, role: str, index: str) -> tuple[RoleFacts, int]:
    for each in row.facts.roles:
        if role in (each.name, k8s_role_name(each.name)) and index.isdecimal() and int(index) < each.instances:
            return each, int(index)
    raise PaiRefusal(404, "NoTaskLogError", f"job {row.facts.framework} has no task {role[:60]} {index[:20]}")


def _text(asked: Asked, row: JobRow) -> Iterator[bytes]:
    found = asked.held.runs.row(row.run)
    if found is None:
        return
    text = LogText.read(asked.held.located(found))
    start = 0
    while start < text.size_bytes:
        piece = text.get(start, _PIECE_BYTES)
        if not piece:
            return
        start += len(piece)
        yield piece


def _of_task(pieces: Iterator[bytes], row: JobRow, role: RoleFacts, index: int) -> Iterator[bytes]:
    """The lines of one task; where there are several, each line begins with the one that said it."""
    if row.facts.task_count == 1:
        yield from pieces
        return
    mark, held = f"[{role.name}/{index}] ".encode(), b""
    for piece in pieces:
        *lines, held = (held + piece).split(b"\n")
        yield b"".join(line[len(mark) :] + b"\n" for line in lines if line.startswith(mark))
    if held.startswith(mark):
        yield held[len(mark) :]


def _tail(pieces: Iterator[bytes]) -> bytes:
    kept: deque[bytes] = deque()
    size = 0
    for piece in pieces:
        kept.append(piece)
        size += len(piece)
        while size - len(kept[0]) >= TAIL_BYTES:
            size -= len(kept.popleft())
    return b"".join(kept)[-TAIL_BYTES:]
