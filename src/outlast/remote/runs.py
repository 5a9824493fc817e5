"""The verbs on runs, asked of a server: each with the name, the words and the answer of its twin at home."""

from __future__ import annotations

import dataclasses
import difflib
import time
from collections.abc import Iterator, Sequence
from typing import Any

from outlast.errors import NotFoundError, OutlastError, PlatformError
from outlast.model.query import RunQuery
from outlast.model.spec import RunSpec
from outlast.model.view import RunView
from outlast.operations.listing import Found
from outlast.operations.locate import Located
from outlast.operations.runs import changed_looks, last_look
from outlast.remote.decode import decode, decode_run
from outlast.remote.server import Server, part_of, server_of
from outlast.remote.store import ServedStore
from outlast.settings import Settings

#: How often a watched run is asked for.
WATCH_S = 0.5
#: Whoever watches waits so long for a server that is away; the run itself goes on anyway.
OUTAGE_S = 300.0
#: What `watch` does not tell; `show` does.
_UNWATCHED: dict[str, Any] = {"checkpoints": (), "ledger": {}, "spec": {}, "outputs": None}


def locate(settings: Settings, ref: str) -> Located:
    """The run that `ref` means, its folder read through the server."""
    server = server_of(settings)
    found = _of_run(server, ref, "GET", "/folder", query=[("prefix", "spec.json")])
    return Located(found["run"], found["store"], ServedStore(server, found["run"]))


def show_run(settings: Settings, ref: str) -> RunView:
    return decode_run(_of_run(server_of(settings), ref, "GET"))


def find_runs(settings: Settings, query: RunQuery) -> Found:
    states, where = sorted(query.states), [f"{each.name}{each.sign}{each.text}" for each in query.where]
    asked = [("name", query.name), ("sort", query.sort), ("limit", query.limit), ("recent", query.recent)]
    asked += [("state", state) for state in states] + [("where", text) for text in where]
    found = server_of(settings).ask("GET", "/overview", query=asked)
    return Found([decode_run(body) for body in found["runs"]], found["left_out"])


def stop_run(settings: Settings, ref: str) -> RunView:
    return decode_run(_of_run(server_of(settings), ref, "POST", "/stop"))


def resume_run(
    settings: Settings, ref: str, *, from_stint: int | None = None, checkpoint: str | None = None,
    limit: str | None = None,
) -> RunView:  # fmt: skip
    body = {"from_stint": from_stint, "checkpoint": checkpoint, "limit": limit}
    return decode_run(_of_run(server_of(settings), ref, "POST", "/resume", body))


def clone_run(
    settings: Settings, ref: str, *, checkpoint: str | None = None, name: str | None = None, params: Sequence[str] = ()
) -> RunSpec:
    body = {"checkpoint": checkpoint, "name": name, "params": list(params)}
    return decode(RunSpec, _of_run(server_of(settings), ref, "POST", "/clone", body)["spec"])


def remove_run(settings: Settings, ref: str, *, force: bool = False) -> str:
    return str(_of_run(server_of(settings), ref, "DELETE", query=[("force", str(force).lower())])["removed"])


def wait_run(settings: Settings, ref: str, timeout_s: float | None = None) -> RunView:
    return last_look(_looks(settings, ref), timeout_s)


def watch_run(settings: Settings, ref: str) -> Iterator[RunView]:
    yield from changed_looks(_looks(settings, ref))


def _looks(settings: Settings, ref: str) -> Iterator[RunView]:
    """A look every half second. A server that is away is waited for: the view then says so."""
    view = show_run(settings, ref)
    away_at: float | None = None
    while True:
        yield dataclasses.replace(view, **_UNWATCHED)
        time.sleep(WATCH_S)
        try:
            view, away_at = show_run(settings, view.id), None
        except PlatformError as error:
            away_at = away_at or time.monotonic()
            if not error.retryable or time.monotonic() - away_at > OUTAGE_S:
                raise
            view = dataclasses.replace(view, notice=error.message)


def _of_run(
    server: Server, ref: str, method: str, path: str = "", body: object = None,
    *, query: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:  # fmt: skip
    try:
        answer: dict[str, Any] = server.ask(method, f"/runs/{part_of(ref)}{path}", body, query=query)
    except NotFoundError as error:
        raise _with_guess(server, ref, error) from None
    return answer


def _with_guess(server: Server, ref: str, error: NotFoundError) -> NotFoundError:
    """The nearest name among the runs that we may see; whoever has none gets the server's words."""
    if not error.message.startswith(f"no run {ref!r}"):
        return error
    try:
        newest = server.ask("GET", "/runs", query=[("limit", 1000)])["runs"]
    except OutlastError:
        return error
    near = difflib.get_close_matches(
        ref, [word for run in newest for word in (run["name"], run["id"])], n=1, cutoff=0.5
    )
    guess = f"; did you mean {near[0]!r}?" if near else ""
    return NotFoundError(f"no run {ref!r}{guess}", hint=error.hint)
