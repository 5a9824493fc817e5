"""A receiver of webhooks on loopback that remembers what came and answers as it is told."""

from __future__ import annotations

import http.server
import json
import threading
from contextlib import contextmanager


class HookServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, context=None):
        super().__init__(("127.0.0.1", 0), _Hook)
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.scheme = "http" if context is None else "https"
        self.calls = []  # (path, headers, body)
        self.answers = []  # (status, body), used up one by one; then 200 and errcode 0
        self.silent = False  # hang up instead of answering

    def url(self, path="/hook"):
        return f"{self.scheme}://127.0.0.1:{self.server_address[1]}{path}"

    def bodies(self):
        return [json.loads(body) for _, _, body in self.calls]

    def handle_error(self, request, client_address):
        """Clients that hang up are part of the tests."""


class _Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.calls.append((self.path, dict(self.headers), body))
        if self.server.silent:
            self.close_connection = True
            self.connection.close()
            return
        status, answer = self.server.answers.pop(0) if self.server.answers else (200, b'{"errcode":0}')
        self.send_response(status)
        if status in (301, 302, 307):
            self.send_header("Location", self.server.url("/elsewhere"))
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@contextmanager
def hook_server(context=None):
    server = HookServer(context)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)
