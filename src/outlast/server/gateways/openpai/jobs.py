"""Jobs: submit, list, show, stop, remove, tag; the handlers of both generations' addresses."""

from __future__ import annotations

import contextlib
import json
from typing import Any
from urllib.parse import quote, urlsplit

from starlette.responses import Response

from outlast.errors import NotFoundError
from outlast.inside import layout
from outlast.inside.errors import InsideError
from outlast.inside.records import Beat, End
from outlast.keeper.view import view_from_json
from outlast.model.states import RunState
from outlast.model.view import RunView
from outlast.openpai.names import framework_name, split_framework
from outlast.operations.runs import remove_run, show_run, stop_run
from outlast.server.accounts.people import Role
from outlast.server.answers import answer
from outlast.server.gateways.openpai import logs
from outlast.server.gateways.openpai.asked import Asked
from outlast.server.gateways.openpai.book import JobBook, JobRow
from outlast.server.gateways.openpai.documents import read_submitted
from outlast.server.gateways.openpai.events import events_of
from outlast.server.gateways.openpai.listing import choose
from outlast.server.gateways.openpai.refusing import PaiRefusal, no_job
from outlast.server.gateways.openpai.showing import K8S, YARN, Job, Progress, detail, list_entry, milliseconds
from outlast.server.gateways.openpai.starting import start_job

V2 = "/rest-server/api/v2/jobs"


# ---- submit


def submit_v1(asked: Asked) -> Response:
    """`POST …/jobs`, or `PUT …/jobs/NAME`: the job, and where it is from now on."""
    _require_own_name(asked)
    host = urlsplit(asked.origin).hostname or ""
    row = start_job(asked, read_submitted(asked.body, asked.actor.name, host, asked.path.get("job")))
    where = f"/rest-server/api/v1/user/{row.facts.user}/jobs/{row.facts.name}"
    headers = {"Location": where}
    if "killAllOnCompletedTaskNumber" in row.config:
        headers["X-Warning"] = "killAllOnCompletedTaskNumber is obsolete and has no effect"
    return answer(_detail(asked, row, YARN), 201, headers)


def submit_v2(asked: Asked) -> Response:
    host = urlsplit(asked.origin).hostname or ""
    row = start_job(asked, read_submitted(asked.body, asked.actor.name, host))
    return answer({"status": 202, "message": f"Update job {row.facts.framework} successfully."}, 202)


def _require_own_name(asked: Asked) -> None:
    if "user" in asked.path:
        asked.require_self(asked.path["user"])


# ---- look


def list_v1(asked: Asked) -> Response:
    wanted = asked.path.get("user") or asked.query.get("username")
    jobs = [job for job in _jobs(asked, YARN) if wanted is None or job.facts.user == wanted]
    return answer([list_entry(job) for job in jobs])


def list_v2(asked: Asked) -> Response:
    page, total = choose([list_entry(job) for job in _jobs(asked, K8S)], asked.query)
    if asked.query.get("withTotalCount", "").lower() == "true":
        return answer({"totalCount": total, "data": page})
    return answer(page)


def show_v1(asked: Asked) -> Response:
    return answer(_detail(asked, find(asked), YARN))


def show_v2(asked: Asked) -> Response:
    if asked.path.get("attempt", "0") != "0":
        raise no_job(f"{asked.path['job']} attempt {asked.path['attempt']}")
    return answer(_detail(asked, find(asked), K8S))


def config(asked: Asked) -> Response:
    """The document as it was submitted, without secrets: JSON, which is YAML too, under the name that is asked for."""
    row = find(asked)
    wants_json = row.facts.generation == YARN and "yaml" not in asked.accept
    media_type = "application/json" if wants_json or "json" in asked.accept else "text/yaml"
    return Response(json.dumps(row.config, indent=2, ensure_ascii=False), media_type=media_type)


def ssh(asked: Asked) -> Response:
    row = find(asked)
    raise PaiRefusal(404, "NoJobSshInfoError", f"SSH info of job {row.facts.framework} is not found.")


def events(asked: Asked) -> Response:
    row = find(asked)
    return answer(events_of(row, _view(asked, row), asked.query.get("type", "")))


def find(asked: Asked) -> JobRow:
    """The job that an address names; one that may not be seen, or whose run is gone, is none."""
    given = asked.path["job"]
    user, name = split_framework(given)
    user = asked.path.get("user") or user or asked.actor.name
    row = JobBook(asked.state.database).find(framework_name(user, name))
    if row is None or not asked.actor.may_see(user) or asked.held.runs.row(row.run) is None:
        raise no_job(given)
    return row


def _view(asked: Asked, row: JobRow) -> RunView:
    try:
        return show_run(asked.held.settings, row.run)
    except NotFoundError:
        raise no_job(row.facts.framework) from None


def progress_of(asked: Asked, row: JobRow) -> Progress:
    view = _view(asked, row)
    ended = [stint for stint in view.stint_list if stint.ended_at]
    found = _progress(view, row)
    started = milliseconds(view.stint_list[0].created_at) if view.stint_list else None
    completed = milliseconds(ended[-1].ended_at) if ended and found.completed_ms else found.completed_ms
    return Progress(
        found.state, found.created_ms, started, completed, ended[-1].exit_code if ended else None, found.message,
        len(view.stint_list), _told_of_tasks(asked, row, len(view.stint_list)),
    )  # fmt: skip


def _told_of_tasks(asked: Asked, row: JobRow, stint: int) -> dict[str, Any]:
    """How the instances stand: as the end of the newest stint has it, or its last beat while there is none."""
    found = asked.held.runs.row(row.run)
    if found is None or not stint:
        return {}
    store = asked.held.located(found).store
    kinds: tuple[tuple[type[End | Beat], str], ...] = (
        (End, layout.end_key(row.run, stint)), (Beat, layout.beat_key(row.run, stint)),
    )  # fmt: skip
    for kind, key in kinds:
        with contextlib.suppress(InsideError):
            if tasks := kind.from_bytes(store.get(key)).tasks:
                return tasks
    return {}


def _progress(view: RunView, row: JobRow) -> Progress:
    created = milliseconds(view.created_at) or round(row.created_at * 1000)
    done = milliseconds(view.updated_at) if view.state.is_final else None
    launched = created if view.stints and view.state is not RunState.QUEUED else None
    return Progress(view.state, created, launched, done, None, view.message, view.stints)


def _jobs(asked: Asked, shape: str) -> list[Job]:
    """Everybody's jobs that may be seen, newest first; those whose run was removed are gone."""
    rows = JobBook(asked.state.database).all(asked.actor.sees)
    views = asked.held.runs.views([row.run for row in rows])
    return [Job(row, _progress(view_from_json(views[row.run]), row), shape) for row in rows if row.run in views]


def _detail(asked: Asked, row: JobRow, shape: str) -> dict[str, Any]:
    return detail(Job(row, progress_of(asked, row), shape), log_base(asked, row, shape))


def log_base(asked: Asked, row: JobRow, shape: str) -> str:
    if shape == K8S:
        return f"{V2}/{quote(row.facts.framework, safe='~')}"
    return logs.link(asked, row)


# ---- change


def execute(asked: Asked) -> Response:
    """`{"value": "STOP"}` asks the run to save and stop. `START` changes nothing: what is stopped stays so."""
    row = _changeable(asked)
    value = str(asked.fields.get("value", ""))
    if value not in ("START", "STOP"):
        raise PaiRefusal(400, "InvalidParametersError", f'value {value[:40]!r}: must be "START" or "STOP"')
    if value == "STOP":
        JobBook(asked.state.database).note_stop(row.facts.framework)
        stop_run(asked.held.settings, row.run)
        asked.state.accounts.audit.add(asked.actor.name, "run.stop", row.run)
    elif row.is_asked_to_stop:
        raise PaiRefusal(400, "InvalidParametersError", "a stopped job does not start again; submit it by a new name")
    words = f"Execute job {row.facts.framework} successfully."
    return answer({"status": 202, "message": words}, 202)


def delete(asked: Asked) -> Response:
    """Forget a job and its run; one that still runs is stopped, and its run stays."""
    row = _changeable(asked)
    if asked.held.runs.find(asked.actor, row.run).open:
        stop_run(asked.held.settings, row.run)
    else:
        remove_run(asked.held.settings, row.run)
    JobBook(asked.state.database).drop(row.facts.framework)
    asked.state.accounts.audit.add(asked.actor.name, "run.remove", row.run, job=row.facts.framework)
    return answer({"message": f"deleted job {row.facts.name} successfully"}, 202)


def add_tag(asked: Asked) -> Response:
    row, tag = _changeable(asked), _tag(asked)
    JobBook(asked.state.database).set_tags(row.facts.framework, dict.fromkeys([*row.tags, tag]))
    return answer({"status": 200, "message": f"Add tag {tag} for job {row.facts.framework} successfully."})


def remove_tag(asked: Asked) -> Response:
    row, tag = _changeable(asked), _tag(asked)
    if tag not in row.tags:
        raise PaiRefusal(404, "NoTagError", f"Tag {tag} is not found for job {row.facts.framework}.")
    JobBook(asked.state.database).set_tags(row.facts.framework, [each for each in row.tags if each != tag])
    return answer({"status": 200, "message": f"Delete tag {tag} from job {row.facts.framework} successfully."})


def _tag(asked: Asked) -> str:
    tag = str(asked.fields.get("value", ""))
    if not 0 < len(tag) <= 64 or "," in tag:
        raise PaiRefusal(400, "InvalidParametersError", "a tag has 1 to 64 characters and no comma")
    return tag


def _changeable(asked: Asked) -> JobRow:
    row = find(asked)
    asked.require(Role.MEMBER)
    asked.actor.require_change(row.facts.user, "job")
    return row
