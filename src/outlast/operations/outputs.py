"""`--output` and `[outputs]`: the place that comes home, and named outputs with the address they are brought to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from outlast.errors import SpecError
from outlast.inside.contracts.modelarts import OUTPUTS, output_place
from outlast.inside.move.address import Address
from outlast.model.spec import DEFAULT_CHECKPOINT, NAME_PATTERN, Contract, Output
from outlast.operations.contracts import NAMING
from outlast.operations.inputs import FoundInput, find_address
from outlast.operations.problems import Problems
from outlast.operations.said import Said, Sayings
from outlast.operations.target import Target, absolute

_HOW_TO_GIVE = "write it like --output out, or --output train_url=./out"
#: As a target: the output stays with the run, in its store.
KEPT = "-"


@dataclass(frozen=True)
class FoundOutput:
    """A named output whose target can be written, as far as that can be known without asking a store."""

    name: str
    target: Path | Address | None  # None: it stays with the run
    where: str  # what the user wrote, for messages

    def to_spec(self, path: str) -> Output:
        target = self.target.as_uri() if isinstance(self.target, Path) else str(self.target or "")
        return Output(name=self.name, path=path, target=target)


@dataclass(frozen=True)
class FoundOutputs:
    """What was said about results."""

    place: Said | None = None  # `--output PATH`
    named: tuple[FoundOutput, ...] = ()


def find_outputs(said: Sayings, target: Target, contract: Contract, problems: Problems) -> FoundOutputs:
    """All outputs, those of the command line first; a named one replaces the file's of the same name."""
    places: list[Said] = []
    named: list[FoundOutput] = []
    for text in _texts(said.request.output):
        with problems.collecting():
            name, equals, where = text.partition("=")
            if not equals or not NAME_PATTERN.fullmatch(name):
                places.append(Said(text, "--output"))
            else:
                named.append(_named(name, where, f"--output {text}", said.request.cwd, target, named))
    taken = {each.name for each in named}
    for name, text in (said.toml.outputs if said.toml else {}).items():
        if name not in taken and said.toml:
            with problems.collecting():
                where = f"outputs.{name} in {said.toml.path.name}"
                named.append(_named(name, text, where, said.toml.folder, target, named))
    listed = said.toml.values.get(("run", "output")) if said.toml else None
    if not places and listed is not None and said.toml:
        places.append(Said(listed, f"run.output in {said.toml.path.name}"))
    if len(places) > 1:
        problems.add(
            f"--output names two places: {places[0].value} and {places[1].value}",
            hint="one place comes home: put both into one folder, or name them: --output NAME=TARGET",
        )
    if named:
        _refuse_names(named, target, contract, problems)
    if said.request.trial is not None:
        named = [FoundOutput(each.name, said.request.trial / each.name, each.where) for each in named]
    return FoundOutputs(places[0] if places else None, tuple(named))


def _texts(given: str | Sequence[str] | None) -> Sequence[str]:
    return () if given is None else (given,) if isinstance(given, str) else given


def _named(name: str, text: str, where: str, base: Path, target: Target, earlier: Sequence[FoundOutput]) -> FoundOutput:
    if not NAME_PATTERN.fullmatch(name):
        raise SpecError(f"{where}: {name!r} is not a name; use letters, digits, '.', '_' and '-', at most 63")
    if not text:
        raise SpecError(f"{where} says no target", hint=_HOW_TO_GIVE)
    twin = next((each for each in earlier if each.name == name), None)
    if twin is not None:
        raise SpecError(f"{where} and {twin.where} have the same name {name!r}", hint="give each output its own name")
    if text == KEPT:
        return FoundOutput(name, None, where)
    place = find_address(text, where, must_exist=False) if "://" in text else absolute(text, base)
    if isinstance(place, Path):
        _require_writable(place, where, target)
    return FoundOutput(name, place, where)


def _require_writable(path: Path, where: str, target: Target) -> None:
    """Only what is certain now: the folder is made when there is something to bring."""
    if (target.folder / target.script).is_relative_to(path):
        raise SpecError(f"{where} holds the script {target.script} itself", hint="name a folder of its own, like ./out")
    if path.exists() and not path.is_dir():
        raise SpecError(f"{where}: {path} is a file", hint="name a folder, like ./out")
    there = next(each for each in (path, *path.parents) if each.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        raise SpecError(f"{where} cannot be written: no permission for {there}", hint="name a folder of yours")


def _refuse_names(named: Sequence[FoundOutput], target: Target, contract: Contract, problems: Problems) -> None:
    if target.is_job:
        problems.add(
            f"{named[0].where}: the tasks of a job bring their results away themselves",
            hint="give the place that comes home: --output PATH",
        )
    elif contract == "modelarts-v1" and any(each.target is None for each in named):
        problems.add("scripts of this contract write to an address themselves", hint="name one: --output NAME=TARGET")
    elif contract not in NAMING and len(named) > 1:
        problems.add(
            f"{named[0].where} and {named[1].where}: only one place comes home under the plain contract",
            hint="let the script write both into one folder and name that",
        )


def places_for(named: Sequence[Output], contract: Contract) -> tuple[str, str | None]:
    """Where checkpoints and results of a script lie when the user does not say: it writes both to its first output.

    A script of the first generation uploads them itself; what notes that lies at the usual place.
    """
    if contract not in NAMING or contract == "modelarts-v1" or not named:
        return DEFAULT_CHECKPOINT, named[0].path if named and contract == "plain" else None
    return named[0].path, named[0].path if len(named) == 1 else OUTPUTS


def path_of(output: FoundOutput, contract: Contract) -> str:
    """Where the script writes an output, relative to the code folder."""
    return output_place(output.name) if contract in NAMING else output.name


def clashes(named: Sequence[FoundOutput], inputs: Sequence[FoundInput], params: Sequence[str]) -> Iterator[str]:
    """Whatever would be passed twice under one name, or be written over what is only read."""
    for output in named:
        for given in inputs:
            if output.name == given.name:
                yield f"{output.where} and {given.where} would both be passed as --{given.name}"
            here = isinstance(output.target, Path) and isinstance(given.source, Path)
            if here and Path(str(output.target)).is_relative_to(str(given.source)):
                yield f"{output.where} would be written into the input {given.where}"
    for name in params:
        given_names: list[FoundInput | FoundOutput] = [*inputs, *named]
        twin = next((each for each in given_names if each.name == name), None)
        if twin is not None:
            yield f"the parameter {name} and {twin.where} would both be passed as --{name}"
