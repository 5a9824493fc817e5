"""Job config v1 as OpenPAI's server reads it: defaults, coercion, and the field that is named when it refuses."""

import json

import pytest

from outlast.errors import SpecError
from outlast.openpai.invalid import InvalidParameters
from outlast.openpai.jobv1 import check_v1, read_v1, to_job

MINIMAL = {"jobName": "mnist", "image": "img", "taskRoles": [{"name": "task", "command": "true"}]}


def changed(path, value):
    """The minimal job with one value set; `...` removes it."""
    body = json.loads(json.dumps(MINIMAL))
    *steps, last = path
    place = body
    for step in steps:
        place = place[step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return body


def test_defaults_are_the_servers():
    body = check_v1(MINIMAL)
    assert body == {
        "jobName": "mnist", "image": "img", "authFile": "", "dataDir": "", "outputDir": "", "codeDir": "",
        "virtualCluster": "default", "gpuType": "", "retryCount": 0,
        "taskRoles": [{
            "name": "task", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "shmMB": 64, "gpuNumber": 0,
            "portList": [], "command": "true", "minFailedTaskCount": 1, "minSucceededTaskCount": None,
        }],
    }  # fmt: skip


ROLE = ("taskRoles", 0)
WRONG = [
    (("jobName",), ..., "jobName", "is required"),
    (("jobName",), "a~b", "jobName", "fails to match the required pattern"),
    (("jobName",), 7, "jobName", "must be a string"),
    (("image",), "", "image", "is not allowed to be empty"),
    (("retryCount",), -3, "retryCount", "must be larger than or equal to -2"),
    (("retryCount",), "many", "retryCount", "must be a number"),
    (("retryCount",), True, "retryCount", "must be a number"),
    (("retryCount",), 1.5, "retryCount", "must be an integer"),
    (("retrycount",), 1, "retrycount", "is not allowed"),
    (("jobEnvs",), [], "jobEnvs", "must be an object"),
    (("taskRoles",), ..., "taskRoles", "is required"),
    (("taskRoles",), [], "taskRoles", "must contain at least 1 items"),
    (("taskRoles",), {}, "taskRoles", "must be an array"),
    ((*ROLE, "name"), "a-b", "taskRoles[0].name", "fails to match the required pattern"),
    ((*ROLE, "command"), "", "taskRoles[0].command", "is not allowed to be empty"),
    ((*ROLE, "memoryMB"), "lots", "taskRoles[0].memoryMB", "must be a number"),
    ((*ROLE, "memoryMB"), None, "taskRoles[0].memoryMB", "must be a number"),
    ((*ROLE, "shmMB"), 101, "taskRoles[0].shmMB", "must be less than or equal to memoryMB"),
    ((*ROLE, "gpu"), 1, "taskRoles[0].gpu", "is not allowed"),
    ((*ROLE, "portList"), [{"beginAt": 1}], "taskRoles[0].portList[0].label", "is required"),
    ((*ROLE, "minFailedTaskCount"), 0, "taskRoles[0].minFailedTaskCount", "must be larger than or equal to 1"),
    ((*ROLE, "minSucceededTaskCount"), 2, "taskRoles[0].minSucceededTaskCount", "must not be greater than taskNumber"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "field", "words"), WRONG)
def test_the_field_at_fault_is_named(path, value, field, words):
    with pytest.raises(InvalidParameters) as caught:
        check_v1(changed(path, value), "job.json")
    assert [problem.field for problem in caught.value.problems] == [field]
    assert str(caught.value).startswith(f"job.json: {field} ")
    assert words in str(caught.value) and "(InvalidParametersError)" in str(caught.value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*ROLE, "cpuNumber"), 0),  # the server enforces no minimum
        ((*ROLE, "minFailedTaskCount"), None),
        (("virtualCluster",), ""),
        (("retryCount",), -2),
        (("jobEnvs",), {"paiAzRDMA": True}),
        (("extras",), {"a.b": 1}),
    ],
)
def test_what_the_server_lets_pass_passes(path, value):
    check_v1(changed(path, value))


def test_numbers_may_be_text_as_in_a_form():
    body = check_v1(changed((*ROLE, "memoryMB"), "2000") | {"retryCount": " 2 "})
    assert (body["taskRoles"][0]["memoryMB"], body["retryCount"]) == (2000, 2)


def test_the_servers_own_message_is_nested_as_its_validator_does_it():
    with pytest.raises(InvalidParameters) as caught:
        check_v1(changed((*ROLE, "memoryMB"), "lots"))
    assert caught.value.server_message == (
        'child "taskRoles" fails because ["taskRoles" at position 0 fails because '
        '[child "memoryMB" fails because ["memoryMB" must be a number]]]'
    )
    with pytest.raises(InvalidParameters) as caught:
        check_v1(MINIMAL | {"retrycount": 1})
    assert caught.value.server_message == '"retrycount" is not allowed'


def test_all_problems_are_told_at_once():
    with pytest.raises(InvalidParameters) as caught:
        check_v1({"image": 3, "taskRoles": [{"name": "a"}], "what": 1})
    assert {each.field for each in caught.value.problems} == {"jobName", "image", "taskRoles[0].command", "what"}


def test_comments_and_last_commas_are_read_and_an_error_is_found_where_it_is():
    text = '{ // "x"\n "jobName": "a//b", /* two\nlines */ "image": "i",\n "taskRoles": [], }'
    with pytest.raises(InvalidParameters, match=r'jobName with value "a//b"'):
        read_v1(text, "j")
    with pytest.raises(SpecError, match="line 3 column"):
        read_v1('{ // one\n "a": 1,\n oops }', "j")


def test_a_job_has_the_servers_substitutions_and_its_three_answers_for_output():
    body = check_v1(
        MINIMAL | {
            "codeDir": "$PAI_DEFAULT_FS_URI/$PAI_USER_NAME/$PAI_JOB_NAME/",
            "dataDir": "/d/$PAI_JOB_NAMES/$PAI_USERNAME",
            "jobEnvs": {"DEBUG": True, "N": 3},
        }
    )  # fmt: skip
    job = to_job(body, "ann", "hdfs://m:9000")
    assert (job.code_dir, job.code_name) == ("hdfs://m:9000/ann/mnist", "mnist")
    assert job.data_dir == "/d/$PAI_JOB_NAMES/ann"
    assert job.output_dir == "hdfs://m:9000/Output/ann/mnist"
    assert job.env == {"DEBUG": "true", "N": "3"}
    assert job.framework == "ann~mnist"


def test_two_roles_of_one_name_are_refused():
    body = MINIMAL | {"taskRoles": MINIMAL["taskRoles"] * 2}
    with pytest.raises(InvalidParameters, match=r"taskRoles\[1\].name"):
        check_v1(body)
