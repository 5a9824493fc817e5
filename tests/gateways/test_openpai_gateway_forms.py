"""Bodies as each generation's clients send them, and which places lie in the server's own HDFS."""

import json
from urllib.parse import urlencode

import pytest

from outlast.errors import SpecError
from outlast.server.gateways.openpai.documents import own_path, read_submitted
from outlast.server.gateways.openpai.forms import read_body, read_form
from outlast.server.gateways.openpai.listing import choose
from outlast.server.gateways.openpai.refusing import PaiRefusal

JOB = {"jobName": "mnist", "image": "x", "taskRoles": [{"name": "t", "command": "true", "gpuNumber": 2}]}
V2 = {
    "protocolVersion": 2, "name": "two", "type": "job", "secrets": {"token": "open-sesame"},
    "prerequisites": [{"name": "i", "type": "dockerimage", "uri": "x", "auth": {"password": "sesame"}}],
    "taskRoles": {"t": {
        "dockerImage": "i", "commands": ["true"], "resourcePerInstance": {"cpu": 1, "memoryMB": 1, "gpu": 0},
    }},
}  # fmt: skip


def _brackets(value, name=""):
    """A document as the editor's library writes it."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in pairs:
            yield from _brackets(each, f"{name}[{key}]" if name else str(key))
    else:
        yield name, "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def test_a_form_with_brackets_is_the_document_with_every_value_as_text():
    document = {"a": "1", "list": [{"x": "1", "deep": [{"y": "2"}]}, {"x": "3"}], "env": {"K.a": "v=&?", "空": "é"}}
    assert read_form(urlencode(list(_brackets(document)))) == document
    assert read_form("a[]=1&a[]=2&b=") == {"a": ["1", "2"], "b": ""}


@pytest.mark.parametrize(
    "text", ["a=1&a[b]=2", "a" + "[b]" * 30 + "=1", "&".join(f"a[{n}]=1" for n in range(6000))], ids=len
)
def test_a_form_that_makes_no_sense_is_refused(text):
    with pytest.raises(SpecError):
        read_form(text)


def test_a_list_is_never_as_long_as_a_number_says():
    assert read_form("a[999999999]=1") == {"a": {"999999999": "1"}}


def test_bodies_are_read_by_what_they_say_they_are():
    assert read_body("{}", "application/json; charset=utf-8") == {} and read_body("", "") == {}
    assert read_body("name: x", "text/yaml") == "name: x" == read_body("name: x", "text/plain")
    with pytest.raises(SpecError, match="not JSON"):
        read_body("{", "application/json")
    with pytest.raises(SpecError):
        read_body("[" * 100_000, "application/json")


@pytest.mark.parametrize("way", ["json", "form"])
def test_a_v1_job_is_the_same_by_both_ways(way):
    body = JOB if way == "json" else read_form(urlencode(list(_brackets(JOB))))
    found = read_submitted(body, "ann", "pai.lab")
    assert (found.facts.framework, found.facts.gpu_count, found.facts.task_count) == ("ann~mnist", 2, 1)
    assert found.document["taskRoles"][0]["gpuNumber"] == 2 and found.code_path == ""
    assert read_submitted(body, "ann", "pai.lab", "other").facts.name == "other"


def test_secrets_and_passwords_stand_in_no_config():
    for body in (V2, json.dumps(V2)):
        found = read_submitted(body, "ann", "pai.lab")
        assert found.document["secrets"] == {"token": "open-sesame"}
        assert found.config["secrets"] == "******" and "sesame" not in json.dumps(found.config)


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("$PAI_DEFAULT_FS_URI/ann/x", "/ann/x"), ("/ann//x/", "/ann/x"), ("ann/x", "/ann/x"),
        ("hdfs://pai.lab:9000/ann/x", "/ann/x"), ("webhdfs://pai.lab/ann", "/ann"), ("hdfs://other:9000/ann", ""),
        ("obs://bucket/ann", ""), ("", ""), ("$PAI_DEFAULT_FS_URI/", ""), ("hdfs://pai.lab.evil.org/ann", ""),
    ],
)  # fmt: skip
def test_which_code_lies_in_the_servers_own_hdfs(place, path):
    assert own_path(place, "pai.lab") == path


def test_code_does_not_climb():
    with pytest.raises(SpecError, match="climbs out"):
        own_path("$PAI_DEFAULT_FS_URI/ann/../../etc", "pai.lab")


def test_words_of_outlast_are_a_few_and_checked():
    found = read_submitted(JOB | {"extras": {"outlast": {"checkpoint": "ckpt", "limit": "1h"}}}, "ann", "h")
    assert found.words == {"checkpoint": "ckpt", "limit": "1h"}
    for wrong in ({"store": "/tmp"}, {"limit": ["1h"]}, "x"):
        with pytest.raises(SpecError, match=r"extras\.outlast"):
            read_submitted(JOB | {"extras": {"outlast": wrong}}, "ann", "h")


def test_storages_that_are_not_here_are_named():
    with pytest.raises(PaiRefusal, match="Storage nfs is not found"):
        read_submitted(V2 | {"extras": {"storages": [{"name": "nfs"}]}}, "ann", "h")


def _entry(name, **values):
    usual = {"username": "ann", "virtualCluster": "default", "state": "RUNNING", "tags": [], "jobPriority": None}
    usual |= {"retries": 0, "totalTaskNumber": 1, "totalGpuNumber": 0, "submissionTime": 1, "completedTime": None}
    return {"name": name, **usual, **values}


ENTRIES = [
    _entry("a", submissionTime=1, tags=["x"], completedTime=9), _entry("b", submissionTime=3, username="ben"),
    _entry("c", submissionTime=2, state="FAILED", virtualCluster="fast", tags=["x", "y"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({}, "bca"), ({"order": "jobName,ASC"}, "abc"), ({"order": "jobName,DESC"}, "cba"), ({"username": "ann"}, "ca"),
        ({"username": "ann,ben", "state": "RUNNING"}, "ba"), ({"vc": "fast"}, "c"), ({"keyword": "fas"}, "c"),
        ({"tagsContain": "y,z"}, "c"), ({"tagsNotContain": "y"}, "ba"), ({"offset": "1", "limit": "1"}, "c"),
        ({"jobPriority": "default"}, "bca"), ({"jobPriority": "prod"}, ""), ({"order": "completionTime,ASC"}, "abc"),
    ],
)  # fmt: skip
def test_a_list_is_chosen_and_ordered_as_its_query_says(query, names):
    page, _ = choose(ENTRIES, query)
    assert "".join(each["name"] for each in page) == names


@pytest.mark.parametrize("query", [{"limit": "50001"}, {"limit": "x"}, {"offset": "-1"}, {"order": "secret,ASC"}])
def test_a_query_that_is_wrong_is_refused(query):
    with pytest.raises(PaiRefusal):
        choose(ENTRIES, query)
