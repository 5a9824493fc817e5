"""The measurements. Each returns results whose peers were measured in the same minute on the same machine."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.common import BIN, SCRIPTS, Result, home, median_of, outlast, timed

#: One unit of `steps.py`'s work, chosen so that an epoch takes about half a second here.
WORK = 500_000


def help_is_instant() -> list[Result]:
    """`outlast --help` against an empty Python and against torchx."""
    bare = median_of(lambda: timed([sys.executable, "-c", "pass"]), 15)
    ours = median_of(lambda: timed([str(BIN / "outlast"), "--help"]), 15)
    torchx = median_of(lambda: timed([str(BIN / "torchx"), "--help"]), 3)
    ratio = ours / bare
    return [
        Result(
            "help: times an empty python", ratio, "x", "at most 5, faster than torchx", ratio <= 5 and ours < torchx,
            {"outlast --help s": ours, "python -c pass s": bare, "torchx --help s": torchx},
        )
    ]  # fmt: skip


def first_line() -> list[Result]:
    """From the command to the script's first line, with a warm keeper and with none."""
    hello = SCRIPTS / "hello.py"

    def bare() -> float:
        began = time.monotonic()
        out = subprocess.run([sys.executable, hello], capture_output=True, text=True, check=True).stdout
        return _first_line_at(out) - began

    python_s = median_of(bare, 7)
    with home() as (folder, environ):
        script = _project(folder, "hello.py")

        def ours() -> float:
            began = time.monotonic()
            outlast(environ, "run", script, "--detach")
            run = json.loads(outlast(environ, "ps", "--json").stdout)[0]["id"]
            outlast(environ, "logs", "-f", run)
            return _first_line_at(outlast(environ, "logs", run).stdout) - began

        cold_s = ours()
        warm_s = median_of(ours, 7)
    submitit_s = median_of(_submitit, 3)
    extra = warm_s - python_s
    return [
        Result(
            "run: first user line beyond bare python", extra, "s", "at most 0.6 warm", extra <= 0.6,
            {"warm s": warm_s, "first ever s": cold_s, "python s": python_s, "submitit local s": submitit_s},
            note="the first ever run also starts the keeper and builds the bundle",
        )
    ]  # fmt: skip


def _submitit() -> float:
    """The same with submitit's LocalExecutor."""
    code = (
        "import sys, time, tempfile, submitit\n"
        "began = float(sys.argv[1])\n"
        "executor = submitit.LocalExecutor(folder=tempfile.mkdtemp())\n"
        "executor.update_parameters(timeout_min=1)\n"
        "print(executor.submit(time.monotonic).result() - began)\n"
    )
    command = [sys.executable, "-c", code, repr(time.monotonic())]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def chain() -> list[Result]:
    """Ten stints against one, the same steps; and the pause at each cut."""
    epochs = 160
    with home() as (folder, environ):
        script = _project(folder, "steps.py")
        straight = _run_steps(environ, script, epochs)
        # A little less than a tenth of the epochs, with the second that a stint needs to start, save and leave.
        limit = straight["worked_s"] / epochs * (epochs / 10 - 0.8) + 1.0
        chained = _run_steps(environ, script, epochs, "--limit", f"{limit:.2f}s")
        again = _run_steps(environ, script, epochs)
    # Before and after, so that a machine that changes its pace changes it for both.
    straight_s = (straight["worked_s"] + again["worked_s"]) / 2
    stints = len(chained["first"])
    cuts = [after - before for before, after in zip(chained["last"], chained["first"][1:], strict=False)]
    repeated = chained["lines"] - epochs
    # What starting the script itself costs is not ours: a bare start of the same script without an epoch.
    startup_s = (stints - 1) * median_of(lambda: timed([sys.executable, str(SCRIPTS / "steps.py"), "0", "0"]), 5)
    beyond = (chained["worked_s"] - straight_s - startup_s) / straight_s
    return [
        Result(
            f"chain: {stints} stints beyond one", 100 * beyond, "%", "at most 3 % for ten stints", beyond <= 0.03,
            {"straight s": straight_s, "chained s": chained["worked_s"], "script start-up s": startup_s},
        ),
        Result("chain: epochs repeated", repeated, "epochs", "0", repeated == 0, {"epochs": epochs}),
        Result(
            "chain: last line to the next stint's first", sum(cuts) / len(cuts), "s", "at most 1.0",
            sum(cuts) / len(cuts) <= 1.0, {"longest s": max(cuts), "shortest s": min(cuts)},
        ),
    ]  # fmt: skip


def _run_steps(environ: dict[str, str], script: Path, epochs: int, *options: str) -> dict[str, Any]:
    out = outlast(environ, "run", script, "--detach", *options, "--", epochs, WORK).stdout
    run = out.split()[0]
    outlast(environ, "logs", "-f", run)
    log = outlast(environ, "logs", run).stdout
    first = [float(text) for text in re.findall(r"first line at (\S+)", log)]
    last = [float(text) for text in re.findall(r"last line at (\S+)", log)]
    return {
        "first": first,
        "last": last,
        "worked_s": last[-1] - first[0],
        "lines": len(re.findall(r"worked epoch", log)),
    }


def commits() -> list[Result]:
    """1 GiB checkpoints: what committing costs the training, and how fast bytes get into the store."""
    saves, work, repeats = 3, 30_000_000, 3
    nothing, by_hand, committed = [], [], []
    for _ in range(repeats):
        # Interleaved, so that a machine or a disk that changes its pace changes it for all three.
        nothing.append(_saver_by_hand(0, saves, work))
        by_hand.append(_saver_by_hand(1024, saves, work))
        committed.append(_saver_in_a_stint(1024, saves, work))
    none_s, hand_s, ours_s = (statistics.median(map(sum, times)) for times in (nothing, by_hand, committed))
    computing = [statistics.median(computed for computed, _ in times) for times in (nothing, by_hand, committed)]
    whole, pure = ours_s / hand_s - 1, computing[2] / computing[0] - 1
    note = f"medians of {repeats} interleaved rounds, {saves} checkpoints each, one every {none_s / saves:.0f} s"
    results = [
        Result(
            "commit: training slowed by committing 1 GiB checkpoints it writes anyway", 100 * whole, "%",
            "at most 3.5 %", whole <= 0.035,
            {"written by hand s": hand_s, "written and committed s": ours_s, "no checkpoints at all s": none_s}
            | _spread("by hand", by_hand) | _spread("committed", committed), note,
        ),
        Result(
            "commit: computing between saves slowed, against no checkpoints at all", 100 * pure, "%",
            "at most 3.5 %", pure <= 0.035,
            dict(zip(("nothing written s", "written by hand s", "written and committed s"), computing, strict=True)),
            note,
        ),
    ]  # fmt: skip
    return results + _bandwidth()


def _spread(name: str, times: list[tuple[float, float]]) -> dict[str, float]:
    return {f"{name}, fastest s": min(map(sum, times)), f"{name}, slowest s": max(map(sum, times))}


def _saver_in_a_stint(megabytes: int, saves: int, work: int) -> tuple[float, float]:
    with home() as (folder, environ):
        script = _project(folder, "saver.py")
        out = outlast(environ, "run", script, "--detach", "--cpus", 1, "--", megabytes, saves, work).stdout
        run = out.split()[0]
        outlast(environ, "logs", "-f", run)
        return _times(outlast(environ, "logs", run).stdout)


def _saver_by_hand(megabytes: int, saves: int, work: int) -> tuple[float, float]:
    """The same script and the same files, written and not committed; on one processor, as in the stint."""
    with home() as (folder, environ):
        script = _project(folder, "saver.py")
        command = ["taskset", "-c", "0", sys.executable, str(script), str(megabytes), str(saves), str(work)]
        done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=True)
        return _times(done.stdout)


def _times(log: str) -> tuple[float, float]:
    found = re.search(r"computing took (\S+) writing took (\S+)", log)
    assert found, log
    return float(found.group(1)), float(found.group(2))


def _bandwidth() -> list[Result]:
    from outlast.inside.blobs import Blobs
    from outlast.inside.stores import open_store

    with home() as (folder, _):
        source = folder / "weights.bin"
        piece = os.urandom(1 << 20)
        with source.open("wb") as file:
            for number in range(1024):
                file.write(hashlib.sha256(str(number).encode()).digest() + piece[32:])
        store = open_store(f"file://{folder}/store")

        def ours() -> float:
            shutil.rmtree(folder / "store", ignore_errors=True)
            began = time.perf_counter()
            Blobs(store).put_file(str(source))
            return time.perf_counter() - began

        def peer() -> float:
            copy = folder / "copy.bin"
            copy.unlink(missing_ok=True)
            began = time.perf_counter()
            subprocess.run(["cp", "--reflink=never", source, copy], check=True)
            subprocess.run(["sha256sum", source], check=True, stdout=subprocess.DEVNULL)
            # The blob is durable when `put_file` returns, so the copy has to be too.
            subprocess.run(["sync", copy], check=True)
            return time.perf_counter() - began

        ours_s, peer_s = median_of(ours, 3), median_of(peer, 3)
    return [
        Result(
            "commit: bandwidth against cp + sha256sum + sync", peer_s / ours_s, "x", "at least 1", peer_s >= ours_s,
            {"outlast MiB/s": 1024 / ours_s, "cp + sha256sum + sync MiB/s": 1024 / peer_s},
        )
    ]  # fmt: skip


def flood() -> list[Result]:
    """Log lines per second through the runner, and its memory while they pass."""
    lines = 3_000_000
    with home() as (folder, environ):
        script = _project(folder, "flood.py")
        run = outlast(environ, "run", script, "--detach", "--", lines).stdout.split()[0]
        peak = _watch_runner_memory(environ, run)
        log = outlast(environ, "logs", run).stdout
        found = re.search(r"wrote (\d+) lines in (\S+)", log)
        assert found, log[-500:]
        assert log.count("all is well") == lines, "lines were lost"
        rate = lines / float(found.group(2))
    bare = subprocess.run(
        f"{sys.executable} {SCRIPTS / 'flood.py'} {lines} | tail -n 1", shell=True, capture_output=True, text=True
    ).stdout
    pipe_rate = lines / float(bare.split()[-1])
    return [
        Result("log: lines", rate, "lines/s", "at least 300000", rate >= 300_000, {"through a bare pipe": pipe_rate}),
        Result("log: runner memory at its peak", peak, "MiB", "flat: at most 100", peak <= 100, {}),
    ]  # fmt: skip


def _watch_runner_memory(environ: dict[str, str], run: str) -> float:
    """Peak resident memory of the run's runner in MiB, watched until it has ended."""
    peak = 0.0
    state = "queued"
    while state in ("queued", "running"):
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    command = Path("/proc", name, "cmdline").read_bytes()
                    if run.encode() in command and b"place.json" in command and b"bwrap" not in command:
                        status = Path("/proc", name, "status").read_text()
                        found = re.search(r"VmHWM:\s+(\d+) kB", status)
                        peak = max(peak, int(found.group(1)) / 1024 if found else 0.0)
                except OSError:
                    continue
        state = json.loads(outlast(environ, "show", run, "--json").stdout)["state"]
    return peak


def _project(folder: Path, script: str) -> Path:
    project = folder / script.replace(".py", "")
    project.mkdir(exist_ok=True)
    return Path(shutil.copy(SCRIPTS / script, project / script))


def _first_line_at(text: str) -> float:
    found = re.search(r"first line at (\S+)", text)
    if found is None:
        raise SystemExit(f"the script said nothing:\n{text}")
    return float(found.group(1))


MEASURES = {"help": help_is_instant, "first_line": first_line, "chain": chain, "commits": commits, "flood": flood}
