"""The front door: from what a user typed to a specification that can work, before anything is spent.

Independent problems are reported together, one per line; each names the flag or key, the value and the next step.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from outlast.errors import SpecError
from outlast.inside.errors import RequestError
from outlast.inside.move.address import parse as parse_address
from outlast.inside.stores import is_remote
from outlast.inside.until import Until
from outlast.model.quantities import format_duration, parse_duration, parse_size
from outlast.model.request import RunRequest
from outlast.model.spec import NAME_PATTERN, CodePack, Contract, Input, Output, PinnedEnvironment, Resources, RunSpec
from outlast.operations.aim_place import with_aim
from outlast.operations.contracts import NAMING, find_contract, find_network, placing_for, settle, usual_requirements
from outlast.operations.inputs import FoundInput, find_inputs, lies_in, read_inputs
from outlast.operations.interpreter import find_python
from outlast.operations.nodes import check_nodes
from outlast.operations.notices import find_notices
from outlast.operations.outputs import FoundOutputs, clashes, find_outputs, path_of, places_for
from outlast.operations.patterns import find_patterns
from outlast.operations.problems import Problems, guess_path
from outlast.operations.repositories import Tell, any_hub
from outlast.operations.said import Said, Sayings
from outlast.operations.surroundings import find_env, find_params, find_secrets
from outlast.operations.target import Target, absolute, find_target
from outlast.settings import Settings
from outlast.store.maps import load_repositories


@dataclass(frozen=True)
class Resolved:
    """A checked request: all of a `RunSpec` but its id, its time and its code, and what packing needs."""

    name: str
    user: str
    script: str
    args: tuple[str, ...]
    params: dict[str, str]
    python: str
    requirements: str | None
    env: dict[str, str]
    secrets: tuple[str, ...]
    inputs: tuple[Input, ...]
    checkpoint: str
    output: str | None
    limit_s: float | None
    max_stints: int | None
    until: str | None
    grace_s: float
    script_retries: int
    resources: Resources
    platforms: tuple[str, ...]
    network: bool
    sandbox: Literal["auto", "on", "off"]
    store: str
    folder: Path
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    allow_secret_files: bool = False
    leave_out: tuple[str, ...] = ()  # places of the code folder that are not code, relative to it
    notices: tuple[str, ...] = ()
    contract: Contract = "plain"
    metric_patterns: tuple[str, ...] = ()
    outputs: tuple[Output, ...] = ()
    maps: dict[str, str] = field(default_factory=dict)
    drop_args: tuple[str, ...] = ()
    log_folder: str | None = None
    environment: PinnedEnvironment | None = None
    of: str | None = None
    aim: str | None = None
    job: dict[str, Any] | None = None
    code_asset: str = ""  # what the code is in the hub
    secret_values: dict[str, str] = field(default_factory=dict)  # those of the job itself; never in the spec

    def to_spec(self, id: str, created_at: str, code: CodePack) -> RunSpec:
        """The specification of one run of this request."""
        ours = {each.name: getattr(self, each.name) for each in fields(self)}
        kept = {each.name: ours[each.name] for each in fields(RunSpec) if each.name in ours}
        pack = replace(code, asset=self.code_asset)
        return RunSpec(id=id, created_at=created_at, code=pack, code_folder=str(self.folder), **kept)


def resolve(request: RunRequest, settings: Settings, tell: Tell | None = None) -> Resolved:
    """Check a request against this machine. Raises one `SpecError`; `tell` hears of inputs that are brought here."""
    target = find_target(request.target, request.cwd)
    if target.is_job:
        from outlast.operations.openpai import request_from_job

        find_contract(Sayings(request, target.toml), target)
        asked = request_from_job(request, settings, target)
        return asked.complete(_Resolving(asked.request, settings, asked.target, tell).resolve())
    return _Resolving(request, settings, target, tell).resolve()


class _Resolving:
    """One request on its way through the checks."""

    def __init__(self, request: RunRequest, settings: Settings, target: Target, tell: Tell | None) -> None:
        self.request, self.settings, self.target, self.tell = request, settings, target, tell
        self.said = Sayings(request, target.toml)
        self.problems = Problems()
        self.values: dict[str, Any] = {}
        self.contract: Contract = find_contract(self.said, target)
        self.outputs = FoundOutputs()

    def resolve(self) -> Resolved:
        steps = (
            self._name, self._surroundings, self._requirements, self._python, self._environment,
            self._places, self._times, self._until, self._counts, self._resources, self._platforms,
            self._store, self._sandbox, self._network, self._patterns,
        )  # fmt: skip
        platforms = self.said.platforms(self.settings.platform).value.split(",")
        in_hub = any_hub(self.settings, self.request.visitor, platforms, self.tell)
        if self.request.inputs is not None:
            found = read_inputs(self.request.inputs, self.problems, in_hub)
        else:
            found = find_inputs(
                self.request.data, self.request.cwd, self.target.toml, self.target.folder, self.problems,
                placing_for(self.contract), load_repositories(self.settings.home), in_hub,
            )  # fmt: skip
        self.outputs = find_outputs(self.said, self.target, self.contract, self.problems)
        for step in steps:
            with self.problems.collecting():
                step()
        with self.problems.collecting():
            self._refuse_shared_places(found)
        self.problems.raise_all()
        said = self.said
        resolved = Resolved(
            user=self.settings.user,
            script=self.target.script,
            inputs=tuple(given.to_spec() for given in found),
            folder=self.target.folder,
            include=tuple(said.value("include", (), "pack")),
            exclude=tuple(said.value("exclude", (), "pack")),
            allow_secret_files=said.value("allow_secret_files", False, "pack"),
            leave_out=self._leave_out(found),
            contract=self.contract,
            of=self.request.of,
            code_asset=self.request.code_asset,
            **self.values,
        )
        # First the Aim repository: its option is one that a script may refuse.
        resolved = settle(with_aim(resolved, bool(self.request.aim)), said, self.settings)
        return replace(resolved, notices=(*resolved.notices, *find_notices(resolved, self.said, found)))

    # ---- what is run

    def _name(self) -> None:
        said = self.said.get("name")
        if said is None:
            plain = re.sub(r"[^A-Za-z0-9._-]+", "-", self.target.name).strip("-._")
            self.values["name"] = plain[:63] or "run"
        elif not NAME_PATTERN.fullmatch(said.value):
            raise said.wrong("not a name", hint="use letters, digits, '.', '_' and '-', at most 63, e.g. 'mnist-a1'")
        else:
            self.values["name"] = said.value

    def _surroundings(self) -> None:
        with self.problems.collecting():
            self.values["env"] = find_env(self.said)
        with self.problems.collecting():
            self.values["secrets"] = find_secrets(self.said, self.values.get("env", {}))
        self.values["args"] = tuple(self.said.value("args", ()))
        self.values["params"] = find_params(self.said)

    def _requirements(self) -> None:
        self.values["requirements"] = None
        said = self.said.get("requirements")
        if said is None:
            self.values["requirements"] = usual_requirements(self.contract, self.target)
            return
        folder = self.target.folder
        path = absolute(said.value, folder)
        if self.request.requirements is not None and not path.is_file():
            path = absolute(said.value, self.request.cwd)
        if not path.is_file():
            raise said.wrong(
                f"no such file{guess_path(said.value, path)}", hint=f"name a file in {folder}, like requirements.txt"
            )
        if not path.is_relative_to(folder):
            raise said.wrong(f"outside the code folder {folder}", hint="copy it beside the script, so that it travels")
        self.values["requirements"] = PurePosixPath(path.relative_to(folder)).as_posix()

    def _python(self) -> None:
        base = self.request.cwd
        if self.request.python is None and self.target.toml is not None:
            base = self.target.toml.folder
        self.values["python"] = find_python(self.said.get("python"), base)

    def _environment(self) -> None:
        from outlast.operations.environments import pin

        pinned, python = pin(self.said, self.settings, self.values.get("python"), is_job=self.target.is_job)
        self.values.update(environment=pinned, **({"python": python} if python else {}))

    # ---- where it saves

    def _places(self) -> None:
        outputs = []
        for each in self.outputs.named:
            with self.problems.collecting():
                path = path_of(each, self.contract)
                outputs.append(each.to_spec(path if self.contract in NAMING else self._place(Said(path, each.where))))
        self.values["outputs"] = tuple(outputs)
        self.values["checkpoint"], self.values["output"] = places_for(outputs, self.contract)
        for name, said in self._said_places():
            with self.problems.collecting():
                self.values[name] = self._place(said)

    def _said_places(self) -> list[tuple[str, Said]]:
        said = (("checkpoint", self.said.get("checkpoint")), ("output", self.outputs.place))
        return [(name, each) for name, each in said if each is not None]

    def _place(self, said: Said) -> str:
        folder = self.target.folder
        path = absolute(said.value, folder)
        if not said.value or not path.is_relative_to(folder):
            raise said.wrong(
                f"outside the work folder {folder}", hint="give a path below the script's folder, like 'ckpt'"
            )
        if path == folder:
            raise said.wrong("the work folder itself cannot be used here", hint="name a folder below it, like 'ckpt'")
        place = PurePosixPath(path.relative_to(folder)).as_posix()
        if lies_in(self.target.script, place):
            raise said.wrong(
                f"holds the script {self.target.script} itself", hint="name a folder of its own, like 'ckpt'"
            )
        return place

    def _refuse_shared_places(self, found: Sequence[FoundInput]) -> None:
        """A place that the script writes must not be, hold or lie in anything it only reads."""
        for given in found:
            if lies_in(self.target.script, given.path):
                self.problems.add(
                    f"{given.where} would be put over the script {self.target.script}",
                    hint="give the input another name, like --data NAME=SRC",
                )
        if self.contract in NAMING:
            for problem in clashes(self.outputs.named, found, list(self.values.get("params", ()))):
                self.problems.add(problem, hint="give one of them another name or place")
        for name, said in self._said_places():
            place = self.values.get(name)
            if place is None:
                continue
            requirements = self.values.get("requirements")
            if requirements and lies_in(requirements, place):
                self.problems.add(f"{said.where} {said.value!r} holds the requirements file {requirements}")
            for given in found:
                path = self._in_folder(given.path)
                if path is not None and (lies_in(place, path) or lies_in(path, place)):
                    self.problems.add(
                        f"{said.where} {said.value!r} and the input at {given.path} ({given.where}) share a place",
                        hint="inputs are only read: name another folder to save in, like 'ckpt'",
                    )

    def _in_folder(self, path: str) -> str | None:
        """A path of an input as one relative to the code folder, or None when it lies elsewhere."""
        if not posixpath.isabs(path):
            return None if path.startswith("../") else path
        folder = self.target.folder
        inside = Path(path).is_relative_to(folder)
        return PurePosixPath(Path(path).relative_to(folder)).as_posix() if inside else None

    def _leave_out(self, found: Sequence[FoundInput]) -> tuple[str, ...]:
        places = [self.values["checkpoint"], self.values["output"]]
        places += [self._in_folder(given.path) for given in found]
        sources = [*(given.source for given in found), *(each.target for each in self.outputs.named)]
        sources += [self.settings.home]  # somebody may keep it beside the script
        places += [self._in_folder(each.as_posix()) for each in sources if isinstance(each, Path)]
        return tuple(dict.fromkeys(place for place in places if place))

    # ---- how long

    def _times(self) -> None:
        limit, grace = self._duration("limit"), self._duration("grace")
        self.values["limit_s"] = limit_s = None if limit is None else limit[1]
        if limit is not None and limit[1] < self.settings.min_limit_s:
            raise limit[0].wrong(
                f"shorter than the shortest accepted, {format_duration(self.settings.min_limit_s)}",
                hint="a stint must have time to start and to save: give more, like 15m",
            )
        if grace is None:
            least = self.settings.grace_s
            self.values["grace_s"] = least if limit_s is None else min(least, limit_s / 4)
            return
        self.values["grace_s"] = grace[1]
        if limit_s is not None and grace[1] >= limit_s:
            raise grace[0].wrong(
                f"not shorter than the limit of {format_duration(limit_s)}",
                hint="the grace is a part of the limit: give less, or a longer limit",
            )

    def _duration(self, name: str) -> tuple[Said, float] | None:
        said = self.said.get(name)
        if said is None or (name == "limit" and said.value == "none"):
            return None  # `--limit none` takes back what outlast.toml says
        try:
            return said, parse_duration(said.value)
        except ValueError:
            raise said.wrong("not a duration", hint="write it like 90s, 15m, 1h30m or 2d") from None

    def _patterns(self) -> None:
        self.values["metric_patterns"] = find_patterns(self.target.toml)

    def _until(self) -> None:
        self.values["until"] = None
        said = self.said.get("until")
        if said is not None:
            try:
                self.values["until"] = str(Until.parse(said.value))
            except ValueError as error:
                raise said.wrong(str(error)) from None

    def _counts(self) -> None:
        with self.problems.collecting():
            self.values["script_retries"] = self._number("retries", "run", 1, 0)
        self.values["max_stints"] = None
        said = self.said.get("stints")
        if said is not None and said.value.strip().lower() != "auto":
            text = said.value.strip()
            if not (text.isascii() and text.isdigit()) or int(text) < 1:
                raise said.wrong("not a number of stints", hint="write auto, or a whole number from 1")
            self.values["max_stints"] = int(text)

    # ---- on which machine

    def _resources(self) -> None:
        numbers: dict[str, int] = {}
        for name, default, least in (("cpus", 1, 1), ("gpus", 0, 0), ("npus", 0, 0), ("nodes", 1, 1)):
            with self.problems.collecting():
                numbers[name] = self._number(name, "resources", default, least)
        check_nodes(self.said, self.contract, is_job=self.target.is_job)
        memory_bytes = None
        said = self.said.get("memory", "resources")
        if said is not None:
            try:
                memory_bytes = parse_size(said.value)
            except ValueError:
                raise said.wrong("not a size", hint="write it like 512M, 4G or 16GiB") from None
            if memory_bytes < 1:
                raise said.wrong("no memory at all", hint="write it like 512M, 4G or 16GiB")
        self.values["resources"] = Resources(memory_bytes=memory_bytes, **numbers)

    def _number(self, name: str, table: str, default: int, least: int) -> int:
        said = self.said.get(name, table)
        if said is None:
            return default
        if said.value < least:
            raise said.wrong(f"must be a whole number from {least}")
        return int(said.value)

    def _platforms(self) -> None:
        from outlast.platforms.registry import is_known, unknown

        said = self.said.platforms(self.settings.platform)
        names = said.value.split(",")
        for name in names:
            if not is_known(name, self.settings):
                raise unknown(name, self.settings, f" ({said.where})")
        if len(set(names)) < len(names):
            raise said.wrong("names a platform twice", hint="name each once, in the order to try them")
        self.values["platforms"] = tuple(names)

    def _store(self) -> None:
        """The home's setting unless the request names another; addresses are read, not opened."""
        from outlast.store.registry import store_url

        said = self.said.get("store") or Said(self.settings.store, "setting store")
        text = said.value.rstrip("/") if is_remote(said.value) else said.value
        if said.where != "setting store" and "://" not in text and text:
            toml = self.target.toml if self.request.store is None else None
            text = str(absolute(text, toml.folder if toml else self.request.cwd))
        try:
            url = store_url(text)
            if is_remote(url):
                parse_address(url)
        except (SpecError, RequestError) as error:
            raise said.wrong(str(error)) from None
        self.values["store"] = url

    def _sandbox(self) -> None:
        said = self.said.get("sandbox") or Said(self.settings.sandbox, "setting sandbox")
        if said.value not in ("auto", "on", "off"):
            raise said.wrong("not a choice", hint="write auto, on or off")
        self.values["sandbox"] = said.value

    def _network(self) -> None:
        self.values["network"] = find_network(self.said, self.contract)
