"""Jobs of the second generation as the service answers them: what was asked for, completed, with its status."""

from __future__ import annotations

from typing import Any

from outlast.modelarts.engines import find_engine
from outlast.server.gateways.modelarts.jobs import SeenJob
from outlast.server.gateways.modelarts.phases import FINAL, Progress
from outlast.server.gateways.modelarts.tables import billing_body, choose_flavor, engine_body, flavor_info

_FOLDERS = "/home/ma-user/modelarts"
_CONSTRAINT = {
    "type": "String", "editable": True, "required": False, "sensitive": False, "valid_type": "None", "valid_range": [],
}  # fmt: skip


#: What stands beside an engine in a job, but not in the list of engines.
_ENGINE_USE = {"usage": "training", "support_groups": "public", "tags": []}


def job_body(seen: SeenJob) -> dict[str, Any]:
    """The whole job."""
    asked = seen.row.body
    return {
        "kind": "job", "metadata": _metadata(seen), "status": status_body(seen),
        "algorithm": _algorithm(asked.get("algorithm") or {}), "spec": _spec(asked.get("spec") or {}),
    }  # fmt: skip


def status_body(seen: SeenJob) -> dict[str, Any]:
    progress = seen.progress
    body: dict[str, Any] = {
        "phase": progress.phase, "secondary_phase": progress.secondary_phase, "duration": progress.duration_ms,
        "start_time": progress.start_ms, "node_count_metrics": _nodes(progress, seen.nodes), "tasks": seen.tasks,
    }  # fmt: skip
    if progress.phase in FINAL:
        body["task_statuses"] = [
            {"task": task, "exit_code": progress.exit_code if progress.exit_code is not None else 1,
             "message": progress.message}
            for task in seen.tasks
        ]  # fmt: skip
    if progress.start_ms:
        body["running_records"] = [
            {"start_at": progress.start_ms // 1000, "end_at": progress.end_ms // 1000 or None,
             "start_type": "init_or_rescheduled", "end_reason": progress.message, "end_related_task": ""}
        ]  # fmt: skip
    return body


def _nodes(progress: Progress, count: int) -> list[list[int]] | None:
    """(time, running nodes) at each change."""
    if not progress.start_ms:
        return None
    points = [[progress.start_ms, count]]
    return [*points, [progress.end_ms, 0]] if progress.end_ms else points


def _metadata(seen: SeenJob) -> dict[str, Any]:
    row, asked = seen.row, seen.row.body.get("metadata") or {}
    annotations = asked.get("annotations") or {}
    return {
        "id": row.id, "name": row.name, "description": row.description, "create_time": row.created_ms,
        "workspace_id": str(asked.get("workspace_id") or "0"), "ai_project": "default-ai-project",
        "user_name": row.owner, "annotations": {"job_template": "Template DL", "key_task": "worker"} | annotations,
    }  # fmt: skip


def _algorithm(asked: dict[str, Any]) -> dict[str, Any]:
    engine = asked.get("engine") or {}
    named = engine.get("engine_id") or engine.get("engine_version") or ""
    known = find_engine(str(named))
    if known is not None:
        listed = {key: value for key, value in engine_body(known).items() if key != "image_info"}
        said = {key: value for key, value in engine.items() if value not in (None, "")}
        engine = {**listed, **_ENGINE_USE, **said, "engine_id": known.name, "engine_version": known.name}
    body = {"parameters_customization": True} | {key: value for key, value in asked.items() if value is not None}
    body["engine"] = engine
    body["parameters"] = [{"constraint": _CONSTRAINT, **each} for each in asked.get("parameters") or ()]
    for which in ("inputs", "outputs"):
        body[which] = [_channel(each, which) for each in asked.get(which) or ()]
    # One object where it is asked for, a list of them where it is answered: so the service has it.
    variables = asked.get("environments") or {}
    body["environments"] = [{name: value} for name, value in variables.items()] if variables else []
    return body


def _channel(asked: dict[str, Any], which: str) -> dict[str, Any]:
    more: dict[str, Any] = {"access_method": "parameter", "local_dir": f"{_FOLDERS}/{which}/{asked['name']}_0"}
    if which == "outputs":
        more |= {"mode": "upload_periodically", "period": 30}
    return more | {key: value for key, value in asked.items() if value is not None}


def _spec(asked: dict[str, Any]) -> dict[str, Any]:
    resource = {key: value for key, value in (asked.get("resource") or {}).items() if value is not None}
    choice = choose_flavor(str(resource.get("flavor_id", "")))
    body = {key: value for key, value in asked.items() if value is not None}
    body["resource"] = {"policy": "regular", "node_count": 1} | resource
    if choice is not None:
        body["resource"] |= {
            "flavor_id": choice.id, "flavor_name": choice.flavor.sentence,
            "flavor_detail": {
                "flavor_type": choice.kind, "billing": billing_body(choice),
                "flavor_info": flavor_info(choice),
            },
        }  # fmt: skip
    if (asked.get("log_export_path") or {}).get("obs_url"):
        body["is_hosted_log"] = True
    return body
