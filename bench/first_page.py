"""How soon a reader sees the runs: a server just started, a browser that was never there, the table on the screen."""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from bench.common import Result, end_processes, home

ROUNDS = 5
_PATIENCE_S = 120.0
_FLAGS = ("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking")
#: Notes when the first row of the table has been painted, counted from the start of the navigation.
_WATCH = """(() => {
  const look = () => {
    const row = document.querySelector('.o-runs-table tbody tr');
    if (row && row.getBoundingClientRect().height > 0 && !window.seenAt)
      requestAnimationFrame(() => setTimeout(() => { window.seenAt = performance.now(); }));
    else if (!window.seenAt) requestAnimationFrame(look);
  };
  look();
})()"""


class Visit(NamedTuple):
    """One opening of the page."""

    wall_s: float  # until the table is on the screen
    browser_s: float  # its main thread at work
    server_cpu_s: float
    transferred_kib: float
    requests: float

    @classmethod
    def median(cls, visits: list[Visit]) -> Visit:
        return cls(*(statistics.median(values) for values in zip(*visits, strict=True)))


def measure() -> list[Result]:
    """The first page on a cold cache, and the same page opened once more."""
    from bench.serving import fill_index

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        return []
    with home() as (_, environ):
        fill_index(Path(environ["OUTLAST_HOME"]))
        rounds = [_round(chromium, environ) for _ in range(ROUNDS)]
    first, again = (Visit.median(list(visits)) for visits in zip(*rounds, strict=True))
    peers = {
        "browser at work s": first.browser_s, "server cpu s": first.server_cpu_s,
        "KiB transferred": first.transferred_kib, "requests": first.requests,
        "opened again s": again.wall_s, "opened again KiB": again.transferred_kib,
    }  # fmt: skip
    name = "server: the first page of the console on a cold cache"
    return [Result(name, first.wall_s, "s", "at most 1.5", first.wall_s <= 1.5, peers, f"median of {ROUNDS} starts")]


def _round(chromium: str, environ: dict[str, str]) -> tuple[Visit, Visit]:
    """A fresh server and a fresh browser: the page for the first time, and once more."""
    from playwright.sync_api import sync_playwright

    with _server(environ) as (address, pid), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=_FLAGS)
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.set_default_timeout(_PATIENCE_S * 1000)
        page.add_init_script(_WATCH)
        visits = _visit(page, address, pid), _visit(page, address, pid)
        browser.close()
    return visits


def _visit(page: Any, address: str, pid: int) -> Visit:
    wire = page.context.new_cdp_session(page)
    sizes: list[float] = []
    wire.on("Network.loadingFinished", lambda told: sizes.append(told["encodedDataLength"]))
    wire.send("Network.enable")
    server_before = _cpu_s(pid)
    page.goto(address, wait_until="commit")
    wire.send("Performance.enable")  # of the process that shows this site: another one than before the navigation
    seen_ms = page.wait_for_function("window.seenAt").json_value()
    told = {each["name"]: each["value"] for each in wire.send("Performance.getMetrics")["metrics"]}
    server_cpu_s = _cpu_s(pid) - server_before
    page.wait_for_load_state("networkidle")
    wire.detach()
    return Visit(seen_ms / 1000, told["TaskDuration"], server_cpu_s, sum(sizes) / 1024, len(sizes))


@contextlib.contextmanager
def _server(environ: dict[str, str]) -> Iterator[tuple[str, int]]:
    """`outlast serve` that has answered nothing yet but one question whether it is there; its address and its pid."""
    command = [sys.executable, "-m", "outlast.cli.entry", "serve", "--port", "0"]
    process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split(" on ")[-1].split()[0]
        httpx.get(f"{address}/api/v1/health", timeout=_PATIENCE_S, trust_env=False)
        yield address, process.pid
    finally:
        process.terminate()
        process.communicate()
        end_processes(environ["OUTLAST_HOME"])


def _cpu_s(pid: int) -> float:
    fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
