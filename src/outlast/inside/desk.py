"""The runner's desk: a socket where the processes of a script say hello, report, save and take their leave.

JSON lines over a unix socket. A message that carries a number `n` gets one reply with the same number; any other
message gets none. What comes in is checked here, so the handler only sees well-formed values. Points do not come
through the socket: they lie in the folder `points` beside it (`notepad.py`) and are taken before each message.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import threading
from typing import Any, Dict, Iterator, Optional, Set

from .gathering import Gatherer
from .points import Batch

MESSAGE_LIMIT_BYTES = 1 << 20
CLIENT_LIMIT = 512
_DIRECT_PATH_BYTES = 100  # sun_path holds 107 and a final zero
_ASK_LIMIT_S = 600.0
#: How often the points are taken. They are safe before: this is how soon somebody can see them.
GATHER_S = 0.2
POINTS_FOLDER = "points"


#: What a script may say, each passed on to the handler's method `on_<op>`.
OPS = frozenset(["hello", "listening", "noticed", "progress", "saving", "save", "ack"])


class DeskHandler:
    """What the runner does with the script's messages; any object with these methods will do.

    They are called from the desk's threads, one at a time but for `on_points` and `on_track`, which are only
    never called twice at once. What a method returns goes into the reply. An exception becomes a refusal that the
    script reads in the exception's words: a fault here must never end a training.
    """

    def on_hello(self, message: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """A process introduced itself: `pid` (as seen from here), `rank`, `version`."""

    def on_listening(self, message: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """The script looks at the flag from now on, so it can be asked by it."""

    def on_noticed(self, message: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """The script's own code was told by `should_stop()` that it shall leave."""

    def on_points(self, batch: Batch) -> None:
        """What one process has tracked since the last time; `at` of a record is as in `on_track`."""

    def on_track(self, message: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """One call of `outlast.track` with a text in it: `epoch`, `step` (both may be None), `values`, and `at`.

        `at` is `time.monotonic()` of the call: the script shares the runner's machine and therefore its clock.
        Values are floats, nan and infinities included, except `samples`, which is a digest.
        """

    def on_progress(self, message: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """Where the script is: any of `epoch` (finished ones), `epochs`, `step`, `steps`.

        `boundary` is True between two epochs of `outlast.epochs`.
        """

    def on_saving(self, message: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """Files of the checkpoint place are about to be exchanged: nothing there counts until `on_save`."""

    def on_save(self, message: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """The checkpoint place is whole: take a snapshot, then return `{"ticket": n}`; files may change again.

        `progress` is what the script said about it, `writing_s` how long it took to write and exchange the files.
        """

    def on_ack(self, message: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """Everything worth keeping is saved; the script is leaving so that the next stint can go on."""


@contextlib.contextmanager
def reachable(path: str) -> Iterator[str]:
    """A spelling of a socket's path that is short enough to bind or connect to, valid within the context.

    A socket address holds 107 bytes and work folders are deep, so long paths go through an open folder in /proc.
    """
    folder, name = os.path.split(path)
    if len(os.fsencode(path)) <= _DIRECT_PATH_BYTES:
        yield path
        return
    handle = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield "/proc/self/fd/%d/%s" % (handle, name)
    finally:
        os.close(handle)


class Desk:
    """A socket server in threads of the runner.

    Any number of processes may come, go, die or talk nonsense: each has its own thread, and the worst it can do is to
    lose its own connection.
    """

    def __init__(self, path: str, handler: Any) -> None:
        """Open the desk; clients can connect once this returns. An old socket at `path` is replaced.

        `handler` has the methods of `DeskHandler`.
        """
        self._path = path
        self._handler = handler
        self._turn = threading.Lock()  # one handler call at a time
        self._news = threading.Condition()  # guards the fields below
        self._saving = False
        self._acked = False
        self._passed = -1  # the last epoch boundary that rank 0 went past
        self._leader: Optional[socket.socket] = None  # rank 0, while it is connected
        self._clients: Set[socket.socket] = set()
        self._closed = False
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        with reachable(path) as address:
            self._socket.bind(address)
        os.chmod(path, 0o600)
        self._socket.listen(64)
        folder = os.path.join(os.path.dirname(path), POINTS_FOLDER)
        self._gatherer = Gatherer(folder, self._take_points, self._take_note)
        self._accepting = threading.Thread(target=self._accept, name="outlast-desk", daemon=True)
        self._accepting.start()
        threading.Thread(target=self._keep_gathering, name="outlast-points", daemon=True).start()

    @property
    def path(self) -> str:
        return self._path

    @property
    def is_saving(self) -> bool:
        """True from the start of an exchange of files to its snapshot.

        It stays True when the script dies in between: the checkpoint place is then a mixture of two checkpoints and
        must not be committed.
        """
        return self._saving

    @property
    def is_acked(self) -> bool:
        """True once the script said that it saved and leaves."""
        return self._acked

    @property
    def clients(self) -> int:
        """How many processes are connected now."""
        return len(self._clients)

    def gather(self) -> None:
        """Hand on every point that has been tracked until now."""
        self._gatherer.gather()

    def drain(self, limit_s: float) -> bool:
        """Wait until everything said so far is heard and everybody has hung up, as they have once they are gone."""
        with self._news:
            are_gone = self._news.wait_for(lambda: not self._clients, limit_s)
        self.gather()
        return are_gone

    def close(self, patience_s: float = 1.0) -> None:
        """Hear out those who have gone, then hang up on whoever is left. Safe to call twice."""
        with self._news:
            if self._closed:
                return
            self._closed = True
            self._news.notify_all()
        # close() alone would leave accept() and recv() waiting; shutdown wakes them.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._accepting.join(5.0)
        self._socket.close()
        with contextlib.suppress(OSError):
            os.unlink(self._path)
        if not self.drain(patience_s):
            with self._news:
                for client in self._clients:
                    with contextlib.suppress(OSError):
                        client.shutdown(socket.SHUT_RDWR)
            self.drain(patience_s)
        self._gatherer.close()

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _keep_gathering(self) -> None:
        while True:
            with self._news:
                if self._news.wait_for(lambda: self._closed, GATHER_S):
                    return
            self.gather()

    def _take_points(self, batch: Batch) -> None:
        self._handler.on_points(batch)

    def _take_note(self, note: Dict[str, Any]) -> None:
        message = _checked_point(note)
        if message is not None:
            self._handler.on_track(message)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                # Out of file descriptors, most likely: whoever waits is served when one is free again.
                with self._news:
                    if self._news.wait_for(lambda: self._closed, 0.1):
                        return
                continue
            with self._news:
                is_welcome = not self._closed and len(self._clients) < CLIENT_LIMIT
                if is_welcome:
                    self._clients.add(client)
            if is_welcome:
                threading.Thread(target=self._serve, args=(client,), name="outlast-desk", daemon=True).start()
            else:
                client.close()

    def _serve(self, client: socket.socket) -> None:
        try:
            for line in _lines(client):
                message = json.loads(line.decode("utf-8"))
                if not isinstance(message, dict):
                    return
                number = message.get("n")
                reply = self._answer(client, message)
                if number is not None:
                    reply["n"] = number
                    client.sendall(json.dumps(reply).encode("utf-8") + b"\n")
        except (OSError, ValueError, RecursionError):
            pass  # it died, or it is not our client; either way it hears no more from us
        finally:
            with self._news:
                self._clients.discard(client)
                if self._leader is client:
                    self._leader = None
                self._news.notify_all()
            client.close()

    def _answer(self, client: socket.socket, message: Dict[str, Any]) -> Dict[str, Any]:
        op = str(message.get("op"))
        if op == "may_leave":
            return self._may_leave(_whole(message.get("boundary")) or 0)
        if op == "passed":
            self._note(_passed=max(self._passed, _whole(message.get("boundary")) or 0))
            return {"ok": True}
        if op not in OPS:
            return {"ok": False, "message": "unknown op %r" % op}
        self.gather()  # what was tracked before a save comes before the save
        with self._turn:
            try:
                return self._act(client, op, message)
            except Exception as error:  # noqa: BLE001 - a fault in the runner must not reach the training
                return {"ok": False, "message": str(error) or type(error).__name__}

    def _act(self, client: socket.socket, op: str, message: Dict[str, Any]) -> Dict[str, Any]:
        checked = _checked(op, message)
        if op == "hello":
            checked["pid"] = _peer(client)
            if checked["rank"] == 0:
                self._note(_leader=client)
        elif op == "ack":
            self._note(_acked=True)
        elif op == "saving":
            self._note(_saving=True)
        try:
            result = getattr(self._handler, "on_" + op)(checked)
        finally:
            if op == "save":
                self._note(_saving=False)
        return dict({"ok": True}, **(result or {}))

    def _note(self, **changes: Any) -> None:
        with self._news:
            for name, value in changes.items():
                setattr(self, name, value)
            self._news.notify_all()

    def _may_leave(self, boundary: int) -> Dict[str, Any]:
        """Hold the answer until rank 0 has decided about this boundary: it has left, or it has gone on."""
        with self._news:
            self._news.wait_for(
                lambda: self._acked or self._closed or self._passed >= boundary or self._leader is None, _ASK_LIMIT_S
            )
            return {"ok": True, "leave": self._acked}


def _lines(client: socket.socket) -> Iterator[bytes]:
    """Complete lines as they come; `ValueError` when one grows past the limit."""
    waiting = bytearray()
    while True:
        piece = client.recv(1 << 16)
        if not piece:
            return
        searched = len(waiting)
        waiting += piece
        end = waiting.find(b"\n", searched)
        while end >= 0:
            yield bytes(waiting[:end])
            del waiting[: end + 1]
            end = waiting.find(b"\n")
        if len(waiting) > MESSAGE_LIMIT_BYTES:
            raise ValueError("a message of more than %d bytes" % MESSAGE_LIMIT_BYTES)


def _peer(client: socket.socket) -> int:
    """The process at the other end by our own count: a sandboxed script knows itself under another number."""
    pid, _, _ = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return int(pid)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _whole(value: Any) -> Optional[int]:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _checked(op: str, message: Dict[str, Any]) -> Dict[str, Any]:
    """The fields that an op may carry, and nothing else."""
    if op == "hello":
        return {"rank": _whole(message.get("rank")) or 0, "version": str(message.get("version", ""))}
    if op == "progress":
        names = ("epoch", "epochs", "step", "steps")
        checked = {name: message[name] for name in names if _is_number(message.get(name))}
        return dict(checked, boundary=bool(message.get("boundary")))
    if op == "save":
        progress = message.get("progress")
        writing_s: Any = message.get("writing_s")
        return {
            "progress": progress if isinstance(progress, dict) else {},
            "writing_s": float(writing_s) if _is_number(writing_s) else 0.0,
        }
    return {}


def _checked_point(note: Dict[str, Any]) -> Optional[Dict[str, Any]]:
    at: Any = note.get("at")
    values = note.get("values")
    if not _is_number(at) or not isinstance(values, dict):
        return None
    return {
        "at": float(at),
        "epoch": note.get("epoch") if _is_number(note.get("epoch")) else None,
        "step": _whole(note.get("step")),
        "values": {
            name: str(value) if name == "samples" else float(value)
            for name, value in values.items()
            if name == "samples" or _is_number(value)
        },
    }
