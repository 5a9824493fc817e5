"""WebHDFS over HTTP/1.1: one thread for each connection, one port for both steps of a transfer.

The second step's address is made of the host that the client itself used, so a name that is known only to it works.
"""

from __future__ import annotations

import contextlib
import http.server
import logging
import socket
import socketserver
import threading
from collections.abc import Callable
from typing import Any

from outlast.webhdfs import exchange, protocol
from outlast.webhdfs.bodies import BadBody, Body
from outlast.webhdfs.exchange import Answer, Stream
from outlast.webhdfs.filesystem import FileSystem
from outlast.webhdfs.refusals import Refusal, Torn

#: Whose files a user sees; `Refusal` for a user who may not come in, or not act as that one (`doas`).
FileSystemFor = Callable[[str, str], FileSystem]
IDLE_LIMIT_S = 300.0

log = logging.getLogger(__name__)


class WebHdfsServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Listens from the moment it is made; answers between `start` and `stop`."""

    allow_reuse_address = True
    request_queue_size = 128
    daemon_threads = False  # `stop` waits for them, so that no upload is left half done on the disk

    def __init__(self, files_for: FileSystemFor, port: int = 0, host: str = "127.0.0.1") -> None:
        self.files_for = files_for
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), _Handler)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def authority(self) -> str:
        host = str(self.server_address[0])
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.authority}"

    def start(self) -> None:
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), name="webhdfs", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Answer nobody any more. Uploads that are under way are given up and leave nothing."""
        if self._thread is not None:
            self.shutdown()
            self._thread.join()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.exception("a connection of %s broke", client_address)


class _Handler(http.server.BaseHTTPRequestHandler):
    server: WebHdfsServer
    protocol_version = "HTTP/1.1"
    server_version = "Outlast-WebHDFS"
    timeout = IDLE_LIMIT_S
    disable_nagle_algorithm = True  # answers come in two writes; the second must not wait for an acknowledgement
    error_content_type = "text/plain"
    error_message_format = "%(code)d %(message)s\n"

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError, TimeoutError):
            super().handle()

    def handle_expect_100(self) -> bool:
        return True  # `Body` gives leave, when the bytes are wanted

    def version_string(self) -> str:
        return self.server_version  # and not what Python runs here

    def log_message(self, format: str, *args: Any) -> None:
        log.debug(format, *args)

    def _serve(self) -> None:
        try:
            body = Body(self.rfile, self.headers, self._go_on)
        except BadBody as error:
            self.close_connection = True
            self.send_error(400, str(error))
            return
        try:
            answer = self._answer(body)
            if not body.is_finished:
                # The client need not send the rest, so nobody could tell where its next request begins.
                self.close_connection = True
            self._send(answer)
            body.drain()
        except Torn as error:
            log.debug("%s %s: %s", self.command, self.path, error)
            self.close_connection = True

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815 - the names that the base class looks for

    def _answer(self, body: Body) -> Answer:
        try:
            # A page in a browser must not reach files through its user; no client of HDFS sends this header.
            if "Origin" in self.headers:
                raise Refusal("AccessControlException", "requests of web pages are refused")
            call = protocol.parse(self.command, self.path)
            if call is None:
                return Answer(404, b"not WebHDFS; paths begin with /webhdfs/v1\n", "text/plain")
            return exchange.answer(call, self.server.files_for(call.user, call.said_by), body, self._origin())
        except Refusal as refusal:
            return exchange.refused(refusal)
        except Torn:
            raise
        except Exception:
            log.exception("%s %s", self.command, self.path)
            return exchange.refused(Refusal("RuntimeException", "the server failed; its log says why"))

    def _send(self, answer: Answer) -> None:
        size = len(answer.body) if answer.stream is None else answer.stream.size_bytes
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(size))
        if answer.location:
            self.send_header("Location", answer.location)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        with contextlib.ExitStack() as held:
            if answer.stream is not None:
                held.callback(answer.stream.opened.close)
            if self.command == "HEAD":
                return
            if answer.stream is not None:
                self._send_stream(answer.stream)
            elif answer.body:
                self.wfile.write(answer.body)

    def _send_stream(self, stream: Stream) -> None:
        if stream.opened.file is not None and stream.size_bytes:
            sent = self.connection.sendfile(stream.opened.file, stream.start, stream.size_bytes)
        else:
            sent = 0
            for piece in stream.opened.pieces(stream.start, stream.size_bytes):
                self.wfile.write(piece)
                sent += len(piece)
        if sent < stream.size_bytes:
            raise Torn("the file became shorter while it was sent")

    def _go_on(self) -> None:
        self.send_response_only(100)
        self.end_headers()

    def _origin(self) -> str:
        return protocol.origin_of("http", self.headers.get("Host", ""), self.server.url)
