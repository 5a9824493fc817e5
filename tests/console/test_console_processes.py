"""The console of several processes on one port, and of two servers with one database, on a real PostgreSQL."""

import contextlib
import os
import re
import signal
import time
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa
from console_lab import PASSWORD, PATIENCE_S, ConsoleLab, start_server
from playwright.sync_api import expect
from test_console_journey import test_a_training_from_the_sign_in_to_its_results as journey

from outlast.keeper.home import Home
from outlast.keeper.index import RunRow
from outlast.keeper.opening import index_of
from outlast.keeper.wake import end_keeper
from outlast.model.first_view import first_view
from outlast.store.registry import open_store
from outlast.testing.runs import write_run


@pytest.fixture(scope="module")
def database(postgres):
    """A database of this file alone."""
    name = f"console_{os.getpid()}"
    engine = sa.create_engine(postgres.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return f"{postgres.rpartition('/')[0]}/{name}"


@pytest.fixture(scope="module")
def console(tmp_path_factory, database):
    lab = ConsoleLab(tmp_path_factory.mktemp("two"), "--processes", "2", OUTLAST_DATABASE=database)
    yield lab
    lab.close()


@pytest.fixture
def beside(console, database, tmp_path):
    """The address of a second server, with a home of its own and the same database."""
    environ = {**console.environ, "OUTLAST_HOME": str(tmp_path / "home"), "OUTLAST_STORE": console.settings.store}
    process, url = start_server(environ, tmp_path / "log")
    yield url
    process.terminate()
    process.wait(PATIENCE_S)
    end_keeper(Home(tmp_path / "home"))


def children(console) -> list[int]:
    """The server's processes in the order in which they were started: the one that makes pages comes first."""
    parent = console.process.pid
    found = map(int, Path(f"/proc/{parent}/task/{parent}/children").read_text().split())
    return [pid for pid in found if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def add_run(console, name: str) -> str:
    """A run of mia's that is listed and that nobody looks after; its id."""
    spec = write_run(open_store(console.settings.store), console.settings, marker=False, name=name, user="mia")
    view = first_view(spec.to_json())
    row = RunRow(spec.id, name, "mia", view.state, "fake", spec.created_at, spec.store, open=False, view=view.to_json())
    with contextlib.closing(index_of(console.settings, console.home)) as index:
        index.add(row)
    return spec.id


def test_a_page_comes_back_whichever_process_is_killed(console, context, page):
    console.enter(context)
    page.goto(console.url)
    expect(page.get_by_role("heading", name="Runs", level=1)).to_be_visible()
    for which in (0, 1):  # the one that makes pages, and one that answers
        before = children(console)
        os.kill(before[which], signal.SIGKILL)
        add_run(console, f"after-{which}")
        expect(page.get_by_role("link", name=f"after-{which}", exact=True)).to_be_visible()  # nobody loads it anew
        deadline = time.monotonic() + PATIENCE_S
        while len(children(console)) < 3 or before[which] in children(console):
            assert time.monotonic() < deadline, console.log()
            time.sleep(0.1)
    broke_off = re.compile("WebSocket connection|net::ERR_|status of 503")
    context.complaints[:] = [said for said in context.complaints if not broke_off.search(said)]


@pytest.mark.soak
def test_the_whole_journey_works_with_two_processes(console, page):
    journey(console, page, console.finished(console.submit(name="trained", params=("lr=0.1",))))


def test_two_servers_with_one_database_share_people_runs_and_forms(console, beside):
    run = add_run(console, "shared")
    with httpx.Client(timeout=PATIENCE_S, trust_env=False, follow_redirects=True) as browser:
        form = browser.get(f"{console.url}/sign-in").text
        tie = re.search(r'name="tie" value="([^"]+)"', form)[1]
        sent = {"tie": tie, "name": "mia", "password": PASSWORD, "next": f"/runs/{run}"}
        # The form comes from one server and goes to the other, as does everything that follows.
        page = browser.post(f"{beside}/sign-in", data=sent)
        assert page.status_code == 200 and "shared" in page.text
        csrf = browser.get(f"{console.url}/api/v1/me").json()["csrf"]
        change = f"{beside}/api/v1/tokens", {"name": "shared"}
        assert browser.post(change[0], json=change[1]).status_code == 403
        made = browser.post(change[0], json=change[1], headers={"X-CSRF-Token": csrf})
        assert made.status_code == 201, made.text
        bearer = {"Authorization": f"Bearer {made.json()['token']}"}
        for url in (console.url, beside):
            told = httpx.get(f"{url}/api/v1/runs/{run}", headers=bearer, timeout=PATIENCE_S, trust_env=False)
            assert told.json()["name"] == "shared"
        browser.post(f"{console.url}/sign-out", data={"csrf": csrf})
        deadline = time.monotonic() + PATIENCE_S
        while browser.get(f"{beside}/api/v1/me").status_code != 401:  # a server believes what it knew for a second
            assert time.monotonic() < deadline
            time.sleep(0.1)
