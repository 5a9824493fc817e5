"""What recording and reading points costs, beside TensorBoard, MLflow and Aim in the same minutes."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.common import SCRIPTS, Result, home, outlast

POINTS = 400_000
#: The others are slower by orders of magnitude; so many points are enough to know how much.
PEERS = {"tensorboard": 20_000, "mlflow": 1_000, "aim": 3_000}
#: MLflow and Aim bring dozens of packages: they may live in an environment of their own.
PEER_PYTHON = os.environ.get("OUTLAST_BENCH_PYTHON", sys.executable)
RUNS, POINTS_IN_RUN = 20, 50_000
LISTED = 10_000
ROUNDS = 3


def tracking() -> list[Result]:
    """Points per second as the script sees them, and how much a training is slowed by a thousand a second."""
    rates: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        # Interleaved, so that a machine that changes its pace changes it for all.
        rates.setdefault("outlast", []).append(_in_a_stint("track", POINTS)["rate"])
        for name, count in PEERS.items():
            rate = _peer_rate(name, count)
            if rate is not None:
                rates.setdefault(name, []).append(rate)
    ours = statistics.median(rates.pop("outlast"))
    peers = {f"{name} points/s": statistics.median(found) for name, found in rates.items()}
    board = peers.get("tensorboard points/s", math.nan)
    return [
        Result(
            "track: points against TensorBoard's SummaryWriter", ours / board, "x", "at least 50", ours >= 50 * board,
            {"outlast points/s": ours, **peers}, f"medians of {ROUNDS} interleaved rounds, one value in each call",
        ),
        _slow_down(),
    ]  # fmt: skip


def _peer_rate(name: str, count: int) -> float | None:
    """None when the peer is not installed."""
    command = [PEER_PYTHON, str(SCRIPTS / "points.py"), name, str(count)]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if "ModuleNotFoundError" in done.stderr:
        return None
    assert done.returncode == 0, done.stderr
    return float(json.loads(done.stdout.splitlines()[-1])["rate"])


def _in_a_stint(what: str, count: int) -> dict[str, float]:
    """Run `points.py` as a run of its own; every point must be in the store at the end."""
    with home() as (folder, environ):
        script = Path(shutil.copy(SCRIPTS / "points.py", folder / "points.py"))
        run = outlast(environ, "run", script, "--detach", "--", what, count).stdout.split()[0]
        outlast(environ, "logs", "-f", run)
        said: dict[str, float] = json.loads(outlast(environ, "logs", run).stdout.splitlines()[-1])
        if what == "track":
            from outlast.client import Client

            stored = len(Client(home=environ["OUTLAST_HOME"]).runs.columns(run)["loss"])
            assert stored == count, f"{count - stored} points were lost"
        return said


def _slow_down() -> Result:
    """The same work with and without a thousand points a second, in one process and in turns."""
    slowed = [_in_a_stint("work", 1000)["slowed"] for _ in range(ROUNDS)]
    share = statistics.median(slowed)
    return Result(
        "track: training slowed by 1,000 points a second", 100 * share, "%", "at most 1 %", share <= 0.01,
        {"lowest %": 100 * min(slowed), "highest %": 100 * max(slowed)}, "the runner takes the points meanwhile",
    )  # fmt: skip


def charts() -> list[Result]:
    """A million points of twenty runs, from the cache to what is drawn; and the first time, from the segments."""
    from outlast.inside.stores import open_store
    from outlast.track.columns import downsample, read_columns

    with tempfile.TemporaryDirectory() as folder:
        store, cache = open_store(f"file://{folder}/store"), Path(folder) / "cache"
        runs = [_write_run(store, number) for number in range(RUNS)]

        def chart() -> float:
            began = time.perf_counter()
            drawn = [downsample(read_columns(store, run, ["loss"], cache=cache)["loss"].curve, 1000) for run in runs]
            assert all(500 < len(column) <= 1004 for column in drawn)
            return time.perf_counter() - began

        cold_s = chart()
        warm_s = statistics.median(chart() for _ in range(9))
    note = "columns read and downsampled to 1,000 points for each run"
    return [
        Result(
            f"chart: {RUNS * POINTS_IN_RUN:,} points of {RUNS} runs", warm_s, "s", "at most 0.1", warm_s <= 0.1,
            {"the first time s": cold_s}, note,
        )
    ]  # fmt: skip


def _write_run(store: Any, number: int) -> str:
    """A run of two stints that is over."""
    from outlast.inside import layout
    from outlast.inside.points import BLOCK_POINTS, NO_STEP, RECORD, encode_block
    from outlast.inside.records import End, Order

    run, dice, half = f"1116-bench-{number}", random.Random(number), POINTS_IN_RUN // 2
    for stint in (1, 2):
        order = Order(run=run, stint=stint, token="t", platform="local")
        store.put(layout.order_key(run, stint), order.to_bytes())
        for segment, start in enumerate(range(0, half, BLOCK_POINTS), 1):
            steps = range(start, min(half, start + BLOCK_POINTS))
            records = b"".join(
                RECORD.pack(step / 100, math.nan, NO_STEP, math.exp(-step / half) + dice.gauss(0, 0.1), 1)
                for step in steps
            )
            store.put(layout.metrics_key(run, stint, segment), encode_block(records, {1: "loss"}, 0.0))
        store.put(layout.end_key(run, stint), End(reason="hand-over").to_bytes())
    return run


def listing() -> list[Result]:
    """Ten thousand runs, filtered by name, state, parameter and metric, through the library in a warm process."""
    from outlast.client import Client
    from outlast.keeper.home import Home

    with tempfile.TemporaryDirectory() as folder:
        _fill_index(Home(Path(folder)).index)
        client = Client(home=folder)
        words: dict[str, Any] = {"name": "mnist-*", "states": ["succeeded"], "where": ["lr=0.1", "val_acc>=0.9"]}
        filtered_s = _best_of(lambda: client.runs.list(**words, sort="val_acc"))
        newest_s = _best_of(lambda: client.runs.list(limit=20))
        all_s = _best_of(client.runs.list)
    return [
        Result(
            f"ps: {LISTED:,} runs, filtered by name, state, parameter and metric", 1000 * filtered_s, "ms",
            "at most 50", filtered_s <= 0.05, {"newest 20 ms": 1000 * newest_s, "all, unfiltered ms": 1000 * all_s},
        )
    ]  # fmt: skip


def _best_of(measure: Callable[[], object]) -> float:
    times = []
    for _ in range(8):
        began = time.perf_counter()
        measure()
        times.append(time.perf_counter() - began)
    return statistics.median(times[1:])


def _fill_index(path: Path) -> None:
    from outlast.keeper.index import Index, RunRow
    from outlast.model.states import RunState
    from outlast.model.view import RunView

    dice = random.Random(1)
    rows = []
    for number in range(LISTED):
        state = dice.choice([RunState.SUCCEEDED, RunState.FAILED, RunState.STOPPED])
        view = RunView(
            f"1116-run-{number:05d}", f"{dice.choice(['mnist', 'cifar', 'bert'])}-{number % 100}", state, "local",
            created_at=f"2026-11-16T00:{number // 600:02d}:{number // 10 % 60:02d}.{number % 10}00Z", user="ann",
            stints=3, epoch=10.0, store="file:///s", params={"lr": dice.choice(["0.1", "0.01"]), "batch": "32"},
            metrics={"loss": dice.random(), "val_acc": dice.random()}, best={"loss": 0.1, "val_acc": 0.97},
        )  # fmt: skip
        rows.append(
            RunRow(view.id, view.name, "ann", state.value, "local", view.created_at, "file:///s", open=False,
                   view=view.to_json())
        )  # fmt: skip
    index = Index(path)
    for row in rows:
        index.add(row)
    index.close()


def measure() -> list[Result]:
    return [*tracking(), *charts(), *listing()]
