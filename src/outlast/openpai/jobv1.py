"""Job config v1: the JSON of the YARN generation, checked and completed as OpenPAI v0.14's server does it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from outlast.inside.contracts.openpai.job import YARN, Job, Role
from outlast.openpai.invalid import InvalidParameters, Problem
from outlast.openpai.jsonc import load_jsonc
from outlast.openpai.names import substitute

Path = tuple[str | int, ...]
Body = dict[str, Any]


class _Bad(Exception):
    """A value that does not pass."""


_Check = Callable[[Any, Mapping[str, Any]], Any]  # (value, the object around it) -> the value as the server sees it


class _Field(NamedTuple):
    check: _Check
    default: Any = None
    required: bool = False


def _text(pattern: str = "", *, may_be_empty: bool = False) -> _Check:
    def check(value: Any, _: Mapping[str, Any]) -> Any:
        if not isinstance(value, str):
            raise _Bad("must be a string")
        if not value and not may_be_empty:
            raise _Bad("is not allowed to be empty")
        if pattern and not re.search(pattern, value):
            raise _Bad(f'with value "{value}" fails to match the required pattern: /{pattern}/')
        return value

    return check


def _integer(least: int | None = None, *, at_most: str = "", may_be_null: bool = False) -> _Check:
    def check(value: Any, around: Mapping[str, Any]) -> Any:
        if value is None and may_be_null:
            return None
        number = _number(value)
        if number != int(number):
            raise _Bad("must be an integer")
        if least is not None and number < least:
            raise _Bad(f"must be larger than or equal to {least}")
        if at_most and number > around[at_most]:
            raise _Bad(f"must be less than or equal to {at_most}")
        return int(number)

    return check


def _number(value: Any) -> float:
    """Numbers also as text: the VS Code client posts forms, in which everything is text."""
    if isinstance(value, str):
        try:
            value = float(value) if value.strip() else None
        except ValueError:
            value = None
    # Not a number, infinite, or true: none of them is one to the server.
    if isinstance(value, bool) or not isinstance(value, int | float) or value - value != 0:
        raise _Bad("must be a number")
    return value


def _free(keys: str) -> _Check:
    def check(value: Any, _: Mapping[str, Any]) -> Any:
        if not isinstance(value, dict):
            raise _Bad("must be an object")
        for key in value:
            if not re.search(keys, key):
                raise _Bad(f'must not have the key "{key}"')
        return value

    return check


_NAME = r"^[A-Za-z0-9._~]+$"
_PORT = {
    "label": _Field(_text(_NAME), required=True),
    "beginAt": _Field(_integer(), 0),
    "portNumber": _Field(_integer(), 1),
}
_ROLE = {
    "name": _Field(_text(_NAME), required=True),
    "taskNumber": _Field(_integer(), 1),
    "cpuNumber": _Field(_integer(), 1),
    "memoryMB": _Field(_integer(), 100),
    "shmMB": _Field(_integer(at_most="memoryMB"), 64),
    "gpuNumber": _Field(_integer(), 0),
    "portList": _Field(lambda value, _: value, ()),
    "command": _Field(_text(), required=True),
    "minFailedTaskCount": _Field(_integer(1, may_be_null=True), 1),
    "minSucceededTaskCount": _Field(_integer(1, may_be_null=True), None),
}
_JOB = {
    "jobName": _Field(_text(r"^[A-Za-z0-9\-._]+$"), required=True),
    "image": _Field(_text(), required=True),
    "authFile": _Field(_text(may_be_empty=True), ""),
    "dataDir": _Field(_text(may_be_empty=True), ""),
    "outputDir": _Field(_text(may_be_empty=True), ""),
    "codeDir": _Field(_text(may_be_empty=True), ""),
    "virtualCluster": _Field(_text(may_be_empty=True), "default"),
    "gpuType": _Field(_text(may_be_empty=True), ""),
    "retryCount": _Field(_integer(-2), 0),
    "killAllOnCompletedTaskNumber": _Field(_integer()),
    "jobEnvs": _Field(_free(r"\w+")),
    "extras": _Field(_free(r"[A-Za-z0-9._]+")),
    "taskRoles": _Field(lambda value, _: value, required=True),
}


def read_v1(text: str, source: str = "the job config") -> Body:
    """The job with every default filled in. Raises one `InvalidParameters` that names every field at fault."""
    return check_v1(load_jsonc(text, source), source)


def check_v1(body: Any, source: str = "the job config") -> Body:
    """The same for a document that was parsed already, also from a form, in which numbers are text."""
    problems: list[Problem] = []
    job = _object(body, (), _JOB, problems)
    if "taskRoles" in job:
        job["taskRoles"] = _list(job["taskRoles"], ("taskRoles",), _ROLE, problems, least=1)
        for index, role in enumerate(job["taskRoles"]):
            where = ("taskRoles", index)
            role["portList"] = _list(list(role.get("portList") or ()), (*where, "portList"), _PORT, problems)
            if not any(each.path[:2] == where for each in problems):
                problems += _check_counts(role, where)
        names = [role.get("name") for role in job["taskRoles"]]
        for index, name in enumerate(names):
            if name is not None and name in names[:index]:
                problems.append(Problem(("taskRoles", index, "name"), f'"{name}" is used twice'))
    if problems:
        raise InvalidParameters(source, problems)
    return job | {"virtualCluster": job["virtualCluster"] or "default"}


def _object(value: Any, path: Path, fields: Mapping[str, _Field], problems: list[Problem]) -> Body:
    if not isinstance(value, dict):
        problems.append(Problem(path, "must be an object"))
        return {}
    found: Body = {}
    for name, field in fields.items():
        if name not in value:
            if field.required:
                problems.append(Problem((*path, name), "is required"))
            elif field.default is not None or name.startswith("min"):
                found[name] = field.default
            continue
        try:
            found[name] = field.check(value[name], found)
        except _Bad as bad:
            problems.append(Problem((*path, name), str(bad)))
        except KeyError:
            pass  # what it is compared with is wrong itself
    problems += [Problem((*path, name), "is not allowed", True) for name in value if name not in fields]
    return found


def _list(
    value: Any, path: Path, fields: Mapping[str, _Field], problems: list[Problem], least: int = 0
) -> list[Body]:  # fmt: skip
    if not isinstance(value, list):
        problems.append(Problem(path, "must be an array"))
        return []
    if len(value) < least:
        problems.append(Problem(path, f"must contain at least {least} items"))
    return [_object(each, (*path, index), fields, problems) for index, each in enumerate(value)]


def _check_counts(role: Body, where: Path) -> list[Problem]:
    return [
        Problem((*where, name), f"must not be greater than taskNumber ({role['taskNumber']})")
        for name in ("minFailedTaskCount", "minSucceededTaskCount")
        if role[name] is not None and role[name] > role["taskNumber"]
    ]


def to_job(body: Body, user: str, fs_uri: str) -> Job:
    """A checked job config as a job that can be run, with the server's substitutions made."""
    name = body["jobName"]
    places = {key: substitute(body[key], name, user, fs_uri) for key in ("dataDir", "outputDir", "codeDir")}
    code_dir = places["codeDir"].rstrip("/")
    return Job(
        generation=YARN,
        name=name,
        user=user,
        roles=[_to_role(role, body["image"]) for role in body["taskRoles"]],
        retries=body["retryCount"],
        virtual_cluster=body["virtualCluster"],
        fs_uri=fs_uri,
        data_dir=places["dataDir"],
        output_dir=places["outputDir"] or f"{fs_uri}/Output/{user}/{name}",
        code_dir=code_dir,
        code_name=posixpath.basename(code_dir),
        env={key: _env_text(value) for key, value in body.get("jobEnvs", {}).items()},
    )


def _to_role(role: Body, image: str) -> Role:
    ports, starts = {"http": 1, "ssh": 1}, {}
    for port in role["portList"]:
        ports[port["label"]] = max(1, port["portNumber"])
        if port["beginAt"]:
            starts[port["label"]] = port["beginAt"]
    return Role(
        name=role["name"],
        command=role["command"],
        instances=max(0, role["taskNumber"]),
        image=image,
        cpu=role["cpuNumber"],
        memory_mb=role["memoryMB"],
        gpu=role["gpuNumber"],
        shm_mb=role["shmMB"],
        ports=ports,
        port_starts=starts,
        min_failed=role["minFailedTaskCount"],
        min_succeeded=role["minSucceededTaskCount"],
    )


def _env_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
