"""A small world for the relay: a platform, runners and keepers around a run folder, all misbehaving on demand.

Nothing here knows what the relay should decide; the folder only refuses what may never happen. Every event is one
method, so that a seeded random driver and Hypothesis can both play it. Time passes only when a driver says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from outlast.model.states import EndReason
from outlast.relay import (
    Cancel,
    Decision,
    EndSeen,
    Job,
    Policy,
    RunSeen,
    StintSeen,
    Submit,
    Wait,
    WriteEnd,
    WriteOrder,
    decide,
)
from relay_folder import End, Folder, Manifest, PromiseBroken, Script, require


@dataclass(slots=True)
class Runner:
    """One process that works on a stint. Dead ones are simply not in the world any more."""

    stint: int
    claimed: bool = False
    position: int = 0
    saved: int = 0
    parent: str | None = None
    number: int = 0
    used: int = 0
    mute: bool = False  # its beats do not arrive
    blind: bool = False  # it does not notice the fence (yet)
    pending: Manifest | None = None  # checked the fence, not yet committed


@dataclass(slots=True)
class PlatformJob:
    state: Job = Job.QUEUED
    preempted: bool = False
    exit_code: int | None = None
    hidden_looks: int = 0  # so many polls do not show it yet


@dataclass(slots=True)
class Memory:
    """What a keeper remembers between looks; a crash empties it."""

    beat: tuple[int, int, float] = (0, -1, 0.0)  # stint, count, when it last moved
    gone: tuple[int, float] | None = None
    running: tuple[int, float] | None = None
    submitted: dict[int, float] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)
    waiting: tuple[int, float] | None = None
    heard: dict[int, PlatformJob] = field(default_factory=dict)  # the last answer about each job
    ended: dict[int, float] = field(default_factory=dict)
    asked_stop: float | None = None


class Keeper:
    """Observes, decides, acts one action at a time; may crash or dawdle between any two."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.memory = Memory()
        self.todo: list[object] = []
        self.decision: Decision | None = None

    def crash(self) -> None:
        self.memory = Memory()
        self.todo = []
        self.decision = None

    def look(self) -> Decision:
        seen = self.world.observe(self.memory)
        self.decision = decide(seen)
        self.todo = [action for action in self.decision.actions if not isinstance(action, Wait)]
        return self.decision

    def act(self) -> bool:
        """Carry out the next action of the last decision, however old that is."""
        if not self.todo:
            return False
        action = self.todo.pop(0)
        world = self.world
        if isinstance(action, WriteOrder):
            world.folder.put_order(action.stint, action.resume_from)
        elif isinstance(action, Submit):
            refusal = world.submit(action.stint)
            if refusal:
                self.memory.refused[action.stint] = refusal
            else:
                self.memory.submitted.setdefault(action.stint, world.now)
        elif isinstance(action, Cancel):
            world.cancel(action.stint)
        elif isinstance(action, WriteEnd):
            world.folder.put_end(action.stint, End(action.reason, "keeper"))
        return True


class World:
    """Everything around the relay."""

    def __init__(self, script: Script, policy: Policy | None = None) -> None:
        self.script = script
        self.policy = policy or Policy()
        self.folder = Folder()
        self.jobs: dict[int, PlatformJob] = {}
        self.runners: list[Runner] = []
        self.now = 0.0
        self.failed_once = False
        self.unkillable = False  # cancelling leaves a zombie behind
        self.refusals: list[str] = []  # what the next submits meet: "full", or "lost": started, the answer lost
        self.elsewhere = ""  # another platform could be asked
        self.is_down = False  # the platform does not answer; what it said last is remembered
        self._settled: dict[int, tuple[int, StintSeen]] = {}

    # -- what a keeper sees ------------------------------------------------------------------------------------

    def observe(self, memory: Memory) -> RunSeen:
        folder = self.folder
        asked_stop_s = None
        if folder.want == "stop":
            memory.asked_stop = self.now if memory.asked_stop is None else memory.asked_stop
            asked_stop_s = self.now - memory.asked_stop
        else:
            memory.asked_stop = None
        stints = tuple([self._stint(number, memory) for number in folder.orders])
        return RunSeen(
            policy=self.policy,
            want="stop" if folder.want == "stop" else "go",
            asked_stop_s=asked_stop_s,
            since_stint=folder.since_stint,
            resume_from=folder.resume_from,
            stints=stints,
            checkpoints=tuple(folder.manifests),
            elsewhere=self.elsewhere,
        )

    def _stint(self, number: int, memory: Memory) -> StintSeen:
        folder = self.folder
        names = folder.of_stint.get(number, ())
        end = folder.ends.get(number)
        job, unheard = self._heard(number, memory)
        alive = job.state in (Job.QUEUED, Job.RUNNING)
        is_last = number == len(folder.orders)
        if end is not None and not is_last and not alive:
            known = self._settled.get(number)
            if known is not None and known[0] == len(names):
                return known[1]
        end_seen = None
        if end is not None:
            ago_s = self.now - memory.ended.setdefault(number, self.now) if is_last or alive else 1e9
            end_seen = EndSeen(end.reason, fingerprint=end.fingerprint, exit_code=end.exit_code, by=end.by, ago_s=ago_s)
        claimed = number in folder.claims
        silent_s = running_s = gone_s = None
        if end is None:
            silent_s, running_s, gone_s = self._ages(number, job.state, claimed, memory)
        submitted = memory.submitted.get(number)
        waits = end is None and not claimed and (job.state is Job.QUEUED or (unheard and job.state is Job.ABSENT))
        if not waits or memory.waiting is None or memory.waiting[0] != number:
            memory.waiting = (number, self.now) if waits else None
        seen = StintSeen(
            number=number,
            platform="toy",
            refused=memory.refused.get(number, ""),
            unheard="is down" if unheard else "",
            waiting_s=self.now - memory.waiting[1] if memory.waiting else None,
            job=job.state,
            preempted=job.preempted,
            job_exit=job.exit_code,
            claimed=claimed,
            phase="running" if claimed else "",
            silent_s=silent_s,
            since_submit_s=None if submitted is None else self.now - submitted,
            running_s=running_s,
            gone_s=gone_s,
            end=end_seen,
            checkpoints=tuple(names),
            step=end.position if end is not None else None,
        )
        if end is not None and not is_last and not alive:
            self._settled[number] = (len(names), seen)
        return seen

    def _ages(
        self, number: int, state: Job, claimed: bool, memory: Memory
    ) -> tuple[float | None, float | None, float | None]:
        silent_s = running_s = gone_s = None
        count = self.folder.beats.get(number)
        if count is not None:
            if memory.beat[:2] != (number, count):
                memory.beat = (number, count, self.now)
            silent_s = self.now - memory.beat[2]
        if state is Job.RUNNING:
            if memory.running is None or memory.running[0] != number:
                memory.running = (number, self.now)
            running_s = self.now - memory.running[1]
        asked = claimed or (state is Job.ABSENT and number in memory.submitted)
        if state is Job.ENDED or (asked and state is not Job.RUNNING):
            if memory.gone is None or memory.gone[0] != number:
                memory.gone = (number, self.now)
            gone_s = self.now - memory.gone[1]
        else:
            memory.gone = None
        return silent_s, running_s, gone_s

    def _heard(self, number: int, memory: Memory) -> tuple[PlatformJob, bool]:
        """What a keeper hears, as `observe` reads it: a claim is newer than any answer that cannot be had now."""
        if not self.is_down:
            job = self._poll(number)
            memory.heard[number] = PlatformJob(job.state, job.preempted, job.exit_code)
            return job, False
        job = memory.heard.get(number, _NO_JOB)
        if number in self.folder.claims and job.state in (Job.ABSENT, Job.QUEUED):
            job = PlatformJob(Job.RUNNING)
        return job, True

    def _poll(self, number: int) -> PlatformJob:
        job = self.jobs.get(number)
        if job is None:
            return _NO_JOB
        if job.hidden_looks > 0:
            job.hidden_looks -= 1
            return _NO_JOB
        return job

    # -- the platform ------------------------------------------------------------------------------------------

    def submit(self, stint: int) -> str:
        """What a platform says that takes no job; empty when it took it."""
        require(stint in self.folder.orders, f"stint {stint} was submitted before it was ordered")
        refusal = "down" if self.is_down else self.refusals.pop(0) if self.refusals else ""
        if stint not in self.jobs and refusal in ("", "lost"):
            self.jobs[stint] = PlatformJob()
        return refusal

    def refuse(self, *words: str) -> None:
        self.refusals.extend(words)

    def go_down(self) -> None:
        self.is_down = not self.is_down

    def offer(self) -> None:
        """Another platform of the list can be asked, or cannot any more."""
        self.elsewhere = "" if self.elsewhere else "other"

    def hide(self, looks: int) -> None:
        """The newest job is not listed for the next few looks."""
        if self.jobs:
            self.jobs[max(self.jobs)].hidden_looks = looks

    def start(self) -> None:
        """Every queued job gets its machine."""
        for stint, job in self.jobs.items():
            if job.state is Job.QUEUED:
                job.state = Job.RUNNING
                self.runners.append(Runner(stint))

    def start_twice(self) -> None:
        """A second runner appears for the newest job, as after a doubled submit."""
        if self.jobs and self.jobs[max(self.jobs)].state is Job.RUNNING:
            self.runners.append(Runner(max(self.jobs)))

    def kill(self, *, preempted: bool, zombie: bool) -> None:
        """The newest job's machine is taken; a zombie runner goes on somewhere, unheard."""
        if not self.jobs or self.jobs[max(self.jobs)].state is not Job.RUNNING:
            return
        stint = max(self.jobs)
        job = self.jobs[stint]
        job.state, job.preempted, job.exit_code = Job.ENDED, preempted, None if preempted else -9
        self._end_runners(stint, zombie)

    def requeue(self) -> None:
        """The scheduler puts the newest job back into its queue."""
        if self.jobs and self.jobs[max(self.jobs)].state is Job.RUNNING:
            self.jobs[max(self.jobs)].state = Job.QUEUED
            self._end_runners(max(self.jobs), False)

    def forget(self) -> None:
        """The platform forgets every job that has ended."""
        for stint in [stint for stint, job in self.jobs.items() if job.state is Job.ENDED]:
            del self.jobs[stint]

    def cancel(self, stint: int) -> None:
        job = self.jobs.get(stint)
        if job is not None and job.state is not Job.ENDED:
            job.state = Job.ENDED
            self._end_runners(stint, self.unkillable)

    def _end_runners(self, stint: int, zombie: bool) -> None:
        if zombie:
            for runner in self.runners:
                if runner.stint == stint:
                    runner.mute = runner.blind = True
        else:
            self.runners = [runner for runner in self.runners if runner.stint != stint]

    # -- the runners -------------------------------------------------------------------------------------------

    def mute(self) -> None:
        if self.runners:
            self.runners[-1].mute = True

    def blind(self) -> None:
        if self.runners:
            self.runners[-1].blind = True

    def hear(self) -> None:
        """Every runner is connected again."""
        for runner in self.runners:
            runner.mute = runner.blind = False

    def work(self, index: int, steps: int) -> None:
        """One runner does so many steps, as far as it lives."""
        for _ in range(steps):
            if not self.runners:
                return
            runner = self.runners[index % len(self.runners)]
            if not self._work_once(runner):
                self._leave(runner)
                return

    def _leave(self, runner: Runner) -> None:
        self.runners.remove(runner)
        job = self.jobs.get(runner.stint)
        if job is not None and not any(other.stint == runner.stint for other in self.runners):
            job.state, job.exit_code = Job.ENDED, 0

    def _work_once(self, runner: Runner) -> bool:
        """One step of one runner; False when it leaves."""
        folder, stint = self.folder, runner.stint
        if runner.pending is not None:
            # The fence was checked before; an end that came in between cannot hold this commit back.
            runner.number += 1
            folder.put_manifest(stint, runner.number, runner.pending)
            runner.parent = f"{stint:04d}-{runner.number:06d}"
            runner.saved, runner.pending = runner.pending.position, None
            return True
        if stint in folder.ends and not runner.blind:
            return False
        if not runner.claimed:
            return self._claim(runner)
        if not runner.mute:
            folder.beats[stint] = folder.beats.get(stint, 0) + 1
        return self._train(runner)

    def _claim(self, runner: Runner) -> bool:
        folder, stint = self.folder, runner.stint
        if not folder.put_claim(stint):
            return False
        runner.claimed = True
        runner.parent = folder.orders[stint]
        if runner.parent is not None:
            runner.position = runner.saved = folder.manifests[runner.parent].position
        return True

    def _train(self, runner: Runner) -> bool:
        script, stint = self.script, runner.stint
        if runner.position >= script.total and runner.saved == runner.position:
            return self._end(runner, EndReason.FINISHED)
        if self.folder.want == "stop" and not runner.mute:
            return self._end(runner, EndReason.STOPPED)
        if runner.used >= script.limit:
            fresh = bool(self.folder.of_stint.get(stint))
            return self._end(runner, EndReason.HAND_OVER if fresh else EndReason.TIME_LIMIT)
        runner.used += 1
        runner.position += 1
        if runner.position == script.fails_at:
            return self._end(runner, EndReason.SCRIPT_ERROR)
        if runner.position == script.fails_once_at and not self.failed_once:
            self.failed_once = True
            return self._end(runner, EndReason.SCRIPT_ERROR)
        is_due = runner.position - runner.saved >= script.save_every or runner.position >= script.total
        if script.saves and is_due:
            runner.pending = Manifest(stint, runner.parent, runner.position)
        elif not script.saves and runner.position >= script.total:
            return self._end(runner, EndReason.FINISHED)
        return True

    def _end(self, runner: Runner, reason: EndReason) -> bool:
        error = reason is EndReason.SCRIPT_ERROR
        end = End(reason, "runner", "same" if error else "", 1 if error else 0, runner.position)
        self.folder.put_end(runner.stint, end)
        return False

    # -- the user ----------------------------------------------------------------------------------------------

    def stop(self) -> None:
        self.folder.want = "stop"

    def resume(self) -> None:
        """As `outlast resume` does once a run is over."""
        self.folder.want = "go"
        self.folder.since_stint = len(self.folder.orders) + 1

    # -- the end of a history ----------------------------------------------------------------------------------

    def calm(self, keeper: Keeper, *, most_turns: int = 400) -> Decision:
        """No more faults: everything works and keepers look often. Returns the final decision."""
        self.hear()
        self.unkillable = self.is_down = False
        self.refusals.clear()
        for _ in range(most_turns):
            decision = keeper.look()
            while keeper.act():
                pass
            if decision.state.is_final:
                return decision
            waits = [action.seconds for action in decision.actions if isinstance(action, Wait)]
            self.start()
            if not self.runners:
                # Nothing but time can change anything now: let the keeper's own patience run out.
                self.now += max((wait or 0.0 for wait in waits), default=0.0) + 0.01
            for index in range(len(self.runners)):
                self.work(index, 3)
            self.now += 0.2
        raise PromiseBroken(f"no final state after {most_turns} calm turns")


_NO_JOB = PlatformJob(state=Job.ABSENT)
