"""Sweeps on a server: started and steered there, their tables made here from the folders of their members."""

from __future__ import annotations

import dataclasses
from typing import Any

from outlast.errors import NotFoundError
from outlast.model.query import RunQuery, linked
from outlast.model.sweep import SweepRecord
from outlast.operations.problems import closest
from outlast.operations.sweeps import FoundSweep, SweepRequest, plan_sweep
from outlast.remote.decode import decode
from outlast.remote.runs import find_runs
from outlast.remote.server import part_of, server_of
from outlast.remote.store import ServedStore
from outlast.remote.submitting import Progress, send_request
from outlast.settings import Settings


def start_sweep(settings: Settings, asked: SweepRequest, progress: Progress | None = None) -> SweepRecord:
    plan_sweep(asked)  # a mistake in the grid is told before anything is sent
    server = server_of(settings)
    sent = send_request(server, asked.request, settings, progress or (lambda words: None))
    words: dict[str, Any] = {name: value for name, value in vars(asked).items() if name != "request"}
    if progress is not None:
        progress(f"starting on {server.url}")
    return _record(server.ask("POST", "/sweeps", {**sent.body, **words}))


def find_sweep(settings: Settings, name: str) -> FoundSweep:
    server = server_of(settings)
    try:
        record = _record(server.ask("GET", f"/sweeps/{part_of(name)}/record"))
    except NotFoundError as error:
        near = closest(name, {view.sweep for view in find_runs(settings, RunQuery()).views if view.sweep})
        raise NotFoundError(error.message + (f"; did you mean {near!r}?" if near else ""), hint=error.hint) from None
    views = {view.id: view for view in find_runs(settings, linked("sweep", name)).views}
    store = ServedStore(server, record.runs[0] if record.runs else "")
    return FoundSweep(record, store, [views[run] for run in record.runs if run in views])


def stop_sweep(settings: Settings, name: str) -> list[str]:
    return decode(list[str], server_of(settings).ask("POST", f"/sweeps/{part_of(name)}/stop")["runs"])


def resume_sweep(settings: Settings, name: str) -> list[str]:
    return decode(list[str], server_of(settings).ask("POST", f"/sweeps/{part_of(name)}/resume")["runs"])


def remove_sweep(settings: Settings, name: str, *, force: bool = False) -> list[str]:
    query = [("force", str(force).lower())]
    return decode(list[str], server_of(settings).ask("DELETE", f"/sweeps/{part_of(name)}", query=query)["runs"])


def _record(body: dict[str, Any]) -> SweepRecord:
    known = {field.name for field in dataclasses.fields(SweepRecord)}
    fields = {name: value for name, value in body.items() if name in known}
    return SweepRecord(**{**fields, "swept": [(key, list(values)) for key, values in fields["swept"]]})
