"""What a run left: its checkpoints, and its outputs with previews."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

from nicegui import ui
from starlette.requests import Request

from outlast.inside import layout
from outlast.model.quantities import format_size
from outlast.model.states import RunState
from outlast.model.view import CheckpointView, RunView
from outlast.operations.faults import spoken
from outlast.server.accounts.people import Actor
from outlast.server.console import formats
from outlast.server.console.access import holding
from outlast.server.console.aside import aside
from outlast.server.console.calls import calls, part
from outlast.server.console.html import Html, facts, joined, table, tag
from outlast.server.console.hub.publishing import publish_button
from outlast.server.console.parts import button, confirmed, panel
from outlast.server.console.previewing import show_preview
from outlast.server.console.run.watching import Watched
from outlast.server.console.words import say
from outlast.server.holding import Holding
from outlast.server.previews import PREVIEW_BYTES, preview

_MOST_ROWS = 200


async def checkpoints_view(watched: Watched, request: Request) -> None:
    """The newest first; the address may name one, whose files are listed then."""
    chosen = request.query_params.get("id", "")
    listed = ui.html("", sanitize=False)
    watched.show(lambda view: listed.set_content(_checkpoints(view, chosen)))
    found = next((each for each in watched.view.checkpoints if each.id == chosen), None)
    if found is not None:
        await _one_checkpoint(watched, found)


def _checkpoints(view: RunView, chosen: str) -> Html:
    if not view.checkpoints:
        return tag("p", say("No checkpoint was committed yet."), class_="o-empty")
    rows = [_checkpoint_row(view, each, chosen) for each in reversed(view.checkpoints[-_MOST_ROWS:])]
    heads = [say("Checkpoint"), "#" + say("Stint"), say("Progress"), "#" + say("Files"), "#" + say("Size"),
             say("Saved"), ""]  # fmt: skip
    more = len(view.checkpoints) - _MOST_ROWS
    older = tag("p", say("{count} older ones not shown", count=more), class_="o-quiet") if more > 0 else Html()
    return joined(table(say("Checkpoints"), heads, rows, cards=True), older)


def _checkpoint_row(view: RunView, each: CheckpointView, chosen: str) -> list[str]:
    far = str(formats.how_far(each.progress.get("epoch"), None, each.progress.get("step"), None))
    name = tag("a", each.id, href=f"/runs/{view.id}/checkpoints?id={each.id}", class_="o-mono",
               aria_current="true" if each.id == chosen else None)  # fmt: skip
    last = tag("span", say("last"), class_="o-tag") if each.id == view.last_checkpoint else Html()
    saved = tag("span", formats.ago(each.created_at), title=formats.when(each.created_at))
    archive = f"/api/v1/runs/{view.id}/checkpoints/{each.id}/archive"
    download = tag("a", say("Download"), href=archive, aria_label=f"{say('Download')} {each.id}")
    return [
        tag("span", name, " ", last),
        str(each.stint),
        far,
        str(each.files),
        format_size(each.size_bytes),
        saved,
        download,
    ]


async def _one_checkpoint(watched: Watched, found: CheckpointView) -> None:
    body = await calls().get(f"/runs/{part(watched.view.id)}/checkpoints/{found.id}")
    held = holding()
    missing = await aside(lambda: _missing(held, watched.actor, watched.view.id, body["files"]))
    with panel(say("Checkpoint {id}", id=found.id)):
        state = say("{count} files are missing", count=len(missing)) if missing else say("all files are in the store")
        told = [(name, formats.quantity(value)) for name, value in sorted(found.metrics.items())]
        ui.html(facts([(say("Verified"), state), (say("Continues"), found.parent or ""), *told]), sanitize=False)
        if watched.is_mine:
            with ui.element("div").classes("o-row"):
                if watched.view.state in (RunState.FAILED, RunState.STOPPED):
                    button(say("Resume from here"), lambda: _resume_from(watched, found.id), "primary")
                button(say("Continue from here as a new run"), lambda: _continue_as_new(watched, found.id))
        base = f"/api/v1/runs/{watched.view.id}/checkpoints/{found.id}/files/"
        ui.html(_files(body["files"], base), sanitize=False)


async def _resume_from(watched: Watched, checkpoint: str) -> None:
    about = say("The run goes on from {id}; what came later is done again.", id=checkpoint)
    if await confirmed(say("Resume from here"), about, say("Resume")):
        await calls().post(f"/runs/{part(watched.view.id)}/resume", {"checkpoint": checkpoint})
        await watched.look_now()


async def _continue_as_new(watched: Watched, checkpoint: str) -> None:
    about = say("A new run, otherwise the same, goes on from {id}.", id=checkpoint)
    if await confirmed(say("Continue from here as a new run"), about, say("Start the run")):
        made = await calls().post(f"/runs/{part(watched.view.id)}/clone", {"checkpoint": checkpoint})
        ui.navigate.to(f"/runs/{made['id']}")


def _missing(held: Holding, actor: Actor, ref: str, files: list[dict[str, Any]]) -> list[str]:
    """Files whose bytes are not in the store in their whole length."""
    found = held.seen(actor, ref)
    missing = []
    with spoken(f"checkpoints of {found.run}"):
        for file in files:
            entry = found.store.head(layout.blob_key(file["sha256"]))
            if entry is None or entry.size_bytes != file["size_bytes"]:
                missing.append(file["path"])
    return missing


def _files(files: list[dict[str, Any]], base: str) -> Html:
    heads = [say("File"), "#" + say("Size"), "SHA-256"]
    rows: list[list[str]] = [
        [tag("a", file["path"], href=base + quote(file["path"])), format_size(file["size_bytes"]),
         tag("code", file["sha256"][:16], title=file["sha256"])]
        for file in files[:_MOST_ROWS]
    ]  # fmt: skip
    return table(say("Files"), heads, rows)


async def outputs_view(watched: Watched, request: Request) -> None:
    """The files, and a preview of the one that the address names."""
    chosen = request.query_params.get("file", "")
    publish_button(watched)
    listed = ui.html("", sanitize=False)
    watched.show(lambda view: listed.set_content(_outputs(view, chosen)))
    file = (watched.view.outputs or {}).get(chosen)
    if file is not None:
        held = holding()
        head = await aside(lambda: _head(held, watched.actor, watched.view.id, file))
        with panel(chosen):
            show_preview(preview(chosen, head, int(file["size"])), chosen)


def _outputs(view: RunView, chosen: str) -> Html:
    if not view.outputs:
        words = say("Outputs appear when the run has succeeded.") if not view.state.is_final else say("There are none.")
        return tag("p", words, class_="o-empty")
    heads = [say("File"), "#" + say("Size"), ""]
    shown = sorted(view.outputs.items())[:_MOST_ROWS]
    base = f"/api/v1/runs/{view.id}/outputs/files/"
    rows: list[list[str]] = [
        [tag("a", path, href=f"/runs/{view.id}/outputs?{urlencode({'file': path})}",
             aria_current="true" if path == chosen else None),
         format_size(file["size"]),
         tag("a", say("Download"), href=base + quote(path), aria_label=f"{say('Download')} {path}")]
        for path, file in shown
    ]  # fmt: skip
    more = len(view.outputs) - len(shown)
    rest = tag("p", say("{count} files not shown; download all of them", count=more), class_="o-quiet")
    return joined(table(say("Outputs"), heads, rows), rest if more else Html())


def _head(held: Holding, actor: Actor, ref: str, file: dict[str, Any]) -> bytes:
    found = held.seen(actor, ref)
    with spoken(f"outputs of {found.run}"):
        size_bytes = min(int(file["size"]), PREVIEW_BYTES)
        return found.store.get_range(layout.blob_key(file["sha256"]), 0, size_bytes) if size_bytes else b""
