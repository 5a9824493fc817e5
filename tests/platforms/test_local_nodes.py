"""Several nodes on this machine: each its share and its folder, and all of them ended together."""

from __future__ import annotations

import json
import os
import signal

import pytest
from local_bench import a_launch, seen, state, wait_for

from outlast.errors import SpecError
from outlast.inside.processes import is_same_process, start_ticks
from outlast.platforms.base import JobState


def second(home):
    path = home / "work" / "run" / "0001" / "nodes" / "0001" / "seen.json"
    wait_for(path.exists)
    return json.loads(path.read_text())


def test_each_node_has_a_share_of_what_the_stint_was_given(make, home):
    make().submit(a_launch(nodes=2, gpus=1, secrets={"TOKEN": "hush"}))
    first, other = seen(home)["place"], second(home)["place"]
    assert (first["node"], other["node"], first["nodes"], other["nodes"]) == (0, 1, 2, 2)
    assert (first["cpu_list"], other["cpu_list"]) == ([0], [1]) and (first["gpus"], other["gpus"]) == (["0"], ["1"])
    assert second(home)["secrets"] == {"OUTLAST_SECRET_TOKEN": "hush"}
    assert not (home / "local" / "jobs" / "run.0001" / "secrets.json").exists()


def test_a_stint_waits_until_there_is_room_for_all_its_nodes(make, home):
    platform = make()
    platform.submit(a_launch())
    seen(home)
    platform.submit(a_launch(2, nodes=2))
    assert state(platform, "run.0002") is JobState.QUEUED


def test_a_job_whose_first_node_is_gone_has_ended_and_takes_the_others_with_it(make, home):
    platform = make()
    platform.submit(a_launch(nodes=2))
    pids = [told["pid"] for told in (seen(home), second(home))]
    births = [start_ticks(pid) for pid in pids]
    os.kill(pids[0], signal.SIGKILL)
    wait_for(lambda: state(platform) is JobState.ENDED)
    wait_for(lambda: state(platform) and not is_same_process(pids[1], births[1]))
    assert platform.poll(["run.0001"])["run.0001"].exit_code == -9


def test_a_job_goes_on_without_a_further_node_as_far_as_the_platform_is_concerned(make, home):
    """That it does not make sense any more is for node 0 to see, which can still save."""
    platform = make()
    platform.submit(a_launch(nodes=2))
    seen(home)
    os.kill(second(home)["pid"], signal.SIGKILL)
    assert state(platform) is JobState.RUNNING
    platform.cancel("run.0001")
    wait_for(lambda: state(platform) is JobState.ENDED)


def test_what_all_nodes_together_would_need_must_be_there(make):
    platform = make()
    platform.check(a_launch(nodes=2).spec)
    for resources, words, hint in (
        ({"nodes": 2, "cpus": 2}, "--cpus 2 on each of --nodes 2 is more than this machine has", "--cpus 1"),
        ({"nodes": 3}, "--cpus 1 on each of --nodes 3", "ask for at most --nodes 2"),
        ({"nodes": 2, "npus": 1}, "--npus 1 on each of --nodes 2", "ask for at most --nodes 1"),
        ({"nodes": 2, "memory_bytes": 5 << 30}, "on each of --nodes 2 is more than this machine has", ""),
    ):
        with pytest.raises(SpecError, match=words) as refused:
            platform.check(a_launch(**resources).spec)
        assert hint in (refused.value.hint or "")
