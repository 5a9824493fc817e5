"""Looks after every open run of one home: absorbs new ones, looks at each, keeps the index."""

from __future__ import annotations

import contextlib
import logging
import secrets as random_words
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from outlast.errors import CredentialError, HomeError, OutlastError, PlatformError
from outlast.inside.errors import AccessDenied, InsideError, NotFound
from outlast.inside.records import now_text
from outlast.inside.stores import is_remote
from outlast.inside.stores.base import Store
from outlast.keeper.accesses import Accesses, addresses_of
from outlast.keeper.home import Home
from outlast.keeper.inbox import absorb
from outlast.keeper.index import Index, IndexDamaged, RunRow
from outlast.keeper.mirror_doors import Doors
from outlast.keeper.mirrors import Mirrors
from outlast.keeper.opening import index_of
from outlast.keeper.platforms import Platforms
from outlast.keeper.rebuild import rebuild_index
from outlast.keeper.run import QUIET_S, KeptRun, Look
from outlast.keeper.servers import Servers
from outlast.keeper.sweeps import Sweeps
from outlast.keeper.view import view_from_json
from outlast.keeper.wake import wake
from outlast.model.view import RunView
from outlast.platforms.base import Job, Platform
from outlast.settings import Settings

log = logging.getLogger("outlast.keeper")

#: A keeper that holds a lease renews it long before; one that died leaves it for so long.
LEASE_S = 30.0
_RENEW_S = LEASE_S / 3
#: A run whose look failed is looked at again after so long.
_TROUBLE_S = 2.0
_LONGEST_TROUBLE_S = 30.0


class Keeper:
    """`turn` makes one pass over all open runs and says when the next one is due.

    Trouble with one run is logged and shown as that run's notice; it never keeps the others waiting. A keeper that
    is killed anywhere loses nothing: the next one reads the same folders and repeats what may be repeated.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        open_store: Callable[[str], Store] | None = None,
        create_platform: Callable[[str], Platform] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.home = Home(settings.home)
        self.settings = settings
        self.holder = f"{self.home.id}:{random_words.token_hex(8)}"
        self._open_store = open_store
        self._clock = clock
        self._accesses = Accesses(self.home)
        self._servers = Servers(self.home.path)
        self._sweeps = Sweeps(clock)
        self._due: dict[str, float] = {}  # when to look at a run again whose store is reached over a network
        self._failures: dict[str, int] = {}  # looks in a row that failed, by run
        self._unread: set[str] = set()  # runs whose store did not answer the last time
        self._kept: dict[str, KeptRun] = {}
        self._renewed: dict[str, float] = {}
        self._rows: dict[str, RunRow] = {}
        self._busy_at = clock()
        self._index = self._open_index()
        self._platforms = Platforms(
            settings, create_platform or (lambda name: _create_platform(name, settings)), uses=self._uses,
            wake=lambda: wake(self.home), clock=clock,
        )  # fmt: skip
        doors = Doors(self._accesses, lambda name: self._platforms.reach(name).platform)
        self._mirrors = Mirrors(
            self.home.cache / "mirrors", doors.open_store, doors.send_inputs, wake=lambda: wake(self.home)
        )

    @property
    def idle_s(self) -> float:
        """For how long there has been no open run."""
        return self._clock() - self._busy_at

    def has_work(self) -> bool:
        """Whether a run waits in the inbox or is open; asked once more after the lock was given back."""
        return any(not path.name.startswith(".") for path in self.home.inbox.iterdir()) or bool(self._index.kept_runs())

    def take_over_leases(self) -> None:
        """Void the leases of this home's earlier keepers. Only for a process that holds the keeper's lock."""
        self._index.release_leases(f"{self.home.id}:")

    def turn(self, woken: bool = True) -> float:
        """Look at every open run once; returns the seconds until the next look is due.

        Unless something has `woken` us, runs whose store is reached over a network wait until they are due.
        """
        try:
            return self._look_at_all(woken)
        except IndexDamaged:
            self._reopen_index()
            return 0.0
        except (HomeError, PlatformError) as error:  # a full disk, for instance: better later than never
            log.warning("%s", error)
            return _TROUBLE_S

    def _look_at_all(self, woken: bool) -> float:
        if self._index.was_replaced():
            self._reopen_index()
        absorb(self.home, self._index, take=True)
        rows = {row.id: row for row in self._index.kept_runs()}
        for run in set(self._kept) - set(rows):
            self._forget(run)
        with self._trouble_of("the WebHDFS servers"):
            self._servers.keep_for(rows)
        if rows:
            self._busy_at = self._clock()
        due = [row for row in rows.values() if woken or self._due_in_s(row) <= 0]
        mine = [row for row in due if self._refresh(row)]
        with self._trouble_of("the sweeps"):
            self._sweeps.turn(self._kept, self._index.get)
        jobs, answered = self._poll_all(mine)
        delays = [self._look(row, jobs) for row in mine if row.id in answered]
        delays += [self._due_in_s(row) or _TROUBLE_S for row in rows.values() if row.id not in answered]
        return min([QUIET_S, *delays])

    def _due_in_s(self, row: RunRow) -> float:
        """Seconds until a run wants to be looked at; 0 where looking is nearly free."""
        return max(0.0, self._due.get(row.id, 0.0) - self._clock()) if is_remote(row.store) else 0.0

    def wake_fds(self) -> list[int]:
        """Descriptors of every platform in use that become readable when a job may have ended."""
        found: list[int] = []
        with self._trouble_of("the platforms"):
            found = self._platforms.wake_fds()
        return found

    def close(self) -> None:
        """Give back every lease. Runs and their stints go on."""
        with contextlib.suppress(OutlastError):
            self._index.release_leases(self.holder)
        self._index.close()
        self._mirrors.close()
        self._platforms.close()

    def _refresh(self, row: RunRow) -> bool:
        """Read what changed in a run's folder. False when the run is not ours or cannot be read now."""
        try:
            if not self._holds_lease(row.id):
                return False
            kept = self._kept.get(row.id)
            if kept is None:
                self._kept[row.id] = self._adopt(row)
            else:
                kept.folder.refresh()
                if row.id in self._unread:
                    kept.forgive_silence()
            self._unread.discard(row.id)
            return True
        except NotFound as error:
            if error.key.endswith("spec.json"):
                log.warning("%s: its folder is gone from %s", row.id, row.store)
                self._index.set_open(row.id, False)
                return False
            self._note(row, error)
        except Exception as error:  # noqa: BLE001 - one run's trouble must not stop the others
            self._note(row, error)
        self._unread.add(row.id)
        return False

    def _look(self, row: RunRow, jobs: Mapping[str, Job]) -> float:
        kept = self._kept[row.id]
        try:
            look = kept.look(jobs)
        except Exception as error:  # noqa: BLE001 - one run's trouble must not stop the others
            self._note(row, error)
            return _TROUBLE_S
        self._due[row.id] = self._clock() + look.delay_s
        self._failures.pop(row.id, None)
        if look.done:
            with self._trouble_of("the WebHDFS servers"):
                self._servers.release(row.id)
        with self._trouble_of("the index"):
            self._record(row, look)
        # The place of a member that is over is free: look at the next one at once.
        return 0.0 if look.done and kept.folder.spec.get("sweep") else look.delay_s

    def _record(self, row: RunRow, look: Look) -> None:
        new = _row_of(row, look.view, is_open=not look.done)
        if self._rows.get(row.id) != new:
            self._rows[row.id] = new
            if not self._index.update(new):
                self._forget(row.id)  # removed by a command while we looked
        if look.done:
            log.info("%s: %s", row.id, look.view.state)
            self._forget(row.id)

    def _note(self, row: RunRow, error: Exception) -> None:
        """Show a run's trouble where its owner looks."""
        if isinstance(error, InsideError | OutlastError):
            words = str(error)
            log.warning("%s: %s", row.id, words)
        else:
            words = f"the keeper failed on this run: {type(error).__name__}: {error}; see {self.home.log}"
            log.error("%s: %s", row.id, words, exc_info=error)
        if isinstance(error, AccessDenied | CredentialError):
            self._forget(row.id)  # opened anew, with keys that may be known by then
            self._accesses.forget_stores()
        failures = self._failures[row.id] = self._failures.get(row.id, 0) + 1
        # A store that swallows a request for ten seconds must not have every other run wait for it all the time.
        self._due[row.id] = self._clock() + min(_LONGEST_TROUBLE_S, _TROUBLE_S * 2.0 ** (failures - 1))
        view = replace(view_from_json(row.view), notice=words, updated_at=now_text())
        known = self._rows.get(row.id)
        if known is None or known.view.get("notice") != words:
            with self._trouble_of("the index"):
                self._rows[row.id] = _row_of(row, view, is_open=True)
                self._index.update(self._rows[row.id])

    def _adopt(self, row: RunRow) -> KeptRun:
        store = self._open_store(row.store) if self._open_store else self._accesses.open_run(row.store, row.id)
        log.info("%s: looking after it", row.id)
        return KeptRun(store, row.id, self.settings, self._platforms, self._private, self._clock, self._mirrors)

    def _private(self, run: str) -> dict[str, str]:
        """What a stint's runner must be told and nobody else."""
        folder = self._kept[run].folder
        mirror = folder.orders[folder.last].store
        try:
            return self._accesses.secrets_of(run, [*addresses_of(folder.spec), *filter(None, [mirror])])
        except CredentialError:
            if not mirror:
                raise
            # The account may have keys of its own for its store; its platform adds them.
            return self._accesses.secrets_of(run, addresses_of(folder.spec))

    def _uses(self) -> list[Mapping[str, Any]]:
        """What every run of this home has used of each platform."""
        return [row.view.get("used_s") or {} for row in self._index.all_runs()]

    def _poll_all(self, rows: list[RunRow]) -> tuple[dict[str, Job], set[str]]:
        """One question per platform for the jobs of all runs, and the runs whose platforms have answered."""
        wanted: dict[str, list[str]] = {}
        askers: dict[str, list[RunRow]] = {}
        for row in rows:
            for platform, names in self._kept[row.id].job_names().items():
                wanted.setdefault(platform, []).extend(names)
                askers.setdefault(platform, []).append(row)
        jobs: dict[str, Job] = {}
        answered = {row.id for row in rows}
        for platform, names in wanted.items():
            try:
                jobs.update(self._platforms.poll({platform: names}))
            except Exception as error:  # noqa: BLE001 - the runs on other platforms go on
                for row in askers[platform]:
                    self._note(row, error)
                    answered.discard(row.id)
        # Of a platform far away nothing may be known yet: its runs are looked at when it has answered.
        waiting = {row.id for row in rows if not self._kept[row.id].is_heard(jobs)}
        return jobs, answered - waiting

    def _holds_lease(self, run: str) -> bool:
        now = self._clock()
        if now - self._renewed.get(run, -_RENEW_S) < _RENEW_S:
            return True
        if not self._index.take_lease(run, self.holder, LEASE_S):
            self._forget(run)
            return False
        self._renewed[run] = now
        return True

    def _forget(self, run: str) -> None:
        self._kept.pop(run, None)
        self._renewed.pop(run, None)
        self._rows.pop(run, None)
        self._due.pop(run, None)
        self._mirrors.forget(run)

    def _open_index(self) -> Index:
        try:
            return index_of(self.settings, self.home)
        except IndexDamaged as error:
            log.warning("%s; rebuilding it", error.message)
            rebuild_index(self.home, self.settings)
            return index_of(self.settings, self.home)

    def _reopen_index(self) -> None:
        self._index.close()
        if not self.settings.shares_index and not self.home.index.exists():
            log.warning("the index %s was removed; rebuilding it", self.home.index)
            rebuild_index(self.home, self.settings)
        self._index = self._open_index()
        self._renewed.clear()
        self._rows.clear()

    @contextlib.contextmanager
    def _trouble_of(self, what: str) -> Iterator[None]:
        try:
            yield
        except Exception:
            log.exception("trouble with %s", what)


def _row_of(row: RunRow, view: RunView, *, is_open: bool) -> RunRow:
    return replace(
        row, state=view.state.value, platform=view.platform, updated_at=view.updated_at, open=is_open,
        view=view.to_json(),
    )  # fmt: skip


def _create_platform(name: str, settings: Settings) -> Platform:
    from outlast.platforms.registry import create

    return create(name, settings)
