"""The first generation: `/v1/{project}/training-jobs`, jobs with numbered versions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response

from outlast.server.answers import answer
from outlast.server.gateways.modelarts import tables
from outlast.server.gateways.modelarts.access import Caller, find_caller
from outlast.server.gateways.modelarts.bodiesv1 import created_body, listed_body, log_file_name, version_body
from outlast.server.gateways.modelarts.book import JobBook, JobRow
from outlast.server.gateways.modelarts.jobs import SeenJob, Unseen, as_created, delete, describe, see, stop
from outlast.server.gateways.modelarts.refusing import GatewayRoute, Refusal
from outlast.server.gateways.modelarts.routesv2 import log_page
from outlast.server.gateways.modelarts.starting import create_job
from outlast.server.gateways.modelarts.wishes import read_wish

router = APIRouter(prefix="/v1/{project}", route_class=GatewayRoute, include_in_schema=False)

Asking = Annotated[Caller, Depends(find_caller)]
Number = Annotated[int, Path(ge=0, le=1 << 53)]
Rows = Annotated[int, Query(ge=1, le=1000)]
PageNumber = Annotated[int, Query(ge=1, le=10**6)]
_MOST_JOBS = 10_000
_SORTS = {"job_name": "name", "create_time": "created_at", "job_desc": "description"}


@router.post("/training-jobs")
def create(caller: Asking) -> Response:
    """Start a job with its first version."""
    row = create_job(caller, read_wish(caller.json(), "v1"), "v1")
    return answer(created_body(as_created(row)))


@router.get("/training-jobs")
def list_jobs(
    caller: Asking, per_page: Rows = 10, page: PageNumber = 1,
    sort_by: Annotated[Literal["job_name", "create_time", "job_desc"], Query(alias="sortBy")] = "job_name",
    order: Literal["asc", "desc"] = "asc", search_content: Annotated[str, Query(max_length=64)] = "",
    status: Annotated[str, Query(pattern=r"^[0-9|,]{0,80}$")] = "",
) -> Response:  # fmt: skip
    """Jobs by their newest version. `status` is a number, or several with `|` between."""
    rows = JobBook(caller.state.database).all(caller.actor, "v1")
    families: dict[int, list[JobRow]] = {}
    for row in rows:
        families.setdefault(row.job, []).append(row)
    newest = [family[0] for family in families.values() if search_content.lower() in family[0].name.lower()]
    newest.sort(key=lambda row: getattr(row, _SORTS[sort_by]), reverse=order == "desc")
    seen = [Unseen(caller.holding.settings, row) for row in newest]
    if status:
        wanted = set(status.replace(",", "|").split("|"))
        seen = [each for each in seen if str(each.progress.number) in wanted]
    shown = [each.seen for each in seen[(page - 1) * per_page : page * per_page]]
    return answer({
        "is_success": True, "quotas": _MOST_JOBS, "job_total_count": len(seen), "job_count_limit": _MOST_JOBS,
        "jobs": [listed_body(each, len(families[each.row.job])) for each in shown],
    })  # fmt: skip


@router.put("/training-jobs/{job}")
def change(caller: Asking, job: Number) -> Response:
    """Change the description."""
    describe(caller, _versions(caller, job)[0], caller.json().get("job_desc"))
    return answer({"is_success": True})


@router.delete("/training-jobs/{job}")
def remove(caller: Asking, job: Number) -> Response:
    """Delete a job with all its versions."""
    for row in _versions(caller, job):
        delete(caller, row)
    return answer({"is_success": True})


@router.post("/training-jobs/{job}/versions")
def create_version(caller: Asking, job: Number) -> Response:
    """Start a job once more, as its next version; `config.pre_version_id` names the one before."""
    body, family = caller.json(), _versions(caller, job)
    config = body.get("config") if isinstance(body.get("config"), dict) else {}
    assert config is not None
    if str(config.get("pre_version_id")) not in {str(row.number) for row in family}:
        raise Refusal("0105", "config.pre_version_id must be a version of this job",
                      solution=f"its newest one is {family[0].number}")  # fmt: skip
    caller.actor.require_change(family[0].owner, "job")
    wish = read_wish({"job_name": family[0].name, "job_desc": family[0].description} | body, "v1")
    row = create_job(caller, wish, "v1", family[0])
    return answer(created_body(as_created(row)))


@router.get("/training-jobs/{job}/versions")
def list_versions(caller: Asking, job: Number, per_page: Rows = 10, page: PageNumber = 1) -> Response:
    family = _versions(caller, job)
    shown = family[(page - 1) * per_page : page * per_page]
    versions = [version_body(_seen(caller, row), as_text=True) for row in shown]
    facts: dict[str, Any] = {"is_success": True, "job_id": job, "job_name": family[0].name}
    facts |= {"job_desc": family[0].description, "version_count": len(family)}
    return answer(facts | {"versions": versions})


@router.get("/training-jobs/{job}/versions/{version}")
def show_version(caller: Asking, job: Number, version: Number) -> Response:
    return answer(version_body(_seen(caller, _version(caller, job, version))))


@router.delete("/training-jobs/{job}/versions/{version}")
def remove_version(caller: Asking, job: Number, version: Number) -> Response:
    delete(caller, _version(caller, job, version))
    return answer({"is_success": True})


@router.post("/training-jobs/{job}/versions/{version}/stop")
def stop_version(caller: Asking, job: Number, version: Number) -> Response:
    stop(caller, _version(caller, job, version))
    return answer({"is_success": True})


@router.get("/training-jobs/{job}/versions/{version}/log/file-names")
def log_names(caller: Asking, job: Number, version: Number) -> Response:
    """What the outputs are called, one for each machine."""
    return answer({"is_success": True, "log_file_list": _log_files(_seen(caller, _version(caller, job, version)))})


@router.get("/training-jobs/{job}/versions/{version}/aom-log")
def page_log(
    caller: Asking, job: Number, version: Number, log_file: Annotated[str, Query(max_length=120)] = "",
    base_line: Annotated[str | None, Query(max_length=40)] = None, lines: Annotated[int, Query(ge=0, le=500)] = 50,
    order: Literal["asc", "desc"] = "desc",
) -> Response:  # fmt: skip
    """Lines of the output: the newest, or with `base_line` those after it (`desc`) or before it (`asc`).

    The other way round than in the second generation; each is what its own pages say.
    """
    seen = _seen(caller, _version(caller, job, version))
    names = _log_files(seen)
    if log_file and log_file not in names:
        raise Refusal("2764", f"no log {log_file!r}; this version has {', '.join(names)}")
    node = names.index(log_file) if log_file else 0
    page = log_page(seen, base_line, lines or 50, forward=order == "desc", node=node)
    return answer({"is_success": True} | page)


@router.get("/job/resource-specs")
def specs(caller: Asking) -> Response:
    found = [tables.spec_body(each) for each in tables.CHOICES]
    return answer({"is_success": True, "spec_total_count": len(found), "specs": found})


@router.get("/job/ai-engines")
def engines(caller: Asking) -> Response:
    return answer({"is_success": True, "engines": [tables.engine_of_first(each) for each in tables.OFFERED]})


@router.api_route("/{rest:path}", methods=["GET", "POST", "PUT", "DELETE", "PATCH"])
def unknown(caller: Asking, rest: str) -> Response:
    raise Refusal("2836", f"this server does not have /v1/…/{rest[:80]}", status=404)


def _versions(caller: Caller, job: int) -> list[JobRow]:
    return JobBook(caller.state.database).versions(caller.actor, job)


def _version(caller: Caller, job: int, version: int) -> JobRow:
    return JobBook(caller.state.database).version(caller.actor, job, version)


def _seen(caller: Caller, row: JobRow) -> SeenJob:
    return see(caller.holding.settings, row)


def _log_files(seen: SeenJob) -> list[str]:
    return [log_file_name(seen.row.name, node) for node in range(seen.nodes)]
