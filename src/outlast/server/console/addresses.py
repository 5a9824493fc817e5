"""Which addresses are the console's, known without loading it."""

from __future__ import annotations

from starlette.routing import Match, Mount
from starlette.types import ASGIApp, Scope

#: The first part of the address of each page.
PAGES = frozenset({"", "compare", "hub", "new", "platforms", "runs", "settings", "stores", "sweeps"})
#: What pages load, and their live connection; Aim's own pages.
_PARTS = frozenset({"_console", "_nicegui", "_nicegui_ws", "aim", "favicon.ico"})


class ConsoleMount(Mount):
    """The console at its own addresses, and nowhere else."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__("/", app)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] == "lifespan" or scope["path"].lstrip("/").split("/")[0] not in PAGES | _PARTS:
            return Match.NONE, {}
        return super().matches(scope)
