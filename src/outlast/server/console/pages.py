"""Every page of the console: its address, and the function that builds it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.responses import Response

from outlast.server.console.compare import compare_page
from outlast.server.console.newrun.page import new_run_page
from outlast.server.console.platforms import platforms_page
from outlast.server.console.run.page import run_page, run_view_page
from outlast.server.console.runs import runs_page
from outlast.server.console.settings.page import settings_page
from outlast.server.console.stores import stores_page
from outlast.server.console.sweep import sweep_page

PAGES: list[tuple[str, Callable[..., Awaitable[Response | None]]]] = [
    ("/", runs_page),
    ("/runs/{run}", run_page),
    ("/runs/{run}/{view}", run_view_page),
    ("/new", new_run_page),
    ("/compare", compare_page),
    ("/sweeps/{sweep}", sweep_page),
    ("/stores", stores_page),
    ("/platforms", platforms_page),
    ("/settings", settings_page),
]
