"""Servers that run while somebody needs them: started on demand as processes of their own, ended with the last need.

HOME/webhdfs/<port>/lock         held while the rest is read or changed
                    server.json  which process serves what
                    needs/<name> one empty file for each run that needs it
                    notes.db     owners, permissions and the like; stay for the next time
                    log          what the server said
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from outlast.errors import PlatformError, UsageError
from outlast.inside.hdfs.nodes import DEFAULT_PORT
from outlast.inside.processes import boot_id, is_same_process, start_ticks

START_LIMIT_S = 30.0
STOP_LIMIT_S = 5.0
#: A server that was killed, or that another home has just released, still holds its port for a moment.
LEAVE_LIMIT_S, LONGEST_LEAVE_S = 0.5, 2.0


class RunningWebHdfs(NamedTuple):
    """A server in a process of its own, which outlives whoever started it."""

    url: str
    root: str
    pid: int
    ticks: int  # when it started: with the pid it names the process for good

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    def is_alive(self) -> bool:
        return is_same_process(self.pid, self.ticks)

    def stop(self) -> None:
        """End the server and wait for it; what it had not yet received whole is gone. Fine when it has ended."""
        deadline = time.monotonic() + STOP_LIMIT_S
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.is_alive():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.pid, number)
            while self.is_alive() and (time.monotonic() < deadline or number == signal.SIGKILL):
                time.sleep(0.01)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, os.WNOHANG)  # when it was us who started it


def start(
    root: str | Path, port: int = 0, *, host: str = "127.0.0.1", notes: Path | None = None, log: Path | None = None
) -> RunningWebHdfs:
    """Serve a folder; returns when the server answers. `PlatformError` says why it cannot, in the server's words."""
    command = [sys.executable, "-m", "outlast.webhdfs", "--root", str(root), "--port", str(port), "--host", host]
    command += ["--notes", str(notes)] if notes else []
    with log.open("a+b") if log else tempfile.TemporaryFile() as output:
        begin = output.seek(0, os.SEEK_END)
        reader, writer = os.pipe()
        with os.fdopen(writer, "wb"):  # ours must be closed before we listen for the server's
            process = subprocess.Popen(
                [*command, "--ready", str(writer)],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, pass_fds=(writer,), start_new_session=True,
            )  # fmt: skip
        process.returncode = 0  # it outlives us on purpose; this keeps Popen from warning about that
        told = _first_line(reader)
        shown = f"[{host}]" if ":" in host else host
        server = RunningWebHdfs(f"http://{shown}:{told or port}", str(root), process.pid, start_ticks(process.pid) or 0)
        if told:
            return server
        server.stop()
        output.seek(begin)
        words = output.read().decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
    raise PlatformError(f"the WebHDFS server did not start: {words[-1]}", retryable=False)


def ensure(home: Path, address: str, folder: str | Path, need: str) -> RunningWebHdfs:
    """The server that plays an address like `hdfs://127.0.0.1:50070`, started unless it runs; it stays while `need`
    does. It listens on the loopback address whatever the host is called. `UsageError` when that port plays another
    folder already, or belongs to another program."""
    with _Desk(home, _port_of(address)).held() as desk:
        running = _running(desk, address, folder, LEAVE_LIMIT_S)
        desk.add(need)
        if running is None:
            try:
                running = start(folder, desk.port, notes=desk.path / "notes.db", log=desk.path / "log")
            except PlatformError:
                desk.drop(need)
                raise
            desk.note(running)
        return running


def require_port(home: Path, address: str, folder: str | Path) -> None:
    """`UsageError` when `ensure` could not have its port now. Starts and writes nothing."""
    _running(_Desk(home, _port_of(address)), address, folder, LONGEST_LEAVE_S)


def _running(desk: _Desk, address: str, folder: str | Path, patience_s: float) -> RunningWebHdfs | None:
    """The server that plays a folder, or None when its port is free for one."""
    running = desk.running()
    if running is not None and Path(running.root) != Path(folder):
        raise UsageError(
            f"port {desk.port} serves {running.root} for another run, not {folder}",
            hint="wait for that run, or map another port",
        )
    if running is None and _is_taken(desk.port, patience_s):
        raise UsageError(
            f"cannot listen on 127.0.0.1:{desk.port} (address already in use), so {folder} cannot play {address}",
            hint=f"end the program that has the port, or map another one: outlast store map hdfs://HOST:PORT {folder}",
        )
    return running


def _is_taken(port: int, patience_s: float) -> bool:
    """Whether another program listens there. A server that is just leaving has some time for it."""
    deadline = time.monotonic() + patience_s
    while True:
        with socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind(("127.0.0.1", port))
                return False
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    return False  # the server itself says it better
        if time.monotonic() >= deadline:
            return True
        time.sleep(0.05)


def release(home: Path, need: str) -> None:
    """Nobody of that name needs a server any more; those that nobody needs end."""
    for desk in _desks(home):
        with desk.held():
            desk.drop(need)
            desk.end_unneeded()


def keep_only(home: Path, needs: Collection[str]) -> None:
    """Release all needs but these: what was not released because whoever should have done it was killed."""
    for desk in _desks(home):
        with desk.held():
            for need in desk.needs().difference(needs):
                desk.drop(need)
            desk.end_unneeded()


def running(home: Path) -> list[RunningWebHdfs]:
    """The servers of a home that run now."""
    return [server for desk in _desks(home) if (server := desk.running()) is not None]


class _Desk:
    """What is known about one port."""

    def __init__(self, home: Path, port: int) -> None:
        self.port = port
        self.path = home / "webhdfs" / str(port)

    @contextlib.contextmanager
    def held(self) -> Iterator[_Desk]:
        (self.path / "needs").mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self.path / "lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield self

    def running(self) -> RunningWebHdfs | None:
        try:
            noted = json.loads((self.path / "server.json").read_text(encoding="utf-8"))
            server = RunningWebHdfs(noted["url"], noted["root"], noted["pid"], noted["ticks"])
        except (OSError, ValueError, LookupError):
            return None
        return server if noted.get("boot") == boot_id() and server.is_alive() else None

    def note(self, server: RunningWebHdfs) -> None:
        aside = self.path / f"server.json.{os.getpid()}"
        aside.write_text(json.dumps({**server._asdict(), "boot": boot_id()}), encoding="utf-8")
        aside.replace(self.path / "server.json")

    def needs(self) -> set[str]:
        return {unquote(path.name) for path in (self.path / "needs").iterdir()}

    def add(self, need: str) -> None:
        (self.path / "needs" / quote(need, safe="")).touch()

    def drop(self, need: str) -> None:
        (self.path / "needs" / quote(need, safe="")).unlink(missing_ok=True)

    def end_unneeded(self) -> None:
        server = self.running()
        if server is not None and not self.needs():
            server.stop()
            (self.path / "server.json").unlink(missing_ok=True)


def _desks(home: Path) -> list[_Desk]:
    folder = home / "webhdfs"
    return [_Desk(home, int(path.name)) for path in sorted(folder.iterdir())] if folder.is_dir() else []


def _port_of(address: str) -> int:
    parts = urlsplit(address)
    try:
        port = parts.port or DEFAULT_PORT
    except ValueError:
        port = 0
    if parts.scheme != "hdfs" or not parts.hostname or not port:
        raise UsageError(f"bad address {address!r}; write it like hdfs://127.0.0.1:50070")
    return port


def _first_line(reader: int) -> str:
    """What the server told through its pipe: its port, or nothing when it ended or took too long."""
    try:
        ready, _, _ = select.select([reader], [], [], START_LIMIT_S)
        return os.read(reader, 100).decode("ascii", "replace").strip() if ready else ""
    finally:
        os.close(reader)
