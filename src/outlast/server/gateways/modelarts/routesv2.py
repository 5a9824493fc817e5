"""The second generation: `/v2/{project}/training-jobs` and what stands beside it."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Query, Request
from starlette.responses import Response

from outlast.server.answers import answer
from outlast.server.gateways.modelarts import links, tables
from outlast.server.gateways.modelarts.access import Caller, find_caller
from outlast.server.gateways.modelarts.bodies import job_body
from outlast.server.gateways.modelarts.book import JobBook, JobRow
from outlast.server.gateways.modelarts.jobs import (
    SeenJob,
    Unseen,
    as_created,
    delete,
    describe,
    see,
    stop,
)
from outlast.server.gateways.modelarts.logs import open_log, page_after, page_before, preview, read_cursor
from outlast.server.gateways.modelarts.phases import FINAL
from outlast.server.gateways.modelarts.refusing import GatewayRoute, Refusal
from outlast.server.gateways.modelarts.searching import search
from outlast.server.gateways.modelarts.stages import stages_of
from outlast.server.gateways.modelarts.starting import create_job
from outlast.server.gateways.modelarts.story import events_of
from outlast.server.gateways.modelarts.usage import usage_of
from outlast.server.gateways.modelarts.wishes import read_wish

router = APIRouter(prefix="/v2/{project}", route_class=GatewayRoute, include_in_schema=False)

Asking = Annotated[Caller, Depends(find_caller)]
_MOST_JOBS = 10_000
_MOST_AT_ONCE = 100


@router.post("/training-jobs")
def create(caller: Asking) -> Response:
    """Start a job."""
    row = create_job(caller, read_wish(caller.json(), "v2"), "v2")
    return answer(job_body(as_created(row)), 201)


@router.post("/training-job-searches")
def search_jobs(caller: Asking) -> Response:
    """The jobs that you may see, filtered, sorted, by pages."""
    body = caller.json() if caller.body.strip() else {}
    settings, rows = caller.holding.settings, JobBook(caller.state.database).all(caller.actor, "v2")
    facts, page = search(body, [Unseen(settings, row) for row in rows])
    return answer(facts | {"items": [job_body(each.seen) for each in page]})


@router.post("/training-jobs/batch-delete")
def delete_several(caller: Asking) -> Response:
    """Delete up to a hundred jobs; when one of them cannot be found, none is touched."""
    given = caller.json().get("jobs")
    if not isinstance(given, list) or not 0 < len(given) <= _MOST_AT_ONCE:
        raise Refusal("2816", f"jobs must be a list of 1 to {_MOST_AT_ONCE} jobs")
    ids = [((each.get("metadata") or {}).get("id") if isinstance(each, dict) else None) for each in given]
    for row in [_row(caller, str(job)) for job in ids]:
        delete(caller, row)
    return answer({}, 202)


@router.get("/training-jobs/{job}")
def show(caller: Asking, job: str) -> Response:
    return answer(job_body(_seen(caller, _row(caller, job))))


@router.put("/training-jobs/{job}")
def change(caller: Asking, job: str) -> Response:
    """Change the description."""
    describe(caller, _row(caller, job), caller.json().get("description"))
    return answer(job_body(_seen(caller, _row(caller, job))))


@router.delete("/training-jobs/{job}")
def remove(caller: Asking, job: str) -> Response:
    delete(caller, _row(caller, job))
    return Response(status_code=202)


@router.post("/training-jobs/{job}/actions")
def act(caller: Asking, job: str) -> Response:
    """Terminate a job: the only action there is."""
    row, action = _row(caller, job), caller.json().get("action_type")
    if action != "terminate":
        raise Refusal("2812", f"action_type {str(action)[:40]!r}; known: terminate")
    return answer(job_body(stop(caller, row)), 202)


@router.get("/training-jobs/{job}/tasks")
def tasks(caller: Asking, job: str) -> Response:
    """The tasks of a job, one for each machine, as a bare list."""
    seen = _seen(caller, _row(caller, job))
    count = seen.folder.last if seen.folder is not None else 0
    here = {"ip": "127.0.0.1", "host_ip": "127.0.0.1", "schedule_count": count}
    return answer([{"task": task} | here for task in seen.tasks])


@router.get("/training-jobs/{job}/tasks/{task}/logs/preview")
def preview_log(caller: Asking, job: str, task: str) -> Response:
    """The newest 5 MB of the output."""
    seen = _seen(caller, _row(caller, job))
    text = open_log(seen, seen.node_of(task))
    return answer(preview(text) if text else {"content": "", "current_size": 0, "full_size": 0})


@router.get("/training-jobs/{job}/tasks/{task}/logs/url")
def link_log(
    request: Request, caller: Asking, job: str, task: str,
    kind: Annotated[str, Query(alias="Content-Type", max_length=80)] = "",
) -> Response:  # fmt: skip
    """A link to the whole output that works for five minutes, to be seen or, as octet-stream, to be kept."""
    row = _row(caller, job)
    seen = _seen(caller, row)
    node = seen.node_of(task)
    if open_log(seen, node) is None:
        raise Refusal("2818", "there is no output yet", solution="ask again when the job runs")
    wanted = kind or request.headers.get("content-type", "")
    base = f"{request.url.scheme}://{request.url.netloc}"
    return answer({"obs_url": base + links.make(caller.pairs, row.id, node, download="octet-stream" in wanted)})


@router.get("/training-jobs/{job}/logs/{task}")
def page_log(
    caller: Asking, job: str, task: str, base_line: Annotated[str | None, Query(max_length=40)] = None,
    lines: Annotated[int, Query(ge=1, le=500)] = 50, order: Literal["asc", "desc"] = "desc",
) -> Response:  # fmt: skip
    """Lines of the output: the newest, or with `base_line` those after it (`asc`) or before it (`desc`)."""
    seen = _seen(caller, _row(caller, job))
    return answer(log_page(seen, base_line, lines, forward=order == "asc", node=seen.node_of(task)))


@router.get("/training-jobs/{job}/metrics/{task}")
def metrics(caller: Asking, job: str, task: str) -> Response:
    """How busy the machine was, in every minute of the job; unknown of machines beside the first."""
    seen = _seen(caller, _row(caller, job))
    folder = seen.folder if seen.node_of(task) == 0 else None
    return answer({"metrics": usage_of(folder, seen.progress) if seen.folder is not None else []})


@router.get("/training-jobs/{job}/events")
def events(
    caller: Asking, job: str, offset: Annotated[int, Query(ge=0, le=10**6)] = 0,
    limit: Annotated[int, Query(ge=1, le=100)] = 50, order: Literal["asc", "desc"] = "desc",
    start_time: Annotated[str, Query(pattern=r"^\d{0,16}$")] = "",
    end_time: Annotated[str, Query(pattern=r"^\d{0,16}$")] = "",
    level: Literal["Info", "Warning", "Error", ""] = "", pattern: Annotated[str, Query(max_length=256)] = "",
    source: Literal["K8S", "Job", "Task", ""] = "", x_language: Annotated[str, Header(max_length=40)] = "en-us",
) -> Response:  # fmt: skip
    """What happened to a job. `pattern` is a text that the message holds."""
    if bool(start_time) != bool(end_time):
        raise Refusal("2764", "start_time and end_time belong together")
    chinese = x_language.lower().startswith("zh")
    found = [
        event.body(chinese)
        for event in events_of(_seen(caller, _row(caller, job)))
        if level in ("", event.level) and source in ("", event.source)
        and pattern in event.words[chinese]
        and (not start_time or int(start_time) <= event.at_ms <= int(end_time))
    ]  # fmt: skip
    if order == "desc":
        found.reverse()
    return answer({
        "total": len(found), "limit": limit, "offset": offset, "order": order, "start_time": start_time,
        "end_time": end_time, "events": found[offset : offset + limit],
    })  # fmt: skip


@router.get("/training-jobs/{job}/stages")
def stages(caller: Asking, job: str) -> Response:
    return answer(stages_of(_seen(caller, _row(caller, job))))


@router.get("/training-job-engines")
def engines(caller: Asking) -> Response:
    return answer({"total": len(tables.OFFERED), "items": [tables.engine_body(each) for each in tables.OFFERED]})


@router.get("/training-job-flavors")
def flavors(caller: Asking, flavor_type: Literal["CPU", "GPU", "Ascend", ""] = "") -> Response:
    found = [tables.flavor_body(each) for each in tables.CHOICES if flavor_type in ("", each.kind)]
    return answer({"total_count": len(found), "flavors": found})


@router.get("/training-job-names")
def check_job_name(caller: Asking, job_name: Annotated[str, Query(max_length=64)]) -> Response:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", job_name):
        raise Refusal("2788", f"job_name {job_name!r} must have 1 to 64 letters, digits, '_' and '-'")
    mine = JobBook(caller.state.database).all(caller.actor, "v2")
    return answer({"is_duplicate": any(row.name == job_name and row.owner == caller.actor.name for row in mine)})


@router.get("/training-quotas")
def show_quotas(caller: Asking) -> Response:
    used = sum(row.owner == caller.actor.name for row in JobBook(caller.state.database).all(caller.actor, "v2"))
    return answer({"quotas": [{"resource": "job-num", "quota": _MOST_JOBS, "used": used}]})


@router.api_route("/{rest:path}", methods=["GET", "POST", "PUT", "DELETE", "PATCH"])
def unknown(caller: Asking, rest: str) -> Response:
    raise Refusal("2836", f"this server does not have /v2/…/{rest[:80]}", status=404)


def log_page(seen: SeenJob, base_line: str | None, lines: int, *, forward: bool, node: int = 0) -> dict[str, Any]:
    """A page of a machine's output, for both generations."""
    place, text = read_cursor(base_line), open_log(seen, node)
    if text is None:
        return {"start_line": "0", "end_line": "0", "lines": 0, "content": ""}
    if place is not None and forward:
        return page_after(text, place, lines, over=seen.progress.phase in FINAL).body()
    return page_before(text, text.size_bytes if place is None else place, lines).body()


def _row(caller: Caller, job: str) -> JobRow:
    return JobBook(caller.state.database).find(caller.actor, job)


def _seen(caller: Caller, row: JobRow) -> SeenJob:
    return see(caller.holding.settings, row)
