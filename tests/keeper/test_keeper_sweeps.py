"""Sweeps in the keeper: members wait for their turn, hopeless ones stop, and a new keeper goes on as the old one."""

from __future__ import annotations

import json

import pytest

from outlast.inside import layout
from outlast.inside.errors import PlaceError
from outlast.inside.records import Control
from outlast.keeper.index import Index
from outlast.model.sweep import SweepRecord
from outlast.platforms.base import job_name
from outlast.testing.runs import write_run


def write_sweep(world, count, name="grid", **options):
    specs = [write_run(world.store, world.settings, name=f"{name}-{at}", sweep=name) for at in range(count)]
    members = [{"run": spec.id, "name": spec.name, "params": {"p": str(at)}} for at, spec in enumerate(specs)]
    record = SweepRecord(name, [("p", [str(at) for at in range(count)])], members, world.settings.store, **options)
    world.store.put(layout.sweep_key(name), record.to_bytes())
    return [spec.id for spec in specs]


def view_of(world, run):
    index = Index(world.settings.home / "index.db")
    try:
        row = index.get(run)
        assert row is not None
        return row.view
    finally:
        index.close()


def submitted(world, runs):
    return [run for run in runs if job_name(run, 1) in world.platform.jobs]


def measure(world, run, values, metric="val_acc", stint=1):
    lines = [
        json.dumps({"at_s": float(epoch), "epoch": epoch, "values": {metric: value}})
        for epoch, value in enumerate(values, 1)
    ]
    world.store.put(layout.metrics_key(run, stint, 1), ("\n".join(lines) + "\n").encode())


def test_members_start_as_places_become_free(world):
    runs = write_sweep(world, 4, at_once=2)
    keeper = world.keeper()
    world.turn(keeper)
    assert submitted(world, runs) == runs[:2]
    assert "sweep grid runs 2 at once" in view_of(world, runs[2])["message"]
    assert view_of(world, runs[2])["sweep"] == "grid" and view_of(world, runs[2])["state"] == "queued"
    world.platform.start(world.store, job_name(runs[0], 1)).end("finished")
    assert world.turn(keeper) == 0.0  # look again at once
    world.turn(keeper)
    assert submitted(world, runs) == runs[:3]


def test_without_a_limit_all_start_and_two_sweeps_do_not_meet(world):
    free = write_sweep(world, 3, name="free")
    tight = write_sweep(world, 3, name="tight", at_once=1)
    world.turn(world.keeper())
    assert submitted(world, free) == free and submitted(world, tight) == tight[:1]


def test_a_new_keeper_holds_the_same_members(world):
    runs = write_sweep(world, 3, at_once=1)
    world.turn(world.keeper())
    world.turn(world.keeper())
    assert submitted(world, runs) == runs[:1]
    assert all(count == 1 for count in world.platform.submits.values())


def test_a_member_that_waits_can_be_stopped(world):
    runs = write_sweep(world, 3, at_once=1)
    keeper = world.keeper()
    world.turn(keeper)
    world.store.put(layout.control_key(runs[1]), Control(want="stop").to_bytes())
    world.turn(keeper)
    assert view_of(world, runs[1])["state"] == "stopped"
    assert submitted(world, runs) == runs[:1]


def test_hopeless_members_are_stopped_with_the_reason(world):
    runs = write_sweep(world, 4, metric="val_acc", sign=1, early_stop_after=2.0)
    keeper = world.keeper()
    world.turn(keeper)
    stints = {run: world.platform.start(world.store, job_name(run, 1)) for run in runs}
    for run, value in zip(runs, (0.9, 0.8, 0.7, 0.1), strict=True):
        stints[run].beat()
        measure(world, run, [value] * 3)
    world.turn(keeper)
    asked = [Control.from_bytes(world.store.get(layout.control_key(run))) for run in runs]
    assert [control.want for control in asked] == ["go", "go", "stop", "stop"]
    stints[runs[3]].end("stopped")
    world.turn(keeper)
    message = view_of(world, runs[3])["message"]
    assert message.startswith(
        "stopped early: val_acc 0.1 at 2 is behind 0.8, the median of 3 other members of sweep grid"
    )
    assert f"outlast resume {runs[3]}" in message


def test_a_member_that_its_user_resumed_is_not_stopped_again(world):
    runs = write_sweep(world, 4, metric="val_acc", sign=1, early_stop_after=2.0)
    keeper = world.keeper()
    world.turn(keeper)
    for run, value in zip(runs, (0.9, 0.8, 0.7, 0.1), strict=True):
        world.platform.start(world.store, job_name(run, 1)).beat()
        if run != runs[3]:
            measure(world, run, [value] * 3)
    world.store.put(layout.control_key(runs[3]), Control(want="go", since_stint=2).to_bytes())
    measure(world, runs[3], [0.1] * 3)
    world.turn(keeper)
    assert Control.from_bytes(world.store.get(layout.control_key(runs[3]))).want == "go"


def test_the_users_stop_is_not_overwritten(world):
    runs = write_sweep(world, 4, metric="val_acc", sign=1, early_stop_after=1.0)
    keeper = world.keeper()
    world.turn(keeper)
    for run, value in zip(runs, (0.9, 0.8, 0.7, 0.1), strict=True):
        world.platform.start(world.store, job_name(run, 1)).beat()
        measure(world, run, [value] * 2)
    world.store.put(layout.control_key(runs[3]), Control(want="stop", by="me").to_bytes())
    world.turn(keeper)
    assert Control.from_bytes(world.store.get(layout.control_key(runs[3]))).why == ""


def test_a_removed_record_leaves_ordinary_runs(world):
    runs = write_sweep(world, 3, at_once=1)
    world.store.delete(layout.sweep_key("grid"))
    world.turn(world.keeper())
    assert submitted(world, runs) == runs


def test_members_wait_while_the_record_cannot_be_read(world, monkeypatch):
    runs = write_sweep(world, 2, at_once=1)
    keeper = world.keeper()
    real = type(world.store).get

    def get(store, key, *rest):
        if key == layout.sweep_key("grid"):
            raise PlaceError("the store is away")
        return real(store, key, *rest)

    monkeypatch.setattr(type(world.store), "get", get)
    world.turn(keeper)
    assert submitted(world, runs) == []
    monkeypatch.undo()
    world.turn(keeper)
    assert submitted(world, runs) == runs[:1]


@pytest.mark.parametrize("count", [1, 5])
def test_a_member_that_was_removed_takes_no_place(world, count):
    runs = write_sweep(world, count + 1, at_once=1)
    for entry in list(world.store.list(layout.run_prefix(runs[0]))):
        world.store.delete(entry.key)
    (world.settings.home / "inbox" / runs[0]).unlink()
    world.turn(world.keeper())
    assert submitted(world, runs) == runs[1:2]
