"""Following a run over HTTP: server-sent events with a cursor that loses and repeats nothing.

Output and metrics lie in numbered segments that are never rewritten. Each follower has a position of its own; one
look-out per run tells all of them how far there is something to read, and keeps what it read last. A follower that
is slow, or that comes back with a cursor, reads the rest from the store: nothing piles up for it here.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import OrderedDict
from collections.abc import AsyncIterator

import orjson
from starlette.concurrency import run_in_threadpool

from outlast.errors import NotFoundError, OutlastError, UsageError
from outlast.inside import layout
from outlast.inside.errors import NotFound
from outlast.keeper.observe import RunFolder
from outlast.keeper.view import decide_from_folder
from outlast.operations.faults import spoken
from outlast.operations.locate import Located
from outlast.operations.runs import Outage
from outlast.server.encoding import Kind
from outlast.settings import Settings
from outlast.track.segments import numbered_segments

#: A comment is sent after so long without an event, so that no proxy takes the connection for dead.
QUIET_S = 15.0
_LOOK_S = 0.2
#: What the look-out of a run keeps for its followers.
_KEPT_BYTES = 4 << 20
#: Events of one write, for a follower that catches up.
_AT_ONCE_BYTES = 256 << 10
#: Looks between two questions whether the run is still there at all.
_THERE_LOOKS = 10
_CURSOR = re.compile(r"\d{1,6}\.\d{1,9}(,\d{1,6}\.\d{1,9})?")

#: Stint -> number of its next segment, of the newest two: a runner that was given up may still send something.
Position = dict[int, int]


def read_position(text: str) -> Position:
    """A cursor such as `3.17,4.2`; `UsageError` when it is none. The empty one is the beginning."""
    if not text:
        return {1: 1}
    if not _CURSOR.fullmatch(text):
        raise UsageError(f"cursor {text[:40]!r} is none of a log or of metrics", hint="begin again without a cursor")
    pairs = (pair.split(".") for pair in text.split(","))
    return {max(1, int(stint)): max(1, int(number)) for stint, number in pairs}


def write_position(position: Position) -> str:
    return ",".join(f"{stint}.{position[stint]}" for stint in sorted(position))


class Watch:
    """The look-out for one run and one kind of segment."""

    def __init__(self, found: Located, kind: Kind, settings: Settings) -> None:
        self.followers = 0
        self.newest = 1
        self.frontier: Position = {}  # of the newest two stints: the segments before these numbers are there
        self.fault: OutlastError | None = None
        self.changed = asyncio.Event()  # set at the next change; there is a new one then
        self._found = found
        self._kind = kind
        self._settings = settings
        self._state = ""  # the run's, once it is over
        self._ended: frozenset[int] = frozenset()
        self._outage = Outage(found.store)
        self._looks = 0
        self._kept: OrderedDict[tuple[int, int], bytes] = OrderedDict()
        self._kept_bytes = 0

    async def run(self) -> None:
        """Look until cancelled; followers are woken when there is something new."""
        try:
            folder = await run_in_threadpool(self._found.folder)
            while True:
                if await run_in_threadpool(self._look, folder):
                    self._wake()
                await asyncio.sleep(max(_LOOK_S, self._found.store.pace_s))
        except OutlastError as error:
            self.fault = error
            self._wake()

    def over(self, stint: int | None) -> str:
        """The run's last state once nothing more will come of it, or of that stint; empty until then."""
        return self._state or ("ended" if stint in self._ended else "")

    async def segment(self, stint: int, number: int) -> bytes | None:
        """The data of one event; None when there is no such segment (any more)."""
        kept = self._kept.get((stint, number))
        return kept if kept is not None else await run_in_threadpool(self._read, stint, number)

    def _wake(self) -> None:
        event, self.changed = self.changed, asyncio.Event()
        event.set()

    def _look(self, folder: RunFolder) -> bool:
        """Read what is new; whether anything was. A store that is away for a while is only waited for."""
        before = (self.frontier, self._state, self._ended)
        with self._outage.tolerated(), spoken(f"{self._kind.name} of {folder.run}"):
            folder.refresh()
            self._require_there(folder)
            # Whether it is over is known before the segments are read, and told after: nothing is cut off.
            state = decide_from_folder(folder, self._settings).state
            ended = frozenset(folder.ends)
            self._look_at_stints(max(1, folder.last))
            self._state, self._ended = (state.value if state.is_final else ""), ended
        return before != (self.frontier, self._state, self._ended)

    def _require_there(self, folder: RunFolder) -> None:
        self._looks += 1
        if self._looks % _THERE_LOOKS == 0 and folder.store.head(layout.spec_key(folder.run)) is None:
            raise NotFoundError(f"run {folder.run} was removed")

    def _look_at_stints(self, newest: int) -> None:
        """The newest two; a stint is looked at once more after its successor was seen."""
        stints = range(max(1, newest - 1), newest + 1)
        frontier = {stint: self.frontier.get(stint) or self._count(stint) for stint in stints}
        for stint in stints:
            while (data := self._read(stint, frontier[stint])) is not None:
                self._keep((stint, frontier[stint]), data)
                frontier[stint] += 1
        self.frontier, self.newest = frontier, newest

    def _count(self, stint: int) -> int:
        prefix = self._kind.key(self._found.run, stint, 0).rpartition("/")[0] + "/"
        there = numbered_segments(self._found.store, prefix)
        return there[-1][0] + 1 if there else 1

    def _keep(self, key: tuple[int, int], data: bytes) -> None:
        self._kept[key] = data
        self._kept_bytes += len(data)
        while self._kept_bytes > _KEPT_BYTES and len(self._kept) > 1:
            self._kept_bytes -= len(self._kept.popitem(last=False)[1])

    def _read(self, stint: int, number: int) -> bytes | None:
        def get(number: int) -> bytes:
            return self._found.store.get(self._kind.key(self._found.run, stint, number))

        try:
            body = self._kind.encode(stint, get(number), lambda: get(number - 1) if number > 1 else b"")
        except NotFound:
            return None
        return b"data: %s\n\n" % orjson.dumps(body)


class Watches:
    """The look-outs of this process: one for all followers of the same thing, none without followers."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._watches: dict[tuple[str, str], tuple[Watch, asyncio.Task[None]]] = {}

    @contextlib.asynccontextmanager
    async def watching(self, found: Located, kind: Kind) -> AsyncIterator[Watch]:
        key = (found.run, kind.name)
        if key not in self._watches or self._watches[key][0].fault is not None:
            watch = Watch(found, kind, self._settings)
            self._watches[key] = (watch, asyncio.create_task(watch.run()))
        watch, task = self._watches[key]
        watch.followers += 1
        try:
            yield watch
        finally:
            watch.followers -= 1
            if watch.followers == 0:
                task.cancel()
                if self._watches.get(key, (None,))[0] is watch:
                    del self._watches[key]

    async def close(self) -> None:
        tasks = [task for _, task in self._watches.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def follow(
        self, found: Located, kind: Kind, position: Position, stint: int | None = None
    ) -> AsyncIterator[bytes]:
        """Events from a position on until the run (or that stint) is over; each carries the cursor after it."""
        yield b"retry: 1000\n\n"
        async with self.watching(found, kind) as watch:
            while True:
                # Both are taken before anything is read: what comes meanwhile wakes us again.
                changed, over = watch.changed, watch.over(stint)
                async for chunk in _drain(watch, position, stint):
                    yield chunk
                if watch.fault is not None:
                    yield _last("error", watch.fault.code, watch.fault.message)
                    return
                if over:
                    yield f"id: {write_position(position)}\n".encode() + _last("end", over)
                    return
                try:
                    async with asyncio.timeout(QUIET_S):
                        await changed.wait()
                except TimeoutError:
                    yield b": still here\n\n"


async def _drain(watch: Watch, position: Position, only: int | None) -> AsyncIterator[bytes]:
    """Everything from a position to the frontier, in few chunks; moves the position."""
    chunk = bytearray()
    while True:
        newest, frontier = watch.newest, watch.frontier
        for stint in sorted(position):
            while position[stint] < frontier.get(stint, 0) or stint < newest - 1:
                data = await watch.segment(stint, position[stint])
                if data is None:
                    break
                position[stint] += 1
                chunk += b"id: %s\n" % write_position(position).encode() + data
                if len(chunk) >= _AT_ONCE_BYTES:
                    yield bytes(chunk)
                    chunk.clear()
        last = max(position)
        if last >= newest or only is not None:
            break
        position[last + 1] = 1
        position.pop(last - 1, None)
    if chunk:
        yield bytes(chunk)


def _last(event: str, state: str, message: str = "") -> bytes:
    return b"event: %s\ndata: %s\n\n" % (event.encode(), orjson.dumps({"state": state, "message": message}))
