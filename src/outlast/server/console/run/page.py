"""One run: its head, and the view that the address names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nicegui import ui
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from outlast.errors import NotFoundError
from outlast.server.console.access import actor_of
from outlast.server.console.parts import style_sheet
from outlast.server.console.run.curves import curves_view
from outlast.server.console.run.head import head
from outlast.server.console.run.log import log_view
from outlast.server.console.run.overview import overview
from outlast.server.console.run.results import checkpoints_view, outputs_view
from outlast.server.console.run.setup import setup_view
from outlast.server.console.run.watching import Watched, read_run
from outlast.server.console.shell import frame, link
from outlast.server.console.words import say

View = Callable[[Watched, Request], Awaitable[None]]

#: Address, text, and what builds it.
VIEWS: dict[str, tuple[str, View]] = {
    "": ("Overview", overview),
    "curves": ("Curves", curves_view),
    "log": ("Log", log_view),
    "checkpoints": ("Checkpoints", checkpoints_view),
    "outputs": ("Outputs", outputs_view),
    "setup": ("Setup", setup_view),
}


async def run_page(request: Request, run: str) -> Response | None:
    return await _page(request, run, "")


async def run_view_page(request: Request, run: str, view: str) -> Response | None:
    return await _page(request, run, view)


async def _page(request: Request, ref: str, view: str) -> Response | None:
    actor = await actor_of(request)
    if view not in VIEWS or (view == "" and request.url.path.endswith("/")):
        raise NotFoundError(f"no page {request.url.path}")
    found = await read_run(actor, ref)
    if found.id != ref:  # a name or the beginning of an id: the page has one address
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(_address(found.id, view) + query, 303)
    watched = Watched(found, actor)
    with frame(found.name, "/", actor, heading=False):
        style_sheet()
        head(watched)
        _views(found.id, view)
        with ui.element("section").classes("o-view") as section:
            section._props["aria-label"] = say(VIEWS[view][0])
            await VIEWS[view][1](watched, request)
        watched.start()
    return None


def _views(run: str, current: str) -> None:
    with ui.element("nav").classes("o-tabs") as tabs:
        tabs._props["aria-label"] = say("Views")
        for name, (text, _) in VIEWS.items():
            entry = link(_address(run, name), say(text), "o-tab")
            if name == current:
                entry.props("aria-current=page")


def _address(run: str, view: str) -> str:
    return f"/runs/{run}/{view}" if view else f"/runs/{run}"
