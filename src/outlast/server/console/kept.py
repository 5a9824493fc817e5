"""Files that pages load, compressed once and kept ready: a first visit asks for a megabyte of them at once."""

from __future__ import annotations

import posixpath

import httpx
from nicegui import __version__
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

STATIC = f"/_nicegui/{__version__}/static"
#: Folders whose files do not change while the server runs.
_FOLDERS = (
    "/_console/",
    *(f"/_nicegui/{__version__}/{each}/" for each in ("static", "components", "libraries", "esm")),
)
_MOST_BYTES = 4 << 20
#: What every page loads; a name that another version of NiceGUI does not have is not found, and that is all.
_FIRST = (
    "quasar.umd.prod.js", "quasar.unimportant.prod.css", "vue.esm-browser.prod.js", "quasar.important.prod.css",
    "socket.io.min.js", "dompurify.mjs", "fonts.css", "nicegui.js", "nicegui.css",
)  # fmt: skip


class Kept:
    """The application in front of which whole compressed answers are kept. Anything but a plain GET passes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._answers: dict[str, tuple[Message, Message]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _is_plain(scope):
            await self._app(scope, receive, send)
            return
        head, body = self._answers.get(scope["path"]) or await self._fetch(scope, receive)
        await send({**head, "headers": list(head["headers"])})  # others in front add headers of their own
        await send(body)

    async def warm(self) -> None:
        """Have ready what the first page needs, before somebody waits for it."""
        async with httpx.AsyncClient(transport=httpx.ASGITransport(self), base_url="http://localhost") as client:
            for name in _FIRST:
                await client.get(f"{STATIC}/{name}", headers={"Accept-Encoding": "gzip"})

    async def _fetch(self, scope: Scope, receive: Receive) -> tuple[Message, Message]:
        """The answer as two messages, head and body; kept when it is a file."""
        path, answer = scope["path"], list[Message]()

        async def gather(message: Message) -> None:
            answer.append(message)

        await self._app(scope, receive, gather)
        body = b"".join(each.get("body", b"") for each in answer[1:])
        whole: tuple[Message, Message] = answer[0], {"type": "http.response.body", "body": body}
        # One name for each file: `a/../b` and its like would fill the memory with copies.
        if answer[0]["status"] == 200 and len(body) <= _MOST_BYTES and posixpath.normpath(path) == path:
            self._answers[path] = whole
        return whole


def _is_plain(scope: Scope) -> bool:
    """Whether the whole compressed file is asked for, and nothing of it is known to the browser yet."""
    if scope["type"] != "http" or scope["method"] != "GET" or not scope["path"].startswith(_FOLDERS):
        return False
    headers = Headers(scope=scope)
    conditions = ("range", "if-none-match", "if-modified-since", "x-forwarded-prefix")
    return "gzip" in headers.get("accept-encoding", "") and not any(name in headers for name in conditions)
