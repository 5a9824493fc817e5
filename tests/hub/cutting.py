"""A way to a server that breaks: connections are cut after so many bytes, as often as was asked for."""

import contextlib
import re
import socket
import threading


class Cutting:
    """A proxy on a free port. `down` and `up` are how many bytes pass before a connection is cut, one cut for each.

    `ranges` are the places from which downloads were asked for, `carried` the bytes that passed down.
    """

    def __init__(self, port, down=(), up=()):
        self._target = ("127.0.0.1", port)
        self._cuts = {"down": list(down), "up": list(up)}
        self._lock = threading.Lock()
        self._sessions = []
        self.ranges = []
        self.cut = []
        self.carried = 0
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def close(self):
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join()
        for ends, thread in self._sessions:
            _end(ends)
            thread.join()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._server.accept()
                ends = (client, socket.create_connection(self._target))
                thread = threading.Thread(target=self._serve, args=ends, daemon=True)
                self._sessions.append((ends, thread))
                thread.start()

    def _serve(self, client, upstream):
        with client, upstream:
            up = threading.Thread(target=self._carry, args=("up", client, upstream), daemon=True)
            up.start()
            self._carry("down", upstream, client)
            up.join()

    def _carry(self, way, source, target):
        passed = 0
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if way == "up":
                    self.ranges += re.findall(rb"\r\n[Rr]ange: bytes=(\d+)-", data)
                passed += len(data)
                if self._is_cut(way, passed):
                    break
                target.sendall(data)
                if way == "down":
                    self.carried += len(data)
        _end((source, target))

    def _is_cut(self, way, passed):
        with self._lock:
            if self._cuts[way] and passed > self._cuts[way][0]:
                self.cut.append((way, self._cuts[way].pop(0)))
                return True
        return False


def _end(sockets):
    for each in sockets:
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
