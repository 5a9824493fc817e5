"""Job documents of ModelArts: what is read from them, what is refused, and that nothing is lost or given away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.errors import SpecError
from outlast.modelarts.engines import ENGINES, find_engine, is_v1_compatible
from outlast.modelarts.fields import InvalidBody, obs_address
from outlast.modelarts.flavors import Flavor, find_flavor
from outlast.modelarts.reading import read_job

JOBS = Path(__file__).parent / "jobs"


def read(name):
    return read_job((JOBS / name).read_text(), name)


def v1(**config):
    body = {"app_url": "/lab-bucket/code/", "boot_file_url": "/lab-bucket/code/train.py", **config}
    return json.dumps({"job_name": "job", "config": {key: value for key, value in body.items() if value is not ...}})


def v2(**parts):
    algorithm = {"code_dir": "/lab-bucket/code/", "boot_file": "train.py", **parts.pop("algorithm", {})}
    algorithm = {key: value for key, value in algorithm.items() if value is not ...}
    return json.dumps({"kind": "job", "metadata": {"name": "job"}, "algorithm": algorithm, **parts})


def problems(text):
    with pytest.raises(InvalidBody) as caught:
        read_job(text, "job.json")
    return str(caught.value).splitlines()


def test_the_first_generation_passes_addresses_and_the_second_folders():
    assert read("v1-free-train.json").contract == "modelarts-v1"
    assert read("v2-free.json").contract == "modelarts"
    assert read("toolkit.txt").contract == "modelarts-v1"
    assert read_job(v2(algorithm={"engine": {"engine_id": "pytorch-cp36-1.4.0-v2"}})).contract == "modelarts-v1"


def test_every_spelling_of_a_place_is_one_address():
    for text in ("/lab-bucket/a/b/", "obs://lab-bucket/a/b", "s3://lab-bucket//a/b/", " /lab-bucket/a/b "):
        assert obs_address(text) == "obs://lab-bucket/a/b"
    assert obs_address("/lab-bucket") == "obs://lab-bucket"
    for wrong in ("lab-bucket/a", "/B/a", "/ab/a", "", "/", "obs:lab", "http://lab-bucket/a", "/lab-bucket/../a"):
        with pytest.raises(ValueError):
            obs_address(wrong)


def test_a_saved_set_of_parameters_is_read_like_a_body():
    job = read("v1-flat.json")
    assert (job.boot, job.code, job.params, job.nodes) == ("sub/main.py", "obs://lab-bucket/app", {"lr": "0.1"}, 2)
    assert job.inputs[0].address == "" and "abc, version V002" in job.inputs[0].note
    assert any("second source of data, obs://lab-bucket/more" in notice for notice in job.notices)
    assert any("spec_id 3" in notice for notice in job.notices)
    assert job.skipped == ("nas_type",) and job.unknown == ()


def test_what_the_service_fills_in_is_no_news():
    job = read("v2-ascend-details.json")
    assert (job.skipped, job.unknown) == (("metadata.workspace_id",), ())
    assert job.env == {"GLOG_v": "3", "DEVICE_NUM": "8"} and job.params == {"epochs": "50"}


def test_the_command_of_an_image_becomes_a_script_with_arguments():
    job = read("v2-image.json")
    assert (job.boot, job.args) == ("tools/train.py", ("--config", "configs/base.yaml", "--amp"))
    old = "bash /home/work/run_train.sh python /home/work/user-job-dir/code/train.py --lr 1"
    job = read_job(v1(boot_file_url=..., user_command=old, user_image_url="lab/img:1"))
    assert (job.boot, job.args, job.image) == ("train.py", ("--lr", "1"), "lab/img:1")


@pytest.mark.parametrize(
    "command", ["python a.py; rm x", "make", "python", "bash run.sh", "python 'a.py", "python /x/a.py"]
)
def test_a_command_that_needs_a_shell_is_refused_without_showing_it(command):
    text = v2(algorithm={"boot_file": ..., "command": command + " # --password hunter2"})
    found = problems(text)
    assert found == [
        "job.json: algorithm.command is more than a Python script with arguments; put it into a script beside the code "
        "and name that one in outlast.toml"
    ]


@pytest.mark.parametrize("option", ["--password hunter2", "--api-key=hunter2", "--proxy http://a:hunter2@host"])
def test_a_command_that_passes_a_secret_is_refused(option):
    found = problems(v2(algorithm={"boot_file": ..., "command": f"python train.py {option}"}))
    assert len(found) == 1 and "looks like a secret" in found[0] and "hunter2" not in found[0]


def test_values_that_look_like_secrets_are_left_out_and_named():
    environments = {
        "WANDB_API_KEY": "hunter2", "PROXY": "http://ann:hunter2@proxy:8080", "MY_SK": "hunter2", "EMPTY_TOKEN": "",
        "OMP_NUM_THREADS": 4,
    }  # fmt: skip
    parameters = [{"name": "password", "value": "hunter2"}, {"name": "lr", "value": "1"},
                  {"name": "plain", "value": "hunter2", "constraint": {"sensitive": True}}]  # fmt: skip
    job = read_job(v2(algorithm={"environments": environments, "parameters": parameters}))
    assert job.secrets == ("WANDB_API_KEY", "PROXY", "MY_SK") and job.hidden == ("password", "plain")
    assert job.env == {"EMPTY_TOKEN": "", "OMP_NUM_THREADS": "4"} and job.params == {"lr": "1"}
    assert "hunter2" not in repr(job)


def test_unknown_fields_are_listed_by_their_path():
    job = read_job(v2(algorithm={"magic": 1, "inputs": [{"name": "a", "colour": "red", "remote":
                   {"obs": {"obs_url": "/lab-bucket/a/", "speed": 3}}}]}, more={"a": {"b": 1}}))  # fmt: skip
    assert set(job.unknown) == {"algorithm.magic", "algorithm.inputs[0].colour",
                                "algorithm.inputs[0].remote.obs.speed", "more"}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (v1(worker_server_num="two"), 'config.worker_server_num "two" must be a whole number from 1'),
        (v1(worker_server_num=0), "config.worker_server_num 0 must be a whole number from 1"),
        (v1(worker_server_num=True), "config.worker_server_num true must be a whole number from 1"),
        (v1(app_url="lab/code"), 'config.app_url "lab/code" is not a place in OBS'),
        (v1(boot_file_url="/lab-bucket/other/train.py"), "does not lie in the code folder obs://lab-bucket/code"),
        (v1(boot_file_url="/lab-bucket/code/run.sh"), "must be a .py file"),
        (v1(boot_file_url=...), "config.boot_file_url is needed"),
        (v1(boot_file_url=..., model_id=7), "a preset algorithm (model_id) exists only on ModelArts"),
        (v1(parameter=[{"label": "a"}, {"label": "a"}]), 'config.parameter[1].label "a" is used twice'),
        (v1(parameter={"a": 1}), 'config.parameter {"a": 1} must be a list'),
        (v1(parameter=["a=1"]), 'config.parameter[0] "a=1" must be an object'),
        (v2(kind="edge_job"), 'kind "edge_job" is not a training job'),
        (v2(metadata={"name": "ä"}), 'metadata.name "ä" must have 1 to 64 letters'),
        (v2(algorithm={"boot_file": ...}), "algorithm.boot_file is needed"),
        (v2(algorithm={"boot_file": ..., "id": "x"}), 'algorithm.id "x" names a saved algorithm'),
        (v2(algorithm={"boot_file": "../train.py"}), "must lie in the code folder"),
        (v2(algorithm={"outputs": [{"name": "o"}]}), "algorithm.outputs[0].remote names no place"),
        (v2(algorithm={"inputs": [{"remote": {"obs": {"obs_url": "/lab-bucket/a"}}}]}), "inputs[0].name is needed"),
        (v2(algorithm={"environments": {"A B": "1"}}), "algorithm.environments.A B is not the name of a variable"),
        (v2(algorithm={"environments": {"PASSWORD": ["hunter2"]}}), "algorithm.environments.PASSWORD must be a text"),
        (v2(spec={"auto_stop": {"time_unit": "DAYS", "duration": 1}}), 'spec.auto_stop.time_unit "DAYS" must be HOURS'),
        (v2(spec=3), "spec 3 must be an object"),
        ('{"Boot File Path": "train.sh"}', 'Boot File Path "train.sh" must be a .py file'),
        ('{"Boot File Path": "/x/train.py", "Code Directory": "/y"}', "does not lie in the code directory /y"),
        ('{"Boot File Path": "t.py", "Running Parameters": "a;b=1"}', "has 'a'; write name=value;name=value"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_field_and_value(text, words):
    found = problems(text)
    assert len(found) == 1 and words in found[0] and found[0].startswith("job.json: ") and "hunter2" not in found[0]


def test_all_mistakes_are_reported_together():
    assert len(problems(v1(worker_server_num="x", parameter=[{}, {"label": "-"}], log_url="log"))) == 4


@pytest.mark.parametrize("text", ["", "hello", "[]", "{}", '{"a": 1}', "3", '{"a": "\\ud800"}', "[" * 100_000, "{" * 9])
def test_what_is_no_job_is_refused_in_words(text):
    with pytest.raises(SpecError) as caught:
        read_job(text, "job.json")
    assert str(caught.value).startswith("job.json ")


def test_the_form_is_read_as_lines_and_as_json():
    job = read("toolkit.txt")
    assert (job.boot, job.code, job.name) == ("train.py", "C:/Users/ann/mnist", "MA-mnist-11-30-16")
    assert job.outputs[0].address == "obs://lab-bucket/pycharm/MA-mnist-11-30-16/output/V0001"
    assert job.unknown == ("SK",) and "verysecret" not in repr(job)
    job = read("toolkit.json")
    assert (job.boot, job.params, job.hidden) == ("train.py", {"batchsize": "4"}, ("secret_key",))


@pytest.mark.parametrize(
    ("text", "flavor"),
    [
        ("modelarts.p3.large.public.free", Flavor(8, 64, 1, 0, "V100", 1)),
        ("modelarts.vm.gpu.free", Flavor(8, 64, 1, 0, "V100", 1)),
        ("modelarts.vm.cpu.8u", Flavor(8, 32)),
        ("modelarts.kat1.xlarge", Flavor(24, 96, 0, 1, "Ascend 910")),
        ("modelarts.kat1.8xlarge.public", Flavor(192, 768, 0, 8, "Ascend 910")),
        ("modelarts.bm.910.arm.public.2", Flavor(48, 512, 0, 2, "Ascend 910")),
        ("CPU: 24 vCPUs 96GiB", Flavor(24, 96)),
        ("GPU: 8*V100(32GB) | CPU: 72 核 512GB", Flavor(72, 32, 8, 0, "V100")),
        ("modelarts.pool.visual.xlarge", None),
        ("", None),
    ],
)  # fmt: skip
def test_a_flavor_is_known_by_its_id_or_by_its_words(text, flavor):
    assert find_flavor(text) == flavor


def test_engines_have_names_of_their_own_and_none_that_pip_installs_is_older_than_ours():
    names = [each.name for each in ENGINES]
    assert len({name.lower() for name in names}) == len(names) and all(len(name) <= 63 for name in names)
    assert all(tuple(map(int, each.python.split("."))) >= (3, 7) for each in ENGINES if each.requirements)
    assert find_engine("PYTORCH_1.8.0-cuda_10.2-py_3.7-ubuntu_18.04-x86_64") and find_engine("") is None
    assert is_v1_compatible("TF-1.8.0-python2.7") and not is_v1_compatible(ENGINES[0].name)


WORDS = st.sampled_from(
    ["config", "algorithm", "spec", "metadata", "kind", "job", "app_url", "boot_file_url", "boot_file", "code_dir",
     "parameter", "parameters", "label", "name", "value", "inputs", "outputs", "remote", "obs", "obs_url", "dataset",
     "id", "engine", "engine_id", "flavor", "code", "resource", "flavor_id", "node_count", "environments", "auto_stop",
     "duration", "annotations", "fault-tolerance/job-retry-num", "command", "user_command", "data_source", "constraint",
     "Boot File Path", "OBS Path", "Running Parameters", "/lab-bucket/code/train.py", "/lab-bucket/code/", "train.py"]
)  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | WORDS
RUBBISH = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(max_size=5), inner, max_size=6),
    max_leaves=25,
)  # fmt: skip


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.dictionaries(WORDS, RUBBISH, max_size=6))
def test_rubbish_is_read_or_refused_and_never_crashes(value):
    text = json.dumps(value)
    try:
        job = read_job(text, "job.json")
    except SpecError as error:
        assert str(error)
    else:
        assert job.boot.endswith(".py")


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    try:
        read_job(text)
    except SpecError as error:
        assert str(error)
