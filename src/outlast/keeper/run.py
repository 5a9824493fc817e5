"""One run in the keeper's hands: look, decide, carry out. Knows nothing of the index or of other runs."""

from __future__ import annotations

import dataclasses
import logging
import secrets as random_words
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from outlast import relay
from outlast.errors import OutlastError
from outlast.inside import layout
from outlast.inside.records import End, Order, now_text
from outlast.inside.stores.base import Store
from outlast.keeper.observe import Ages, RunFolder, run_seen
from outlast.keeper.servers import Servers
from outlast.keeper.view import policy_of, short_view, useful_fraction
from outlast.model.spec import RunSpec
from outlast.model.states import EndReason, StintState
from outlast.model.view import RunView
from outlast.platforms.base import Job, JobState, Launch, Platform, job_name
from outlast.settings import Settings

log = logging.getLogger("outlast.keeper")

#: Decisions that follow each other in one look: end → order → submit → queued is the longest way.
_STEPS = 6
#: Checkpoints of a run whose ledger is read anew at every hand-over; about 0.3 ms for each.
_SHORT_HISTORY = 200
#: The same where each document is a request of some milliseconds.
_SHORT_REMOTE_HISTORY = 20
#: A running stint in a store over a network is looked at every so many of its `pace_s`; a look is four requests.
_REMOTE_LOOKS = 3
#: How often to look, by what the newest stint is doing.
LEAVING_S, STARTING_S, RUNNING_S, QUIET_S = 0.1, 0.2, 1.0, 5.0
_WORTH_A_LOOK = (EndReason.SCRIPT_ERROR, EndReason.SETUP_ERROR)
_RETRY_ELSEWHERE = (EndReason.PREEMPTED, EndReason.LOST, EndReason.SETUP_ERROR)


@dataclass(frozen=True)
class Look:
    """The outcome of looking at a run."""

    view: RunView
    done: bool  # nothing is left to do: the keeper may forget the run
    delay_s: float  # until the next look, unless something wakes the keeper


class KeptRun:
    """Observes one run, asks the relay, and carries out what it says.

    Holds nothing that a restart would miss: orders, ends and jobs lie in the store and with the platform, and every
    action can be repeated without harm. Only ages start anew.
    """

    def __init__(
        self,
        store: Store,
        run: str,
        settings: Settings,
        platforms: Callable[[str], Platform],
        secrets: Callable[[str], Mapping[str, str]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.folder = RunFolder(store, run, clock)
        self._store_pace_s = store.pace_s
        self._settings = settings
        self._platforms = platforms
        self._secrets = secrets
        self._servers = Servers(settings.home)
        self._ages = Ages(clock)
        self._settled: set[int] = set()  # stints that have an end and no job any more
        self._spec: RunSpec | None = None
        self.hold = ""  # why the first stint must wait; set by whoever knows of other runs
        self.is_over = False  # as of the last look
        self._useful: tuple[int, float | None] = (0, None)  # ends counted, fraction
        self.folder.refresh()
        # Jobs of old stints were dealt with by whoever ordered the next one; the last few are asked about.
        self._settled.update(range(1, self.folder.last - 2))
        self._cleaned = set(self._settled)

    def forgive_silence(self) -> None:
        """The store was away: what its runner could not tell us, and we could not read, is no sign of a death."""
        self._ages.restart("beat")

    def job_names(self) -> dict[str, list[str]]:
        """Platform → names of the jobs whose state matters."""
        names: dict[str, list[str]] = {}
        for number, order in self.folder.orders.items():
            if number not in self._settled:
                names.setdefault(order.platform, []).append(job_name(self.folder.run, number))
        return names

    def look(self, jobs: Mapping[str, Job]) -> Look:
        """Decide on a folder that was just refreshed and the jobs as just polled, act, and look again until quiet."""
        self._revive_servers()
        decision = self._decide(jobs)
        for _ in range(_STEPS):
            actions = [action for action in decision.actions if not isinstance(action, relay.Wait)]
            if not actions:
                break
            for action in actions:
                if not self._carry_out(action):
                    break
            self.folder.refresh()
            jobs = self._poll()
            before, decision = decision, self._decide(jobs)
            if decision.actions == before.actions:
                break  # the platform needs time, e.g. to end a job
        return self._outcome(decision, jobs)

    def _decide(self, jobs: Mapping[str, Job]) -> relay.Decision:
        policy = policy_of(self._settings, self.folder.spec, self.folder.control)
        seen = run_seen(self.folder, jobs, self._ages, policy)
        decision = relay.decide(dataclasses.replace(seen, hold=self.hold))
        for number in self.folder.ends:
            job = jobs.get(job_name(self.folder.run, number))
            if job is not None and job.state in (JobState.ABSENT, JobState.ENDED):
                self._settled.add(number)
        return decision

    def _poll(self) -> dict[str, Job]:
        jobs: dict[str, Job] = {}
        for platform, names in self.job_names().items():
            jobs.update(self._platforms(platform).poll(names))
        return jobs

    def _carry_out(self, action: relay.Action) -> bool:
        """False: someone else was first, so look again before going on."""
        if isinstance(action, relay.WriteOrder):
            return self._write_order(action)
        if isinstance(action, relay.Submit):
            self._submit(action.stint)
        elif isinstance(action, relay.Cancel):
            self._platform_of(action.stint).cancel(job_name(self.folder.run, action.stint))
        elif isinstance(action, relay.WriteEnd):
            return self._write_end(action)
        return True

    def _write_order(self, action: relay.WriteOrder) -> bool:
        spec, control = self.folder.spec, self.folder.control
        order = Order(
            run=self.folder.run,
            stint=action.stint,
            token=random_words.token_hex(8),
            platform=self._next_platform(),
            limit_s=control.limit_s or spec.get("limit_s"),
            grace_s=float(spec.get("grace_s", self._settings.grace_s)),
            resume_from=action.resume_from,
            created_at=now_text(),
        )
        key = layout.order_key(self.folder.run, action.stint)
        if not self.folder.store.put_if_absent(key, order.to_bytes()):
            return False
        self.folder.orders[action.stint] = order
        return True

    def _submit(self, stint: int) -> None:
        if self._spec is None:
            self._spec = RunSpec.from_json(self.folder.spec)
        self._servers.serve(self.folder.run, self.folder.spec, self.folder.orders[stint].platform)
        launch = Launch(self._spec, self.folder.orders[stint], self._secrets(self.folder.run))
        self._platform_of(stint).submit(launch)
        self._ages.of(("asked", stint), True)

    def _revive_servers(self) -> None:
        last = self.folder.last
        if last in self.folder.orders and last not in self.folder.ends:
            self._servers.revive(self.folder.run, self.folder.spec, self.folder.orders[last].platform)

    def _write_end(self, action: relay.WriteEnd) -> bool:
        stint = action.stint
        self.folder.list_checkpoints()  # a runner that died may have committed after its last beat
        beat, committed = self.folder.beat(stint), self.folder.checkpoints_of(stint)
        end = End(
            reason=action.reason.value,
            message=action.message,
            cause=action.cause,
            last_checkpoint=committed[-1] if committed else None,
            checkpoints=len(committed),
            epoch=beat.epoch if beat else None,
            step=beat.step if beat else None,
            metrics=dict(beat.metrics) if beat else {},
            best=dict(beat.best) if beat else {},
            by="keeper",
            at=now_text(),
        )
        return self.folder.store.put_if_absent(layout.end_key(self.folder.run, stint), end.to_bytes())

    def _platform_of(self, stint: int) -> Platform:
        return self._platforms(self.folder.orders[stint].platform)

    def _next_platform(self) -> str:
        """The same platform again; the next one of the user's list after it gave no progress."""
        names: tuple[str, ...] = tuple(self.folder.spec.get("platforms") or ("local",))
        last = self.folder.last
        if not last or self.folder.orders[last].platform not in names:
            return names[0]
        place = names.index(self.folder.orders[last].platform)
        end = self.folder.ends.get(last)
        failed = end is not None and end.reason in _RETRY_ELSEWHERE and not self.folder.checkpoints_of(last)
        return names[(place + failed) % len(names)]

    def _outcome(self, decision: relay.Decision, jobs: Mapping[str, Job]) -> Look:
        last = self.folder.last
        job = jobs.get(job_name(self.folder.run, last), Job(JobState.ABSENT))
        fraction = self._useful_fraction(decision.state.is_final)
        view = short_view(self.folder, decision, detail=job.detail, useful_fraction=fraction)
        quiet = len(self._settled) >= last and not decision.actions
        self._clean_work()
        self.is_over = decision.state.is_final
        return Look(view, decision.state.is_final and quiet, self._delay_s(decision, job))

    def _delay_s(self, decision: relay.Decision, job: Job) -> float:
        waits = [action.seconds for action in decision.actions if isinstance(action, relay.Wait)]
        pace = min([QUIET_S, *(max(seconds, 0.02) for seconds in waits if seconds is not None)])
        return max(min(pace, self._pace_s(decision, job)), self._store_pace_s)

    def _pace_s(self, decision: relay.Decision, job: Job) -> float:
        running_s = max(RUNNING_S, _REMOTE_LOOKS * self._store_pace_s)
        if decision.stint_state is None or decision.stint_state is StintState.ENDED:
            return running_s
        if decision.stint_state is StintState.HANDING_OVER:
            return LEAVING_S
        if decision.stint_state is not StintState.RUNNING:
            return QUIET_S if job.state is JobState.QUEUED else STARTING_S
        beat = self.folder.beat(self.folder.last)
        near = beat is not None and beat.time_left_s is not None and beat.time_left_s < 3.0
        return STARTING_S if near else running_s

    def _clean_work(self) -> None:
        """Let the platforms remove what ended stints left; the newest that failed is kept for a look."""
        fresh = self._settled - self._cleaned
        if not fresh:
            return
        self._cleaned |= fresh
        failed = [number for number, end in self.folder.ends.items() if end.reason in _WORTH_A_LOOK]
        for platform in {self.folder.orders[number].platform for number in fresh}:
            try:
                self._platforms(platform).clean_work(self.folder.run, keep=failed[-1:])
            except (OSError, OutlastError) as error:
                log.warning("%s: old work folders stay: %s", self.folder.run, error)

    def _useful_fraction(self, final: bool) -> float | None:
        """Computed once per ended stint, from every end and manifest; a long history only when the run is over."""
        short = len(self.folder.checkpoints) <= (_SHORT_REMOTE_HISTORY if self._store_pace_s else _SHORT_HISTORY)
        if self._useful[0] != len(self.folder.ends) and (final or short):
            self._useful = (len(self.folder.ends), useful_fraction(self.folder))
        return self._useful[1]
