"""Submitting to a server: what lies on this machine is found here and sent there, everything else is decided there."""

from __future__ import annotations

import dataclasses
import os
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from outlast.keeper.home import Home
from outlast.model.request import RunRequest
from outlast.model.spec import RunSpec
from outlast.operations.contracts import find_contract, placing_for
from outlast.operations.destinations import Destination
from outlast.operations.explained import Explanation
from outlast.operations.inputs import FoundInput, find_inputs
from outlast.operations.outputs import FoundOutputs, find_outputs
from outlast.operations.problems import Problems
from outlast.operations.prospect import Prospect
from outlast.operations.repositories import Elsewhere
from outlast.operations.said import Sayings
from outlast.operations.submit import RunPlan
from outlast.operations.surroundings import find_env
from outlast.operations.target import Target, absolute, find_target
from outlast.platforms.base import Plan
from outlast.remote.decode import decode
from outlast.remote.looking import hub_of
from outlast.remote.sending import send_data, send_pack
from outlast.remote.server import Server, server_of
from outlast.settings import Settings
from outlast.store.archive import PackPlan
from outlast.store.maps import load_repositories
from outlast.store.pack import plan_pack

Progress = Callable[[str], None]

#: Words of a request that are told otherwise, or that mean this machine.
_OTHERWISE = frozenset(
    {
        "target",
        "cwd",
        "data",
        "inputs",
        "env",
        "requirements",
        "trial",
        "user",
        "visitor",
        "secret_values",
        "code_asset",
    }
)


def submit_run(
    request: RunRequest, settings: Settings, progress: Progress | None = None, *, wanted: str | None = None,
    notify: Progress | None = None,
) -> RunSpec:  # fmt: skip
    tell = progress or _silent
    server = server_of(settings)
    sent = send_request(server, request, settings, tell)
    tell(f"starting on {server.url}")
    # The key makes asking again safe: a connection that breaks now must not start a second run.
    started = server.ask("POST", "/runs", sent.body, key=uuid.uuid4().hex)
    for notice in started.get("notices", ()):  # an older server has none
        (notify or _silent)(notice)
    return decode(RunSpec, started["spec"])


def plan_run(request: RunRequest, settings: Settings) -> RunPlan:
    server = server_of(settings)
    sent = send_request(server, request, settings, _silent)
    plan = server.ask("POST", "/runs/plan", sent.body)
    spec = sent.as_here(decode(RunSpec, plan["spec"]))
    destinations = tuple(decode(Destination, each) for each in plan.get("platforms", ()))
    prospect = decode(Prospect, plan["forecast"]) if plan.get("forecast") else None
    return RunPlan(spec, sent.pack, Plan(tuple(plan["command"])), tuple(plan["notices"]), destinations, prospect)


def explain(request: RunRequest, settings: Settings) -> Explanation:
    server = server_of(settings)
    sent = send_request(server, request, settings, _silent)
    return decode(Explanation, server.ask("POST", "/runs/explain", sent.body))


@dataclass(frozen=True)
class Sent:
    """A request whose code and data have arrived at the server: the body that asks for a run of it."""

    body: dict[str, Any]
    pack: PackPlan
    found: tuple[FoundInput, ...]

    def as_here(self, spec: RunSpec) -> RunSpec:
        """The spec with the places of this machine instead of those where the server keeps what was sent."""
        brought = [each for each in self.found if not isinstance(each.source, Elsewhere)]
        sources = {each.name: each.to_spec().source for each in brought}
        inputs = tuple(dataclasses.replace(each, source=sources.get(each.name, each.source)) for each in spec.inputs)
        return dataclasses.replace(spec, code_folder=str(self.pack.folder), inputs=inputs)


def send_request(server: Server, request: RunRequest, settings: Settings, tell: Progress) -> Sent:
    """Find what a request names on this machine, and send what the server does not have yet."""
    target = find_target(request.target, request.cwd)
    said = Sayings(request, target.toml)
    contract = find_contract(said, target)
    problems = Problems()
    found = () if target.is_job else tuple(
        find_inputs(request.data, request.cwd, target.toml, target.folder, problems, placing_for(contract),
                    load_repositories(settings.home), hub_of(server))
    )  # fmt: skip
    outputs = FoundOutputs() if target.is_job else find_outputs(said, target, contract, problems)
    _refuse_local_targets(outputs, problems)
    env: dict[str, str] = {}
    with problems.collecting():
        env = find_env(said)
    problems.raise_all()
    home = Home(settings.home)
    tell(f"packing {target.folder}")
    pack = plan_pack(
        target.folder, tuple(said.value("include", (), "pack")), tuple(said.value("exclude", (), "pack")),
        _leave_out(said, target, outputs, found, home), said.value("allow_secret_files", False, "pack"),
    )  # fmt: skip
    words = {each.name: getattr(request, each.name) for each in dataclasses.fields(request)}
    body = {name: value for name, value in words.items() if name not in _OTHERWISE and value not in (None, (), {})}
    body.update(
        target=_target_within(target, request),
        folder=target.folder.name or None,
        code=send_pack(server, home, pack, tell=tell, what="the code"),
        env=[f"{name}={value}" for name, value in env.items()],
        requirements=_requirements(request, target),
    )
    if target.is_job:
        body["data"] = list(request.data)  # a job says itself where its data lies
    else:
        body["inputs"] = [_input(server, home, each, tell) for each in found]
    return Sent(body, pack, found)


def _target_within(target: Target, request: RunRequest) -> str:
    """What was named, seen from the code folder."""
    path = absolute(request.target, request.cwd)
    return "." if path == target.folder else PurePosixPath(path.relative_to(target.folder)).as_posix()


def _requirements(request: RunRequest, target: Target) -> str | None:
    """A requirements file may be named from here; the server knows the code folder only."""
    if request.requirements is None or absolute(request.requirements, target.folder).is_file():
        return request.requirements
    path = absolute(request.requirements, request.cwd)
    return path.relative_to(target.folder).as_posix() if path.is_relative_to(target.folder) else request.requirements


def _refuse_local_targets(outputs: FoundOutputs, problems: Problems) -> None:
    for each in outputs.named:
        if isinstance(each.target, Path):
            problems.add(
                f"{each.where}: a server cannot bring outputs to a folder of this machine",
                hint=f"name a bucket, like {each.name}=obs://bucket/out, or get them with: outlast fetch",
            )


def _leave_out(
    said: Sayings, target: Target, outputs: FoundOutputs, found: Sequence[FoundInput], home: Home
) -> tuple[str, ...]:
    """Places in the code folder that are not code: they travel as data, or not at all."""
    given = [said.value("checkpoint", None), outputs.place.value if outputs.place else None]
    paths = [target.folder / place for place in given if place]
    paths += [target.folder / each.path for each in found]
    paths += [each.source for each in found if isinstance(each.source, Path)]
    inside = [Path(os.path.normpath(path)) for path in (*paths, home.path)]
    return tuple(
        dict.fromkeys(
            path.relative_to(target.folder).as_posix()
            for path in inside
            if path.is_relative_to(target.folder) and path != target.folder
        )
    )


def _input(server: Server, home: Home, given: FoundInput, tell: Progress) -> dict[str, Any]:
    if isinstance(given.source, Path):
        source = f"upload:{send_data(server, home, given.source, tell=tell)}"
    else:
        source = str(given.source)
    return {"name": given.name, "source": source, "path": given.path, "writable": given.writable}


def _silent(words: str) -> None:
    """Nobody listens."""
