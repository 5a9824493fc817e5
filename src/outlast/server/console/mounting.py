"""Putting the console into the server's application.

NiceGUI keeps its pages in one application per process; it is placed behind the server's own routes and is reached
only under the addresses of its pages, so that every other address answers as if there were no console.
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI
from nicegui import app as console
from nicegui import core, ui
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outlast.errors import OutlastError
from outlast.server.console.access import sign_in_address
from outlast.server.console.addresses import ConsoleMount
from outlast.server.console.kept import Kept
from outlast.server.console.pages import PAGES
from outlast.server.console.shell import refused_page
from outlast.server.console.theme import STATIC, ConsolePage, head
from outlast.server.console.words import REQUEST
from outlast.server.errors import http_refusal
from outlast.server.pages import ICON
from outlast.server.refusals import NotSignedIn
from outlast.server.state import ServerState

#: Pages compile their templates in the browser, hence `unsafe-eval`; nothing comes from, or goes to, another host.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
#: A page that looks into a slow store may take its time.
_BUILD_S = 30.0
#: How long a page keeps its place on the server while its connection is away.
_AWAY_S = 20.0
#: Addresses of style sheets carry a digest of their content.
_YEAR_S = 365 * 24 * 3600

_BUG = "this is a bug in outlast"
_log = logging.getLogger("outlast.server")

Page = Callable[..., Awaitable[Response | None]]


def mount(app: FastAPI, state: ServerState) -> None:
    """Serve the console from `app`. Once per process: NiceGUI has one application in each."""
    console.state.outlast = state
    console.state.server = app  # what its routes share is opened when it starts
    console.add_static_files("/_console", STATIC, max_cache_age=_YEAR_S)
    ui.add_head_html(head(), shared=True)
    for path, build in PAGES:
        ConsolePage(path, response_timeout=_BUILD_S)(_guarded(build))
    ui.run_with(
        app, title="Outlast", favicon=ICON, tailwind=False, reconnect_timeout=_AWAY_S, show_welcome_message=False,
    )  # fmt: skip
    console.add_exception_handler(404, http_refusal)  # in place of NiceGUI's own
    core.sio.eio.cors_allowed_origins = None  # the page's own site only
    kept = Kept(console)
    console.on_startup(kept.warm)
    app.router.routes[-1] = ConsoleMount(_with_policy(kept))


def _guarded(build: Page) -> Page:
    """A page that sends strangers to the sign-in, and says what went wrong in place of its content."""

    @functools.wraps(build)
    async def page(request: Request, **words: Any) -> Response | None:
        if "request" in takes:
            words["request"] = request
        try:
            return await build(**words)
        except NotSignedIn:
            return RedirectResponse(sign_in_address(request), 303)
        except OutlastError as error:
            await refused_page(request, error)
            return None
        except Exception:  # noqa: BLE001 - a bug of ours: it goes to the log only, it may name another user's files
            _log.exception("page %s failed", request.url.path)
            await refused_page(request, OutlastError(_BUG, hint="the server's log has the details"))
            return None

    takes = inspect.signature(build, eval_str=True).parameters
    own = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)
    others = [each for name, each in takes.items() if name != "request"]
    page.__signature__ = inspect.Signature([own, *others])  # type: ignore[attr-defined]
    return page


def _with_policy(app: ASGIApp) -> ASGIApp:
    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Content-Security-Policy"] = POLICY
            await send(message)

        if scope["type"] == "http":
            REQUEST.set(Request(scope))
        await app(scope, receive, told)

    return guarded
