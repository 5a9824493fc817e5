"""One task of a job: its attempts and its logs, at v2 addresses."""

from __future__ import annotations

from starlette.responses import Response

from outlast.server.answers import answer
from outlast.server.gateways.openpai import jobs
from outlast.server.gateways.openpai import logs as job_logs
from outlast.server.gateways.openpai.asked import Asked
from outlast.server.gateways.openpai.book import JobRow
from outlast.server.gateways.openpai.refusing import PaiRefusal
from outlast.server.gateways.openpai.showing import K8S, Job, shown_role, task_history


def history(asked: Asked) -> Response:
    row = _first_attempt(asked)
    index = asked.path["index"]
    for role in row.facts.roles:
        named = asked.path["role"] in (role.name, shown_role(role.name, K8S))
        if named and index.isdecimal() and int(index) < role.instances:
            job = Job(row, jobs.progress_of(asked, row), K8S)
            return answer(task_history(job, role, int(index), jobs.log_base(asked, row, K8S)))
    raise PaiRefusal(
        404, "NoTaskError", f"job {row.facts.framework} has no task {asked.path['role'][:60]} {index[:20]}"
    )


def logs(asked: Asked) -> Response:
    return job_logs.locations(asked, _first_attempt(asked))


def _first_attempt(asked: Asked) -> JobRow:
    row = jobs.find(asked)
    if any(asked.path.get(name, "0") != "0" for name in ("attempt", "try")):
        raise PaiRefusal(404, "NoTaskError", "an attempt other than 0 does not exist: stints continue the first one")
    return row
