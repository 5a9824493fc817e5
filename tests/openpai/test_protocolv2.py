"""Protocol v2 as OpenPAI's server reads it: schema, references, templates, and what becomes of a role."""

import json
import sys

import pytest

from outlast.errors import SpecError, UsageError
from outlast.inside.contracts.openpai.templates import render
from outlast.openpai.convert import to_v2
from outlast.openpai.invalid import InvalidProtocol
from outlast.openpai.jobv1 import check_v1
from outlast.openpai.protocolv2 import check_v2, read_v2, to_job

JOB = """
protocolVersion: 2
name: mnist_v2
type: job
prerequisites:
  - {name: img, type: dockerimage, uri: "repo/img:1", auth: {username: u, password: "<% $secrets.docker %>"}}
  - {name: data1, type: data, uri: ["/a", "/b"]}
  - name: setup
    type: script
    plugin: com.microsoft.pai.runtimeplugin.cmd
    callbacks:
      - {event: taskStarts, commands: ["echo start <% $parameters.lr %>"]}
      - {event: taskSucceeds, commands: ["echo good"]}
parameters: {lr: 0.1, flags: [a, b], nested: {deep: yes}}
secrets: {docker: hunter2, db: {password: sesame}}
taskRoles:
  ps_server:
    dockerImage: img
    resourcePerInstance: {cpu: 2, memoryMB: 1024, gpu: 0, ports: {rpc: 2}}
    commands: [" run ps "]
  worker:
    instances: 3
    completion: {minFailedInstances: -1, minSucceededInstances: 1}
    dockerImage: img
    data: data1
    prerequisites: [setup]
    taskRetryCount: 2
    extraContainerOptions: {shmMB: 128}
    resourcePerInstance: {cpu: 1, memoryMB: 100, gpu: 1}
    commands: ["train <% $parameters.lr %> <% $data.uri[1] %>", "use <% $secrets.db.password %> <% $nothing.here %>"]
deployments:
  - name: prod
    taskRoles: {worker: {preCommands: [before], postCommands: [after]}}
defaults: {deployment: prod, virtualCluster: lab}
jobRetryCount: 4
extras:
  gangAllocation: false
  com.microsoft.pai.runtimeplugin:
    - {plugin: cmd, parameters: {preCommands: ["pre"], postCommands: ["post"]}, taskroles: [worker]}
    - {plugin: tensorboard, parameters: {port: 1}, taskroles: [worker]}
    - {plugin: cmd, failurePolicy: ignore, parameters: {preCommands: ["may fail"]}, taskroles: [ps_server]}
"""


def body():
    return read_v2(JOB)


def test_a_whole_job_becomes_runnable():
    runnable = to_job(body(), "ann")
    job = runnable.job
    ps, worker = job.roles
    assert (job.generation, job.framework, job.retries, job.gang, job.virtual_cluster) == (
        "k8s", "ann~mnist_v2", 4, False, "lab",
    )  # fmt: skip
    assert ps.command == "{\nmay fail\n} || true\nrun ps\n"
    assert (ps.min_failed, ps.min_succeeded, ps.ports) == (1, 1, {"http": 1, "ssh": 1, "rpc": 2})
    assert worker.command.splitlines() == [
        "echo start 0.1", "pre", "before", "train 0.1 /b", "use <% $secrets.db.password %> <% $nothing.here %>",
        "after", "echo good", "post",
    ]  # fmt: skip
    assert (worker.instances, worker.min_failed, worker.min_succeeded, worker.task_retries) == (3, None, 1, 2)
    assert (worker.image, worker.shm_mb, worker.gpu) == ("repo/img:1", 128, 1)
    assert runnable.notices == ("the runtime plugin tensorboard has no counterpart here and is not run",)


def test_secrets_never_become_a_part_of_the_job():
    runnable = to_job(body(), "ann")
    assert runnable.secrets == {"PAI_SECRET_0": "hunter2", "PAI_SECRET_1": "sesame"}
    text = json.dumps(runnable.job.to_json())
    assert "sesame" not in text and "hunter2" not in text
    assert runnable.job.secrets == {"docker": "PAI_SECRET_0", "db.password": "PAI_SECRET_1"}


def test_before_v017_commands_were_joined_and_unknown_templates_empty():
    worker = to_job(body(), "ann", before_v017=True).job.roles[1]
    assert "before && train 0.1 /b && use <% $secrets.db.password %>  && after" in worker.command


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<% $parameters.lr %>", "0.1"),
        ("<%$parameters.flags%>", "a,b"),
        ("<% $parameters.flags[1] %>", "b"),
        ("<% $parameters.flags[9] %>", "<% $parameters.flags[9] %>"),
        ("<% $parameters.nested.deep %>", "true"),
        ("<% $parameters.none %>", ""),
        ("<% # loop %><% $parameters.lr %>", "<% # loop %>0.1"),
        ("<% $other %>", "<% $other %>"),
    ],
)
def test_templates(text, expected):
    values = {"lr": 0.1, "flags": ["a", "b"], "nested": {"deep": True}, "none": None}
    assert render(text, {"$parameters": values}) == expected


def changed(**changes):
    found = body()
    for path, value in changes.items():
        *steps, last = path.split("__")
        place = found
        for step in steps:
            place = place[int(step) if step.isdigit() else step]
        if value is ...:
            del place[last]
        else:
            place[last] = value
    return found


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"name": "a.b"}, "name", "should match pattern"),
        ({"name": "x" * 256}, "name", "should NOT be longer than 255 characters"),
        ({"name": ...}, "the document", "should have required property 'name'"),
        ({"type": "task"}, "type", "should be equal to one of the allowed values"),
        ({"protocolVersion": 3}, "protocolVersion", "should be equal to one of the allowed values"),
        ({"jobRetryCount": -1}, "jobRetryCount", "should be >= 0"),
        ({"jobRetryCount": "1"}, "jobRetryCount", "should be integer"),
        ({"jobretry": 1}, "jobretry", "should NOT be here"),
        ({"taskRoles": {}}, "taskRoles", "should NOT have fewer than 1 properties"),
        ({"taskRoles__worker__instances": 0}, "taskRoles.worker.instances", "should be >= 1"),
        ({"taskRoles__worker__commands": []}, "taskRoles.worker.commands", "should NOT have fewer than 1 items"),
        ({"taskRoles__worker__commands": ["a", 1]}, "taskRoles.worker.commands[1]", "should be string"),
        ({"taskRoles__worker__gpu": 1}, "taskRoles.worker.gpu", "should NOT be here"),
        ({"taskRoles__worker__resourcePerInstance__gpu": ...}, "taskRoles.worker.resourcePerInstance",
         "should have required property 'gpu'"),
        ({"taskRoles__worker__dockerImage": "none"}, "taskRoles.worker.dockerImage", "'none', which is missing"),
        ({"taskRoles__worker__prerequisites": ["no"]}, "taskRoles.worker.prerequisites[0]", "'no', which is missing"),
        ({"prerequisites__1__uri": "/a"}, "prerequisites[1].uri", "should be array"),
        ({"prerequisites__2__type": "disk"}, "prerequisites[2].type", "should be equal to one of the allowed values"),
        ({"prerequisites__0__uri": ...}, "prerequisites[0]", "should have required property 'uri'"),
        ({"defaults__deployment": "none"}, "defaults.deployment", "'none', which is missing"),
        ({"deployments__0__taskRoles": {"gone": {}}}, "deployments[0].taskRoles.gone", "is not a task role"),
    ],
)  # fmt: skip
def test_the_field_at_fault_is_named(changes, field, words):
    with pytest.raises(InvalidProtocol) as caught:
        check_v2(changed(**changes), "job.yaml")
    assert [problem.field for problem in caught.value.problems] == [field]
    assert words in str(caught.value) and "(InvalidProtocolError)" in str(caught.value)
    assert json.loads(caught.value.server_message)[0]["message"] == caught.value.problems[0].words


def test_duplicates_within_a_type_are_refused_and_across_types_are_fine():
    twice = body()
    twice["prerequisites"].append({"name": "data1", "type": "data", "uri": ["/c"]})
    with pytest.raises(InvalidProtocol, match=r"prerequisites\[3\].name duplicates"):
        check_v2(twice)
    fine = body()
    fine["prerequisites"].append({"name": "data1", "type": "output"})
    check_v2(fine)


def test_what_is_no_yaml_is_told():
    with pytest.raises(SpecError, match=r"job.yaml is not YAML: .* line 1"):
        read_v2("a: [", "job.yaml")


def test_without_a_yaml_reader_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(UsageError, match=r"pip install 'outlast\[openpai\]'"):
        read_v2("a: 1", "job.yaml")


def test_a_v1_job_becomes_a_document_that_the_server_accepts():
    v1 = check_v1({
        "jobName": "mnist", "image": "img", "codeDir": "/c", "dataDir": "/d", "jobEnvs": {"A": "1"}, "retryCount": 2,
        "authFile": "/auth", "extras": {"k": 1},
        "taskRoles": [{"name": "task", "command": "train", "taskNumber": 2, "memoryMB": 200,
                       "portList": [{"label": "rpc", "beginAt": 5000, "portNumber": 2}]}],
    })  # fmt: skip
    document = check_v2(to_v2(v1))
    job = to_job(document, "ann").job
    role = job.roles[0]
    assert (job.retries, role.instances, role.ports["rpc"], role.port_starts) == (2, 2, 2, {})
    assert role.command.splitlines() == [
        "export PAI_DATA_DIR=/d", "export PAI_CODE_DIR=/c", "export A=1", "train",
    ]  # fmt: skip
    assert document["secrets"] == {"registry": "/auth"}
