"""One index on PostgreSQL for several homes and processes: whose runs are whose, and leases that hold."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import random
import subprocess
import sys
import time

import pytest
import sqlalchemy as sa

from outlast.errors import HomeError, PlatformError
from outlast.keeper.home import Home
from outlast.keeper.index import Index, RunRow
from outlast.keeper.keeper import Keeper
from outlast.keeper.opening import index_of
from outlast.keeper.wake import end_keeper
from outlast.model.query import RunQuery
from outlast.operations.database import use_database
from outlast.operations.listing import find_runs
from outlast.settings import Settings
from outlast.testing.fake_platform import FakePlatform
from outlast.testing.runs import fake_settings, write_run

PATIENCE_S = 120


def row(run, **fields):
    view = {"id": run, "name": run, "state": "succeeded", "platform": "local", "created_at": run}
    return RunRow(run, run, "ann", "succeeded", "local", run, "file:///s", **{"view": view, **fields})


@pytest.fixture
def homes(tmp_path, empty_postgres):
    """Settings of two homes that share one index."""
    return [dataclasses.replace(fake_settings(tmp_path / name), database=empty_postgres) for name in ("one", "two")]


def test_each_keeper_looks_after_the_runs_of_its_own_home(homes):
    from outlast.store.registry import open_store

    specs = [write_run(open_store(settings.store), settings) for settings in homes]
    keepers = [Keeper(settings, create_platform=lambda name: FakePlatform()) for settings in homes]
    for _ in range(2):
        for keeper in keepers:
            keeper.turn()
    assert [set(keeper._kept) for keeper in keepers] == [{specs[0].id}, {specs[1].id}]
    for settings in homes:  # … and each home lists them all
        assert {view.id for view in find_runs(settings, RunQuery()).views} == {spec.id for spec in specs}
    for keeper in keepers:
        keeper.close()
    assert not Home(homes[0].home).index.exists()


def test_a_run_that_another_home_takes_over_is_its_own_from_then_on(homes):
    with contextlib.ExitStack() as stack:
        one, two = (stack.enter_context(contextlib.closing(index_of(each, Home(each.home)))) for each in homes)
        one.add(row("a", open=True))
        assert [found.id for found in one.kept_runs()] == ["a"] and two.kept_runs() == []
        assert two.set_open("a", True)
        assert one.kept_runs() == [] and [found.id for found in two.kept_runs()] == ["a"]
        assert [found.id for found in one.open_runs()] == ["a"]


def test_rows_of_the_file_move_into_the_database(tmp_path, empty_postgres):
    settings = Settings.load({}, home=tmp_path / "home")
    home = Home(settings.home)
    with contextlib.closing(Index(home.index)) as index:
        index.add(row("a", open=False))
        index.add(row("b"))
    after = use_database(settings, empty_postgres)
    assert after.shares_index and Settings.load({}, home=tmp_path / "home").database == empty_postgres
    with contextlib.closing(index_of(after, home)) as index:
        assert [(found.id, found.open, found.home) for found in index.all_runs()] == [
            ("a", False, home.id), ("b", True, home.id),
        ]  # fmt: skip
    assert not home.index.exists() and home.index.with_name("index.db.moved").exists()


def test_a_database_that_cannot_be_used_changes_nothing(tmp_path):
    settings = Settings.load({}, home=tmp_path / "home")
    with pytest.raises(PlatformError) as refused:
        use_database(settings, "postgresql://ann:PASSWORD@127.0.0.1:1/none")
    assert "PASSWORD" not in str(refused.value) and Settings.load({}, home=tmp_path / "home") == settings


def test_a_newer_schema_is_refused(empty_postgres):
    Index(empty_postgres).close()
    engine = sa.create_engine(empty_postgres)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE meta SET schema_version = 99"))
    engine.dispose()
    with pytest.raises(HomeError, match="schema 99"):
        Index(empty_postgres)


def test_every_change_moves_the_version_on(empty_postgres):
    with contextlib.closing(Index(empty_postgres)) as index, contextlib.closing(Index(empty_postgres)) as other:
        seen = [other.version()]
        changes = (
            lambda: index.add(row("a")), lambda: index.update(row("a", updated_at="2")),
            lambda: index.set_open("a", False), lambda: index.remove("a"),
        )  # fmt: skip
        for change in changes:
            change()
            seen.append(other.version())
        assert seen == sorted(set(seen))


HOLDER = """
import sys, time
from outlast.keeper.index import Index
index = Index(sys.argv[1])
assert index.take_lease("a", "first", 3600)
with index._begin() as connection:
    connection.exec_driver_sql("UPDATE runs SET name = 'half' WHERE id = 'a'")
    print("held", flush=True)
    time.sleep(3600)
"""


def test_a_lease_outlives_its_killed_holder_until_it_ends_and_half_a_change_does_not(empty_postgres):
    with contextlib.closing(Index(empty_postgres)) as index:
        index.add(row("a"))
        holder = subprocess.Popen([sys.executable, "-c", HOLDER, empty_postgres], stdout=subprocess.PIPE, text=True)
        try:
            assert holder.stdout.readline() == "held\n"
            assert not index.take_lease("a", "second", 3600)
        finally:
            holder.kill()
            holder.wait(PATIENCE_S)
            holder.stdout.close()
        assert not index.take_lease("a", "second", 3600)
        assert index.update(row("a", updated_at="3")) and index.get("a").name == "a"
        with index._begin() as connection:
            connection.execute(sa.text("UPDATE leases SET expires = 0"))
        assert index.take_lease("a", "second", 3600) and not index.renew_lease("a", "first", 3600)


WORKER = """
import os, sys
from outlast.keeper.index import Index
address, me, folder = sys.argv[1:]
index = Index(address)
while True:
    if index.take_lease("a", me, 3600):
        os.close(os.open(folder + "/inside", os.O_CREAT | os.O_EXCL))  # raises when somebody else is inside
        with open(folder + "/log", "a") as log:
            log.write(me + "\\n")
        os.unlink(folder + "/inside")
        index.release_leases(me)
"""


@pytest.mark.slow
def test_of_several_processes_one_at_a_time_holds_the_lease_even_when_they_are_killed(empty_postgres, tmp_path):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    chance, log, dead = random.Random(seed), tmp_path / "log", []
    log.touch()

    def start(name):
        command = [sys.executable, "-c", WORKER, empty_postgres, name, str(tmp_path)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def wait_for_turns(count):
        wanted, deadline = len(log.read_text().splitlines()) + count, time.monotonic() + PATIENCE_S
        while len(log.read_text().splitlines()) < wanted:
            assert time.monotonic() < deadline and all(each.poll() is None for each in workers.values()), seed
            end_leases_of_the_dead()
            time.sleep(0.05)

    def end_leases_of_the_dead():
        """As time would. Whoever holds the lease of a dead one cannot be inside, so what it left goes too."""
        with index._begin() as connection:
            holder = connection.execute(sa.text("SELECT holder FROM leases WHERE run_id = 'a' FOR UPDATE")).scalar()
            if holder in dead:
                (tmp_path / "inside").unlink(missing_ok=True)
                connection.execute(sa.text("DELETE FROM leases WHERE run_id = 'a'"))

    with contextlib.closing(Index(empty_postgres)) as index:
        workers = {name: start(name) for name in ("first", "second")}
        try:
            for number in range(2):
                wait_for_turns(chance.randrange(5, 25))
                victim = chance.choice(sorted(workers))
                workers[victim].kill()
                workers.pop(victim).wait(PATIENCE_S)
                dead.append(victim)
                workers[f"w{number}"] = start(f"w{number}")
            wait_for_turns(10)
        finally:
            for each in workers.values():
                each.kill()
                each.wait(PATIENCE_S)


@pytest.mark.slow
def test_a_training_goes_its_way_with_the_index_on_postgresql(tmp_path, empty_postgres):
    (tmp_path / "train.py").write_text("print('trained', flush=True)\n")
    home = tmp_path / "home"
    environ = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")}
    environ |= {"OUTLAST_HOME": str(home), "OUTLAST_DATABASE": empty_postgres, "OUTLAST_KEEPER_IDLE_S": "1"}

    def outlast(*words):
        command = [sys.executable, "-m", "outlast.cli.entry", *words]
        return subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=280)

    try:
        ran = outlast("run", "train.py")
        assert ran.returncode == 0, ran.stderr
        (run,) = json.loads(outlast("ps", "--all", "--json").stdout)
        assert run["state"] == "succeeded"
        assert "1 run in the list" in outlast("reindex").stdout
    finally:
        end_keeper(Home(home))
    assert not (home / "index.db").exists()
