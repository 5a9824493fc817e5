"""How fast the server answers: a page of many runs, and many who follow one log."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.common import Result, end_processes, home

RUNS = 10_000
CLIENTS = 16
UPLOADS = 50
UPLOAD_BYTES = 20 << 20
FOLLOWERS = 200
LINES_PER_S = 1000
FOLLOW_S = 15.0
_PAGE = b"GET /api/v1/runs?limit=100 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def measure() -> list[Result]:
    """Pages and followers, with the server in one process and the clients in others."""
    with home() as (_, environ):
        fill_index(Path(environ["OUTLAST_HOME"]))
        with _server(environ) as (port, _):
            pages = _pages(port) + _uploads(port)
    with home() as (_, environ):
        run = _run_to_follow(Path(environ["OUTLAST_HOME"]))
        with _server(environ) as (port, pid):
            followers = _followers(Path(environ["OUTLAST_HOME"]), run, port, pid)
    return pages + followers


# ---- a page of 100 runs


def fill_index(folder: Path) -> None:
    """An index of ended runs, each with what a real one shows."""
    import sqlalchemy as sa

    from outlast.keeper.home import Home
    from outlast.keeper.index import Index
    from outlast.keeper.schema import runs
    from outlast.model.states import RunState
    from outlast.model.view import RunView

    path = Home(folder).index
    Index(path).close()
    rows = []
    for number in range(RUNS):
        at = f"2026-11-{1 + number // 1440 % 28:02d}T{number // 60 % 24:02d}:{number % 60:02d}:00.{number % 1000:03d}Z"
        run = f"1101-quiet-otter-{number:05d}"
        view = RunView(
            run, f"mnist-{number % 100}", RunState.SUCCEEDED, "local", at, user="ann", stints=3,
            message="finished after 3 stints", epoch=10.0, metrics={"loss": 0.1, "val_acc": 0.97},
            best={"loss": 0.09, "val_acc": 0.98},
            params={"lr": "0.1", "batch": "64"}, last_checkpoint="0003-000004", useful_fraction=0.93, updated_at=at,
            store="file:///data/store",
        )  # fmt: skip
        rows.append({
            "id": run, "name": view.name, "user": "ann", "state": "succeeded", "platform": "local", "created_at": at,
            "updated_at": at, "store": view.store, "view_json": json.dumps(view.to_json()), "open": False,
        })  # fmt: skip
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.execute(sa.insert(runs), rows)
    engine.dispose()


def _pages(port: int) -> list[Result]:
    times = _ask(port, 500)[100:]
    cold = _cold_pages(port)
    median_ms = 1000 * statistics.median(times)
    rate = _load(port)
    return [
        Result(
            "server: a page of 100 of 10,000 runs, one client", median_ms, "ms", "at most 5 at the median",
            median_ms <= 5, {"slowest of 400 ms": 1000 * max(times), "each page for the first time ms": 1000 * cold},
        ),
        Result(
            f"server: the same page, {CLIENTS} clients", rate, "requests/s", "at least 1,000", rate >= 1000,
            {"KiB of a page": _size(port) / 1024},
        ),
    ]  # fmt: skip


def _ask(port: int, count: int) -> list[float]:
    times = []
    with socket.create_connection(("127.0.0.1", port)) as connection:
        for _ in range(count):
            began = time.perf_counter()
            _one(connection, _PAGE)
            times.append(time.perf_counter() - began)
    return times


def _one(connection: socket.socket, request: bytes) -> bytes:
    """One answer, head and body."""
    connection.sendall(request)
    data = connection.recv(1 << 18)
    end = data.find(b"\r\n\r\n")
    head = data[:end].lower()
    assert head.startswith(b"http/1.1 200"), data[:200]
    at = head.find(b"content-length:")
    whole = end + 4 + int(head[at + 15 : at + 35].split(b"\r")[0])
    pieces, have = [data], len(data)
    while have < whole:
        pieces.append(connection.recv(1 << 18))
        have += len(pieces[-1])
    return b"".join(pieces)


def _size(port: int) -> int:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        return len(_one(connection, _PAGE))


def _cold_pages(port: int) -> float:
    """The median over pages that nobody has asked for yet: the way through the whole list."""
    times, cursor = [], ""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        while cursor is not None:
            began = time.perf_counter()
            answer = _one(connection, _PAGE.replace(b"limit=100", f"limit=99&cursor={cursor}".encode()))
            times.append(time.perf_counter() - began)
            cursor = json.loads(answer.partition(b"\r\n\r\n")[2])["next"]
    return statistics.median(times)


def _load(port: int, seconds: float = 5.0) -> float:
    """Answers a second to several clients at once, from a process of their own."""
    code = f"from bench.serving import load_here; print(load_here({port}, {seconds}))"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def load_here(port: int, seconds: float) -> float:
    counts = [0] * CLIENTS
    until = time.monotonic() + seconds

    def ask(which: int) -> None:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            while time.monotonic() < until:
                _one(connection, _PAGE)
                counts[which] += 1

    _together([lambda which=which: ask(which) for which in range(CLIENTS)])
    return sum(counts) / seconds


def _together(tasks: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=task) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# ---- followers of one log


def _run_to_follow(folder: Path) -> str:
    """A run that this measurement plays: it has an order and no keeper."""
    from outlast.inside import layout
    from outlast.inside.records import Order
    from outlast.keeper.home import Home
    from outlast.keeper.index import Index, RunRow
    from outlast.keeper.view import first_view
    from outlast.settings import Settings
    from outlast.store.registry import open_store
    from outlast.testing.runs import write_run

    settings = Settings.load({}, home=folder)
    store = open_store(settings.store)
    spec = write_run(store, settings, marker=False)
    order = Order(run=spec.id, stint=1, token="", platform="fake", limit_s=None, grace_s=1.0)
    store.put(layout.order_key(spec.id, 1), order.to_bytes())
    view = first_view(spec.to_json())
    with contextlib.closing(Index(Home(folder).index)) as index:
        index.add(
            RunRow(
                spec.id, spec.name, spec.user, view.state, "fake", spec.created_at, spec.store, open=False,
                view=view.to_json(),
            )
        )  # fmt: skip
    return spec.id


def _followers(folder: Path, run: str, port: int, pid: int) -> list[Result]:
    code = f"from bench.serving import follow_here; follow_here({port}, {run!r})"
    readers = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert readers.stdout is not None and readers.stdout.readline() == "ready\n"
    before = _memory_bytes(pid)
    middle = _write(folder, run, lambda: _memory_bytes(pid))
    after = _memory_bytes(pid)
    found = json.loads(readers.communicate()[0])
    assert found["fewest"] == found["most"] == int(FOLLOW_S * LINES_PER_S), found
    grown = (after - middle) / (1 << 20)
    peers = {"median s": found["median"], "lines each": found["most"], "memory before MiB": before / (1 << 20)}
    return [
        Result(
            f"server: delay of {FOLLOWERS} followers at {LINES_PER_S} lines/s", found["p99"], "s",
            "under 1 for 99 of 100", found["p99"] < 1, peers | {"longest s": found["longest"]},
        ),
        Result(
            "server: memory grown in the second half of it", grown, "MiB", "flat: at most 5", grown <= 5,
            {"memory after MiB": after / (1 << 20)},
        ),
    ]  # fmt: skip


def _write(folder: Path, run: str, in_the_middle: Callable[[], int]) -> int:
    """Ten segments a second, each line with the time at which it was written; what was seen half-way."""
    from outlast.inside import layout
    from outlast.inside.records import End
    from outlast.settings import Settings
    from outlast.store.registry import open_store

    store = open_store(Settings.load({}, home=folder).store)
    began, per_segment, seen = time.monotonic(), LINES_PER_S // 10, 0
    count = int(FOLLOW_S * 10)
    for number in range(1, count + 1):
        time.sleep(max(0.0, began + number / 10 - time.monotonic()))
        line = f"{time.monotonic():.4f} epoch 3 step 100 loss=0.1234 acc=0.9876\n"
        store.put_quick(layout.log_key(run, 1, number), line.encode() * per_segment)
        if number == count // 2:
            seen = in_the_middle()
    store.put(layout.end_key(run, 1), End(reason="finished").to_bytes())
    return seen


def follow_here(port: int, run: str) -> None:
    """Follow with many connections and tell how late lines came."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    lines, delays = [0] * FOLLOWERS, list[list[float]]([] for _ in range(FOLLOWERS))
    started = threading.Barrier(FOLLOWERS + 1)

    def follow(which: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", f"/api/v1/runs/{run}/logs/stream")
        response = connection.getresponse()
        started.wait()
        for line in response:
            if line.startswith(b'data: {"stint"'):
                now = time.monotonic()
                text = json.loads(line[6:])["text"]
                lines[which] += text.count("\n")
                delays[which].append(now - float(text.split(" ", 1)[0]))
        connection.close()

    threads = [threading.Thread(target=follow, args=(which,)) for which in range(FOLLOWERS)]
    for thread in threads:
        thread.start()
    started.wait()
    print("ready", flush=True)
    for thread in threads:
        thread.join()
    every = sorted(delay for each in delays for delay in each)
    body = {
        "fewest": min(lines), "most": max(lines), "median": statistics.median(every),
        "p99": every[int(len(every) * 0.99)], "longest": every[-1],
    }  # fmt: skip
    print(json.dumps(body))


# ---- uploads


def _uploads(port: int) -> list[Result]:
    """Many at once, each announced, sent by parts and verified."""
    code = f"from bench.serving import send_here; print(send_here({port}))"
    took_s = float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    rate = UPLOADS * UPLOAD_BYTES / (1 << 20) / took_s
    return [
        Result(
            f"server: {UPLOADS} uploads at once", rate, "MiB/s", "all of them arrive, at least 50", rate >= 50,
            {"all of them s": took_s, "MiB each": UPLOAD_BYTES / (1 << 20)},
        )
    ]  # fmt: skip


def send_here(port: int) -> float:
    def send(which: int) -> None:
        data = which.to_bytes(8, "big") + bytes(UPLOAD_BYTES - 8)
        digest = hashlib.sha256(data).hexdigest()
        connection = http.client.HTTPConnection("127.0.0.1", port)

        def ask(method: str, path: str, body: bytes) -> Any:
            connection.request(method, f"/api/v1{path}", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = response.read()
            assert response.status < 300, answer
            return json.loads(answer or b"null")

        announced = {"sha256": digest, "size_bytes": len(data), "kind": "file"}
        upload = ask("POST", "/uploads", json.dumps(announced).encode())
        for number in upload["missing"]:
            start = (number - 1) * upload["part_bytes"]
            ask("PUT", f"/uploads/{digest}/parts/{number}", data[start : start + upload["part_bytes"]])
        assert ask("POST", f"/uploads/{digest}/complete", b"")["complete"]
        connection.close()

    began = time.monotonic()
    _together([lambda which=which: send(which) for which in range(UPLOADS)])
    return time.monotonic() - began


# ---- the server


@contextlib.contextmanager
def _server(environ: dict[str, str]) -> Iterator[tuple[int, int]]:
    """The server of a home on a free port, as `outlast serve` starts it; its port and its pid."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "--factory", "outlast.server.app:app_of_environment"]
    process = subprocess.Popen([*command, "--port", str(port), "--log-level", "warning"], env=environ)
    try:
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            assert process.poll() is None, "the server did not start"
            time.sleep(0.05)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait()
        end_processes(environ["OUTLAST_HOME"])


def _memory_bytes(pid: int) -> int:
    return int(Path("/proc", str(pid), "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
