"""Sweeps in the keeper's hands: it holds members back until their turn comes, and asks hopeless ones to stop.

Nothing is remembered that the store does not hold: a keeper that starts anew reads the records and goes on.
"""

from __future__ import annotations

import dataclasses
import logging
import math
import time
from collections.abc import Callable, Mapping

from outlast.inside import layout
from outlast.inside.errors import InsideError, NotFound
from outlast.inside.records import now_text
from outlast.inside.stores.base import Store
from outlast.keeper.index import RunRow
from outlast.keeper.run import KeptRun
from outlast.model.states import RunState
from outlast.model.sweep import SweepRecord
from outlast.relay.sweep import Hopeless, MemberSeen, Rule, held, hopeless
from outlast.track.series import SeriesTail

log = logging.getLogger("outlast.keeper")

#: How often the metrics of members are read; a comparison is due once in an epoch at most.
CURVES_S = 1.0

FindRow = Callable[[str], RunRow | None]


class Sweeps:
    """The sweeps of all runs that a keeper looks after."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sweeps: dict[tuple[str, str], _KeptSweep | None] = {}  # None: its record was removed

    def turn(self, kept: Mapping[str, KeptRun], find: FindRow) -> None:
        """Say of each member whether it must wait, and stop the hopeless ones. `find` knows runs that are over."""
        members = [run for run in kept.values() if run.folder.spec.get("sweep")]
        for run in members:
            run.hold = self._adopt(_key_of(run), run.folder.store)
        for key in set(self._sweeps) - {_key_of(run) for run in members}:
            del self._sweeps[key]
        for sweep in filter(None, self._sweeps.values()):
            try:
                sweep.turn(kept, find)
            except InsideError as error:  # its store is away: the comparison can wait
                log.warning("sweep %s: %s", sweep.record.name, error)

    def _adopt(self, key: tuple[str, str], store: Store) -> str:
        """Read the record of a sweep; as long as that fails, its members must wait, for the reason returned."""
        if key in self._sweeps:
            return ""
        try:
            record = SweepRecord.from_bytes(store.get(layout.sweep_key(key[1])))
        except NotFound:
            self._sweeps[key] = None
        except InsideError as error:
            return f"starts when the record of sweep {key[1]} can be read: {error}"
        else:
            self._sweeps[key] = _KeptSweep(record, store, self._clock)
        return ""


def _key_of(run: KeptRun) -> tuple[str, str]:
    return str(run.folder.spec["store"]), str(run.folder.spec["sweep"])


class _KeptSweep:
    """One sweep that has open members."""

    def __init__(self, record: SweepRecord, store: Store, clock: Callable[[], float]) -> None:
        self.record = record
        self._store = store
        self._clock = clock
        self._over: dict[str, RunState] = {}
        self._read_at = -math.inf
        self._rule = None
        if record.early_stop_after is not None:
            self._rule = Rule(record.metric, record.sign, record.early_stop_after)
        self._curves = {run: _Curve(store, run, self._rule) for run in record.runs} if self._rule else {}

    def turn(self, kept: Mapping[str, KeptRun], find: FindRow) -> None:
        members = [self._see(run, kept.get(run), find) for run in self.record.runs]
        waiting = held(members, self.record.at_once)
        for member in members:
            if member.run in kept:
                kept[member.run].hold = self._words if member.run in waiting else ""
        if self._rule is not None and self._clock() - self._read_at >= CURVES_S:
            self._read_at = self._clock()
            for found in hopeless([self._measured(member) for member in members], self._rule):
                self._stop(kept[found.run], found)

    @property
    def _words(self) -> str:
        # Begins as the relay's own word for a run without a stint, which the views look for.
        return f"starts when its turn comes: sweep {self.record.name} runs {self.record.at_once} at once"

    def _see(self, run: str, kept: KeptRun | None, find: FindRow) -> MemberSeen:
        if kept is None:
            return MemberSeen(run, self._state_of(run, find), started=True)
        self._over.pop(run, None)  # it may have been resumed
        state = RunState.STOPPED if kept.is_over else RunState.RUNNING
        since = kept.folder.control.since_stint
        return MemberSeen(run, state, started=kept.folder.last >= since, exempt=since > 1)

    def _state_of(self, run: str, find: FindRow) -> RunState:
        """The state of a member that nobody looks after; one that was removed counts as over."""
        if run not in self._over:
            row = find(run)
            if row is not None and row.open:
                return RunState.QUEUED  # not read yet, or in another keeper's hands
            self._over[run] = RunState.STOPPED if row is None else RunState(row.state)
        return self._over[run]

    def _measured(self, member: MemberSeen) -> MemberSeen:
        curve = self._curves[member.run]
        if member.started:
            curve.poll(last=member.state.is_final)
        return dataclasses.replace(member, reached=curve.reached, bests=tuple(curve.bests))

    def _stop(self, kept: KeptRun, found: Hopeless) -> None:
        folder, record = kept.folder, self.record
        folder.refresh()  # the user's own word, said meanwhile, holds
        if folder.control.want != "go" or folder.control.since_stint > 1:
            return
        why = (
            f"stopped early: {record.metric} {found.value:.4g} at {found.place:g} is behind {found.median:.4g}, the "
            f"median of {found.peers} other members of sweep {record.name}"
        )
        log.info("%s: %s", found.run, why)
        control = dataclasses.replace(folder.control, want="stop", why=why, at=now_text())
        self._store.put(layout.control_key(found.run), control.to_bytes())
        folder.control = control


class _Curve:
    """The best values of one member's metric, read as they come.

    What a rollback made obsolete counts too: done again from the same checkpoint it gives the same values.
    """

    def __init__(self, store: Store, run: str, rule: Rule) -> None:
        self._tail: SeriesTail | None = SeriesTail(store, run)
        self._rule = rule
        self.reached = -math.inf
        self.bests: list[tuple[float, float]] = []

    def poll(self, *, last: bool) -> None:
        """Read what is new; after the `last` time never again."""
        if self._tail is None:
            return
        for point in self._tail.poll():
            value, place = point.values.get(self._rule.metric), point.epoch if point.epoch is not None else point.step
            if value is not None and place is not None and math.isfinite(place):
                self._add(float(place), value)
        if last:
            self._tail = None

    def _add(self, place: float, value: float) -> None:
        self.reached = max(self.reached, place)
        if math.isnan(value) and self.bests:
            return
        best = self.bests[-1] if self.bests else None
        if best is None or math.isnan(best[1]) or self._rule.sign * (value - best[1]) > 0:
            # Places grow, except after a rollback: an improvement counts from the furthest place on.
            self.bests.append((self.reached, value))
