"""A client whose runs are played from a timetable: three stints of a small training, faster than real time."""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from types import SimpleNamespace

from outlast.errors import NotFoundError
from outlast.model.states import EndReason, RunState, StintState
from outlast.model.view import CheckpointView, RunView, StintView

RUN = "1115-quiet-otter-7kx"
EPOCHS = 30
LIMIT_S = 15.0
PREPARING_S = 0.8
STINT_S = 14.0
EPOCH_S = 1.2
STINTS = 3
LEDGER = {"queued": 0.1, "fetching": 0.2, "restoring": 0.1, "starting": 0.5, "useful": 12.6, "saving": 0.6}


def loss_at(epoch: float) -> float:
    return 2.3 * math.exp(-epoch / 9) + 0.05 * math.sin(epoch * 2) ** 2


class Simulation:
    """What a run looks like `t` virtual seconds after it was submitted."""

    def __init__(self, *, fails: bool = False) -> None:
        self.fails = fails
        self.stopped_at_s: float | None = None

    def epochs_done(self, at_s: float) -> int:
        done = 0
        for stint in range(STINTS):
            running = min(at_s - stint * STINT_S, STINT_S) - PREPARING_S
            done += max(int(running / EPOCH_S + 1e-6), 0)
        return min(done, EPOCHS)

    def ends_at_s(self) -> float:
        done_before = (STINTS - 1) * int((STINT_S - PREPARING_S) / EPOCH_S)
        return (STINTS - 1) * STINT_S + PREPARING_S + (EPOCHS - done_before) * EPOCH_S

    def view(self, at_s: float) -> RunView:
        if self.stopped_at_s is not None and at_s > self.stopped_at_s + 1:
            return self._final(self.stopped_at_s, RunState.STOPPED, EndReason.STOPPED, "stopped as asked")
        if self.fails and at_s >= STINT_S + 5:
            return self._final(
                STINT_S + 5, RunState.FAILED, EndReason.SCRIPT_ERROR,
                "stint 2 ended with exit code 1: RuntimeError: shapes (4,5) and (3,) differ",
            )  # fmt: skip
        if at_s >= self.ends_at_s():
            return self._final(self.ends_at_s(), RunState.SUCCEEDED, EndReason.FINISHED, "")
        return self._open(at_s)

    def _checkpoints(self, done: int) -> tuple[CheckpointView, ...]:
        per_stint = int((STINT_S - PREPARING_S) / EPOCH_S)
        return tuple(
            CheckpointView(
                id=f"{(epoch - 1) // per_stint + 1:04d}-{(epoch - 1) % per_stint + 1:06d}",
                stint=(epoch - 1) // per_stint + 1,
                created_at="2026-11-15T10:00:00.000Z",
                size_bytes=1_400_000,
                files=2,
                progress={"epoch": epoch},
                metrics={"loss": loss_at(epoch)},
            )
            for epoch in range(1, done + 1)
        )

    def _open(self, at_s: float) -> RunView:
        current = int(at_s // STINT_S)
        inside_s = at_s - current * STINT_S
        done = self.epochs_done(at_s)
        preparing = inside_s < PREPARING_S
        state = StintState.PREPARING if preparing else StintState.RUNNING
        if inside_s > STINT_S - 0.8:
            state = StintState.HANDING_OVER
        stints = (
            *self._ended(current, at_s),
            StintView(
                number=current + 1, state=state, platform="local", elapsed_s=inside_s, limit_s=LIMIT_S,
                time_left_s=LIMIT_S - inside_s, phase="restoring" if preparing else "running",
            ),
        )  # fmt: skip
        return self._view(RunState.RUNNING, stints, done, eta_s=(EPOCHS - done) * EPOCH_S)

    def _ended(self, count: int, at_s: float) -> tuple[StintView, ...]:
        return tuple(
            StintView(
                number=number, state=StintState.ENDED, platform="local", reason=EndReason.HAND_OVER,
                message="deadline near", elapsed_s=STINT_S, limit_s=LIMIT_S, ledger=dict(LEDGER),
                last_checkpoint=self._checkpoints(self.epochs_done(number * STINT_S))[-1].id,
            )
            for number in range(1, count + 1)
        )  # fmt: skip

    def _final(self, at_s: float, state: RunState, reason: EndReason, message: str) -> RunView:
        current = int(at_s // STINT_S)
        done = self.epochs_done(at_s)
        last = StintView(
            number=current + 1, state=StintState.ENDED, platform="local", reason=reason, message=message,
            elapsed_s=at_s - current * STINT_S, limit_s=LIMIT_S, ledger=dict(LEDGER),
            last_checkpoint=self._checkpoints(done)[-1].id if done else None,
        )  # fmt: skip
        view = self._view(state, (*self._ended(current, at_s), last), done)
        ledger = {name: seconds * view.stints for name, seconds in LEDGER.items()}
        outputs = {"out/model.npz": {"size": 1_200_000, "sha256": "0" * 64, "mode": 420}}
        return dataclasses.replace(
            view, message=message, ledger=ledger, useful_fraction=0.9, outputs=outputs if not message else None
        )

    def _view(self, state: RunState, stints: tuple[StintView, ...], done: int, eta_s: float | None = None) -> RunView:
        checkpoints = self._checkpoints(done)
        return RunView(
            id=RUN, name="digits", state=state, platform="local", created_at="2026-11-15T10:00:00.000Z", user="ann",
            stints=len(stints), epoch=float(done), epochs=float(EPOCHS), rate=1 / EPOCH_S, rate_of="epoch", eta_s=eta_s,
            metrics={"loss": loss_at(done), "val_acc": 1 - loss_at(done) / 3} if done else {},
            last_checkpoint=checkpoints[-1].id if checkpoints else None, store="file:///home/ann/.outlast/store",
            device={"cpu_percent": 98.0, "memory_bytes": 212_000_000}, stint_list=stints, checkpoints=checkpoints,
            spec={"script": "train.py", "args": ["--epochs", "30"], "code_folder": "/home/ann/digits"},
        )  # fmt: skip


class Runs:
    """`client.runs`, played `speed` times faster than the timetable."""

    def __init__(self, speed: float, **kind: bool) -> None:
        self.simulation = Simulation(**kind)
        self.speed = speed
        self.calls: list[str] = []
        self._started = time.monotonic()
        self._tick = threading.Event()

    def at_s(self) -> float:
        return (time.monotonic() - self._started) * self.speed

    def submit(self, request, **_):
        self.calls.append("submit")
        self._started = time.monotonic()
        return self.simulation.view(0.0)

    def _check(self, ref):
        if not RUN.startswith(ref) and ref != "digits":
            raise NotFoundError(f"no run {ref!r}; did you mean {RUN!r}?", hint="see all with: outlast ps --all")

    def list(self):
        return [self.simulation.view(self.at_s())]

    def find(self, recent=None, **words):
        from outlast.keeper.search import Hit
        from outlast.model.query import RunQuery, sort_key
        from outlast.operations.listing import Found, choose_hits

        query = dataclasses.replace(RunQuery.build(**words), recent=recent)
        views = {view.id: view for view in self.list() if query.matches(view)}
        hits = [
            Hit(view.id, view.name, view.state, view.created_at, False, sort_key(view, query.sort.removeprefix("-")))
            for view in views.values()
        ]
        chosen = choose_hits(hits, query)
        return Found([views[hit.id] for hit in chosen], len(hits) - len(chosen))

    def get(self, ref):
        self._check(ref)
        return self.simulation.view(self.at_s())

    def watch(self, ref):
        while True:
            view = self.get(ref)
            yield view
            if view.state.is_final:
                return
            self._tick.wait(0.05)

    def wait(self, ref, timeout=None):
        return list(self.watch(ref))[-1]

    def stop(self, ref):
        self._check(ref)
        self.calls.append("stop")
        self.simulation.stopped_at_s = self.at_s()
        return self.get(ref)

    def resume(self, ref, from_stint=None, limit=None):
        self.calls.append(f"resume {from_stint} {limit}")
        return self.get(ref)

    def remove(self, ref, force=False):
        self._check(ref)
        self.calls.append(f"remove {ref} {force}")

    def logs(self, ref, stint=None, follow=False, node=0):
        self._check(ref)
        for epoch in range(1, self.simulation.epochs_done(self.at_s()) + 1):
            yield line_of(epoch)

    def evaluations(self, ref):
        return []

    def points(self, ref):
        from outlast.track.series import Series, SeriesPoint

        points = [SeriesPoint(1, 0.0, float(epoch), None, loss_at(epoch)) for epoch in range(1, EPOCHS + 1)]
        return {"loss": Series("loss", points)}


def line_of(epoch: int) -> bytes:
    return b"epoch %d/%d loss %.4f\n" % (epoch, EPOCHS, loss_at(epoch))


class OutputTail:
    """Plays the log: one line per epoch."""

    pace_s = 0.0

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._told = 0

    def poll(self):
        done = self._runs.simulation.epochs_done(self._runs.at_s())
        per_stint = int((STINT_S - PREPARING_S) / EPOCH_S)
        fresh = [((epoch - 1) // per_stint + 1, line_of(epoch)) for epoch in range(self._told + 1, done + 1)]
        self._told = done
        return fresh


class PointsTail(OutputTail):
    """Plays the metrics: one point per epoch."""

    def poll(self):
        from outlast.track.series import MetricPoint

        return [
            MetricPoint(stint, 0.0, epoch, None, {"loss": loss_at(epoch), "val_acc": 1 - loss_at(epoch) / 3})
            for stint, line in super().poll()
            for epoch in [float(line.split()[1].split(b"/")[0])]
        ]


class Client:
    """The face of `outlast.client.Client`."""

    def __init__(self, speed: float = 20.0, **kind: bool) -> None:
        self.runs = Runs(speed, **kind)

    def doctor(self):
        return [finding("bubblewrap", None, "not found", "apt install bubblewrap")]

    def reindex(self, stores=()):
        return Rebuilt(runs=3, removed=["1114-old-owl-abc"], problems=["1113-x: spec.json is not JSON"], aside="")


@dataclasses.dataclass
class Rebuilt:
    runs: int
    removed: list[str]
    problems: list[str]
    aside: str


@dataclasses.dataclass
class Finding:
    name: str
    ok: bool | None
    value: str
    advice: str


finding = Finding


def install(client: Client) -> SimpleNamespace:
    """Put the simulated client where the command line looks for the real one; returns the stand-in module."""
    import sys

    from outlast.cli import reader

    module = SimpleNamespace(Client=lambda *args, **kwargs: client)
    sys.modules["outlast.client"] = module  # type: ignore[assignment]
    reader.open_tails = lambda _client, _view: (OutputTail(client.runs), PointsTail(client.runs))
    return module
