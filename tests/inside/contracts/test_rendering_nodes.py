"""What contracts tell the script about the other nodes of its stint."""

import json

import pytest

from outlast.inside import boot, meeting
from outlast.inside.contracts.base import Facts, render
from outlast.inside.contracts.modelarts import first_log_name, log_name
from outlast.inside.errors import RequestError
from outlast.inside.place import Place
from outlast.inside.records import Claim, Meeting

SPEC = {"script": "train.py", "contract": "modelarts", "name": "t", "inputs": [], "outputs": [], "params": {}}
HOSTS = ("10.0.0.1", "10.0.0.2")


def facts(**more):
    return Facts("run", 1, "/w/tree/code", "/w", "/b", "python3", hosts=HOSTS, **more)


def test_modelarts_numbers_its_nodes():
    env = render(SPEC, facts(node=1)).env
    assert (env["MA_NUM_HOSTS"], env["VC_WORKER_NUM"], env["VC_TASK_INDEX"]) == ("2", "2", "1")
    assert env["VC_WORKER_HOSTS"] == "10.0.0.1,10.0.0.2" and env["MA_CURRENT_IP"] == "10.0.0.2"
    assert env["MA_CURRENT_INSTANCE_NAME"].endswith("-worker-1")


def test_the_first_generation_numbers_its_tasks():
    env = render({**SPEC, "contract": "modelarts-v1"}, facts(node=1)).env
    assert (env["DLS_TASK_INDEX"], env["DLS_TASK_NUMBER"]) == ("1", "2")
    assert env["BATCH_CUSTOM1_HOSTS"] == "10.0.0.2:2222" and env["BATCH_TASK_CURRENT_HOST_IP"] == "10.0.0.2"


def test_the_rank_table_counts_the_cards_of_all_nodes():
    rendered = render(SPEC, facts(node=1, npus=("4", "5"), cards=(("0", "1"), ("4", "5"))))
    table = json.loads(rendered.files[rendered.env["RANK_TABLE_FILE"]])
    assert [server["server_id"] for server in table["server_list"]] == list(HOSTS)
    assert [[card["rank_id"] for card in server["device"]] for server in table["server_list"]] == [
        ["0", "1"],
        ["2", "3"],
    ]
    assert (rendered.env["RANK_ID"], rendered.env["RANK_SIZE"], table["server_count"]) == ("2", "4", "2")
    raw = json.loads(next(text for path, text in rendered.files.items() if path.endswith("hccl.json")))
    assert raw["group_list"][0]["instance_count"] == "2" and raw["group_list"][0]["device_count"] == "4"


def test_every_node_has_a_log_of_its_own():
    assert log_name("r", 1).endswith("-worker-1.log") and log_name("r") != log_name("r", 1)
    assert first_log_name("r", "job", 1).endswith("-job-job-1.log")


def test_launchers_find_what_they_look_for_and_a_lone_node_nothing():
    env = meeting.meeting_variables(Meeting(2345, list(HOSTS)), 1)
    assert env == {
        "MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "2345", "NNODES": "2", "NODE_RANK": "1", "WORLD_SIZE": "2",
        "RANK": "1",
    }  # fmt: skip
    assert meeting.meeting_variables(None, 0) == {}


def test_a_process_of_another_boot_or_container_is_never_taken_for_dead():
    own = meeting.claim_for("token")
    assert not meeting.is_gone(own)
    assert meeting.is_gone(Claim("token", "here", own.pid, seat=own.seat, ticks=(own.ticks or 0) + 1))
    assert not meeting.is_gone(Claim("token", "there", 1, seat="another boot", ticks=1))
    assert not meeting.is_gone(Claim("token", "there", 1))


def test_a_node_without_network_reaches_at_least_itself():
    place = Place("file:///s", "r", 1, "t", "/w", "/h", "/c")
    assert meeting.own_address(place).count(".") == 3
    place.address = "node-0.lab"
    assert meeting.own_address(place) == "node-0.lab"


@pytest.mark.parametrize("name", ["VC_TASK_INDEX", "DLS_TASK_INDEX", "PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX"])
def test_a_container_knows_its_node_by_its_platforms_word(tmp_path, monkeypatch, name):
    told = {"store": "file:///s", "run": "r", "stint": 1, "token": "t", "nodes": 2}
    for each in ("VC_TASK_INDEX", "DLS_TASK_INDEX", "PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX", "PAI_TASK_INDEX"):
        monkeypatch.delenv(each, raising=False)
    with pytest.raises(RequestError, match="which of 2 nodes"):
        boot.make_place(told, str(tmp_path))
    monkeypatch.setenv(name, "1")
    place = boot.make_place(told, str(tmp_path))
    assert (place.node, place.nodes) == (1, 2)
    assert boot.make_place({**told, "nodes": 1}, str(tmp_path)).node == 0
