"""The measurements. Each returns results whose peers were measured in the same minute on the same machine."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
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
        # A tenth of the epochs, with the second that a stint needs to start, save and leave.
        limit = straight["worked_s"] / epochs * (epochs / 10 + 0.8) + 1.0
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
    """1 GiB checkpoints: how much slower the training computes, and how fast bytes get into the store."""
    rounds, work = 6, 12_000_000
    alone_s = _saver_by_hand(rounds, work)
    committed_s = _saver_in_a_stint(rounds, work)
    quiet_s = (alone_s + _saver_by_hand(rounds, work)) / 2
    slowed = committed_s / quiet_s - 1
    results = [
        Result(
            "commit: computing slowed by 1 GiB checkpoints", 100 * slowed, "%", "at most 3.5 %", slowed <= 0.035,
            {"written by hand s": quiet_s, "written and committed s": committed_s},
            note=f"{rounds} checkpoints, one every {quiet_s / rounds:.0f} s of computing",
        )
    ]  # fmt: skip
    return results + _bandwidth()


def _saver_in_a_stint(rounds: int, work: int) -> float:
    with home() as (folder, environ):
        script = _project(folder, "saver.py")
        run = outlast(environ, "run", script, "--detach", "--", 1024, rounds, work).stdout.split()[0]
        outlast(environ, "logs", "-f", run)
        return _computing_s(outlast(environ, "logs", run).stdout)


def _saver_by_hand(rounds: int, work: int) -> float:
    """The same script and the same files, written and not committed; on one processor, as in a stint."""
    with home() as (folder, environ):
        script = _project(folder, "saver.py")
        command = ["taskset", "-c", "0", sys.executable, str(script), "1024", str(rounds), str(work)]
        done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=True)
        return _computing_s(done.stdout)


def _computing_s(log: str) -> float:
    found = re.search(r"computing took (\S+)", log)
    assert found, log
    return float(found.group(1))


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
