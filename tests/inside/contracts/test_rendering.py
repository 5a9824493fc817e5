"""What each contract makes of a spec, word by word."""

from __future__ import annotations

import json

import pytest

from outlast.inside.contracts.base import NAMES, Facts, render
from outlast.inside.contracts.modelarts import as_url, first_log_name, job_id, log_name, own_bucket, pairs_of
from outlast.inside.errors import RequestError
from outlast.inside.move.address import parse

FACTS = Facts("1115-quiet-otter", 2, "/s/tree/code", "/s", "/bundle.zip", "/usr/bin/python3", sandboxed=True)
SPEC = {
    "script": "boot.py",
    "args": ["--verbose"],
    "params": {"batchsize": "4", "learning_rate": "0.01"},
    "inputs": [{"name": "data_url", "source": "obs://bucket/mnist", "path": ".outlast/inputs/data_url_0"}],
    "outputs": [{"name": "train_url", "target": "obs://bucket/out", "path": ".outlast/outputs/train_url_0"}],
}


def rendered(contract, facts=FACTS, **changes):
    return render({**SPEC, "contract": contract, **changes}, facts)


def test_plain_is_exactly_what_was_asked_for():
    plain = rendered("plain")
    assert plain.argv == [
        "/usr/bin/python3", "boot.py", "--verbose", "--batchsize=4", "--learning_rate=0.01",
    ]  # fmt: skip
    assert (plain.env, plain.cwd, plain.binds, plain.network) == ({}, "/s/tree/code", [], True)


def test_the_second_generation_passes_folders():
    assert rendered("modelarts").argv == [
        "/usr/bin/python3", "boot.py", "--data_url=/s/tree/code/.outlast/inputs/data_url_0",
        "--train_url=/s/tree/code/.outlast/outputs/train_url_0", "--batchsize=4", "--learning_rate=0.01", "--verbose",
    ]  # fmt: skip


def test_the_first_generation_passes_addresses_and_counts_the_cards_last():
    facts = FACTS._replace(gpus=("0", "1"))
    assert rendered("modelarts-v1", facts).argv == [
        "/usr/bin/python3", "boot.py", "--data_url=s3://bucket/mnist/", "--train_url=s3://bucket/out/", "--batchsize=4",
        "--learning_rate=0.01", "--verbose", "--num_gpus=2",
    ]  # fmt: skip
    assert "--num_gpus=0" not in rendered("modelarts-v1").argv


def test_the_variables_of_the_second_generation():
    env = rendered("modelarts").env
    job = job_id("1115-quiet-otter")
    assert env == {
        "MA_HOME": "/s/tree",
        "MA_JOB_DIR": "/s/tree",
        "MA_MOUNT_PATH": "/s/tree/code/.outlast",
        "MA_LOG_DIR": "/s/log",
        "WORKSPACE": "/s/tree/code",
        "MA_NUM_HOSTS": "1",
        "MA_NUM_GPUS": "0",
        "MA_TASK_NAME": "worker",
        "MA_CURRENT_IP": "127.0.0.1",
        "MA_CURRENT_HOST_IP": "127.0.0.1",
        "MA_CURRENT_INSTANCE_NAME": f"modelarts-job-{job}-worker-0",
        "MA_VJ_NAME": f"ma-job-{job}",
        "VC_WORKER_NUM": "1",
        "VC_TASK_INDEX": "0",
        "VC_WORKER_HOSTS": "127.0.0.1",
        "S3_VERIFY_SSL": "0",
        "S3_USE_HTTPS": "1",
        "CACHE_HOME": "/cache",
        "MA_INPUTS": json.dumps({"inputs": [{
            "name": "data_url", "local_dir": "/s/tree/code/.outlast/inputs/data_url_0",
            "remote": {"obs": {"obs_url": "/bucket/mnist"}}}]}),
        "MA_OUTPUTS": json.dumps({"outputs": [{
            "name": "train_url", "local_dir": "/s/tree/code/.outlast/outputs/train_url_0",
            "remote": {"obs": {"obs_url": "/bucket/out"}}}]}),
    }  # fmt: skip


def test_the_variables_of_the_first_generation():
    env = rendered("modelarts-v1").env
    short = "job" + job_id("1115-quiet-otter").replace("-", "")[:8]
    assert {name: value for name, value in env.items() if name.startswith(("DLS_", "BATCH_"))} == {
        "DLS_TASK_INDEX": "0",
        "DLS_TASK_NUMBER": "1",
        "DLS_APP_URL": "",
        "DLS_DATA_URL": "s3://bucket/mnist/",
        "DLS_TRAIN_URL": "s3://bucket/out/",
        "BATCH_JOB_ID": short,
        "BATCH_TASK_CURRENT_HOST_IP": "127.0.0.1",
        "BATCH_TASK_CURRENT_INSTANCE": f"{short}-0",
        f"BATCH_{short}.0_HOSTS": "127.0.0.1",
    }
    assert "MA_INPUTS" not in env


def test_uploads_are_noted_where_nothing_else_is_saved():
    place = "/s/tree/code/.outlast/checkpoint/uploads.json"
    assert rendered("modelarts-v1", checkpoint=".outlast/checkpoint").env["OUTLAST_UPLOADS"] == place
    assert "OUTLAST_UPLOADS" not in rendered("modelarts-v1", checkpoint="ckpt").env
    assert "OUTLAST_UPLOADS" not in rendered("modelarts", checkpoint=".outlast/checkpoint").env


def test_the_first_generation_has_no_folder_for_its_outputs():
    assert rendered("modelarts-v1").folders == ["/s/cache", "/s/log"]
    assert "/s/tree/code/.outlast/outputs/train_url_0" in rendered("modelarts").folders


def test_a_folder_in_the_place_of_an_address_gets_a_bucket_of_its_own():
    assert own_bucket("data_url") == "obs://outlast-data-url"
    assert own_bucket("data_url", {"obs://outlast-data-url"}) == "obs://outlast-data-url0"
    longest = own_bucket("Ä_" + "x" * 80)
    assert len(longest.partition("://")[2]) <= 63 and longest == longest.lower().rstrip("-")
    assert parse(longest).authority


def test_logs_are_named_as_the_platform_names_them():
    short = "job" + job_id("1115-quiet-otter").replace("-", "")[:8]
    assert first_log_name("1115-quiet-otter", "mnist") == f"{short}-job-mnist-0.log"


def test_cache_is_a_private_folder_of_the_stint():
    sandboxed = rendered("modelarts")
    assert sandboxed.binds == [("/s/cache", "/cache")]
    assert "/s/cache" in sandboxed.folders
    bare = rendered("modelarts", FACTS._replace(sandboxed=False))
    assert bare.binds == [] and bare.env["CACHE_HOME"] == "/s/cache"
    assert "$CACHE_HOME" in bare.notices[0]


def test_moxing_is_found_before_everything_else():
    assert rendered("modelarts-v1").python_path == ["/bundle.zip/outlast/inside/mox"]
    assert rendered("plain").python_path == [] == rendered("xihe").python_path


def test_ascend_cards_get_their_rank_table_in_both_forms():
    result = rendered("modelarts", FACTS._replace(npus=("4", "5")))
    raw, common = (json.loads(result.files[f"/s/rank_table/{name}.json"]) for name in ("jobstart_hccl", "rank_table"))
    assert raw["status"] == common["status"] == "completed"
    assert [each["device_id"] for each in raw["group_list"][0]["instance_list"][0]["devices"]] == ["4", "5"]
    assert [each["rank_id"] for each in common["server_list"][0]["device"]] == ["0", "1"]
    assert result.env["RANK_TABLE_FILE"] == "/s/rank_table/rank_table.json"
    assert (result.env["RANK_SIZE"], result.env["MA_NUM_GPUS"]) == ("2", "2")
    assert not any(name.startswith("RANK") for name in rendered("modelarts").env)


def test_xihe_names_everything_by_its_key_and_has_no_network():
    spec = {
        "inputs": [
            {"name": "data_url", "source": "file:///d", "path": ".outlast/inputs/data_url_0"},
            {"name": "pretrain_url", "source": "file:///l.ckpt", "path": ".outlast/inputs/pretrain_url_0/l.ckpt"},
        ],
        "outputs": [{"name": "output_path", "target": "file:///o", "path": ".outlast/outputs/output_path_0"}],
        "args": [],
    }
    result = rendered("xihe", **spec)
    assert result.argv[2:] == [
        "--data_url=/s/tree/code/.outlast/inputs/data_url_0",
        "--pretrain_url=/s/tree/code/.outlast/inputs/pretrain_url_0/l.ckpt",
        "--batchsize=4", "--learning_rate=0.01", "--output_path=/s/tree/code/.outlast/outputs/output_path_0",
    ]  # fmt: skip
    assert result.network is False
    assert result.binds == [("/s/cache", "/cache")] and {"/s/cache", "/s/log"} <= set(result.folders)
    assert result.env["CACHE_HOME"] == "/cache"
    assert rendered("xihe", FACTS._replace(npus=("0",)), **spec).env["RANK_SIZE"] == "1"


def test_options_that_the_user_drops_are_dropped_and_no_others():
    argv = rendered("modelarts", drop_args=["train_url", "batchsize"]).argv
    assert [word.split("=")[0] for word in argv[2:]] == ["--data_url", "--learning_rate", "--verbose"]


@pytest.mark.parametrize("contract", [name for name in NAMES if name != "openpai"])
def test_a_shell_script_and_a_program_start_as_what_they_are(contract):
    assert rendered(contract, script="go.sh").argv[:2] == ["bash", "go.sh"]
    assert rendered(contract, script="bin/train").argv[0] == "./bin/train"


def test_unknown_contracts_are_named():
    with pytest.raises(RequestError, match=r"unknown contract 'sagemaker'; known: modelarts, modelarts-v1"):
        rendered("sagemaker")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("obs://b/d", "s3://b/d/"),
        ("obs://b/d/", "s3://b/d/"),
        ("s3://b/x.ckpt", "s3://b/x.ckpt"),
        ("obs://b", "s3://b/"),
        ("file:///x", "file:///x"),
    ],
)
def test_addresses_are_written_as_modelarts_writes_them(address, expected):
    assert as_url(address) == expected


def test_running_parameters_are_read_as_forms_take_them():
    assert pairs_of("batchsize=4;learning_rate=0.01; name = a b ;x=a=b;;flag") == [
        ("batchsize", "4"), ("learning_rate", "0.01"), ("name", " a b "), ("x", "a=b"), ("flag", ""),
    ]  # fmt: skip


def test_the_same_run_keeps_its_job_id_through_all_stints():
    first, third = (render({**SPEC, "contract": "modelarts"}, FACTS._replace(stint=n)).env for n in (1, 3))
    assert first["MA_VJ_NAME"] == third["MA_VJ_NAME"]
    assert log_name("a") != log_name("b") and log_name("a").endswith("-worker-0.log")
