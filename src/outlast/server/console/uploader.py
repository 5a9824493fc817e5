"""Where files are dropped or chosen; the browser sends them to the API by parts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from nicegui.element import Element
from nicegui.events import GenericEventArguments

from outlast.server.console.words import say


class Uploader(Element, component="static/upload.js"):
    """Sends what it is given: with `store` to the address of a folder, else to the visitor's own uploads.

    With `hub` a folder keeps its name. Of `code` and for the `hub`, what tools leave behind (`.git`, `__pycache__`)
    stays at home.

    `on_done` gets what the browser says of it: digest, name, count and paths. They say what to ask the server next,
    and are worth no more than anything else that a browser sends.
    """

    def __init__(
        self,
        mode: Literal["store", "code", "data", "hub"],
        on_done: Callable[[dict[str, Any]], Awaitable[None]],
        address: str = "",
    ) -> None:
        super().__init__()
        self._props["mode"] = mode
        self._props["address"] = address
        self._props["words"] = {
            "drop": say("Drop files or a folder here"), "files": say("Choose files"), "folder": say("Choose a folder"),
            "reading": say("reading"), "sending": say("sending"), "checking": say("checking"),
            "placing": say("putting in place"), "again": say("Try again"), "nothing": say("there is nothing to send"),
        }  # fmt: skip

        async def done(event: GenericEventArguments) -> None:
            await on_done(event.args if isinstance(event.args, dict) else {})

        self.on("done", done)
