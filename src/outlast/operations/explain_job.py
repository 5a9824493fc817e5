"""What each task role of an OpenPAI job will see."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from outlast.inside.contracts.openpai.contract import CODE
from outlast.inside.contracts.openpai.job import K8S, Job, Role, folder_name
from outlast.inside.contracts.openpai.ports import HOST
from outlast.inside.contracts.openpai.templates import render
from outlast.inside.contracts.openpai.variables import Endpoint, Endpoints
from outlast.inside.contracts.openpai.variables import variables as job_variables
from outlast.operations.explained import MASKED, Part, Variable, variables

FREE = "(free port)"


def role_parts(spec: Mapping[str, Any], code_dir: str, shared: Mapping[str, Variable]) -> tuple[Part, ...]:
    """One part for each role: its first instance. `shared` is what every process of the stint has."""
    job = Job.from_json(spec["job"])
    hidden = set(job.secrets.values())
    common = {name: each for name, each in shared.items() if name not in hidden}
    endpoints = _endpoints(job)
    return tuple(_part(job, role, code_dir, common, endpoints) for role in job.roles if role.instances)


def code_words(spec: Mapping[str, Any], packed: str) -> str:
    """Where the code of a job comes from, and where its instances find it."""
    job = Job.from_json(spec["job"])
    source = next((given["source"] for given in spec["inputs"] if given["path"] == CODE), None)
    words = f"the code: {source}" if source else packed
    if not job.code_from:
        return "empty: the job has no code"
    below = f"{job.code_name}/ of" if job.code_name else ""
    return f"{words}; each instance finds a copy in {below} its folder".replace("  ", " ")


def _part(job: Job, role: Role, code_dir: str, common: Mapping[str, Variable], endpoints: Endpoints) -> Part:
    folder = posixpath.normpath(posixpath.join(code_dir, folder_name(job, role.name, 0)))
    secrets = {"$secrets": _masks(job)}
    set_here = job_variables(job, role, 0, endpoints, folder)
    found = dict(common) | variables(set_here, "contract")
    return Part(role.name, render(role.command, secrets).strip(), folder, tuple(found.values()), _facts(job, role))


def _facts(job: Job, role: Role) -> tuple[str, ...]:
    shell = "bash, which ends at the first failure" if job.generation == K8S else "bash"
    where = f"in the image {role.image}" if role.engine else f"on this machine, not in the image {role.image}"
    facts = [f"run by {shell}, {where}"]
    if role.instances > 1:
        facts.append(f"{role.instances} instances, shown is the first; the others start in {role.name}-1 and so on")
    return tuple(facts)


def _masks(job: Job) -> dict[str, Any]:
    """Every secret of the job, by its dotted name, as a mask."""
    found: dict[str, Any] = {}
    for name in job.secrets:
        *steps, last = name.split(".")
        inner = found
        for step in steps:
            inner = inner.setdefault(step, {})
        inner[last] = MASKED
    return found


def _endpoints(job: Job) -> dict[tuple[str, int], Endpoint]:
    return {
        (role.name, index): Endpoint(HOST, _ports(role, index)) for role in job.roles for index in range(role.instances)
    }


def _ports(role: Role, index: int) -> dict[str, list[object]]:
    """Ports that the job names; the others are chosen when it starts."""
    found: dict[str, list[object]] = {}
    for label, count in role.ports.items():
        first = role.port_starts.get(label, 0)
        found[label] = [first + index * count + step if first else FREE for step in range(count)]
    return found
