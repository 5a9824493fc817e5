"""What a script will see, as `outlast explain` tells it: the nouns, and the words for values that nobody may read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

#: Stands for the id that a run gets when it is started.
RUN = "RUN"
MASKED = "***"
_SECRET = re.compile(r"token|secret|passw|credential|(?:api|access|private)[_-]?key|_ACCESS$", re.IGNORECASE)


@dataclass(frozen=True)
class Variable:
    """A variable of the environment, and who sets it: the contract, the user, or outlast."""

    name: str
    value: str
    origin: str


@dataclass(frozen=True)
class Part:
    """A process that the user wrote: the script, or one task role of a job."""

    name: str
    command: str
    folder: str  # where it starts
    variables: tuple[Variable, ...]
    facts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Place:
    """A path, and what lies there."""

    path: str
    what: str


@dataclass(frozen=True)
class Helper:
    """Something that the script can use, by the name under which it does."""

    name: str
    what: str


@dataclass(frozen=True)
class Explanation:
    """What the scripts of one run will see in their first stint."""

    name: str
    contract: str
    parts: tuple[Part, ...]
    places: tuple[Place, ...]
    helpers: tuple[Helper, ...]
    inherited: tuple[str, ...]  # names of variables that come from this machine as they are
    network: str
    sandboxed: bool
    refused: tuple[str, ...]  # options that the contract passes and the script would die of
    notices: tuple[str, ...]


def variables(values: Mapping[str, str], origin: str) -> dict[str, Variable]:
    """Variables by name; a value whose name promises a secret is masked."""
    return {name: Variable(name, masked(name, value), origin) for name, value in values.items()}


def masked(name: str, value: str) -> str:
    return MASKED if value and _SECRET.search(name) else value
