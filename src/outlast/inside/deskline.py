"""The script's end of the line to the runner's desk."""

from __future__ import annotations

import json
import socket
import threading
import time
from typing import Any, Callable, Dict, Optional

from .desk import MESSAGE_LIMIT_BYTES, reachable

#: After a failed call nothing is tried for so long: a training must not wait for a runner that is gone.
_PAUSE_S = 5.0
_SEND_LIMIT_S = 10.0


class DeskLine:
    """A connection that opens itself when it is needed. Never raises; safe in several threads, not across a fork."""

    def __init__(self, path: str, hello: Callable[[], Dict[str, Any]]) -> None:
        self._path = path
        self._hello = hello
        self._lock = threading.RLock()
        self._socket: Optional[socket.socket] = None
        self._received = b""
        self._number = 0
        self._silent_until_s = 0.0

    def send(self, message: Dict[str, Any]) -> bool:
        """Say something that needs no answer. False when nobody is there."""
        with self._lock:
            return self._send(message)

    def request(self, message: Dict[str, Any], limit_s: float) -> Optional[Dict[str, Any]]:
        """Ask, and wait for the answer. None when nobody is there or none came within `limit_s`."""
        with self._lock:
            self._number += 1
            number = self._number
            if not self._send(dict(message, n=number)):
                return None
            try:
                return self._read_reply(number, time.monotonic() + limit_s)
            except (OSError, ValueError):
                self._hang_up()
                return None

    def close(self) -> None:
        with self._lock:
            if self._socket is not None:
                self._socket.close()
            self._socket = None

    def forget(self) -> None:
        """Drop an inherited connection in a forked child, whatever state the parent's threads left it in."""
        self._lock = threading.RLock()
        if self._socket is not None:
            self._socket.close()
        self._socket = None

    def _send(self, message: Dict[str, Any]) -> bool:
        data = json.dumps(message).encode("utf-8") + b"\n"
        if len(data) > MESSAGE_LIMIT_BYTES:
            return False
        for _ in range(2):  # a connection that broke since the last call is made anew, once
            if self._socket is None and not self._connect():
                return False
            try:
                assert self._socket is not None
                self._socket.settimeout(_SEND_LIMIT_S)
                self._socket.sendall(data)
                return True
            except OSError:
                self.close()
        self._hang_up()
        return False

    def _connect(self) -> bool:
        if time.monotonic() < self._silent_until_s:
            return False
        fresh = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            fresh.settimeout(_SEND_LIMIT_S)
            with reachable(self._path) as address:
                fresh.connect(address)
            fresh.sendall(json.dumps(dict(self._hello(), op="hello")).encode("utf-8") + b"\n")
        except OSError:
            fresh.close()
            self._hang_up()
            return False
        self._socket = fresh
        self._received = b""
        return True

    def _read_reply(self, number: int, until_s: float) -> Dict[str, Any]:
        assert self._socket is not None
        while True:
            line, found, rest = self._received.partition(b"\n")
            if found:
                self._received = rest
                reply: Any = json.loads(line.decode("utf-8"))
                if isinstance(reply, dict) and reply.get("n") == number:
                    return reply
                continue
            self._socket.settimeout(max(0.001, until_s - time.monotonic()))
            piece = self._socket.recv(1 << 16)
            if not piece:
                raise OSError("the desk hung up")
            self._received += piece

    def _hang_up(self) -> None:
        self.close()
        self._silent_until_s = time.monotonic() + _PAUSE_S


class Reporter:
    """Sends the latest progress about ten times a second from a thread of its own, which never makes anybody wait."""

    PERIOD_S = 0.1

    def __init__(self, line: DeskLine) -> None:
        self._line = line
        self._progress: Dict[str, Any] = {}
        self._sending = threading.Lock()
        self._wake = threading.Event()
        self._thread: Optional[threading.Thread] = None

    def report(self, progress: Dict[str, Any]) -> None:
        self._progress = progress
        if not self._wake.is_set():
            if self._thread is None:
                self._begin()
            self._wake.set()

    def flush(self) -> None:
        """Send what is waiting now."""
        with self._sending:
            progress, self._progress = self._progress, {}
            if progress:
                self._line.send(dict(progress, op="progress"))

    def forget(self) -> None:
        """Start empty in a forked child: the parent sends its own progress."""
        self._progress = {}
        self._sending = threading.Lock()

    def _begin(self) -> None:
        with self._sending:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="outlast-progress", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            self._wake.wait()
            time.sleep(self.PERIOD_S)
            self._wake.clear()
            self.flush()
