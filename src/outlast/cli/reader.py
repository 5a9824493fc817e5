"""What happens in a run, gathered in the background: its state, its output, its metrics.

Reading the store may be slow and `watch` blocks until something changes; the screen must neither stutter nor miss
a key. So two threads read, and the screen takes what is new whenever it likes.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from outlast.inside.errors import PlaceError
from outlast.model.view import RunView

if TYPE_CHECKING:
    from outlast.client import Client
    from outlast.track.series import MetricPoint

#: Often enough to feel live; a segment of output is shipped every 0.3 to 3 seconds anyway.
TAIL_S = 0.25
#: So many times `pace_s` apart where output and metrics take four requests.
_REMOTE_PAUSES = 1.5
#: A store that is away for longer ends the view; the run goes on.
OUTAGE_S = 300.0


class LogSource(Protocol):
    """Returns the output that is new at every call; calls should be `pace_s` apart."""

    pace_s: float

    def poll(self) -> list[tuple[int, bytes]]: ...


class PointSource(Protocol):
    """Returns the metrics that are new at every call."""

    def poll(self) -> list[MetricPoint]: ...


@dataclass
class News:
    """What is new since the last look."""

    view: RunView | None = None
    output: list[tuple[int, bytes]] = field(default_factory=list)  # (stint, bytes), in order
    points: list[MetricPoint] = field(default_factory=list)
    is_over: bool = False  # the run is final and everything it wrote has been read


class Reader:
    """Follows one run until it is final. `take` never blocks and raises what went wrong in the background."""

    def __init__(self, client: Client, view: RunView) -> None:
        self._client = client
        self._run = view.id
        self._logs, self._series = open_tails(client, view)
        self._pause_s = max(TAIL_S, _REMOTE_PAUSES * self._logs.pace_s)
        self._away_at: float | None = None
        self._news = News()
        self._ended = 0
        self._error: Exception | None = None
        self._lock = threading.Lock()  # guards the news
        self._tails = threading.Lock()  # one poll at a time, so that output stays in order
        self._closing = threading.Event()

    def __enter__(self) -> Reader:
        for work in (self._watch, self._follow):
            threading.Thread(target=work, name=f"outlast-cli{work.__name__}", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()

    def take(self) -> News:
        """Everything new since the last call."""
        with self._lock:
            if self._error is not None:
                raise self._error
            news, self._news = self._news, News(is_over=self._news.is_over)
        return news

    def _watch(self) -> None:
        try:
            for seen in self._client.runs.watch(self._run):
                if self._closing.is_set():
                    return
                view = self._in_full(seen)
                # Output first: what a stint wrote must be on the screen before the line that says it ended.
                self._poll()
                with self._lock:
                    self._news.view = view
                if view.state.is_final:
                    break
            self._poll(patient=False)
            with self._lock:
                self._news.is_over = True
        except Exception as error:  # noqa: BLE001 - handed to the thread that shows it
            self._fail(error)

    def _in_full(self, seen: RunView) -> RunView:
        """When a stint has ended, the whole run: only that tells which epoch its last checkpoint holds."""
        ended = sum(stint.reason is not None for stint in seen.stint_list)
        if ended == self._ended:
            return seen
        self._ended = ended
        return self._client.runs.get(self._run)

    def _follow(self) -> None:
        try:
            while not self._closing.wait(self._pause_s):
                self._poll()
        except Exception as error:  # noqa: BLE001 - handed to the thread that shows it
            self._fail(error)

    def _poll(self, *, patient: bool = True) -> None:
        """Read what is new. A store over a network may be away for a while: the view says so meanwhile."""
        with self._tails:
            try:
                output = self._logs.poll()
                with self._lock:
                    self._news.output += output
                points = self._series.poll()
                with self._lock:
                    self._news.points += points
                self._away_at = None
            except PlaceError:
                self._away_at = self._away_at or time.monotonic()
                if not patient or not self._logs.pace_s or time.monotonic() - self._away_at > OUTAGE_S:
                    raise

    def _fail(self, error: Exception) -> None:
        if not self._closing.is_set():
            with self._lock:
                self._error = self._error or error


def open_tails(client: Client, view: RunView) -> tuple[LogSource, PointSource]:
    """The output and the metrics of a run, read from its folder in the store."""
    from outlast.operations.locate import locate
    from outlast.track.logs import LogTail
    from outlast.track.series import SeriesTail

    store = locate(client.settings, view.id).store
    return LogTail(store, view.id), SeriesTail(store, view.id)
