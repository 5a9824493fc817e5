"""The index: rows, leases, upgrades; and what happens when the file is damaged or newer."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing

import pytest

from outlast.errors import HomeError
from outlast.keeper import schema
from outlast.keeper.index import Index, IndexDamaged, RunRow, move_damaged_aside

V1 = """
CREATE TABLE meta (schema_version INTEGER NOT NULL);
INSERT INTO meta VALUES (1);
CREATE TABLE runs (id VARCHAR(80) NOT NULL PRIMARY KEY, name VARCHAR(64) NOT NULL, user VARCHAR(128) NOT NULL,
  state VARCHAR(16) NOT NULL, platform VARCHAR(64) NOT NULL, created_at VARCHAR(32) NOT NULL,
  updated_at VARCHAR(32) NOT NULL, store TEXT NOT NULL, view_json TEXT NOT NULL);
CREATE TABLE leases (run_id VARCHAR(80) NOT NULL PRIMARY KEY, holder VARCHAR(64) NOT NULL, expires FLOAT NOT NULL);
INSERT INTO runs VALUES ('a', 'one', 'ann', 'running', 'local', '1', '1', 'file:///s', '{"state": "running"}');
INSERT INTO runs VALUES ('b', 'two', 'ann', 'succeeded', 'local', '2', '2', 'file:///s', '{}');
INSERT INTO leases VALUES ('a', 'k1', 5.0);
"""


def row(run: str, name: str = "train", **fields) -> RunRow:
    words = {"user": "ann", "state": "queued", "platform": "local", "created_at": run, "store": "file:///s", **fields}
    return RunRow(run, name, **words)


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    """An empty index of each kind."""
    return tmp_path / "index.db" if request.param == "sqlite" else request.getfixturevalue("empty_postgres")


@pytest.fixture
def index(address):
    index = Index(address)
    yield index
    index.close()


def old_index(path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(V1)


def test_rows_come_back_as_they_were_put(index):
    one = row("a", view={"state": "queued", "größe": 1})
    assert index.add(one) and not index.add(row("a", "other"))
    assert index.get("a") == one and index.get("b") is None
    index.put(row("a", "renamed"))
    index.put(row("b"))
    assert [found.name for found in index.all_runs()] == ["renamed", "train"]


def test_update_never_brings_back_a_removed_run(index):
    index.put(row("a"))
    index.remove("a")
    assert not index.update(row("a")) and index.all_runs() == []


def test_open_runs_are_those_the_keeper_looks_after(index):
    index.put(row("a", open=False))
    index.put(row("b"))
    assert [found.id for found in index.open_runs()] == ["b"]
    assert index.set_open("a", True) and not index.set_open("zz", True)
    assert [found.id for found in index.open_runs()] == ["a", "b"]


def test_find_takes_wildcards_literally(index):
    index.put(row("1115-a_b", "n%"))
    index.put(row("1115-axb", "nn"))
    assert [found.id for found in index.find("1115-a_")] == ["1115-a_b"]
    assert [found.id for found in index.find("n%")] == ["1115-a_b"]
    assert [found.id for found in index.find("1115")] == ["1115-a_b", "1115-axb"]


def test_lease_is_held_by_one_until_it_expires(address):
    now = [1000.0]
    index = Index(address, clock=lambda: now[0])
    assert index.take_lease("a", "k1", 30) and index.take_lease("a", "k1", 30)
    assert not index.take_lease("a", "k2", 30)
    now[0] += 31
    assert index.take_lease("a", "k2", 30)
    assert not index.renew_lease("a", "k1", 30) and index.renew_lease("a", "k2", 30)
    index.release_leases("k2")
    assert index.take_lease("a", "k1", 30)
    index.close()


def test_lease_from_before_the_clock_was_set_back_is_void(address):
    now = [1_000_000.0]
    index = Index(address, clock=lambda: now[0])
    assert index.take_lease("a", "k1", 30)
    now[0] -= 86400
    assert index.take_lease("a", "k2", 30)
    index.close()


def test_of_many_takers_one_gets_the_lease(address):
    taken = []

    def take(holder: str) -> None:
        index = Index(address)  # of many who make the tables one does, too
        if index.take_lease("a", holder, 30):
            taken.append(holder)
        index.close()

    threads = [threading.Thread(target=take, args=(f"k{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 1


def test_version_1_is_upgraded_and_keeps_its_rows(tmp_path):
    path = tmp_path / "index.db"
    old_index(path)
    index = Index(path)
    assert [(found.id, found.open) for found in index.all_runs()] == [("a", True), ("b", False)]
    assert index.get("a").view == {"state": "running"}
    index.put(row("c"))
    index.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT schema_version FROM meta").fetchall() == [(schema.SCHEMA_VERSION,)]
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
    assert {"runs_by_name", "runs_by_open"} <= names


def test_upgraded_index_has_the_same_columns_as_a_new_one(tmp_path):
    old_index(tmp_path / "old.db")
    columns = []
    for name in ("old.db", "new.db"):
        Index(tmp_path / name).close()
        with closing(sqlite3.connect(tmp_path / name)) as connection:
            columns.append({(c[1], c[2], c[3]) for c in connection.execute("PRAGMA table_info(runs)")})
    assert columns[0] == columns[1]


def test_interrupted_upgrade_leaves_the_old_index_whole(tmp_path, monkeypatch):
    path = tmp_path / "index.db"
    old_index(path)

    def half(connection):
        step(connection)
        raise KeyboardInterrupt

    step = schema.UPGRADES[0]
    monkeypatch.setattr(schema, "UPGRADES", [half])
    with pytest.raises(KeyboardInterrupt):
        Index(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT schema_version FROM meta").fetchall() == [(1,)]
        assert "open" not in {c[1] for c in connection.execute("PRAGMA table_info(runs)")}
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (2,)
    monkeypatch.undo()
    index = Index(path)
    assert len(index.open_runs()) == 1
    index.close()


def test_there_is_an_upgrade_from_every_older_version():
    assert len(schema.UPGRADES) == schema.SCHEMA_VERSION - 1


def test_newer_schema_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "index.db"
    Index(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE meta SET schema_version = 99")
        connection.commit()
    with pytest.raises(HomeError, match=r"schema 99.*reads up to 4.*upgrade"):
        Index(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT schema_version FROM meta").fetchone() == (99,)


@pytest.mark.parametrize("damage", [b"not a database at all, but long enough to be read as a header" * 20, None])
def test_damaged_file_says_how_to_rebuild_it(tmp_path, damage):
    path = tmp_path / "index.db"
    index = Index(path)
    for number in range(200):
        index.put(row(f"run-{number}", view={"x": "y" * 500}))
    index.close()
    data = path.read_bytes()
    path.write_bytes(damage or data[:4096] + b"\xff" * (len(data) - 4096))
    with pytest.raises(IndexDamaged, match=r"outlast reindex"):
        found = Index(path)
        try:
            found.all_runs()
        finally:
            found.close()
    aside = move_damaged_aside(path)
    assert aside is not None and aside.exists() and not path.exists()
    Index(path).close()


def test_replaced_file_is_noticed(tmp_path):
    index = Index(tmp_path / "index.db")
    assert not index.was_replaced()
    move_damaged_aside(tmp_path / "index.db")
    Index(tmp_path / "index.db").close()
    assert index.was_replaced()
    index.close()


def test_no_sql_of_one_database_outside_the_one_spot():
    """Every statement compiles for PostgreSQL as well."""
    import sqlalchemy as sa
    from sqlalchemy.dialects import postgresql
    from sqlalchemy.schema import CreateTable

    for table in schema.metadata.tables.values():
        assert "CREATE TABLE" in str(CreateTable(table).compile(dialect=postgresql.dialect()))
    query = sa.select(schema.runs).where(schema.runs.c.id.startswith("a", autoescape=True))
    assert "LIKE" in str(query.compile(dialect=postgresql.dialect()))
