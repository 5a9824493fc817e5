"""`local`: stints on this machine, in a sandbox where there is one, in a queue when the machine is full."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from outlast.errors import PlatformError, SpecError
from outlast.inside import sandbox
from outlast.inside.place import Place
from outlast.model.quantities import format_size
from outlast.platforms.base import Job, JobState, Launch, Plan, Platform, Signals
from outlast.platforms.local import launch as launching
from outlast.platforms.local.jobs import JobFolder, Jobs
from outlast.platforms.local.machine import Machine
from outlast.platforms.local.namenodes import node_notices
from outlast.platforms.local.queue import Need, Waiting, choose
from outlast.platforms.local.removal import remove_tree

if TYPE_CHECKING:
    from outlast.model.spec import RunSpec
    from outlast.settings import Settings

_LOG_TAIL_BYTES = 64 << 10


class _Queue(NamedTuple):
    """The queue as it was found: which jobs run, and why others wait."""

    running: frozenset[str] = frozenset()
    waits: Mapping[str, str] = {}


class LocalPlatform(Platform, Signals):
    """This machine. Everything it knows is in files below `home/local`: any number of processes may use it at once."""

    name = "local"

    def __init__(
        self,
        home: Path,
        weights: Mapping[str, float] | None = None,
        *,
        machine: Machine | None = None,
        runner: Sequence[str] | None = None,
    ) -> None:
        """`machine` and `runner` stand in for the real machine and the real runner, for tests and for slices."""
        self._home = home.resolve()
        self._weights = dict(weights or {})
        self._machine_given = machine
        self._runner = runner
        self._jobs = Jobs(self._home / "local")
        self._pidfds: dict[str, int] = {}
        self._rung: set[str] = set()  # jobs whose end `wake_fds` has shown already
        self._sandbox: tuple[bool, str] | None = None

    @classmethod
    def from_settings(cls, settings: Settings) -> LocalPlatform:
        return cls(settings.home, settings.user_weights)

    def devices(self, spec: RunSpec) -> frozenset[str]:
        """NVIDIA cards that were not asked for are hidden from the script; Ascend cards are not."""
        has = {"cuda": spec.resources.gpus, "npu": len(self._machine().npus)}
        return frozenset(name for name, count in has.items() if count)

    # ---- the five verbs

    def check(self, spec: RunSpec) -> None:
        wanted, machine = spec.resources, self._machine()
        there = machine.capacity
        times = f" on each of --nodes {wanted.nodes}" if wanted.nodes > 1 else ""
        for flag, count, have, what in (
            ("--cpus", wanted.cpus, there.cpus, "cpus"),
            ("--gpus", wanted.gpus, there.gpus, "NVIDIA cards"),
            ("--npus", wanted.npus, there.npus, "Ascend cards"),
        ):
            most = have // wanted.nodes
            if count > most:
                raise SpecError(
                    f"{flag} {count}{times} is more than this machine has ({have} {what})",
                    hint=_less(flag, most, have, wanted.nodes),
                )
        if wanted.memory_bytes is not None and wanted.memory_bytes * wanted.nodes > there.memory_bytes:
            size = format_size(there.memory_bytes)
            raise SpecError(
                f"--memory {format_size(wanted.memory_bytes)}{times} is more than this machine has ({size})"
            )
        self._notices(spec)

    def plan(self, launch: Launch) -> Plan:
        command = (*self._command(create=False), str(self._jobs[launch.job_name].path / "place.json"))
        return Plan(command, tuple(self._notices(launch.spec)))

    def submit(self, launch: Launch) -> None:
        wanted = launch.spec.resources
        body = {
            "user": launch.spec.user,
            "need": [
                wanted.nodes * count for count in Need(wanted.cpus, wanted.memory_bytes or 0, wanted.gpus, wanted.npus)
            ],
            "place": self._place_of(launch),
        }
        try:
            with self._jobs.locked():
                self._jobs.add(launch.job_name, body, dict(launch.secrets))
                self._dispatch()
        except OSError as error:
            raise PlatformError(f"cannot queue {launch.job_name} in {self._home}: {error.strerror}") from error

    def poll(self, names: Iterable[str]) -> dict[str, Job]:
        launching.reap()
        queue = _Queue()
        if not self._jobs.is_empty():
            try:
                with self._jobs.locked():
                    queue = self._dispatch()
            except OSError as error:
                raise PlatformError(f"cannot read the queue in {self._home}: {error.strerror}") from error
        return {name: self._look(self._jobs[name], queue) for name in names}

    def logs(self, name: str) -> str:
        try:
            with self._jobs[name].log.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG_TAIL_BYTES))
                return file.read().decode("utf-8", "replace")
        except OSError:
            return ""

    def cancel(self, name: str) -> None:
        folder = self._jobs[name]
        body = folder.job()
        if body is None:
            return
        with self._jobs.locked():
            if folder.state() is JobState.QUEUED:
                (folder.path / "cancelled").touch()
                self._jobs.close(folder)
                return
        # Not under the lock: ending a stubborn tree may take seconds. A started job never goes back to waiting.
        alive = launching.end_all(folder, body["place"]["run"], body["place"]["stint"])
        if alive:
            pids = ", ".join(str(pid) for pid in alive)
            raise PlatformError(f"could not end {name}: still running as pid {pids}")

    def interrupt(self, name: str) -> bool:
        pid = self._jobs[name].pid()
        if pid is None:
            return False
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            return False
        return True

    def wake_fds(self) -> list[int]:
        """One descriptor for each running job; it becomes readable the moment that its runner ends.

        A readable one is handed out once: while the queue cannot be read, nobody takes it away, and whoever waits on
        it would never sleep again.
        """
        fresh = {name: descriptor for name, descriptor in self._pidfds.items() if name not in self._rung}
        poll = select.poll()
        for descriptor in fresh.values():
            poll.register(descriptor, select.POLLIN)
        ready = {descriptor for descriptor, _ in poll.poll(0)} if fresh else set()
        self._rung.update(name for name, descriptor in fresh.items() if descriptor in ready)
        return list(fresh.values())

    def close(self) -> None:
        """Close what `wake_fds` handed out. Jobs go on."""
        for name in list(self._pidfds):
            self._unwatch(name)

    def clean_work(self, run: str, keep: Collection[int] = ()) -> int:
        """Remove the work folders of a run's ended stints except those in `keep`, and return how many went."""
        removed = 0
        for path in sorted((self._home / "work" / run).glob("[0-9]*")):
            stint = int(path.name)
            alive = self._jobs[f"{run}.{stint:04d}"].state() in (JobState.QUEUED, JobState.RUNNING)
            if not alive and stint not in keep:
                remove_tree(path)
                removed += 1
        return removed

    def forget(self, run: str) -> None:
        """Remove everything kept about a run whose stints have ended: jobs, work folders, its private home."""
        for path in sorted((self._home / "local" / "jobs").glob(f"{run}.*")):
            self.cancel(path.name)
            remove_tree(path)
        remove_tree(self._home / "work" / run)

    def end_all(self) -> None:
        """End every job of this home, for good: nothing is asked and nothing is saved."""
        for path in sorted((self._home / "local" / "jobs").glob("*")):
            self.cancel(path.name)

    # ---- the queue

    def _dispatch(self) -> _Queue:
        """Start what can start, and say why the rest waits. Under the lock."""
        going, ended = self._jobs.look()
        for folder in ended:
            if folder.started() is not None:
                self._sweep(folder)
            self._jobs.close(folder)
        jobs = [(folder, body) for folder in going if (body := folder.job()) is not None]
        started = {folder.name: given for folder, _ in jobs if (given := folder.started()) is not None}
        waiting = [
            Waiting(folder.name, body["user"], body["number"], Need(*body["need"]))
            for folder, body in jobs
            if folder.name not in started
        ]
        running = [(body["user"], Need(*body["need"])) for folder, body in jobs if folder.name in started]
        if waiting:
            machine = self._machine()
            choice = choose(waiting, running, machine.capacity, self._weights, self._jobs.reserved)
            self._jobs.reserved = choice.reserved
            by_name = {folder.name: (folder, body) for folder, body in jobs}
            for name in choice.start:
                folder, body = by_name[name]
                started[name] = self._start(folder, body, machine, started.values())
        self._watch(started)
        return _Queue(frozenset(started), choice.why if waiting else {})

    def _start(
        self, folder: JobFolder, body: dict[str, Any], machine: Machine, taken: Iterable[dict[str, Any]]
    ) -> dict[str, Any]:
        need = Need(*body["need"])
        busy = list(taken)
        given: dict[str, Any] = {
            "cpu_list": _free(machine.cpu_list, need.cpus, busy, "cpu_list"),
            "gpus": _free(machine.gpus, need.gpus, busy, "gpus"),
            "npus": _free(machine.npus, need.npus, busy, "npus"),
        }
        places = [_node_place(body["place"], given, node) for node in range(body["place"].get("nodes", 1))]
        for place in places:
            for path in (place.work, place.shared, place.cache):
                Path(path).mkdir(parents=True, exist_ok=True, mode=0o700)
        launching.start(folder, given, places, self._command(create=True))
        return given

    def _sweep(self, folder: JobFolder) -> None:
        """Give back what an ended stint still holds: a runner that was killed could not clean up behind itself."""
        self._unwatch(folder.name)
        body = folder.job()
        if body is not None:
            launching.end_all(folder, body["place"]["run"], body["place"]["stint"], wait_s=2.0)

    def _watch(self, started: Iterable[str]) -> None:
        for name in started:
            pid = None if name in self._pidfds else self._jobs[name].pid()
            if pid is not None:
                try:
                    self._pidfds[name] = os.pidfd_open(pid)
                except OSError:
                    continue  # ended in this very moment; the next poll sees it
        for name in set(self._pidfds) - set(started):
            self._unwatch(name)

    def _unwatch(self, name: str) -> None:
        self._rung.discard(name)
        descriptor = self._pidfds.pop(name, None)
        if descriptor is not None:
            os.close(descriptor)

    def _look(self, folder: JobFolder, queue: _Queue) -> Job:
        # One that has ended since the queue was looked at still has to be swept: it is called ended the next time.
        state = JobState.RUNNING if folder.name in queue.running else folder.state()
        if state is JobState.QUEUED:
            return Job(state, queue.waits.get(folder.name, ""))
        if state is not JobState.ENDED:
            return Job(state)
        code = folder.exit_code()
        if folder.started() is None:
            return Job(state, "cancelled before it started")
        detail = "" if not code else f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        return Job(state, detail, code)

    # ---- what a stint is told

    def _place_of(self, launch: Launch) -> dict[str, Any]:
        """The place of a stint as far as it is known before the job starts."""
        spec, order = launch.spec, launch.order
        work = self._home / "work" / order.run
        return {
            "store": launch.store,
            "run": order.run,
            "stint": order.stint,
            "token": order.token,
            "work": str(work / f"{order.stint:04d}"),
            "shared": str(work / "shared"),
            "cache": str(self._home / "cache"),
            "sandbox": self._uses_sandbox(spec),
            "hide": self._hidden(),
            "cpus": spec.resources.cpus,
            "memory_bytes": spec.resources.memory_bytes,
            "network": spec.network,
            "notices": self._notices(spec),
            "secret_names": sorted(launch.secrets),
            "nodes": spec.resources.nodes,
            "address": "127.0.0.1",
        }

    def _hidden(self) -> list[str]:
        """Our own home (secrets, other runs) and the user's (keys, mail)."""
        return sorted({str(self._home), str(Path.home().resolve())} - {"/"})

    def _usable(self) -> tuple[bool, str]:
        if self._sandbox is None:
            self._sandbox = sandbox.usable(sandbox.find_bwrap())
        return self._sandbox

    def _uses_sandbox(self, spec: RunSpec) -> bool:
        return spec.sandbox != "off" and self._usable()[0]

    def _notices(self, spec: RunSpec) -> list[str]:
        """What the user should know before a stint of this run."""
        notices = self._protection_notices(spec)
        return notices + (node_notices(spec.to_json(), self._uses_sandbox(spec)) if spec.maps else [])

    def _protection_notices(self, spec: RunSpec) -> list[str]:
        """What is not protected here; `SpecError` when the user insists on more."""
        if spec.sandbox == "off":
            return [] if spec.network else ["--no-network has no effect without a sandbox"]
        works, why = self._usable()
        if works:
            return []
        if spec.sandbox == "on":
            raise SpecError(f"--sandbox on is not possible: {why}", hint=sandbox.HOW_TO_GET)
        if not spec.network:
            raise SpecError(f"--no-network needs the sandbox: {why}", hint=sandbox.HOW_TO_GET)
        return [
            f"{why}: the script can write wherever you can, and read your home folder; "
            f"{sandbox.HOW_TO_GET}, or say --sandbox off"
        ]

    def _machine(self) -> Machine:
        if self._machine_given is None:
            local = self._home / "local"
            self._machine_given = Machine.look(local / "machine.json" if local.is_dir() else None)
        return self._machine_given

    def _command(self, *, create: bool) -> tuple[str, ...]:
        if self._runner is not None:
            return tuple(self._runner)
        return launching.runner_command(self._home / "cache", create=create)


def _node_place(body: Mapping[str, Any], given: Mapping[str, Sequence[Any]], node: int) -> Place:
    """The place of one node: its share of what the job was given, and a folder of its own."""
    nodes = body.get("nodes", 1)
    share = {
        name: list(found[node * len(found) // nodes : (node + 1) * len(found) // nodes])
        for name, found in given.items()
    }
    work = Path(body["work"], "nodes", f"{node:04d}") if node else Path(body["work"])
    return Place(**{**body, **share, "work": str(work), "node": node})


def _less(flag: str, most: int, have: int, nodes: int) -> str:
    if most:
        return f"ask for at most {flag} {most}"
    return f"ask for at most --nodes {have}" if have and nodes > 1 else "run `outlast doctor` to see what was found"


def _free(all_of: Sequence[Any], count: int, taken: Iterable[Mapping[str, Any]], key: str) -> list[Any]:
    """The first so many that nobody has."""
    used = {each for given in taken for each in given.get(key, ())}
    return [each for each in all_of if each not in used][:count]
