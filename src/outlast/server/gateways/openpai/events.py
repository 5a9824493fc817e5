"""What happened to a job, as OpenPAI's events: the beginning and the end of each of its run's stints. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from outlast.inside.contracts.openpai.variables import k8s_role_name
from outlast.model.states import EndReason
from outlast.model.view import RunView, StintView
from outlast.server.gateways.openpai.book import JobRow
from outlast.server.gateways.openpai.refusing import PaiRefusal
from outlast.server.gateways.openpai.showing import debug_id, milliseconds

NORMAL, WARNING = "Normal", "Warning"
_AS_PLANNED = (EndReason.FINISHED, EndReason.HAND_OVER, EndReason.STOPPED)


def events_of(row: JobRow, view: RunView, wanted: str = "") -> dict[str, Any]:
    """The answer to `GET /jobs/JOB/events`, newest first; `wanted` is a type, or nothing for both."""
    if wanted not in ("", NORMAL, WARNING):
        raise PaiRefusal(400, "InvalidParametersError", f'type {wanted[:40]!r}: must be "Normal" or "Warning"')
    found = [event for stint in view.stint_list for event in _events(row, stint)]
    data = [event for event in reversed(found) if wanted in ("", event["type"])]
    return {"totalCount": len(data), "data": data}


def _events(row: JobRow, stint: StintView) -> Iterator[dict[str, Any]]:
    why = f": {stint.why}" if stint.why else ""
    yield _event(row, stint, "Started", NORMAL, f"stint {stint.number} goes to {stint.platform}{why}", stint.created_at)
    if stint.reason is not None:
        kind = NORMAL if stint.reason in _AS_PLANNED else WARNING
        reason = "".join(word.capitalize() for word in stint.reason.split("-"))
        said = f": {stint.message}" if stint.message else ""
        yield _event(row, stint, reason, kind, f"stint {stint.number} ended ({stint.reason}){said}", stint.ended_at)


def _event(row: JobRow, stint: StintView, reason: str, kind: str, message: str, at: str) -> dict[str, Any]:
    role = k8s_role_name(row.facts.roles[0].name)
    pod, moment = f"{row.run}-{stint.number:04d}", milliseconds(at)
    return {
        "uid": f"{pod}-{reason}", "frameworkName": debug_id(row.facts.framework), "podUid": pod, "taskroleName": role,
        "taskName": f"{role}-0", "taskIndex": 0, "type": kind, "reason": reason, "message": message,
        "firstTimestamp": moment, "lastTimestamp": moment, "count": 1, "sourceComponent": "outlast",
        "sourceHost": stint.platform,
    }  # fmt: skip
