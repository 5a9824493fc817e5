"""Bodies of the ModelArts door, word for word, and what it refuses; nothing here needs a server."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from outlast.model.states import EndReason, RunState
from outlast.server.gateways.modelarts import tables
from outlast.server.gateways.modelarts.bodies import job_body
from outlast.server.gateways.modelarts.bodiesv1 import created_body, listed_body, log_file_name, version_body
from outlast.server.gateways.modelarts.book import JobRow
from outlast.server.gateways.modelarts.jobs import SeenJob
from outlast.server.gateways.modelarts.logs import page_after, page_before, preview, read_cursor
from outlast.server.gateways.modelarts.phases import Progress, exit_number, judge, without_run
from outlast.server.gateways.modelarts.refusing import Refusal
from outlast.server.gateways.modelarts.searching import search
from outlast.server.gateways.modelarts.usage import SERIES, last_values
from outlast.server.gateways.modelarts.wishes import read_wish

GOLDEN = Path(__file__).parent / "golden"
ENDED = Progress("Completed", "", 1700000010000, 1700000070000, 60000, 0, "finished after 1 stint", "finished")


def golden(name):
    return json.loads((GOLDEN / f"{name}.json").read_text())


def seen_job(generation, body, progress=ENDED, **changes):
    row = JobRow(
        7, "6e9eebe8-f1c9-5e7f-a429-ee28a3f0dfc8", generation, 7, 1, "mnist-1", "ann", "1115-quiet-otter-x1", True,
        "a job with everything", body, (), 1700000000.0,
    )  # fmt: skip
    return SeenJob(dataclasses.replace(row, **changes), progress)


@pytest.mark.parametrize(("name", "progress"), [("created-v2", Progress("Creating")), ("ended-v2", ENDED)])
def test_a_job_of_the_second_generation_is_answered_word_for_word(name, progress):
    stored = read_wish(golden("create-v2"), "v2").stored
    assert job_body(seen_job("v2", stored, progress)) == golden(name)


def test_a_version_of_the_first_generation_is_answered_word_for_word():
    seen = seen_job("v1", read_wish(golden("create-v1"), "v1").stored)
    bodies = {"created": created_body(seen), "version": version_body(seen), "listed": listed_body(seen, 2)}
    assert bodies == golden("answers-v1")


def test_the_lists_are_answered_word_for_word():
    flavors = [tables.flavor_body(choice) for choice in tables.CHOICES]
    engines = [tables.engine_body(engine) for engine in tables.OFFERED]
    assert {"flavors": flavors[:6], "engines": engines[:3]} == golden("lists-v2")
    assert len({each["flavor_id"] for each in flavors}) == len(flavors) == len(tables.FLAVORS)


def test_a_job_of_two_nodes_has_two_tasks_and_two_logs():
    seen = seen_job("v2", changed("spec.resource.node_count", 2))
    assert job_body(seen)["status"]["tasks"] == ["worker-0", "worker-1"]
    assert seen.node_of("worker-1") == 1
    with pytest.raises(Refusal, match="this job has worker-0, worker-1"):
        seen.node_of("worker-2")
    first = seen_job("v1", {"config": {"worker_server_num": 2}})
    assert version_body(first)["worker_server_num"] == 2
    assert log_file_name("a_b", 1) == "job-a-b.1"


def test_a_wish_carries_everything_and_writes_no_secret_down():
    wish = read_wish(golden("create-v2"), "v2")
    assert wish.params == {"lr": "0.1", "tokenizer": "bert"}
    assert (wish.env, wish.secrets) == ({"LANG": "C"}, {"HF_TOKEN": "hunter-two"})
    assert "hunter-two" not in json.dumps(wish.stored) and wish.choice.is_free
    assert (wish.job.contract, wish.job.retries, wish.job.limit_h) == ("modelarts", 2, 2)
    old = read_wish(golden("create-v1"), "v1")
    assert (old.job.contract, old.job.engine) == ("modelarts-v1", "TF-1.8.0-python3.6")
    assert (old.choice.id, old.params) == ("modelarts.vm.gpu.free", {"lr": "0.1"})


def changed(path, value):
    """The request with one field changed, or with None taken out."""
    body = golden("create-v2")
    *parents, last = path.split(".")
    place = body
    for name in parents:
        place = place[name]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return body


TWICE = [{"name": "a", "value": "1"}, {"name": "a", "value": "2"}]


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("kind", "edge_job", "2788"), ("metadata.name", None, "2788"), ("metadata.name", "no spaces", "2788"),
        ("metadata.name", "x" * 65, "2788"), ("metadata.description", "x" * 257, "2816"),
        ("algorithm.code_dir", None, "2758"), ("algorithm.code_dir", "not-a-place", "2757"),
        ("algorithm.code_dir", "/lab/../etc", "2757"), ("algorithm.boot_file", None, "2758"),
        ("algorithm.boot_file", "run.sh", "2758"), ("algorithm.engine", None, "2780"),
        ("algorithm.engine", {"engine_id": "pytorch_9"}, "2780"), ("algorithm.parameters", TWICE, "2767"),
        ("algorithm.parameters", [{"value": "1"}], "2788"), ("algorithm.environments", {"MA_X": "1"}, "2788"),
        ("algorithm.environments", {f"V{n}": "1" for n in range(101)}, "2816"),
        ("algorithm.environments", {"no spaces": "1"}, "2788"),
        ("algorithm.inputs", [{"name": "d", "remote": {"dataset": {"id": "7"}}}], "2788"),
        ("algorithm.outputs", [{"name": "d", "remote": {"obs": {"obs_url": "C:\\\\out"}}}], "2791"),
        ("algorithm", {"id": "saved-algorithm"}, "2755"), ("spec.resource.flavor_id", None, "2763"),
        ("algorithm", {"code_dir": "/lab/code/", "command": "bash -c 'x | y'", "engine": {"image_url": "a"}}, "2806"),
        ("spec.resource.flavor_id", "modelarts.none", "2781"), ("spec.resource.node_count", 9, "2793"),
        ("spec.resource.node_count", "many", "2788"), ("spec.resource.pool_id", "pool-1", "2890"),
        ("spec.auto_stop", {"time_unit": "DAYS", "duration": 1}, "2788"),
    ],
)  # fmt: skip
def test_what_is_wrong_has_the_code_of_the_service(path, value, code):
    with pytest.raises(Refusal) as refused:
        read_wish(changed(path, value), "v2")
    assert refused.value.code == code, str(refused.value)
    assert str(refused.value) and "hunter-two" not in str(refused.value)


def test_a_body_at_the_address_of_the_other_generation_is_refused():
    for name, generation in (("create-v2", "v1"), ("create-v1", "v2")):
        with pytest.raises(Refusal) as refused:
            read_wish(golden(name), generation)
        assert refused.value.code == "0101"


def test_unknown_fields_are_ignored_as_the_service_ignores_them():
    body = changed("spec.resource.never_heard_of", {"deep": [1, None]})
    assert read_wish(body | {"surprise": True}, "v2").name == "mnist-1"


def places(value, path=()):
    """The way to every field, objects and lists included."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in entries:
        yield (*path, name)
        yield from places(inner, (*path, name))


@pytest.mark.parametrize("generation", ["v1", "v2"])
@pytest.mark.parametrize("odd", [None, 7, -1, 10**20, True, "", "x", "\0", "ü" * 70, [], [[1]], [None], {}, {"a": []}])
def test_whatever_stands_in_a_field_is_taken_or_refused_in_words(generation, odd):
    """Nothing that a stranger sends is a bug of ours, and what is taken can be answered."""
    for *parents, last in places(golden(f"create-{generation}")):
        body = golden(f"create-{generation}")
        place = body
        for name in parents:
            place = place[name]
        place[last] = odd
        try:
            wish = read_wish(body, generation)
        except Refusal as refusal:
            assert str(refusal), (parents, last)
            continue
        seen = seen_job(generation, wish.stored)
        assert json.dumps(job_body(seen) if generation == "v2" else version_body(seen))


def test_variables_are_also_taken_as_a_list():
    for given in ([{"LANG": "C"}, {"N": 1}], [{"name": "LANG", "value": "C"}, {"name": "N", "value": 1}]):
        assert read_wish(changed("algorithm.environments", given), "v2").env == {"LANG": "C", "N": "1"}


@pytest.mark.parametrize(
    ("state", "reason", "stopping", "phase"),
    [
        (RunState.QUEUED, None, False, ("Pending", "")), (RunState.RUNNING, None, False, ("Running", "")),
        (RunState.RUNNING, None, True, ("Terminating", "")), (RunState.QUEUED, None, True, ("Terminating", "")),
        (RunState.SUCCEEDED, EndReason.FINISHED, True, ("Completed", "")),
        (RunState.STOPPED, EndReason.STOPPED, True, ("Terminated", "")),
        (RunState.STOPPED, EndReason.HAND_OVER, False, ("Terminated", "")),
        (RunState.FAILED, EndReason.TIME_LIMIT, False, ("Terminated", "")),
        (RunState.FAILED, EndReason.SCRIPT_ERROR, False, ("Failed", "")),
        (RunState.FAILED, EndReason.SETUP_ERROR, False, ("Failed", "")),
        (RunState.FAILED, EndReason.LOST, False, ("Abnormal", "Lost")),
    ],
)  # fmt: skip
def test_every_end_has_its_phase(state, reason, stopping, phase):
    assert judge(state, reason, stopping=stopping, planned=True) == phase
    assert judge(RunState.QUEUED, None, stopping=False, planned=False) == ("Creating", "")


def test_signals_are_told_as_a_shell_does_and_a_removed_run_is_lost():
    assert [exit_number(code, "Failed") for code in (-9, 3, 0, None)] == [137, 3, 0, None]
    assert exit_number(None, "Completed") == 0
    assert without_run(100.0, now=101.0).phase == "Creating"
    assert (without_run(100.0, now=1000.0).phase, without_run(100.0, now=1000.0).secondary_phase) == (
        "Abnormal",
        "Lost",
    )


def jobs_to_search():
    phases = ["Completed", "Failed", "Running", "Completed"]
    return [
        seen_job("v2", {}, Progress(phase), number=n, name=f"job-{n}", created_at=1700000000.0 + n, owner="ab"[n % 2])
        for n, phase in enumerate(phases)
    ]


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({}, [3, 2, 1, 0]), ({"order": "asc"}, [0, 1, 2, 3]), ({"limit": 3}, [3, 2, 1]),
        ({"limit": 3, "offset": 1}, [0]), ({"offset": 9}, []), ({"sort_by": "name", "order": "asc"}, [0, 1, 2, 3]),
        ({"filters": [{"key": "name", "operator": "like", "value": ["B-1", ""]}]}, [1]),
        ({"filters": [{"key": "phase", "operator": "in", "value": ["Completed"]}]}, [3, 0]),
        ({"filters": [{"key": "phase", "operator": "not", "value": ["Completed"]}]}, [2, 1]),
        ({"filters": [{"key": "phase", "operator": "in", "value": ["", ""]}]}, [3, 2, 1, 0]),
        ({"filters": [{"key": "create_time", "operator": "between", "value": ["1700000001000", "1700000002000"]}]},
         [2, 1]),
        ({"filters": [{"key": "user_id", "operator": "in", "value": ["a"]},
                      {"key": "algorithm_name", "operator": "like", "value": ["x"]}]}, [2, 0]),
    ],
)  # fmt: skip
def test_jobs_are_searched_as_documented(body, names):
    facts, page = search(body, jobs_to_search())
    assert [seen.row.number for seen in page] == names
    assert facts["total"] == 4 and facts["count"] >= len(names)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"limit": 51}, "2764"), ({"limit": 0}, "2764"), ({"offset": -1}, "2764"), ({"offset": "x"}, "2764"),
        ({"sort_by": "colour"}, "2790"), ({"order": "up"}, "2764"), ({"filters": {}}, ""), ({"filters": "x"}, "2789"),
        ({"filters": [{"key": "colour", "operator": "in", "value": ["x"]}]}, "2807"),
        ({"filters": [{"key": "name", "operator": "is", "value": ["x"]}]}, "2808"),
        ({"filters": [{"key": "create_time", "operator": "between", "value": ["x", "y"]}]}, "2809"),
        ({"filters": [7]}, "2789"), ({"filters": [{"key": "name", "operator": "in", "value": "x"}]}, "2789"),
    ],
)  # fmt: skip
def test_a_search_that_means_nothing_is_refused(body, code):
    if not code:
        assert search(body, [])[1] == []
        return
    with pytest.raises(Refusal) as refused:
        search(body, jobs_to_search())
    assert refused.value.code == code


class Text:
    """The output of a run that comes in segments."""

    def __init__(self, data, step):
        self._data, self._step, self.size_bytes = data, step, len(data)

    def get(self, start, length):
        return self._data[start : min(start + length, (start // self._step + 1) * self._step)]


LINES = [f"line {n}\n".encode() for n in range(3000)]


@pytest.mark.parametrize("step", [3, 1000, 10**6])
def test_pages_of_a_log_meet_without_losing_or_repeating_a_line(step):
    text = Text(b"".join(LINES) + b"half", step)
    place, found = 0, b""
    while (page := page_after(text, place, 499, over=False)).data:
        assert page.start == place and page.lines <= 499
        place, found = page.end, found + page.data
    assert found == b"".join(LINES)  # a line without its end waits for it
    assert page_after(text, place, 10, over=True).data == b"half"
    newest = page_before(text, text.size_bytes, 3)
    assert newest.data == b"line 2998\nline 2999\nhalf" and newest.lines == 3
    place, found = text.size_bytes, b""
    while (page := page_before(text, place, 499)).data:
        assert page.end == place and page.lines <= 499
        place, found = page.start, page.data + found
    assert found == b"".join(LINES) + b"half"


def test_a_line_without_end_does_not_fill_the_memory():
    text = Text(b"x" * (5 << 20), 1 << 20)
    assert 0 < len(page_after(text, 0, 50, over=False).data) < 2 << 20
    assert 0 < len(page_before(text, text.size_bytes, 50).data) < 2 << 20


def test_a_preview_is_the_newest_five_megabytes():
    text = Text("é".encode() * (3 << 20), 1 << 20)
    body = preview(text)
    assert (body["current_size"], body["full_size"]) == (5 << 20, 6 << 20) and body["content"].strip("é") == ""
    assert preview(Text("\ufffdok".encode(), 10))["content"] == "\ufffdok"


@pytest.mark.parametrize("text", ["x", "-1", "1" * 19, "１"])
def test_a_cursor_that_is_none_of_ours_is_refused(text):
    with pytest.raises(Refusal):
        read_cursor(text)
    assert read_cursor(None) is read_cursor("") is None


def test_use_of_the_machine_is_told_in_percent():
    cards = [
        {"kind": "gpu", "busy_percent": 30.0, "memory_used_bytes": 1, "memory_total_bytes": 4},
        {"kind": "gpu", "busy_percent": 50.0, "memory_used_bytes": 3, "memory_total_bytes": 4},
        {"kind": "npu", "busy_percent": None, "memory_used_bytes": None, "memory_total_bytes": 4},
    ]
    device = {"cpu_percent": 12.34567, "memory_bytes": 1, "memory_limit_bytes": 8, "accelerators": cards}
    assert last_values(device) == {
        "cpuUsage": 12.346, "memUsage": 12.5, "gpuUtil": 40.0, "gpuMemUsage": 50.0, "npuUtil": -1.0, "npuMemUsage": -1.0
    }  # fmt: skip
    assert last_values({}) == dict.fromkeys(SERIES, -1.0)


def test_logs_of_the_first_generation_are_named_after_their_job():
    assert log_file_name("jobtest_TF") == "job-jobtest-tf.0"
