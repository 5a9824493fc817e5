"""Jobs and versions of the first generation as the service answers them."""

from __future__ import annotations

import json
from typing import Any

from outlast.modelarts.engines import find_engine
from outlast.server.gateways.modelarts.jobs import SeenJob
from outlast.server.gateways.modelarts.tables import choose_flavor, engine_of_first, spec_body
from outlast.server.gateways.modelarts.usage import SERIES, usage_of

#: What a version repeats of what was asked for.
_REPEATED = (
    "app_url", "boot_file_url", "parameter", "data_url", "train_url", "log_url", "data_source", "dataset_id",
    "dataset_version_id", "user_image_url", "user_command", "model_id", "pool_id", "volumes", "nas_type",
    "nas_share_addr", "nas_mount_path", "pre_version_id",
)  # fmt: skip


def resource_id(seen: SeenJob) -> str:
    """The short name of a version's machine: `jobafd08896`."""
    return "job" + seen.row.id.replace("-", "")[:8]


def created_body(seen: SeenJob) -> dict[str, Any]:
    row = seen.row
    return {
        "is_success": True, "job_id": row.job, "job_name": row.name, "status": seen.progress.number,
        "create_time": row.created_ms, "version_id": row.number, "version_name": row.version_name,
        "resource_id": resource_id(seen),
    }  # fmt: skip


def version_body(seen: SeenJob, *, as_text: bool = False) -> dict[str, Any]:
    """A version with everything about it. Lists have the machine's use `as_text`, details as an object."""
    config = seen.row.body.get("config") or {}
    use = _use(seen)
    body = created_body(seen) | {
        "job_desc": seen.row.description, "duration": seen.progress.duration_ms, "start_time": seen.progress.start_ms,
        "worker_server_num": seen.nodes, "model_metric_list": "[]",
        "system_metric_list": json.dumps(use) if as_text else use,
    }  # fmt: skip
    body |= {key: config[key] for key in _REPEATED if config.get(key) is not None}
    engine = find_engine(str(config.get("engine_version") or ""))
    if engine is not None:
        body |= engine_of_first(engine)
    choice = choose_flavor(str((config.get("flavor") or {}).get("code") or config.get("spec_code") or ""))
    if choice is not None:
        spec = spec_body(choice)
        body |= {key: spec[key] for key in ("spec_id", "spec_code", "core", "cpu", "gpu_num", "gpu_type")}
    return body


def listed_body(seen: SeenJob, version_count: int) -> dict[str, Any]:
    """A job in the list: its newest version."""
    row = seen.row
    return {
        "job_id": row.job, "job_name": row.name, "version_id": row.number, "status": seen.progress.number,
        "create_time": row.created_ms, "duration": seen.progress.duration_ms, "job_desc": row.description,
        "version_count": version_count,
    }  # fmt: skip


def log_file_name(name: str, node: int = 0) -> str:
    """What the output of a job's machine is called: `jobtest_TF` has `job-jobtest-tf.0`."""
    return f"job-{name.lower().replace('_', '-')}.{node}"


def _use(seen: SeenJob) -> dict[str, list[str]]:
    """The first three series, minute by minute, as texts; empty before the start."""
    if not seen.progress.start_ms:
        return {name: [] for name in SERIES[:3]}
    rows = usage_of(seen.folder, seen.progress)[:3]
    return {row["metric"]: [f"{value:g}" for value in row["value"]] for row in rows}
