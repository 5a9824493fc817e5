"""One instance of a task role: a process group of its own, its output in files and on the way to the run's log."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import IO, Callable, Dict, List, Mapping, Optional, Sequence

from ... import processes
from ...masking import Masker
from .containers import remove_container

_SHELLS = ("bash", "dash", "sh", "zsh", "ksh")
_CHUNK_BYTES = 1 << 16
#: What of the output is kept in memory: exit rules look at it, and its end goes into the error block.
_TAIL_BYTES = 1 << 18

Emit = Callable[[bytes], None]


class Stream:
    """One output of an instance: all of it in a log file, whole lines of it with a prefix to the run's log."""

    def __init__(self, pipe: IO[bytes], file: IO[bytes], secrets: Sequence[bytes], prefix: bytes, emit: Emit) -> None:
        self.fd = pipe.fileno()
        os.set_blocking(self.fd, False)
        self._pipe = pipe
        self._file = file
        self._masker = Masker(secrets)  # the run's own log is masked later; this file may be somebody's output
        self._prefix = prefix
        self._emit = emit
        self._part = b""

    def read(self) -> Optional[bytes]:
        """What is there now; empty at its end, None when there is nothing at the moment."""
        try:
            chunk = os.read(self.fd, _CHUNK_BYTES)
        except BlockingIOError:
            return None
        if chunk:
            self._file.write(self._masker.feed(chunk))
            self._file.flush()
            self._pass_on(chunk)
        return chunk

    def _pass_on(self, chunk: bytes) -> None:
        if not self._prefix:
            # Alone, it prints as it would by itself: progress bars included.
            self._emit(chunk)
            return
        *lines, self._part = (self._part + chunk).split(b"\n")
        if lines:
            self._emit(b"".join(self._prefix + line + b"\n" for line in lines))

    def close(self) -> None:
        if self._part:
            self._emit(self._prefix + self._part + b"\n")
        self._pipe.close()
        self._file.write(self._masker.finish())
        self._file.close()


class Instance:
    """A started instance. Start it from the main thread: the kernel ends it together with that."""

    def __init__(
        self, role: str, index: int, argv: List[str], folder: str, env: Mapping[str, str], logs: str, prefix: bytes,
        emit: Emit, secrets: Sequence[bytes] = (), engine: str = "", container: str = "",
    ) -> None:  # fmt: skip
        self.role = role
        self.index = index
        self.container = container
        self._engine = engine
        self._tail = b""
        os.makedirs(logs, exist_ok=True)
        self._process = subprocess.Popen(
            argv, cwd=folder, env=dict(env), stdin=subprocess.PIPE if container else subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            preexec_fn=processes.preexec([], None),  # noqa: PLW1509 - takes no lock
        )  # fmt: skip
        self.streams: Dict[int, Stream] = {}
        for pipe, name in ((self._process.stdout, "user.pai.stdout"), (self._process.stderr, "user.pai.stderr")):
            assert pipe is not None
            # A retry goes on in the same file, as tasks of one index share a folder of logs.
            file = open(os.path.join(logs, name), "ab")  # noqa: SIM115 - closed with the stream
            stream = Stream(pipe, file, secrets, prefix, emit)
            self.streams[stream.fd] = stream

    @property
    def task(self) -> str:
        return "%s/%d" % (self.role, self.index)

    def poll(self) -> Optional[int]:
        """Exit code once it has ended (negative: the signal), else None."""
        return self._process.poll()

    def read(self, fd: int) -> bool:
        """Pass on what one output has; False at its end."""
        chunk = self.streams[fd].read()
        if chunk:
            self._tail = (self._tail + chunk)[-_TAIL_BYTES:]
        return chunk is None or bool(chunk)

    @property
    def log(self) -> str:
        """The end of both outputs, in the order in which they came."""
        return self._tail.decode("utf-8", "replace")

    def ask_to_leave(self) -> None:
        """SIGTERM to the programs that the command is running, past the shells, which would only wait or die."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):  # it has just ended
                self._process.stdin.write(b"leave\n")
                self._process.stdin.flush()
            return
        for pid in _programs(self._process.pid):
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                continue

    def end(self) -> None:
        """Nothing of it is left afterwards; also what it started and left behind."""
        if self._process.stdin is not None:
            self._process.stdin.close()  # the container ends itself
            try:
                self._process.wait(5.0)
            except subprocess.TimeoutExpired:
                remove_container(self._engine, self.container)
        processes.kill_tree(self._process.pid)
        self._process.wait()

    def close(self) -> None:
        """Take the last output, and stop listening: a process that detached itself may hold the pipe for ever."""
        for stream in self.streams.values():
            chunk: Optional[bytes] = b"-"
            while chunk:
                chunk = stream.read()
                self._tail = (self._tail + (chunk or b""))[-_TAIL_BYTES:]
            stream.close()
        self.streams = {}


def _programs(pid: int) -> List[int]:
    """The processes nearest to `pid` that are not shells; a shell without any is meant itself."""
    if not _is_shell(pid):
        return [pid]
    found = [program for child in _children(pid) for program in _programs(child)]
    return found or [pid]


def _children(pid: int) -> List[int]:
    stats = {each: processes.read_stat(each) for each in processes.descendants(pid)}
    return [each for each, stat in stats.items() if stat is not None and stat.parent == pid]


def _is_shell(pid: int) -> bool:
    try:
        with open("/proc/%d/comm" % pid) as file:
            return file.read().strip() in _SHELLS
    except OSError:
        return False
