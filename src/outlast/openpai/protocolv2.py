"""Protocol v2: the YAML of the Kubernetes generation, checked as OpenPAI v1.8's server does it, and made runnable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from outlast.errors import SpecError, UsageError
from outlast.inside.contracts.openpai.job import K8S, Job, Role
from outlast.inside.contracts.openpai.templates import render
from outlast.openpai.invalid import InvalidProtocol, Problem
from outlast.openpai.plugins import around
from outlast.openpai.schema import DOCUMENT, PREREQUISITES, check

Body = dict[str, Any]
#: What a role may name, and the type of prerequisite that it then means.
_USES = {"dockerImage": "dockerimage", "data": "data", "output": "output", "script": "script"}


def read_v2(text: str, source: str = "the job") -> Body:
    """The document, checked. Raises one `InvalidProtocol` that names every field at fault."""
    return check_v2(_load(text, source), source)


def check_v2(body: Any, source: str = "the job") -> Body:
    """The same for a document that was parsed already."""
    problems = list(check(body, DOCUMENT))
    if not problems:
        problems = [*_check_prerequisites(body), *_check_references(body)]
    if problems:
        raise InvalidProtocol(source, problems)
    checked: Body = body
    return checked


def _load(text: str, source: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise UsageError(
            f"{source} is YAML, and nothing here can read that", hint="install it with: pip install 'outlast[openpai]'"
        ) from None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        where = " ".join(str(error).split())
        raise SpecError(f"{source} is not YAML: {where}") from None


def _check_prerequisites(body: Body) -> Iterator[Problem]:
    seen: set[tuple[str, str]] = set()
    for index, each in enumerate(body.get("prerequisites", ())):
        where = ("prerequisites", index)
        schema = PREREQUISITES.get(each["type"]) if isinstance(each["type"], str) else None
        if schema is None:
            allowed = ", ".join(map(repr, PREREQUISITES))
            yield Problem((*where, "type"), f"should be equal to one of the allowed values: {allowed}")
            continue
        yield from check(each, schema, where)
        key = (each["type"], str(each["name"]))
        if key in seen:
            yield Problem((*where, "name"), f"duplicates the {each['type']} prerequisite '{each['name']}'")
        seen.add(key)


def _check_references(body: Body) -> Iterator[Problem]:
    known = {(each["type"], str(each["name"])) for each in body.get("prerequisites", ())}
    names = {name for _, name in known}
    for role, content in body["taskRoles"].items():
        for key, kind in _USES.items():
            if key in content and (kind, content[key]) not in known:
                yield Problem(
                    ("taskRoles", role, key), f"names the {kind} prerequisite '{content[key]}', which is missing"
                )
        for index, name in enumerate(content.get("prerequisites", ())):
            if name not in names:
                yield Problem(("taskRoles", role, "prerequisites", index), f"names '{name}', which is missing")
    deployments = [each["name"] for each in body.get("deployments", ())]
    for index, name in enumerate(deployments):
        if name in deployments[:index]:
            yield Problem(("deployments", index, "name"), f"duplicates the deployment '{name}'")
        for role in body["deployments"][index]["taskRoles"]:
            if role not in body["taskRoles"]:
                yield Problem(("deployments", index, "taskRoles", role), "is not a task role of this job")
    chosen = body.get("defaults", {}).get("deployment")
    if chosen is not None and chosen not in deployments:
        yield Problem(("defaults", "deployment"), f"names the deployment '{chosen}', which is missing")


@dataclass(frozen=True)
class Runnable:
    """A job, the secrets that it needs under the names of variables, and what will be different here."""

    job: Job
    secrets: Mapping[str, str]
    notices: tuple[str, ...] = ()


def to_job(body: Body, user: str, *, before_v017: bool = False) -> Runnable:
    """A checked document as a job that can be run.

    Commands are joined with newlines and unknown templates stay; before v0.17 they were joined with `&&` and
    unknown templates became empty. Secrets stay templates: they are filled in where the command runs.
    """
    notices: list[str] = []
    values = dict(_flat(body.get("secrets", {})))
    variables = {name: f"PAI_SECRET_{number}" for number, name in enumerate(values)}
    extras = body.get("extras", {})
    defaults = body.get("defaults", {})
    job = Job(
        generation=K8S,
        name=body["name"],
        user=user,
        roles=[
            _to_role(name, role, body, before_v017, notices)
            for name, role in body["taskRoles"].items()
        ],
        retries=body.get("jobRetryCount", 0),
        gang=str(extras.get("gangAllocation", True)).lower() != "false",
        virtual_cluster=defaults.get("virtualCluster", "default"),
        secrets=variables,
    )  # fmt: skip
    secrets = {variables[name]: value for name, value in values.items() if value}
    return Runnable(job, secrets, tuple(dict.fromkeys(notices)))


def _flat(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Secrets by dotted name."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield before + str(name), "" if value is None else str(value)


def _to_role(name: str, role: Body, body: Body, before_v017: bool, notices: list[str]) -> Role:
    used = {kind: _prerequisite(body, kind, role[key]) for key, kind in _USES.items() if key in role}
    values = {"$parameters": body.get("parameters", {})}
    values |= {f"${kind}": used[kind] for kind in ("data", "output", "script") if kind in used}

    def filled(commands: Sequence[str]) -> list[str]:
        return [render(command.strip(), values, keep_unknown=not before_v017) for command in commands]

    before, after = around(name, role, body, notices)
    deployed = _deployment(body).get(name, {})
    own = [*deployed.get("preCommands", ()), *role["commands"], *deployed.get("postCommands", ())]
    joined = (" && " if before_v017 else "\n").join(filled(own))
    resources, completion = role["resourcePerInstance"], role.get("completion", {})
    instances = role.get("instances", 1)
    return Role(
        name=name,
        command="\n".join([*filled(before), joined, *filled(after)]) + "\n",
        instances=instances,
        image=used["dockerimage"]["uri"],
        cpu=resources["cpu"],
        memory_mb=resources["memoryMB"],
        gpu=resources["gpu"],
        shm_mb=role.get("extraContainerOptions", {}).get("shmMB", 0),
        # Counts, not numbers; an old sample shows 0, which no cluster can serve.
        ports={"http": 1, "ssh": 1, **{label: max(1, count) for label, count in resources.get("ports", {}).items()}},
        min_failed=_least(completion.get("minFailedInstances"), 1),
        # Its own count: the first role of which all instances are done ends the whole job.
        min_succeeded=_least(completion.get("minSucceededInstances"), instances),
        task_retries=role.get("taskRetryCount", 0),
    )


def _prerequisite(body: Body, kind: str, name: str) -> Body:
    found: Body = next(
        each for each in body.get("prerequisites", ()) if each["type"] == kind and each["name"] == name
    )  # fmt: skip
    return found


def _deployment(body: Body) -> Body:
    chosen = body.get("defaults", {}).get("deployment")
    none: Body = {"taskRoles": {}}
    found: Body = next((each for each in body.get("deployments", ()) if each["name"] == chosen), none)
    roles: Body = found["taskRoles"]
    return roles


def _least(value: int | None, default: int) -> int | None:
    """Null and 0 mean the default, -1 (any negative number) means never."""
    if not value:
        return default
    return None if value < 0 else value
