"""Work that a server does in rounds beside its requests: one thread from its start to its end."""

from __future__ import annotations

import abc
import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Callable
from typing import ClassVar

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool

from outlast.errors import OutlastError
from outlast.inside.errors import InsideError
from outlast.server.state import ServerState

PAUSE_S = 2.0


class Rounds(abc.ABC):
    """Makes a round every two seconds from `start` to `stop`. One that fails is told in the log and is not the last."""

    #: What waits when a round fails.
    what: ClassVar[str]

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"outlast: {self.what}", daemon=True)

    @abc.abstractmethod
    def round(self) -> int:
        """Do what is due now; how much that was."""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns when nothing is on its way any more."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _work(self) -> None:
        log = logging.getLogger(type(self).__module__)
        while not self._stopping.wait(PAUSE_S):
            try:
                self.round()
            except (OutlastError, InsideError) as error:
                log.warning("%s have to wait: %s", self.what, error)
            except Exception:
                log.exception("%s failed", self.what)


def while_serving(
    make: Callable[[ServerState], Rounds],
) -> Callable[[FastAPI], contextlib.AbstractAsyncContextManager[None]]:
    """The lifespan of a router whose rounds go on as long as the server runs."""

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        rounds = make(app.state.outlast)
        rounds.start()
        try:
            yield
        finally:
            await run_in_threadpool(rounds.stop)

    return lifespan
