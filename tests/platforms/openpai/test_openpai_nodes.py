"""Stints of two nodes as jobs of two instances, on both generations, from the command line to the containers."""

import dataclasses

import pytest
from lab import RELENTLESS, Lab
from openpai_lab import account

from outlast.platforms.accounts import Accounts
from outlast.platforms.openpai import starter, wire
from servers.nodes_training import TRAINING, expected_sum


def test_a_job_has_an_instance_for_each_node_and_ends_when_all_have():
    wanted = wire.Wanted("r_0001", "python:3.11", "default", 1, 1024, 0, ("true",), nodes=3)
    (first,) = wire.job_v1(wanted)["taskRoles"]
    second = wire.job_v2(wanted)["taskRoles"]["main"]
    assert (first["taskNumber"], first["minFailedTaskCount"], first["minSucceededTaskCount"]) == (3, 1, 3)
    assert (second["instances"], second["completion"]) == (3, {"minFailedInstances": 1, "minSucceededInstances": 3})


def test_the_first_of_several_containers_leaves_the_parcel_for_the_others():
    alone, shared = (starter.commands_yarn("5a" * 32, "http://nn/p?op=OPEN", is_shared=each) for each in (False, True))
    assert "op=DELETE" in alone[2] and "op=DELETE" not in shared[2]


@pytest.fixture
def lab(tmp_path):
    made = Lab(tmp_path, settings=RELENTLESS)
    made.write("p/train.py", TRAINING)
    yield made
    made.close()


@pytest.mark.slow
@pytest.mark.timeout(900)  # a loaded machine takes its time
@pytest.mark.parametrize("generation", ["k8s", "yarn"])
def test_a_chain_of_two_nodes_is_worth_what_the_straight_one_is(trusting, lab, generation):
    given = account(trusting.url, generation=generation, password="any")
    Accounts(lab.home).save(dataclasses.replace(given, name=generation), in_file=True)
    store = f"hdfs://{trusting.authority}/nodes-{generation}"
    options = ("--platform", generation, "--nodes", "2", "--output", "out", "--env", "ONCE=7", "--store", store)
    run = lab.submit(lab.folder / "p" / "train.py", *options)
    view = lab.wait(run, 600)
    assert view.state == "succeeded", lab.story()
    assert view.stint_list[-1].reason == "finished" and len(view.stint_list) >= 2
    lab.outlast("fetch", run, "--to", lab.folder / "got")
    assert int(next((lab.folder / "got").rglob("sum.txt")).read_text()) == expected_sum()
    assert "node 1 of 2" in lab.outlast("logs", run, "--node", "1", "--stint", "1").stdout
    left = trusting.hdfs(
        None, "GET", f"/nodes-{generation}/runs/{run}/stints/0001", "LISTSTATUS", **{"user.name": "ann"}
    )
    assert "parcel.json" not in left.text
