"""A run that names a mapped name node finds its WebHDFS server: before a stint starts, until the run is over."""

from __future__ import annotations

import os
import signal
import socket

import pytest

from outlast.keeper import servers as keeping
from outlast.keeper.index import Index
from outlast.testing.runs import write_run
from outlast.webhdfs.running import keep_only, running
from servers.ports import free_ports


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "hdfs").mkdir()
    return tmp_path / "hdfs"


@pytest.fixture(autouse=True)
def no_server_stays(world):
    yield
    keep_only(world.settings.home, ())


def named(world, folder, port=None, **fields):
    """A run on this machine that names a mapped name node, and its port."""
    port = port or free_ports(1)[0]
    words = {"platforms": ("local",), "maps": {f"hdfs://namenode:{port}": str(folder)}}
    return port, write_run(world.store, world.settings, **{**words, "args": (f"http://namenode:{port}",), **fields})


def servers(world):
    return running(world.settings.home)


def view_of(world, run):
    index = Index(world.settings.home / "index.db")
    try:
        return index.get(run).view
    finally:
        index.close()


def test_the_server_is_there_before_a_stint_and_gone_when_the_run_is_over(world, folder):
    port, spec = named(world, folder)
    seen = []
    world.platform.on_call = lambda verb: seen.append(servers(world)) if verb == "submit" else None
    keeper = world.keeper()
    world.turn(keeper)
    stint = world.platform.start(world.store)
    stint.checkpoint()
    stint.end("hand-over")
    world.turn(keeper)
    ((first,), (second,)) = seen
    assert (first.port, first.root) == (port, str(folder)) and first == second
    world.platform.start(world.store).end("finished")
    world.turn(keeper)
    assert view_of(world, spec.id)["state"] == "succeeded"
    assert servers(world) == [] and not first.is_alive()


def test_other_runs_start_none(world, folder):
    named(world, folder, args=("--port", "50070"))
    named(world, folder, platforms=("fake",))  # its machine is another one
    world.turn(world.keeper())
    assert len(world.platform.submits) == 2 and servers(world) == []


def test_a_new_keeper_finds_the_server_and_ends_what_its_predecessor_left(world, folder):
    _, kept = named(world, folder)
    _, removed = named(world, folder)
    world.turn(world.keeper())
    before = {server.port: server.pid for server in servers(world)}
    assert len(before) == 2
    index = Index(world.settings.home / "index.db")
    index.set_open(removed.id, False)  # as `outlast rm` does while no keeper is there
    index.close()
    world.turn(world.keeper())
    (left,) = servers(world)
    assert left.port == int(kept.args[0].rpartition(":")[2]) and left.pid == before[left.port]


def test_a_server_that_died_comes_back_while_the_stint_runs(world, folder):
    port, _ = named(world, folder)
    keeper = world.keeper()
    world.turn(keeper)
    world.platform.start(world.store).beat()
    (first,) = servers(world)
    os.kill(first.pid, signal.SIGKILL)
    first.stop()
    world.turn(keeper)
    (second,) = servers(world)
    assert second.port == port and second.pid != first.pid


def test_a_taken_port_is_said_and_the_run_starts_once_it_is_free(world, folder):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port, spec = named(world, folder, other.getsockname()[1])
        keeper = world.keeper()
        world.turn(keeper)
        assert world.platform.submits == {}
        assert f"cannot listen on 127.0.0.1:{port} (address already in use)" in view_of(world, spec.id)["notice"]
    world.turn(keeper)
    assert len(world.platform.submits) == 1 and len(servers(world)) == 1
    assert not view_of(world, spec.id)["notice"]


def test_trouble_with_a_server_never_hides_the_end_of_a_run(world, folder, monkeypatch):
    _, spec = named(world, folder)
    keeper = world.keeper()
    world.turn(keeper)
    (server,) = servers(world)
    server.stop()
    folder.rmdir()
    started = []
    monkeypatch.setattr("outlast.webhdfs.running.start", _counted(started))
    stint = world.platform.start(world.store)
    for _ in range(3):
        stint.beat()
        world.turn(keeper)
    assert len(started) == 1  # not once a second
    stint.checkpoint()
    stint.end("finished")
    world.turn(keeper)
    assert view_of(world, spec.id)["state"] == "succeeded"
    assert keeping._PATIENCE_S >= 10


def _counted(calls):
    from outlast.webhdfs.running import start

    def counted(*given, **words):
        calls.append(given)
        return start(*given, **words)

    return counted
