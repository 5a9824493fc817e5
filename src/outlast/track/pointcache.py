"""The cache of a run's points: columns that are mapped, not read, and brought up to date from new segments alone.

Everything in here can be made anew from the run folder; `docs/design/points.md` describes the files. Only imported
where numpy is installed.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import mmap
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from outlast.inside import layout
from outlast.inside.errors import Damaged, NotFound, RequestError
from outlast.inside.records import End
from outlast.store.base import Store
from outlast.track.history import Kept, read_manifests, read_orders, trace_history
from outlast.track.segments import numbered_segments
from outlast.track.table import FIELDS, ROW, Rows, Table, build_table, parse_segment

#: Grows with every change of the files or of what they mean; a cache of another format is made anew.
FORMAT = 1
_ROW_BYTES = sum(np.dtype(kind).itemsize for _, kind in FIELDS)


@dataclass
class _Stint:
    """How much of a stint's metrics the cache holds."""

    rows: int = 0
    next: int = 1  # number of the first segment that was not there yet
    closed: bool = False  # its runner has said that this is all
    committed: bool = False  # its first checkpoint was there, which says what the stint continued


@dataclass
class _State:
    """`state.json`: what the cache holds and in which file."""

    stints: dict[int, _Stint] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    file: str = ""
    places: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return sum(count for _, count in self.places.values())

    @classmethod
    def parse(cls, text: bytes) -> _State:
        body = json.loads(text)
        if body["format"] != FORMAT:
            raise ValueError("another format")
        stints = {int(number): _Stint(**said) for number, said in body["stints"].items()}
        places = {name: (int(start), int(count)) for name, (start, count) in body["places"].items()}
        return cls(stints, list(body["names"]), str(body["file"]), places)

    def to_bytes(self) -> bytes:
        stints = {str(number): vars(stint) for number, stint in self.stints.items()}
        body = {"format": FORMAT, "file": self.file, "stints": stints, "names": self.names, "places": self.places}
        return json.dumps(body).encode()


def read_uncached(store: Store, run: str) -> Table:
    """The points of a run, from its folder alone."""
    names: dict[str, int] = {}
    orders = read_orders(store, run)
    rows = {}
    for stint in orders:
        segments = [_get(store, key) for _, key in numbered_segments(store, layout.metrics_prefix(run, stint))]
        rows[stint] = np.concatenate([np.zeros(0, ROW), *(parse_segment(data, names) for data in segments if data)])
    return build_table(rows, list(names), trace_history(orders, read_manifests(store, run)))


class PointCache:
    """One run's folder in the cache. Readers never wait; of several that find it behind, one brings it up to date."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, store: Store, run: str) -> Table:
        """The points of a run as of now. A cache that cannot be written is no reason to fail: then nothing is kept."""
        state = self._load()
        if state is not None and not _is_behind(store, run, state):
            table = self._map(state)
            if table is not None:
                return table
        try:
            with self._locked():
                return self._refresh(store, run)
        except OSError:
            return read_uncached(store, run)

    def _refresh(self, store: Store, run: str) -> Table:
        state = self._load() or self._start_anew()
        # The order of the questions: whatever a stint wrote before its end, or before its successor, is then read.
        last = _last_order(store, run, max(state.stints, default=0))
        for number in range(1, last + 1):
            stint = state.stints.setdefault(number, _Stint())
            if not stint.closed:
                self._read_new(store, run, state, number)
                # A runner that was given up may go on for a while, but not while two others come after it.
                stint.closed = stint.closed or number < last - 1
        kept = trace_history(read_orders(store, run), read_manifests(store, run))
        return self._write(state, kept)

    def _read_new(self, store: Store, run: str, state: _State, number: int) -> None:
        stint = state.stints[number]
        stint.closed = _is_over(store, run, number)
        stint.committed = stint.committed or _has_committed(store, run, number)
        names = {name: index for index, name in enumerate(state.names)}
        fresh: list[Rows] = []
        for segment, data in _new_segments(store, run, number, stint.next):
            fresh.append(parse_segment(data, names))
            stint.next = segment + 1
        with self._rows_path(number).open("ab") as file:
            file.truncate(stint.rows * ROW.itemsize)  # what a refresh left that was killed
            for rows in fresh:
                file.write(rows.tobytes())
        stint.rows += sum(map(len, fresh))
        state.names = list(names)

    def _write(self, state: _State, kept: dict[int, Kept]) -> Table:
        rows = {number: self._rows(number, stint.rows) for number, stint in state.stints.items()}
        table = build_table(rows, state.names, kept)
        before, state.file = state.file, f"columns-{secrets.token_hex(4)}"
        state.places = dict(table.places)
        with (self._folder / state.file).open("wb") as file:
            for name, _ in FIELDS:
                file.write(table.arrays[name].tobytes())
        aside = self._folder / f"{state.file}.json"
        aside.write_bytes(state.to_bytes())
        aside.replace(self._folder / "state.json")
        if before:
            (self._folder / before).unlink(missing_ok=True)  # whoever has mapped it keeps it
        return self._map(state) or table

    def _rows(self, number: int, count: int) -> Rows:
        return np.fromfile(self._rows_path(number), ROW, count) if count else np.zeros(0, ROW)

    def _rows_path(self, number: int) -> Path:
        return self._folder / f"{number:04d}.rows"

    def _load(self) -> _State | None:
        """What the cache says; None when there is none that can be used."""
        try:
            state = _State.parse((self._folder / "state.json").read_bytes())
            complete = all(
                not stint.rows or self._rows_path(number).stat().st_size >= stint.rows * ROW.itemsize
                for number, stint in state.stints.items()
            )
            return state if complete else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def _map(self, state: _State) -> Table | None:
        """The columns as they lie on the disk; None when they are not there, or not all."""
        arrays: dict[str, Any] = {}
        try:
            with (self._folder / state.file).open("rb") as file:
                if os.fstat(file.fileno()).st_size != state.rows * _ROW_BYTES:
                    return None
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if state.rows else b""
        except OSError:
            return None
        at = 0
        for name, kind in FIELDS:
            arrays[name] = np.frombuffer(mapped, kind, state.rows, at)
            at += state.rows * np.dtype(kind).itemsize
        return Table(arrays, state.places)

    def _start_anew(self) -> _State:
        for path in self._folder.iterdir():
            if path.name != "lock":
                path.unlink()
        return _State()

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._folder / "lock").open("wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def forget_points(cache: Path, run: str) -> None:
    """Remove a run's cache."""
    shutil.rmtree(cache / run, ignore_errors=True)


def _is_behind(store: Store, run: str, state: _State) -> bool:
    """Whether the run folder holds more than the cache: one question for a run that is over, a handful otherwise."""
    last = max(state.stints, default=0)
    if store.head(layout.order_key(run, last + 1)) is not None:
        return True
    watched = [(number, state.stints[number]) for number in (last - 1, last) if number in state.stints]
    return any(
        not stint.closed
        and (
            store.head(layout.metrics_key(run, number, stint.next)) is not None
            or (not stint.committed and _has_committed(store, run, number))
            or _is_over(store, run, number)
        )
        for number, stint in watched
    )


def _last_order(store: Store, run: str, known: int) -> int:
    while store.head(layout.order_key(run, known + 1)) is not None:
        known += 1
    return known


def _new_segments(store: Store, run: str, number: int, following: int) -> Iterator[tuple[int, bytes]]:
    """Segments from a number on. The first time they are listed, later the next number is simply asked for."""
    if following == 1:
        for segment, key in numbered_segments(store, layout.metrics_prefix(run, number)):
            data = _get(store, key)
            if data is not None:
                yield segment, data
                following = segment + 1
    while (data := _get(store, layout.metrics_key(run, number, following))) is not None:
        yield following, data
        following += 1


def _get(store: Store, key: str) -> bytes | None:
    try:
        return store.get(key)
    except NotFound:
        return None


def _has_committed(store: Store, run: str, number: int) -> bool:
    return store.head(layout.checkpoint_key(run, layout.checkpoint_id(number, 1))) is not None


def _is_over(store: Store, run: str, number: int) -> bool:
    """Whether a stint's own runner has ended it: then everything it measured is there.

    The runner of a stint that the keeper has ended may still be alive somewhere, and send more.
    """
    try:
        return End.from_bytes(store.get(layout.end_key(run, number))).by == "runner"
    except (NotFound, Damaged, RequestError):
        return False
