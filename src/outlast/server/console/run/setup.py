"""What a run was made of: parameters, conditions, environment, code; and what differs from another run."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from nicegui import ui
from starlette.requests import Request

from outlast.errors import OutlastError
from outlast.model.parameters import run_parameters
from outlast.model.quantities import format_size
from outlast.operations.packs import differing_files, pack_digests, pack_texts
from outlast.operations.parameters import reproduce_command, run_conditions
from outlast.server.accounts.people import Actor
from outlast.server.console.access import holding
from outlast.server.console.aside import aside
from outlast.server.console.formats import condition_name
from outlast.server.console.html import Html, facts, joined, table, tag
from outlast.server.console.parts import copyable, panel
from outlast.server.console.run.watching import Watched
from outlast.server.console.shell import link
from outlast.server.console.words import say, say_sentence
from outlast.server.holding import Holding

_TEXT_BYTES = 256 << 10
_MOST_FILES = 200
_MOST_DIFFS = 20
_MOST_LINES = 2000


@dataclass(frozen=True)
class Code:
    """The packed code of a run; `files` is None when the pack is gone or too large to look into."""

    files: Mapping[str, str] | None
    texts: Mapping[str, str] = field(default_factory=dict)


async def setup_view(watched: Watched, request: Request) -> None:
    """`?file=` shows a file of the code, `?with=` what differs from another run."""
    view, spec = watched.view, watched.view.spec
    path, other = request.query_params.get("file", ""), request.query_params.get("with", "").strip()
    requirements = str(spec.get("requirements") or "")
    held = holding()
    code = await aside(lambda: read_code(held, watched.actor, view.id, spec, [path, requirements]))
    with ui.element("div").classes("o-halves"):
        with panel(say("Parameters")):
            _told(run_parameters(spec))
        with panel(say("Conditions")):
            _told({condition_name(name): value for name, value in run_conditions(spec).items()})
    with panel(say("Environment")):
        _told(_environment(spec))
        if requirements in code.texts:
            ui.html(tag("pre", code.texts[requirements], class_="o-preview", tabindex="0"), sanitize=False)
    with panel(say("The same again")):
        copyable(reproduce_command(spec), say("Command"))
    with panel(say("Code")):
        _code(view.id, code, path)
    with panel(say("Differences to another run")):
        _ask_other(view.id, other)
        if other:
            await _differences(held, watched, spec, other)


def _told(pairs: Mapping[str, str]) -> None:
    known = facts([(name, value) for name, value in pairs.items()])
    ui.html(known if pairs else tag("p", say("none"), class_="o-quiet"), sanitize=False)


def _environment(spec: Mapping[str, Any]) -> dict[str, str]:
    pinned, code = spec.get("environment") or {}, spec.get("code") or {}
    return {
        say("Python"): str(spec.get("python") or ""), say("Named environment"): str(pinned.get("name") or ""),
        say("Image"): str(pinned.get("image") or ""), say("Requirements"): str(spec.get("requirements") or ""),
        say("Code pack"): f"sha256 {str(code.get('sha256', ''))[:16]} · {format_size(code.get('size_bytes') or 0)}",
    }  # fmt: skip


def read_code(held: Holding, actor: Actor, ref: str, spec: Mapping[str, Any], wanted: list[str]) -> Code:
    """The files of a run's code, and the texts of those that are wanted."""
    store = held.seen(actor, ref).store
    files = pack_digests(store, spec)
    chosen = [path for path in wanted if files and path in files]
    return Code(files, pack_texts(store, spec, chosen, _TEXT_BYTES) if chosen else {})


def _code(run_id: str, code: Code, chosen: str) -> None:
    if code.files is None:
        ui.label(say("The code cannot be looked into: it is gone, or too large.")).classes("o-quiet")
        return
    with ui.element("div").classes("o-row o-files"):
        for path in sorted(code.files)[:_MOST_FILES]:
            entry = link(f"/runs/{run_id}/setup?{urlencode({'file': path})}", path, "o-chip o-mono")
            entry._props["aria-current"] = "true" if path == chosen else "false"
    if chosen in code.texts:
        ui.html(tag("pre", code.texts[chosen], class_="o-preview", tabindex="0"), sanitize=False)
    elif chosen:
        ui.label(say("{path} cannot be shown as text", path=chosen)).classes("o-quiet")


def _ask_other(run_id: str, other: str) -> None:
    with ui.element("form").props("method=get").classes("o-row") as form:
        form._props["action"] = f"/runs/{run_id}/setup"
        asked = ui.element("input").props("name=with type=search maxlength=100 size=32").classes("o-input")
        asked._props["^value"] = other  # as an attribute: what is typed survives updates of the page
        asked._props["aria-label"] = say("Id or name of another run")
        asked._props["placeholder"] = say("Id or name of another run")
        submit = ui.element("button").props("type=submit").classes("o-button")
        submit._text = say("Show differences")


async def _differences(held: Holding, watched: Watched, spec: Mapping[str, Any], other: str) -> None:
    try:
        found = await aside(lambda: compare_setups(held, watched.actor, watched.view.id, spec, other))
    except OutlastError as error:
        ui.label(say_sentence(error.message)).classes("o-error").props("role=alert")
        return
    ui.html(_told_differences(watched.view.name, found), sanitize=False)


@dataclass(frozen=True)
class Differences:
    """What another run had differently."""

    name: str
    words: list[tuple[str, str, str]] = field(default_factory=list)  # name, here, there
    files: list[str] | None = None  # None: the codes could not be compared
    lines: dict[str, list[str]] = field(default_factory=dict)  # unified differences by file


def compare_setups(held: Holding, actor: Actor, ref: str, spec: Mapping[str, Any], other: str) -> Differences:
    """From the other run to this one; `NotFoundError` for a run that `actor` may not see."""
    from outlast.operations.runs import show_run

    there = held.seen(actor, other)
    theirs = show_run(held.settings, there.run).spec
    sides = [{**run_parameters(each), **run_conditions(each)} for each in (spec, theirs)]
    words = [
        (name, sides[0].get(name, ""), sides[1].get(name, ""))
        for name in sorted(sides[0].keys() | sides[1].keys())
        if sides[0].get(name) != sides[1].get(name)
    ]
    found = Differences(str(theirs.get("name", there.run)), words)
    mine, its = pack_digests(held.seen(actor, ref).store, spec), pack_digests(there.store, theirs)
    if mine is None or its is None:
        return found
    files = differing_files(mine, its)
    shown = files[:_MOST_DIFFS]
    new = pack_texts(held.seen(actor, ref).store, spec, shown, _TEXT_BYTES)
    old = pack_texts(there.store, theirs, shown, _TEXT_BYTES)
    lines = {path: _unified(old.get(path, ""), new.get(path, ""), path) for path in shown}
    return dataclasses.replace(found, files=files, lines=lines)


def _unified(old: str, new: str, path: str) -> list[str]:
    found = difflib.unified_diff(old.splitlines(), new.splitlines(), path, path, lineterm="")
    return [line for _, line in zip(range(_MOST_LINES), found, strict=False)]


def _told_differences(name: str, found: Differences) -> Html:
    parts: list[Html] = []
    if found.words:
        rows: list[list[str]] = [
            [tag("span", word, class_="o-quiet"), here, there] for word, here, there in found.words
        ]
        parts.append(table(say("Differences to another run"), ["", name, found.name], rows))
    if found.files is None:
        parts.append(tag("p", say("The code cannot be looked into: it is gone, or too large."), class_="o-quiet"))
    elif not found.files:
        parts.append(tag("p", say("The code is the same."), class_="o-quiet"))
    for path, lines in found.lines.items():
        told = tag("pre", *(_line(line) for line in lines), class_="o-preview o-diff", tabindex="0")
        parts += [tag("h3", path, class_="o-h3 o-mono"), told]
    return joined(*parts)


def _line(line: str) -> Html:
    kind = {"+": "o-plus", "-": "o-minus", "@": "o-quiet"}.get(line[:1])
    return tag("div", line or " ", class_=kind)
