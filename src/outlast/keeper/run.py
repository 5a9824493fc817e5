"""One run in the keeper's hands: look, decide, carry out. Knows nothing of the index or of other runs."""

from __future__ import annotations

import dataclasses
import logging
import secrets as random_words
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from outlast import relay
from outlast.errors import OutlastError, Unavailable
from outlast.inside import layout
from outlast.inside.records import End, Order, now_text
from outlast.inside.stores.base import Store
from outlast.keeper.listening import Listening
from outlast.keeper.mirrors import Mirrors
from outlast.keeper.observe import Ages, RunFolder, run_seen
from outlast.keeper.platforms import Platforms
from outlast.keeper.servers import Servers
from outlast.keeper.view import policy_of, short_view, useful_fraction
from outlast.model.spec import RunSpec
from outlast.model.states import EndReason, StintState
from outlast.model.view import RunView
from outlast.platforms.base import Job, JobState, Launch, job_name
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
#: Ends after which the next platform of the list gets its turn, unless there was a new checkpoint.
_RETRY_ELSEWHERE = {
    EndReason.PREEMPTED: "took the machine of stint {}", EndReason.LOST: "lost stint {}",
    EndReason.SETUP_ERROR: "could not prepare stint {}",
}  # fmt: skip


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
        platforms: Platforms,
        secrets: Callable[[str], Mapping[str, str]],
        clock: Callable[[], float] = time.monotonic,
        mirrors: Mirrors | None = None,
    ) -> None:
        self.folder = RunFolder(store, run, clock)
        self._mirrors = mirrors
        self._store_pace_s = store.pace_s
        self._settings = settings
        self._platforms = platforms
        self._secrets = secrets
        self._servers = Servers(settings.home)
        self._ages = Ages(clock)
        self._settled: set[int] = set()  # stints that have an end and no job any more
        self._refusals: dict[int, str] = {}  # what a platform said when it took no job for a stint
        self._unmirrored: set[int] = set()  # stints whose mirror could not be made, so that nobody works on it
        self._jobs: Mapping[str, Job] = {}
        self._spec: RunSpec | None = None
        self.hold = ""  # why the first stint must wait; set by whoever knows of other runs
        self.is_over = False  # as of the last look
        self._useful: tuple[int, float | None] = (0, None)  # ends counted, fraction
        self.folder.refresh()
        # Jobs of old stints were dealt with by whoever ordered the next one; the last few are asked about.
        self._settled.update(range(1, self.folder.last - 2))
        self._cleaned = set(self._settled)
        self._listening = Listening()

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

    def is_heard(self, jobs: Mapping[str, Job]) -> bool:
        """Whether something is known of every job that matters."""
        return all(name in jobs for names in self.job_names().values() for name in names)

    def look(self, jobs: Mapping[str, Job]) -> Look:
        """Decide on a folder that was just refreshed and the jobs as just polled, act, and look again until quiet."""
        self._revive_servers()
        self._follow_mirrors()
        decision = self._decide(jobs)
        for _ in range(_STEPS):
            actions = [action for action in decision.actions if not isinstance(action, relay.Wait)]
            if not actions:
                break
            for action in actions:
                if not self._carry_out(action):
                    break
            self.folder.refresh()
            jobs = self._platforms.poll(self.job_names())
            if not self.is_heard(jobs):
                break  # a platform far away will answer; to decide before that would be to guess
            before, decision = decision, self._decide(jobs)
            if decision.actions == before.actions:
                break  # the platform needs time, e.g. to end a job
        return self._outcome(decision, jobs)

    def _decide(self, jobs: Mapping[str, Job]) -> relay.Decision:
        self._jobs = jobs
        policy = policy_of(self._settings, self.folder.spec, self.folder.control)
        seen = run_seen(self.folder, jobs, self._ages, self._patience(policy), self._refusals)
        places = self._platforms.places(self._names)
        decision = relay.decide(dataclasses.replace(
            seen, hold=self.hold, choice=relay.choose(places, *self._last_place()),
            elsewhere=relay.elsewhere(places, self._open_platform()),
        ))  # fmt: skip
        self._note_taken(seen)
        for number in self.folder.ends:
            job = jobs.get(job_name(self.folder.run, number))
            if job is None:
                continue
            if job.unheard:
                # Of a run that is over, nothing is waited for that nobody is signed in to learn or to end; the runner
                # of such a job leaves when it finds the end of its stint.
                is_settled = decision.state.is_final and self._platforms.is_severed(self.folder.orders[number].platform)
            else:
                is_settled = job.state in (JobState.ABSENT, JobState.ENDED)
            if is_settled:
                self._settled.add(number)
        return decision

    def _carry_out(self, action: relay.Action) -> bool:
        """False: someone else was first, so look again before going on."""
        if isinstance(action, relay.WriteOrder):
            return self._write_order(action)
        if isinstance(action, relay.Submit):
            self._submit(action.stint)
        elif isinstance(action, relay.Cancel):
            order = self.folder.orders[action.stint]
            self._platforms.reach(order.platform).cancel(job_name(self.folder.run, action.stint))
        elif isinstance(action, relay.WriteEnd):
            return self._write_end(action)
        return True

    def _write_order(self, action: relay.WriteOrder) -> bool:
        spec, control = self.folder.spec, self.folder.control
        order = Order(
            run=self.folder.run,
            stint=action.stint,
            token=random_words.token_hex(8),
            platform=action.platform,
            why=action.why,
            store=self._platforms.mirror(action.platform, spec["store"]),
            limit_s=self._platforms.limit_s(action.platform, control.limit_s or spec.get("limit_s")),
            grace_s=float(spec.get("grace_s", self._settings.grace_s)),
            resume_from=action.resume_from,
            created_at=now_text(),
        )
        key = layout.order_key(self.folder.run, action.stint)
        if not self.folder.store.put_if_absent(key, order.to_bytes()):
            return False
        self.folder.orders[action.stint] = order
        self._platforms.breakers.begin_trial(action.platform)
        return True

    def _submit(self, stint: int) -> None:
        order = self.folder.orders[stint]
        if self._spec is None:
            self._spec = RunSpec.from_json(self.folder.spec)
        if not self._is_mirrored(order):
            return
        self._servers.serve(self.folder.run, self.folder.spec, order.platform)
        launch = Launch(self._spec, order, self._secrets(self.folder.run))
        outcome = self._platforms.reach(order.platform).submit(launch)
        if isinstance(outcome, Unavailable):
            self._refusals[stint] = f"{order.platform} took no job: {outcome.message}"
            self._platforms.refused(order.platform, outcome)
        elif outcome == "taken":
            self._ages.of(("asked", stint), True)

    def _revive_servers(self) -> None:
        last = self.folder.last
        if last in self.folder.orders and last not in self.folder.ends:
            self._servers.revive(self.folder.run, self.folder.spec, self.folder.orders[last].platform)

    def _write_end(self, action: relay.WriteEnd) -> bool:
        stint = action.stint
        if action.reason is EndReason.REFUSED and stint not in self._refusals:
            self._note_silent_refusal(stint, action.message)
            self._refusals[stint] = action.message  # said once, though a mirrored stint's end takes several looks
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
        if self._ends_in_mirror(self.folder.orders[stint], end):
            return False  # the end comes home from there: this one, or the runner's own
        return self.folder.store.put_if_absent(layout.end_key(self.folder.run, stint), end.to_bytes())

    def _ends_in_mirror(self, order: Order, end: End) -> bool:
        """Have a stint ended where it works. False where it works at home, or its mirror is lost with its job gone."""
        if self._mirrors is None or not order.store or order.stint in self._unmirrored:
            return False
        job = self._jobs.get(job_name(order.run, order.stint), Job(JobState.ABSENT))
        is_gone = job.state in (JobState.ABSENT, JobState.ENDED)
        if is_gone and self._mirrors.is_lost(self.folder.store, order):
            log.warning("%s: stint %d ends without its mirror in %s", order.run, order.stint, order.store)
            return False
        self._mirrors.fence(self.folder.store, order, end)
        return True

    def _is_mirrored(self, order: Order) -> bool:
        """Whether a stint would find all that it needs where it works. A platform whose store is away refuses it."""
        if self._mirrors is None or not order.store:
            return True
        try:
            return self._mirrors.push(self.folder.store, self.folder.spec, order)
        except Unavailable as error:
            self._unmirrored.add(order.stint)
            self._refusals[order.stint] = error.message
            self._platforms.refused(order.platform, error)
            return False

    def _follow_mirrors(self) -> None:
        """Have open stints brought home from where they work. Silence counts only while their mirror can be read."""
        for number, order in self.folder.orders.items():
            if self._mirrors is None or not order.store or number in self.folder.ends or number in self._unmirrored:
                continue
            if not self._mirrors.follow(self.folder.store, order):
                self.forgive_silence()

    def _note_silent_refusal(self, stint: int, words: str) -> None:
        """A platform that kept a stint waiting is full; one that forgot its job is not to be relied on for a while."""
        job = self._jobs.get(job_name(self.folder.run, stint), Job(JobState.ABSENT))
        if not job.unheard:  # one that does not answer is left alone already
            full = job.state is JobState.QUEUED
            error = Unavailable(
                words if full else f"it lost the job of stint {stint}", why="full" if full else "refused"
            )
            self._platforms.refused(self.folder.orders[stint].platform, error)

    @property
    def _names(self) -> tuple[str, ...]:
        """The user's list of platforms, in the order of preference."""
        return tuple(self.folder.spec.get("platforms") or ("local",))

    def _open_platform(self) -> str:
        last = self.folder.last
        return self.folder.orders[last].platform if last in self.folder.orders else ""

    def _last_place(self) -> tuple[str, str]:
        """The platform of the last stint that got a machine, and how that came to nothing, if it did."""
        for number in sorted(self.folder.orders, reverse=True):
            end = self.folder.ends.get(number)
            if end is not None and end.reason == EndReason.REFUSED:
                continue
            words = _RETRY_ELSEWHERE.get(EndReason(end.reason), "") if end is not None else ""
            failed = "" if self.folder.checkpoints_of(number) else words.format(number)
            return self.folder.orders[number].platform, failed
        return "", ""

    def _patience(self, policy: relay.Policy) -> relay.Policy:
        name = self._open_platform()
        if len(self._names) == 1 or not name:
            return policy
        patience_s = self._platforms.queue_patience_s(name, policy.queue_patience_s)
        return dataclasses.replace(policy, queue_patience_s=patience_s)

    def _note_taken(self, seen: relay.RunSeen) -> None:
        """A stint that runs closes its platform's breaker."""
        last = seen.stints[-1] if seen.stints else None
        if last is not None and last.is_open and not last.unheard and (last.claimed or last.job is relay.Job.RUNNING):
            self._platforms.breakers.close(last.platform)

    def _outcome(self, decision: relay.Decision, jobs: Mapping[str, Job]) -> Look:
        last = self.folder.last
        job = jobs.get(job_name(self.folder.run, last), Job(JobState.ABSENT))
        fraction = self._useful_fraction(decision.state.is_final)
        said = self._listening.look(self.folder, jobs, self._platforms, self._ages)
        notice = self._mirrors.words(self.folder.run) if self._mirrors is not None else ""
        view = short_view(
            self.folder, decision, detail=job.detail or said, notice=notice, useful_fraction=fraction
        )  # fmt: skip
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
                self._platforms.line(platform).clean_work(self.folder.run, failed[-1:])
            except (OSError, OutlastError) as error:
                log.warning("%s: old work folders stay: %s", self.folder.run, error)

    def _useful_fraction(self, final: bool) -> float | None:
        """Computed once per ended stint, from every end and manifest; a long history only when the run is over."""
        short = len(self.folder.checkpoints) <= (_SHORT_REMOTE_HISTORY if self._store_pace_s else _SHORT_HISTORY)
        if self._useful[0] != len(self.folder.ends) and (final or short):
            self._useful = (len(self.folder.ends), useful_fraction(self.folder))
        return self._useful[1]
