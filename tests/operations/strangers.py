"""A small web server that answers as a test says: what no real store here can be brought to say."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Said(NamedTuple):
    """One answer."""

    status: int
    body: bytes = b""
    kind: str = "application/xml"


def fault(status: int, code: str, **fields: str) -> Said:
    """An error in the words of S3."""
    inner = "".join(f"<{name}>{value}</{name}>" for name, value in {"Code": code, "Message": code, **fields}.items())
    return Said(status, f"<?xml version='1.0'?><Error>{inner}</Error>".encode())


@contextlib.contextmanager
def stranger(answer: Callable[[str, str, bytes], Said]) -> Iterator[str]:
    """The address of a server that calls `answer(method, path, body)` for each request."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            said = answer(self.command, self.path, body)
            self.send_response(said.status)
            self.send_header("Content-Type", said.kind)
            self.send_header("Content-Length", str(len(said.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(said.body)

        do_GET = do_PUT = do_HEAD = do_DELETE = _answer

        def log_message(self, *words: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
