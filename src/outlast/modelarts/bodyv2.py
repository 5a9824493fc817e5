"""The request body of the second generation: `POST /v2/{project}/training-jobs`, and what the service answers to it."""

from __future__ import annotations

from typing import Any

from outlast.modelarts.engines import is_v1_compatible
from outlast.modelarts.fields import Body, Report, as_text
from outlast.modelarts.job import Channel, TrainingJob
from outlast.modelarts.parts import (
    Given,
    boot_in_code,
    boot_of_command,
    job_name,
    option_name,
    parameters,
    variable_name,
    without_secrets,
)

_MOST_HOURS = 72


def read_v2(value: dict[str, Any], report: Report) -> TrainingJob:
    """A create body, or the job that the service shows."""
    top = report.open(value)
    kind = top.text("kind")
    if kind not in ("", "job"):
        top.wrong("kind", "is not a training job; only 'job' can be run here")
    top.skip("tasks", "train_type", "ftjob_config")
    top.ignore("endpoints", "status")
    meta, algorithm, spec = top.below("metadata"), top.below("algorithm"), top.below("spec")
    name, description = meta.text("name", job_name), meta.text("description")
    retries = _retries(meta)
    meta.skip("workspace_id", "training_experiment_reference")
    meta.ignore("id", "create_time", "ai_project", "user_name")
    code = _code(algorithm, report)
    engine = algorithm.below("engine")
    engine_id = engine.text("engine_id") or engine.text("engine_version") or engine.text("engine_name")
    boot, args = _boot(algorithm, code)
    given = parameters(algorithm, "parameters", "name")
    variables = _environments(algorithm)
    made = TrainingJob(
        kind="v2", contract="modelarts-v1" if is_v1_compatible(engine_id) else "modelarts", boot=boot, code=code,
        name=name, description=description, args=args, engine=engine_id, image=engine.text("image_url"),
        params=given.values, hidden=given.left_out, env=variables.values, secrets=variables.left_out,
        inputs=tuple(_channels(algorithm, "inputs")), outputs=tuple(_channels(algorithm, "outputs")),
        retries=retries, **_spec(spec, report),
    )  # fmt: skip
    engine.skip("install_sys_packages", "image_repo_id")
    engine.ignore("engine_name", "engine_version", "usage", "support_groups", "tags", "v1_compatible", "run_user")
    algorithm.skip("policies", "autosearch_config_path", "autosearch_framework_path", "summary", "priority")
    algorithm.ignore("name", "parameters_customization")
    return made


def _retries(meta: Body) -> int | None:
    notes = meta.below("annotations")
    count = notes.whole("fault-tolerance/job-retry-num", 0)
    notes.ignore("job_template", "key_task", "record/code-dir")
    known = (
        "fault-tolerance/job-unconditional-retry", "fault-tolerance/hang-retry", "fault-tolerance/pod-retry-num",
        "fault-tolerance/hccl_op_retry", "performance_diagnosis_enabled", "jupyter-lab/enable", "tensorboard/enable",
        "mindstudio-insight/enable",
    )  # fmt: skip
    notes.skip(*known)
    return count


def _code(algorithm: Body, report: Report) -> str:
    starts_something = "boot_file" in algorithm or "command" in algorithm
    for name, what in (("id", "a saved algorithm"), ("subscription_id", "an algorithm of the market")):
        if name in algorithm and not starts_something:
            algorithm.wrong(name, f"names {what}, which exists only on ModelArts; its code and boot file are needed")
    algorithm.ignore("id", "subscription_id", "item_version_id")
    for name in ("local_code_dir", "working_dir"):
        if algorithm.text(name):
            report.notices.append(f"algorithm.{name} {algorithm.text(name)}: here a script starts in its code folder")
    if algorithm.text("code_dir").startswith("file:"):
        report.notices.append("algorithm.code_dir is a folder of the image; the code beside outlast.toml is used")
        return ""
    return algorithm.address("code_dir")


def _boot(algorithm: Body, code: str) -> tuple[str, tuple[str, ...]]:
    if "command" in algorithm:
        algorithm.ignore("boot_file")
        return boot_of_command(algorithm, "command", code)
    algorithm.ignore("command")
    boot = algorithm.text("boot_file")
    if not boot:
        if "boot_file" not in algorithm and not any(each in algorithm for each in ("id", "subscription_id")):
            algorithm.report.wrong("algorithm.boot_file", None, "is needed")
        return "", ()
    if boot.startswith(("/", "obs://", "s3://")):
        boot = algorithm.address("boot_file")
    if not boot or (not code and "code_dir" in algorithm and "://" in boot):
        return "", ()  # what is wrong was said
    return boot_in_code(algorithm, "boot_file", boot, code), ()


def _environments(algorithm: Body) -> Given:
    value = algorithm.raw("environments")
    # The service answers with a list of objects where it takes one object.
    entries = [_pair(each) for each in value] if isinstance(value, list) else [value] if value is not None else []
    given: list[tuple[str, str, bool]] = []
    for entry in entries:
        if not isinstance(entry, dict):
            algorithm.report.wrong("algorithm.environments", None, "must be an object of names and values")
            continue
        for name, content in entry.items():
            where = f"algorithm.environments.{name}"
            if problem := variable_name(name):
                algorithm.report.wrong(where, None, problem)
            elif not isinstance(content, str | int | float):
                algorithm.report.wrong(where, None, "must be a text")
            else:
                given.append((name, as_text(content), False))
    return without_secrets(given)


def _pair(entry: Any) -> Any:
    is_pair = isinstance(entry, dict) and entry.keys() == {"name", "value"}
    return {str(entry["name"]): entry["value"]} if is_pair else entry


def _channels(algorithm: Body, which: str) -> list[Channel]:
    found: list[Channel] = []
    for each in algorithm.each(which):
        name = each.text("name", option_name)
        if "name" not in each:
            each.wrong("name", "is needed")
        if any(name == other.name for other in found):
            each.wrong("name", "is used twice")
        if each.text("access_method") == "env":
            algorithm.report.notices.append(f"{name} was passed in a variable; here it is passed as --{name}=…")
        each.skip("remote_constraint")
        each.ignore("description", "local_dir", "mode", "period")
        found.append(_remote(each, name))
    return found


def _remote(each: Body, name: str) -> Channel:
    remote = each.below("remote")
    place, data = remote.below("obs"), remote.below("dataset")
    address = place.address("obs_url") or data.address("obs_url")
    number = data.text("id")
    data.ignore("version_id", "name", "service_type", "dataset_proportion")
    if not address and not number and not place.raw("obs_url"):
        each.wrong("remote", "names no place; give remote.obs.obs_url")
    return Channel(name, address, "" if address else f"data set {number}")


def _spec(spec: Body, report: Report) -> dict[str, Any]:
    resource, stop, log = spec.below("resource"), spec.below("auto_stop"), spec.below("log_export_path")
    custom = resource.below("main_container_customized_flavor")
    custom.skip("cpu_core_num", "mem_size", "accelerator_num")
    resource.skip("pool_id", "pool_group_id")
    resource.ignore("policy", "flavor_name", "pool_name", "flavor_detail")
    hours = stop.whole("duration")
    if "time_unit" in stop and stop.text("time_unit") != "HOURS":
        stop.wrong("time_unit", "must be HOURS")
    if hours and hours > _MOST_HOURS:
        report.notices.append(f"spec.auto_stop is {hours} h; ModelArts takes at most {_MOST_HOURS}")
    stop.ignore("time_unit")
    address = log.address("obs_url")
    log.ignore("host_path")
    spec.skip(
        "volumes", "log_export_config", "schedule_policy", "notification", "custom_metrics", "retention",
        "reserved_time", "output_model", "asset_model", "asset_id",
    )  # fmt: skip
    spec.ignore("is_hosted_log")
    return {
        "flavor": resource.text("flavor_id"), "nodes": resource.whole("node_count") or 1,
        "limit_h": hours, "log": address,
    }  # fmt: skip
