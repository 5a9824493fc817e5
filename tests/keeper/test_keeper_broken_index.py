"""The list of runs is damaged, full, replaced or another home's: no run stops for it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from world_rows import row_of

from outlast.keeper.home import Home
from outlast.keeper.index import Index, IndexDamaged
from outlast.keeper.rebuild import rebuild_index
from outlast.platforms.base import job_name
from outlast.testing.runs import write_run


def test_damaged_index_is_rebuilt_by_the_keeper_itself(world):
    spec = write_run(world.store, world.settings)
    first = world.keeper()
    world.turn(first)
    first.close()
    (world.settings.home / "index.db").write_bytes(b"rubbish" * 1000)
    second = world.keeper()
    world.platform.start(world.store).beat()
    world.turn(second)
    assert row_of(world, spec.id).state == "running"
    assert list(world.settings.home.glob("index.db.damaged-*"))


def test_index_that_cannot_be_written_stops_no_run(world, monkeypatch):
    from outlast.errors import HomeError

    specs = [write_run(world.store, world.settings) for _ in range(2)]
    keeper = world.keeper()

    def full(self, row):
        raise HomeError("database or disk is full")

    monkeypatch.setattr(Index, "update", full)
    world.turn(keeper)
    assert sorted(world.platform.submits) == sorted(job_name(spec.id, 1) for spec in specs)
    monkeypatch.setattr(Index, "kept_runs", lambda self: full(self, None))
    assert world.turn(keeper) > 0
    monkeypatch.undo()
    world.platform.start(world.store, job_name(specs[0].id, 1)).beat()
    world.turn(keeper)
    assert row_of(world, specs[0].id).state == "running"


def test_index_damaged_under_a_running_keeper_is_rebuilt(world, monkeypatch):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    world.platform.start(world.store).beat()
    # The open connection still sees its own pages, so the damage is reported to it by hand.
    (world.settings.home / "index.db").write_bytes(b"rubbish" * 1000)

    def damaged(self):
        monkeypatch.undo()
        raise IndexDamaged("malformed")

    monkeypatch.setattr(Index, "kept_runs", damaged)
    assert world.turn(keeper) == 0.0
    world.turn(keeper)
    assert row_of(world, spec.id).state == "running"


def test_index_replaced_under_a_running_keeper_is_followed(world):
    from outlast.keeper.home import Home
    from outlast.keeper.index import move_damaged_aside
    from outlast.keeper.rebuild import rebuild_index

    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    move_damaged_aside(world.settings.home / "index.db")
    rebuilt = rebuild_index(Home(world.settings.home), world.settings)
    assert rebuilt.runs == 1
    world.platform.start(world.store).beat()
    world.turn(keeper)
    assert row_of(world, spec.id).state == "running"


def test_run_of_another_home_is_listed_but_left_alone(world, tmp_path):
    from outlast.keeper.home import Home
    from outlast.keeper.rebuild import rebuild_index
    from outlast.testing.runs import fake_settings

    spec = write_run(world.store, world.settings)
    world.turn(world.keeper())
    other = fake_settings(tmp_path / "other", OUTLAST_STORE=world.settings.store)
    rebuild_index(Home(other.home), other)
    index = Index(other.home / "index.db")
    found = index.get(spec.id)
    index.close()
    assert found is not None and not found.open
    assert f"outlast resume {spec.id}" in found.view["notice"]


def test_index_removed_under_somebody_who_has_it_open_names_the_way_back(world):
    """Within one process SQLite knows better: it takes another one to be surprised."""
    spec = write_run(world.store, world.settings)
    home = Home(world.settings.home)
    code = (
        "import pathlib, sys; from outlast.keeper.index import Index; index = Index(pathlib.Path(sys.argv[1])); "
        "print(index.take_lease('a', 'somebody', 9), flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(home.index)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout.readline() == b"True\n"
        home.index.unlink()
        with pytest.raises(IndexDamaged, match="removed while a keeper had it open, rebuild it with: outlast reindex"):
            Index(home.index)
        assert rebuild_index(home, world.settings).runs == 1
        assert row_of(world, spec.id).state == "queued"
    finally:
        holder.communicate()


def test_index_removed_under_a_running_keeper_comes_back_with_its_runs(world):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    Home(world.settings.home).index.unlink()
    world.platform.start(world.store).beat()
    world.turn(keeper)
    assert row_of(world, spec.id).state == "running"
