"""Several processes that answer, and the one behind them; whichever of them dies is started anew."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import socket
import tempfile
from collections.abc import Iterator
from multiprocessing.context import SpawnProcess
from pathlib import Path

import uvicorn
from uvicorn.supervisors import Multiprocess

from outlast.server.backstage.stage import BACKLOG, make_pages

_log = logging.getLogger("outlast.server")


@contextlib.contextmanager
def back_door() -> Iterator[tuple[socket.socket, str]]:
    """A socket that only this user reaches, and its address.

    The parent keeps it open: while the process behind it is started anew, those who ask wait and are not refused.
    """
    with tempfile.TemporaryDirectory(prefix="outlast-") as folder, socket.socket(socket.AF_UNIX) as listening:
        address = str(Path(folder, "pages"))
        listening.bind(address)
        listening.listen(BACKLOG)
        yield listening, address


class Company(Multiprocess):
    """uvicorn's processes on `front`, and the pages' process on `back`."""

    def __init__(self, config: uvicorn.Config, front: socket.socket, back: socket.socket) -> None:
        super().__init__(config, [front])
        self._back = back

    def init_processes(self) -> None:
        self._pages = self._start()
        super().init_processes()

    def keep_subprocess_alive(self) -> None:
        if not self.should_exit.is_set() and not self._pages.is_alive():
            _log.warning("the process that makes the pages ended with %s; starting it anew", self._pages.exitcode)
            self._pages = self._start()
        super().keep_subprocess_alive()

    def terminate_all(self) -> None:
        super().terminate_all()
        self._pages.terminate()

    def join_all(self) -> None:
        super().join_all()
        self._pages.join()

    def _start(self) -> SpawnProcess:
        process = multiprocessing.get_context("spawn").Process(target=make_pages, args=(self._back,))
        process.start()
        return process
