"""`POST training-job-searches`: which jobs, in which order, which page of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from outlast.server.gateways.modelarts.jobs import SeenJob, Unseen
from outlast.server.gateways.modelarts.refusing import Refusal

Job = TypeVar("Job", SeenJob, Unseen)

MOST_ROWS = 50
_USUAL_ROWS = 10
_OPERATORS = ("between", "like", "in", "not")
#: What can be filtered by. Some say nothing here: every job is of one kind, and none has a saved algorithm.
_READERS: dict[str, Callable[[SeenJob | Unseen], str | int | None]] = {
    "name": lambda seen: seen.row.name,
    "id": lambda seen: seen.row.id,
    "create_time": lambda seen: seen.row.created_ms,
    "phase": lambda seen: seen.progress.phase,
    "kind": lambda seen: "job",
    "user_id": lambda seen: seen.row.owner,
    "user_name": lambda seen: seen.row.owner,
    "algorithm_name": lambda seen: None,
    "runtime_type": lambda seen: None,
    "description": lambda seen: seen.row.description,
}
_SORTS: dict[str, Callable[[SeenJob | Unseen], Any]] = {
    "create_time": lambda seen: (seen.row.created_ms, seen.row.number),
    "name": lambda seen: (seen.row.name, seen.row.number),
    "duration": lambda seen: (seen.progress.duration_ms, seen.row.number),
    "phase": lambda seen: (seen.progress.phase, seen.row.number),
}


def search(body: dict[str, Any], jobs: list[Job]) -> tuple[dict[str, Any], list[Job]]:
    """(the answer without its items, the jobs of the page). `offset` counts pages, as the service documents it."""
    offset = _whole(body, "offset", 0, 0, 10**6)
    limit = _whole(body, "limit", _USUAL_ROWS, 1, MOST_ROWS)
    sort_by, order = body.get("sort_by") or "create_time", body.get("order") or "desc"
    if sort_by not in _SORTS:
        raise Refusal("2790", f"sort_by {sort_by!r}; known: {', '.join(_SORTS)}")
    if order not in ("asc", "desc"):
        raise Refusal("2764", f"order {order!r}; known: asc, desc")
    filters = _filters(body)
    found = [seen for seen in jobs if all(_fits(seen, each) for each in filters)]
    found.sort(key=_SORTS[sort_by], reverse=order == "desc")
    facts = {
        "total": len(jobs), "count": len(found), "limit": limit, "offset": offset, "sort_by": sort_by, "order": order,
        "group_by": body.get("group_by") or "", "workspace_id": str(body.get("workspace_id") or "0"),
        "ai_project": "default-ai-project",
    }  # fmt: skip
    return facts, found[offset * limit : (offset + 1) * limit]


def _filters(body: dict[str, Any]) -> list[tuple[str, str, list[str]]]:
    """(key, operator, values) of each filter that says something: empty values restrict nothing."""
    found = []
    given = body.get("filters") or []
    if not isinstance(given, list):
        raise Refusal("2789", "filters must be a list")
    for each in given:
        if not isinstance(each, dict) or not isinstance(each.get("value") or [], list):
            raise Refusal("2789", "a filter has key, operator and a list of values")
        key, operator = str(each.get("key")), str(each.get("operator"))
        if key not in _READERS:
            raise Refusal("2807", f"filter key {key[:40]!r}; known: {', '.join(_READERS)}")
        if operator not in _OPERATORS:
            raise Refusal("2808", f"filter operator {operator[:40]!r}; known: {', '.join(_OPERATORS)}")
        values = [str(value) for value in each.get("value") or () if str(value)]
        if operator == "between" and values and (len(values) != 2 or not all(map(str.isdecimal, values))):
            raise Refusal("2809", f"between needs two numbers, not {values[:4]}")
        if values:
            found.append((key, operator, values))
    return found


def _fits(seen: SeenJob | Unseen, wanted: tuple[str, str, list[str]]) -> bool:
    key, operator, values = wanted
    has = _READERS[key](seen)
    if has is None:
        return True
    if operator == "between":
        return isinstance(has, int) and int(values[0]) <= has <= int(values[1])
    if operator == "like":
        return any(value.lower() in str(has).lower() for value in values)
    return (str(has) in values) is (operator == "in")


def _whole(body: dict[str, Any], name: str, usual: int, least: int, most: int) -> int:
    value = body.get(name)
    if value is None:
        return usual
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise Refusal("2764", f"{name} must be a whole number from {least} to {most}")
    return value
