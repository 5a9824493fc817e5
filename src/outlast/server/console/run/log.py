"""The log of a run: followed, searched, and looked at in windows, however long it is."""

from __future__ import annotations

import re

from nicegui import ui
from nicegui.events import GenericEventArguments
from starlette.requests import Request

from outlast.errors import OutlastError
from outlast.model.view import RunView
from outlast.server.console.access import actor_now, holding
from outlast.server.console.aside import aside
from outlast.server.console.run.watching import Watched
from outlast.server.console.shell import link, notify_error
from outlast.server.console.words import say
from outlast.server.logtext import LogText

_MOST_HITS = 500
_PIECE_BYTES = 1 << 20
#: What a line says that one looks for first after a failure; what the runner itself says comes after that.
_TROUBLE = re.compile(rb"error|exception|fatal|killed|out of memory", re.IGNORECASE)
_RUNNER = b"[outlast]"


async def log_view(watched: Watched, request: Request) -> None:
    """All stints, or one that the address names."""
    chosen = request.query_params.get("stint", "")
    stint = int(chosen) if chosen.isdecimal() and 1 <= int(chosen) <= watched.view.stints else 0
    with ui.element("div").classes("o-row o-chips").props("role=group") as group:
        group._props["aria-label"] = say("Stints")
        for number in _offered(watched.view.stints, stint):
            text = say("All stints") if number == 0 else str(number)
            address = f"/runs/{watched.view.id}/log" + (f"?stint={number}" if number else "")
            link(address, text, "o-chip")._props["aria-current"] = "true" if number == stint else "false"
    actor, held = watched.actor, holding()
    written = await aside(lambda: LogText.read(held.seen(actor, watched.view.id), stint or None))
    Log(watched, stint, empty=written.size_bytes == 0)


def _offered(last: int, current: int) -> list[int]:
    """All, the first, those around the current one, and the newest: of hundreds not every one."""
    if last <= 20:
        return list(range(last + 1))
    near = {0, 1, 2, *range(current - 3, current + 4), *range(last - 8, last + 1)}
    return sorted(each for each in near if 0 <= each <= last)


class Log(ui.element, component="../static/log.js"):
    """A window into the output. The browser reads it by ranges; only searching is done here."""

    def __init__(self, watched: Watched, stint: int, *, empty: bool) -> None:
        super().__init__()
        self._props["empty"] = empty
        self._run, self._stint = watched.view.id, stint
        self._props["run"], self._props["stint"] = watched.view.id, stint
        self._props["texts"] = {
            "search": say("Search the log"), "next": say("Next"), "previous": say("Previous"),
            "error": say("Last error"), "start": say("Start"), "end": say("End"), "wrap": say("Wrap"),
            "follow": say("Follow"), "download": say("Download"), "log": say("Log"), "searching": say("searching …"),
            "nothing": say("nothing found"), "empty": say("no output yet"), "following": say("following"),
        }  # fmt: skip
        self.on("search", self._search)
        self.on("trouble", self._trouble)
        watched.show(self._follow)

    def _follow(self, view: RunView) -> None:
        live = not view.state.is_final and self._stint in (0, view.stints)
        if self._props.get("live") != live:
            self._props["live"] = live
            self.update()

    async def _search(self, event: GenericEventArguments) -> None:
        text = str(event.args.get("text", ""))[:200]
        pattern = re.compile(re.escape(text.encode()), re.IGNORECASE)
        hits = await self._offsets(pattern)
        self.run_method("found", text, hits[:_MOST_HITS], len(hits) > _MOST_HITS)

    async def _trouble(self, event: GenericEventArguments) -> None:
        hits = await self._offsets(_TROUBLE, last=True)
        self.run_method("trouble", hits[-1] if hits else None)

    async def _offsets(self, pattern: re.Pattern[bytes], *, last: bool = False) -> list[int]:
        try:
            actor, held = await actor_now(), holding()
            return await aside(
                lambda: find_offsets(LogText.read(held.seen(actor, self._run), self._stint or None), pattern, last=last)
            )
        except OutlastError as error:
            notify_error(error)
            return []


def find_offsets(text: LogText, pattern: re.Pattern[bytes], *, last: bool = False) -> list[int]:
    """Where lines with a match begin: the first ones, one more than is shown; with `last` only the script's last."""
    found: list[int] = []
    carried, at = b"", 0
    while at < text.size_bytes:
        piece = text.get(at, _PIECE_BYTES)
        if not piece:
            break
        at += len(piece)
        data = carried + piece
        # Whole lines only: the rest is looked at with what follows it, unless it is longer than any line should be.
        cut = len(data) if at >= text.size_bytes or len(data) > 2 * _PIECE_BYTES else data.rfind(b"\n") + 1
        base = at - len(data)
        for match in pattern.finditer(data, 0, cut):
            start = data.rfind(b"\n", 0, match.start()) + 1
            if last and not data.startswith(_RUNNER, start):
                found = [base + start]
            elif not last and (not found or found[-1] != base + start):
                found.append(base + start)
            if len(found) > _MOST_HITS:
                return found
        carried = data[cut:]
    return found
