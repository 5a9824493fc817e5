"""A small world for the relay: a run folder, a platform, runners and keepers that all misbehave on demand.

Nothing here knows what the relay should decide; the folder only refuses what may never happen. Every event is one
method, so that a seeded random driver and Hypothesis can both play it. Time passes only when a driver says so.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from outlast.model.states import EndReason, RunState
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


class PromiseBroken(AssertionError):
    """The world saw something that may never happen."""


def require(condition: bool, words: str) -> None:
    if not condition:
        raise PromiseBroken(words)


@dataclass(slots=True)
class Script:
    """How the training behaves: `total` units of work, a save every `save_every`, `limit` units per stint."""

    total: int = 12
    save_every: int = 2
    limit: int = 5
    saves: bool = True
    fails_at: int | None = None  # always fails there, with the same error
    fails_once_at: int | None = None  # fails there the first time only


@dataclass(slots=True)
class Manifest:
    stint: int
    parent: str | None
    position: int


@dataclass(slots=True)
class End:
    reason: EndReason
    by: str
    fingerprint: str = ""
    exit_code: int | None = None
    position: int | None = None


class Folder:
    """The run folder. Everything but beats and control is written once; the rules of the format are checked here."""

    def __init__(self) -> None:
        self.orders: dict[int, str | None] = {}
        self.claims: set[int] = set()
        self.ends: dict[int, End] = {}
        self.manifests: dict[str, Manifest] = {}
        self.of_stint: dict[int, list[str]] = {}
        self.beats: dict[int, int] = {}
        self.highest_at_end: dict[int, str | None] = {}
        self.want = "go"
        self.since_stint = 1
        self.resume_from: str | None = None

    def put_order(self, stint: int, resume_from: str | None) -> bool:
        if stint in self.orders:
            return False
        require(stint == len(self.orders) + 1, f"order {stint} skips a number")
        open_stints = [number for number in self.orders if number not in self.ends]
        require(not open_stints, f"order {stint} was written while stint {open_stints} is open")
        if stint > 1 and stint > self.since_stint:
            least = self.highest_at_end[stint - 1]
            require(
                least is None or (resume_from is not None and resume_from >= least),
                f"order {stint} resumes from {resume_from} although {least} was committed",
            )
        require(resume_from is None or resume_from in self.manifests, f"order {stint}: no checkpoint {resume_from}")
        self.orders[stint] = resume_from
        return True

    def put_claim(self, stint: int) -> bool:
        require(stint in self.orders, f"claim {stint} without an order")
        if stint in self.claims:
            return False
        self.claims.add(stint)
        return True

    def put_end(self, stint: int, end: End) -> bool:
        require(stint in self.orders, f"end {stint} without an order")
        if stint in self.ends:
            return False
        self.ends[stint] = end
        self.highest_at_end[stint] = max(self.manifests, default=None)
        return True

    def put_manifest(self, stint: int, number: int, manifest: Manifest) -> None:
        name = f"{stint:04d}-{number:06d}"
        require(name not in self.manifests, f"manifest {name} is rewritten")
        earlier = self.of_stint.setdefault(stint, [])
        expected = earlier[-1] if earlier else self.orders[stint]
        require(manifest.parent == expected, f"{name} continues {manifest.parent}, not {expected}")
        before = self.manifests[expected].position if expected is not None else 0
        require(manifest.position >= before, f"{name} goes back from {before} to {manifest.position}")
        self.manifests[name] = manifest
        earlier.append(name)


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
            world.submit(action.stint)
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
        )

    def _stint(self, number: int, memory: Memory) -> StintSeen:
        folder = self.folder
        names = folder.of_stint.get(number, ())
        end = folder.ends.get(number)
        job = self._poll(number)
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
        seen = StintSeen(
            number=number,
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

    def _poll(self, number: int) -> PlatformJob:
        job = self.jobs.get(number)
        if job is None:
            return _NO_JOB
        if job.hidden_looks > 0:
            job.hidden_looks -= 1
            return _NO_JOB
        return job

    # -- the platform ------------------------------------------------------------------------------------------

    def submit(self, stint: int) -> None:
        require(stint in self.folder.orders, f"stint {stint} was submitted before it was ordered")
        if stint not in self.jobs:
            self.jobs[stint] = PlatformJob()

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
        self.unkillable = False
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

    def check_history(self) -> None:
        """The line from the last checkpoint back to the start is one line, and never goes back."""
        name = max(self.folder.manifests, default=None)
        while name is not None:
            manifest = self.folder.manifests[name]
            if manifest.parent is not None:
                require(manifest.parent < name, f"{name} continues the later {manifest.parent}")
                require(
                    self.folder.manifests[manifest.parent].position <= manifest.position,
                    f"{name} is behind its parent",
                )
            name = manifest.parent

    def why_failed(self) -> str:
        """An account of a failure that does not ask the relay: which rule of the table can explain it."""
        ends = [(n, e) for n, e in self.folder.ends.items() if n >= self.folder.since_stint]
        idle: list[End] = []
        for number, end in reversed(ends):
            if self.folder.of_stint.get(number):
                break
            idle.append(end)
        gone = sum(end.reason in (EndReason.LOST, EndReason.PREEMPTED) for end in idle)
        if gone >= self.policy.lost_limit:
            return "lost too often"
        limits = sum(end.reason is EndReason.TIME_LIMIT for end in idle)
        if limits and (not self.folder.manifests or limits >= self.policy.no_progress_limit):
            return "limit without a checkpoint"
        if ends and ends[-1][1].reason is EndReason.SCRIPT_ERROR:
            return "script error"
        return ""


_NO_JOB = PlatformJob(state=Job.ABSENT)


def random_script(rng: random.Random) -> Script:
    save_every = rng.randint(1, 3)
    script = Script(total=rng.randint(3, 30), save_every=save_every, limit=save_every + rng.randint(1, 6))
    kind = rng.random()
    if kind < 0.08:
        script.saves = False
    elif kind < 0.16:
        script.fails_at = rng.randint(1, script.total)
    elif kind < 0.3:
        script.fails_once_at = rng.randint(1, script.total)
    return script


def play(seed: int, *, events: int = 60) -> tuple[World, RunState]:
    """One whole history: faults at random, then calm until the run is over. Raises `PromiseBroken`."""
    rng = random.Random(seed)
    world = World(random_script(rng))
    keepers = (Keeper(world), Keeper(world))
    chances = _CHANCES[rng.randrange(len(_CHANCES))]
    names, weights = zip(*chances, strict=True)
    for name in rng.choices(names, weights, k=events):
        _EVENTS[name](world, keepers, rng)
    return world, finish(world)


def finish(world: World) -> RunState:
    """Bring a history to its end and check what must hold there."""
    keeper = Keeper(world)
    script = world.script
    decision = world.calm(keeper)
    if decision.state is RunState.FAILED:
        require(bool(world.why_failed()), f"failed without a cause: {decision.message}")
    world.check_history()
    can_finish = script.fails_at is None and (script.saves or script.total <= script.limit)
    if can_finish and decision.state is not RunState.SUCCEEDED:
        # A stop, or more faults in a row than a run puts up with; without faults, resuming brings it home.
        world.resume()
        decision = world.calm(keeper)
        if decision.state is RunState.FAILED and script.fails_once_at is not None:
            require(world.why_failed() == "script error", decision.message)
            world.resume()
            decision = world.calm(keeper)
        require(decision.state is RunState.SUCCEEDED, f"can make progress but ended {decision}")
    if decision.state is RunState.SUCCEEDED:
        last = world.folder.ends[max(world.folder.ends)]
        require(last.reason is EndReason.FINISHED and last.by == "runner", "succeeded without being finished")
        require(last.position == script.total, f"finished at {last.position} of {script.total}")
    elif not script.saves:
        require(decision.state in (RunState.FAILED, RunState.STOPPED), str(decision))
    world.check_history()
    return decision.state


def _turn(world: World, keepers: tuple[Keeper, Keeper], rng: random.Random) -> None:
    keeper = keepers[0]
    keeper.look()
    while keeper.act():
        pass


def _look(world: World, keepers: tuple[Keeper, Keeper], rng: random.Random) -> None:
    keepers[rng.random() < 0.4].look()


def _act(world: World, keepers: tuple[Keeper, Keeper], rng: random.Random) -> None:
    keepers[rng.random() < 0.4].act()


_EVENTS = {
    "turn": _turn,
    "look": _look,
    "act": _act,
    "crash": lambda w, k, r: k[r.random() < 0.4].crash(),
    "start": lambda w, k, r: w.start(),
    "work": lambda w, k, r: w.work(r.randrange(8), r.randint(1, 5)),
    "wait": lambda w, k, r: setattr(w, "now", w.now + r.choice((0.1, 0.6, 2.0, 31.0, 70.0, 200.0))),
    "kill": lambda w, k, r: w.kill(preempted=r.random() < 0.4, zombie=r.random() < 0.5),
    "requeue": lambda w, k, r: w.requeue(),
    "forget": lambda w, k, r: w.forget(),
    "hide": lambda w, k, r: w.hide(r.randint(1, 4)),
    "twice": lambda w, k, r: w.start_twice(),
    "mute": lambda w, k, r: w.mute(),
    "blind": lambda w, k, r: w.blind(),
    "hear": lambda w, k, r: w.hear(),
    "unkillable": lambda w, k, r: setattr(w, "unkillable", r.random() < 0.5),
    "stop": lambda w, k, r: w.stop(),
    "resume": lambda w, k, r: w.resume() if w.folder.want == "stop" else None,
}

# Three kinds of weather, so that long healthy chains are as well covered as storms.
_CHANCES = (
    (("turn", 8), ("start", 5), ("work", 8), ("wait", 3), ("kill", 1), ("crash", 1), ("look", 2), ("act", 2)),
    (
        ("turn", 3), ("look", 6), ("act", 9), ("crash", 3), ("start", 5), ("work", 8), ("wait", 4), ("kill", 2),
        ("requeue", 1), ("forget", 1), ("hide", 1), ("twice", 1), ("mute", 1), ("blind", 1), ("hear", 1),
        ("unkillable", 1),
    ),
    (
        ("turn", 6), ("look", 3), ("act", 4), ("crash", 1), ("start", 5), ("work", 8), ("wait", 3), ("kill", 3),
        ("twice", 2), ("mute", 2), ("blind", 2), ("unkillable", 1), ("stop", 1), ("resume", 2), ("forget", 2),
    ),
)  # fmt: skip
