"""How the console looks: one accent colour, light or dark as the reader likes, the page's language and its icon."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Literal

from nicegui import ui
from nicegui.language import Language
from starlette.requests import Request

from outlast.server.console.kept import STATIC as NICEGUI
from outlast.server.console.words import current_request, language
from outlast.server.pages import LOOK_COOKIE
from outlast.track.report.style import LEDGER_COLOURS

STATIC = Path(__file__).parent / "static"
Look = Literal["light", "dark", "auto"]


def head() -> str:
    """What every page loads: the style sheet, and early what its last script would ask for late."""
    ledger = "".join(
        f".l-{column}{{background:{light}}}body.body--dark .l-{column}{{background:{dark}}}"
        for column, (light, dark) in LEDGER_COLOURS.items()
    )
    early = f'<link rel="modulepreload" href="{NICEGUI}/dompurify.mjs">'
    return f"{early}{link_to('console.css')}<style>{ledger}</style>"


@functools.cache
def link_to(name: str) -> str:
    """The link to one of our style sheets, under an address that changes with it."""
    version = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f'<link rel="stylesheet" href="/_console/{name}?{version}">'


def look_of(request: Request | None) -> Look:
    """What the reader chose; `auto` follows the system."""
    chosen = request.cookies.get(LOOK_COOKIE) if request is not None else None
    return "light" if chosen == "light" else "dark" if chosen == "dark" else "auto"


class ConsolePage(ui.page):
    """A page whose language and look are the reader's from its first byte on: nothing flashes."""

    def resolve_dark(self) -> bool | None:
        return {"light": False, "dark": True, "auto": None}[look_of(current_request())]

    def resolve_language(self) -> Language | None:
        return "zh-CN" if language() == "zh" else "en-US"
