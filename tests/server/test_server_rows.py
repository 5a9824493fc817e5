"""Pages of runs are the same from each database, and change with it."""

from __future__ import annotations

import contextlib
import dataclasses
import json

import pytest

from outlast.keeper.home import Home
from outlast.keeper.index import RunRow
from outlast.keeper.opening import index_of
from outlast.model.query import RunQuery
from outlast.server.accounts.people import Actor, Role
from outlast.server.ready import Asked, ReadyRuns
from outlast.settings import Settings


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request, tmp_path, monkeypatch):
    monkeypatch.setattr("outlast.server.ready.ensure_keeper", lambda home: False)
    settings = Settings.load({}, home=tmp_path / "home")
    if request.param == "postgresql":
        settings = dataclasses.replace(settings, database=request.getfixturevalue("empty_postgres"))
    return settings


def put(index, run, user="ann", state="succeeded", **view):
    body = {"id": run, "name": run, "state": state, "platform": "local", "created_at": run, "user": user, **view}
    index.put(RunRow(run, run, user, state, "local", run, "file:///s", open=False, view=body))


def test_pages_filters_owners_and_cursors(settings):
    with contextlib.closing(index_of(settings, Home(settings.home))) as index:
        for number in range(12):
            put(
                index,
                f"r{number:02d}",
                "ann" if number % 2 else "b'en%",
                metrics={"acc": number / 10, "odd": float("nan")},
            )
        put(index, "r99", state="failed")
        with contextlib.closing(ReadyRuns(settings)) as runs:

            def ids(rows=100, owners=None, **words):
                found, cursor = [], ""
                while cursor is not None:
                    page = json.loads(runs.page(Asked(owners, RunQuery.build(**words), rows, cursor)))
                    found += [run["id"] for run in page["runs"]]
                    cursor = page["next"]
                return found

            newest = ["r99", *(f"r{number:02d}" for number in range(11, -1, -1))]
            assert ids() == newest and ids(rows=5) == newest and ids(sort="-created") == newest[::-1]
            assert ids(states=["failed"]) == ["r99"] and ids(owners=frozenset({"b'en%"})) == newest[2::2]
            assert ids(rows=2, where=["acc>=0.8"], sort="acc") == ["r11", "r10", "r09", "r08"]
            assert ids(rows=1, owners=frozenset({"ann"}), name="r1*") == ["r11"]
            asked = Asked(None, RunQuery(), 100)
            put(index, "r50")
            assert json.loads(runs.page(asked))["runs"][1]["id"] == "r50"  # at once, not a second later
            index.remove("r50")
            assert len(json.loads(runs.page(asked))["runs"]) == 13
            assert runs.find(Actor(1, "ann", Role.ADMIN), "r99").id == "r99" and runs.stores() == {"file:///s"}
