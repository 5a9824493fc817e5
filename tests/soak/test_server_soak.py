"""Minutes of work for a server that is killed every few seconds: nothing is lost, and nothing happens twice.

`OUTLAST_SOAK_MINUTES` says for how long (default: 10). A failure prints the seed; kills and sizes follow it.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections import Counter

import httpx
import pytest
import sqlalchemy as sa

from outlast.inside import layout
from outlast.inside.records import End, Order
from outlast.keeper.home import Home
from outlast.keeper.index import Index, RunRow
from outlast.keeper.wake import end_keeper
from outlast.model.first_view import first_view
from outlast.server.schema import notice_deliveries
from outlast.settings import Settings
from outlast.store.registry import open_store
from outlast.testing.runs import write_run

MINUTES = float(os.environ.get("OUTLAST_SOAK_MINUTES", "10"))
PATIENCE_S = 300.0

pytestmark = [pytest.mark.soak, pytest.mark.timeout(MINUTES * 60 + 3 * PATIENCE_S)]


class Killed:
    """A server on one port, killed and started again until it may stay. Without its pages: it starts sooner."""

    def __init__(self, folder, chance):
        self.folder, self.chance, self.kills = folder, chance, 0
        self.environ = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")}
        self.environ |= {"OUTLAST_HOME": str(folder / "home"), "OUTLAST_NOTICE_PRIVATE": "on"}
        self.environ |= {"OUTLAST_KEEPER_IDLE_S": "5"}
        self.settings = Settings.load(self.environ)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/api/v1"
        self.start()

    def start(self):
        command = [sys.executable, "-m", "uvicorn", "--factory", "outlast.server.app:app_of_environment"]
        command += ["--port", str(self.port), "--log-level", "warning"]
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(command, env=self.environ, stdout=log, stderr=log)

    def kill_until(self, ended):
        """Every few seconds of work; one start in five is cut off as well."""
        while not ended.is_set():
            is_started = self.chance.random() < 0.2
            while not is_started and not ended.wait(0.2):
                is_started = self.answers()
            if ended.wait(self.chance.uniform(0.2, 5.0)):
                return
            self.process.kill()
            self.process.wait()
            self.kills += 1
            self.start()

    def answers(self):
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{self.url}/health", timeout=10, trust_env=False).status_code == 200
        return False

    def close(self):
        self.process.terminate()
        self.process.wait()
        end_keeper(Home(self.settings.home), patience_s=PATIENCE_S)


def ask(server, method, path, **words):
    """One answer, however often the server dies before it comes."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with contextlib.suppress(httpx.TransportError):
            response = httpx.request(method, server.url + path, timeout=60, trust_env=False, **words)
            if response.status_code < 500:
                assert response.status_code < 300, (method, path, response.text)
                return response.json() if response.content else None
        assert time.monotonic() < deadline, f"no answer to {method} {path}"
        time.sleep(0.1)


def submit(server, number):
    """A run that says its number; asked for until the answer comes, always with the same key."""
    script = server.folder / "scripts" / f"s{number}" / "train.py"
    script.parent.mkdir(parents=True)
    script.write_text(f"print('number {number}', flush=True)\n")
    headers = {"Idempotency-Key": f"key-{number}"}
    return ask(server, "POST", "/runs", json={"target": str(script)}, headers=headers)["id"]


def upload(server, chance):
    """A file by parts; returns its digest when the server says that it is complete."""
    data = chance.randbytes(chance.randrange(1, 24 << 20))
    digest = hashlib.sha256(data).hexdigest()
    body = {"sha256": digest, "size_bytes": len(data), "kind": "file"}
    known = ask(server, "POST", "/uploads", json=body)
    for number in known["missing"]:
        start = (number - 1) * known["part_bytes"]
        ask(server, "PUT", f"/uploads/{digest}/parts/{number}", content=data[start : start + known["part_bytes"]])
    assert ask(server, "POST", f"/uploads/{digest}/complete")["complete"] is True
    return digest


def play_run(server):
    """A run that nobody trains: its output is written by this test."""
    store = open_store(server.settings.store)
    spec = write_run(store, server.settings, marker=False)
    order = Order(run=spec.id, stint=1, token="", platform="fake", limit_s=None, grace_s=1.0)
    store.put(layout.order_key(spec.id, 1), order.to_bytes())
    view = first_view(spec.to_json())
    row = RunRow(
        spec.id, spec.name, spec.user, view.state, "fake", spec.created_at, spec.store, open=False, view=view.to_json()
    )
    with contextlib.closing(Index(Home(server.settings.home).index)) as index:
        index.add(row)
    return spec.id


def write_log(server, run, ended):
    """Numbered lines, ten segments a second; returns how many."""
    store, line, segment = open_store(server.settings.store), 0, 0
    while not ended.wait(0.1):
        segment += 1
        text = "".join(f"line {number}\n" for number in range(line, line + 20))
        store.put_quick(layout.log_key(run, 1, segment), text.encode())
        line += 20
    store.put(layout.end_key(run, 1), End(reason="finished").to_bytes())
    return line


def follow(server, run):
    """Every line of a log, over as many connections as it takes."""
    cursor, text, deadline = "", [], time.monotonic() + MINUTES * 60 + PATIENCE_S
    while time.monotonic() < deadline:
        headers = {"Last-Event-ID": cursor} if cursor else {}
        try:
            url = f"{server.url}/runs/{run}/logs/stream"
            with httpx.stream("GET", url, headers=headers, timeout=60, trust_env=False) as response:
                for line in response.iter_lines() if response.status_code == 200 else ():
                    if line.startswith("id: "):
                        coming = line[4:]
                    elif line.startswith('data: {"stint"'):
                        text.append(json.loads(line[6:])["text"])
                        cursor = coming
                    elif line == "event: end":
                        return "".join(text).splitlines()
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the end of the log never came")


def every_run(server):
    """The ids of the whole list, page by page."""
    found, cursor = [], ""
    while cursor is not None:
        page = ask(server, "GET", "/runs", params={"limit": 50, "cursor": cursor})
        found += page["runs"]
        cursor = page["next"]
    return found


class Told(http.server.BaseHTTPRequestHandler):
    """A webhook that counts."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.runs.append(body["run"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def counting():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Told)
    server.daemon_threads, server.runs = True, []
    server.handle_error = lambda *_: None
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def together(*tasks):
    """Run each in a thread; the first failure is this one's."""
    problems = []

    def guarded(task):
        try:
            task()
        except BaseException as error:  # noqa: BLE001 - told to the test
            problems.append(error)

    threads = [threading.Thread(target=guarded, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def test_a_server_under_load_that_is_killed_all_the_time_loses_and_repeats_nothing(tmp_path):
    seed = int(os.environ.get("OUTLAST_TEST_SEED") or random.randrange(1 << 30))
    print("seed", seed)
    ended, runs, digests, logs, listed = threading.Event(), {}, [], {}, []
    server = Killed(tmp_path, random.Random(seed))
    played = play_run(server)

    def submit_all(first):
        for number in range(first, 100_000, 2):
            if ended.is_set():
                return
            runs[number] = submit(server, number)
            ended.wait(2.0)

    def upload_all(which):
        chance = random.Random(seed + which)
        while not ended.is_set():
            digests.append(upload(server, chance))

    def list_all():
        while not ended.wait(0.2):
            before = set(runs.values())
            ids = Counter(run["id"] for run in every_run(server))
            assert before <= set(ids) and max(ids.values()) == 1
            listed.append(len(ids))

    def finish():
        server.kill_until(ended)

    try:
        with counting() as hook:
            target = f"http://127.0.0.1:{hook.server_address[1]}/"
            ask(server, "POST", "/me/notices", json={"kind": "webhook", "target": target})
            threading.Timer(MINUTES * 60, ended.set).start()
            together(
                finish, lambda: submit_all(0), lambda: submit_all(1), lambda: upload_all(1), lambda: upload_all(2),
                list_all, lambda: logs.update(written=write_log(server, played, ended)),
                *(lambda each=each: logs.update({each: follow(server, played)}) for each in range(5)),
            )  # fmt: skip
            _settle(server, set(runs.values()))
            told = Counter(hook.runs)
        print(f"{server.kills} kills, {len(runs)} runs, {len(digests)} uploads, {len(listed)} lists")
        _check_runs(server, runs)
        assert all(logs[each] == [f"line {number}" for number in range(logs["written"])] for each in range(5))
        for digest in digests:
            assert ask(server, "GET", f"/uploads/{digest}")["complete"] is True
        _check_notices(server, set(runs.values()), told)
    finally:
        ended.set()
        server.close()


def _settle(server, ids):
    """Until every run is over and told."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        states = {run["id"]: run["state"] for run in every_run(server) if run["id"] in ids}
        notices = Counter(_deliveries(server).values())
        over = set(states.values()) <= {"succeeded", "failed", "stopped"}
        if over and notices.total() >= len(ids) and not notices["due"]:
            return
        assert time.monotonic() < deadline, (Counter(states.values()), notices)
        time.sleep(1.0)


def _check_runs(server, runs):
    found = {run["id"]: run for run in every_run(server)}
    assert set(runs.values()) <= set(found) and len(set(runs.values())) == len(runs)
    assert {found[run]["state"] for run in runs.values()} <= {"succeeded"}
    # One folder for each key, and not one more.
    specs = list((server.settings.home / "store" / "runs").glob("*/spec.json"))
    assert len(specs) == len(runs) + 1
    store = open_store(server.settings.store)
    for number, run in runs.items():
        keys = [entry.key for entry in store.list(layout.run_prefix(run)) if "/log/" in entry.key]
        text = b"".join(store.get(key) for key in sorted(keys)).decode()
        assert text.count(f"number {number}\n") == 1, (run, text)


def _deliveries(server):
    engine = sa.create_engine(server.settings.database)
    with engine.connect() as connection:
        rows = connection.execute(sa.select(notice_deliveries.c.run_id, notice_deliveries.c.state)).all()
    engine.dispose()
    return dict(rows)


def _check_notices(server, ids, told):
    """Nobody hears of a run twice; who does not hear of it was let down by a kill in the middle of a message."""
    states = _deliveries(server)
    assert set(states) == ids and set(states.values()) <= {"sent", "sending", "unsure"} and max(told.values()) == 1
    assert {run for run in ids if states[run] == "sent"} <= set(told)
