"""The request body of the first generation: `POST /v1/{project}/training-jobs`, and what the service answers to it."""

from __future__ import annotations

from typing import Any

from outlast.modelarts.engines import ENGINE_IDS
from outlast.modelarts.fields import Body, Report
from outlast.modelarts.job import Channel, TrainingJob
from outlast.modelarts.parts import boot_in_code, boot_of_command, job_name, parameters

_WITHOUT_MEANING = (
    "model_id", "create_version", "priority", "enable_check", "volumes", "nas_type", "nas_share_addr", "nas_mount_path",
    "pre_version_id", "poolId", "pool_id", "pool_name",
)  # fmt: skip
_ANSWERED = (
    "is_success", "job_id", "version_id", "version_name", "version_count", "status", "create_time", "start_time",
    "duration", "resource_id", "engine_type", "core", "cpu", "gpu_num", "gpu_type", "model_metric_list",
    "system_metric_list", "dataset_name", "dataset_version_name",
)  # fmt: skip


def read_v1(value: dict[str, Any], report: Report) -> TrainingJob:
    """A create body, a saved set of parameters, or the details of a job version."""
    top = report.open(value)
    config = top.below("config") if "config" in top else top
    name = top.text("job_name", job_name) or top.text("config_name", job_name)
    description = top.text("job_desc") or top.text("config_desc")
    top.skip("workspace_id", "notification", "autosearch_config")
    top.ignore("job_type", *_ANSWERED)
    code = config.address("app_url")
    boot, args = _boot(config, code)
    given = parameters(config, "parameter", "label")
    flavor = config.below("flavor").text("code") or config.text("spec_code")
    if "spec_id" in config and not flavor:
        report.notices.append(f"spec_id {config.text('spec_id')} is a number of one region; set [resources] by hand")
    config.skip(*_WITHOUT_MEANING)
    config.ignore("spec_id")
    return TrainingJob(
        kind="v1", contract="modelarts-v1", boot=boot, code=code, name=name, description=description, args=args,
        engine=_engine(config, report), image=config.text("user_image_url"), flavor=flavor,
        nodes=config.whole("worker_server_num") or 1, params=given.values, hidden=given.left_out,
        inputs=tuple(_inputs(config)), outputs=tuple(_outputs(config)), log=config.address("log_url"),
    )  # fmt: skip


def _boot(config: Body, code: str) -> tuple[str, tuple[str, ...]]:
    if "user_command" in config:
        config.ignore("boot_file_url")
        return boot_of_command(config, "user_command", code)
    config.ignore("user_command")
    address = config.address("boot_file_url")
    if not address:
        if "boot_file_url" not in config:
            what = "a preset algorithm (model_id) exists only on ModelArts" if "model_id" in config else "is needed"
            config.report.wrong(config.where("boot_file_url"), None, what)
        return "", ()
    if not code and "app_url" in config:
        return "", ()  # that is what is wrong, and it was said
    return boot_in_code(config, "boot_file_url", address, code), ()


def _engine(config: Body, report: Report) -> str:
    version, family, number = config.text("engine_version"), config.text("engine_name"), config.whole("engine_id", 0)
    if version or number is None:
        return version or family
    if number not in ENGINE_IDS:
        report.notices.append(f"engine_id {number} is not known here; choose packages with requirements or environment")
    return ENGINE_IDS.get(number, "")


def _inputs(config: Body) -> list[Channel]:
    found: list[Channel] = []
    if "data_url" in config:
        found.append(Channel("data_url", config.address("data_url")))
    config.ignore("data_url")
    found += _data_set(config, "dataset_version_id")
    for source in config.each("data_source"):
        source.ignore("type")
        if "data_url" in source:
            found.append(Channel("data_url", source.address("data_url")))
        found += _data_set(source, "dataset_version")
    for more in found[1:]:
        config.report.notices.append(f"the job has a second source of data, {more.address or more.note}; v1 passes one")
    return found[:1]


def _data_set(body: Body, version: str) -> list[Channel]:
    dataset, number = body.text("dataset_id"), body.text(version)
    note = f"data set {dataset}" + (f", version {number}" if number else "")
    return [Channel("data_url", "", note)] if dataset else []


def _outputs(config: Body) -> list[Channel]:
    address = config.address("train_url")
    return [Channel("train_url", address)] if address else []
