"""A grid of parameters, from what was typed: which parameters vary, which members there are, what they are called."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from outlast.errors import SpecError
from outlast.model.spec import NAME_PATTERN
from outlast.operations.said import pairs

#: Values are separated by commas; a comma that belongs to a value is written `\,`.
_COMMA = re.compile(r"(?<!\\),")
_LONGEST_NAME = 63
#: More runs than this are a mistake, or a job for `--random`.
MOST_MEMBERS = 10_000


@dataclass(frozen=True)
class Grid:
    """Parameters with several values each; `fixed` are those with one, as `NAME=VALUE`."""

    swept: Mapping[str, tuple[str, ...]]
    fixed: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return math.prod(len(values) for values in self.swept.values())

    def member(self, number: int) -> dict[str, str]:
        """The parameters of one member; the last parameter varies fastest."""
        chosen: dict[str, str] = {}
        for name, values in reversed(list(self.swept.items())):
            number, at = divmod(number, len(values))
            chosen[name] = values[at]
        return {name: chosen[name] for name in self.swept}


def read_grid(params: Iterable[str]) -> Grid:
    """`lr=0.1,0.01` and the like. Empty values, equal values and a grid of one are refused by name."""
    swept: dict[str, tuple[str, ...]] = {}
    fixed: list[str] = []
    for name, text in pairs(params, "--param", "lr=0.1,0.01").items():
        values = [] if text is None else [value.strip().replace("\\,", ",") for value in _COMMA.split(text)]
        if not values or "" in values:
            raise SpecError(f"--param {name}={text or ''} has an empty value", hint=f"write --param {name}=0.1,0.01")
        twice = next((value for at, value in enumerate(values) if value in values[:at]), None)
        if twice is not None:
            raise SpecError(f"--param {name} names {twice} twice", hint="keep one of them")
        if len(values) == 1:
            fixed.append(f"{name}={values[0]}")
        else:
            swept[name] = tuple(values)
    if not swept:
        raise SpecError(
            "a sweep needs a parameter with several values",
            hint="give one, like --param lr=0.1,0.01; a single run is started with: outlast run",
        )
    return Grid(swept, tuple(fixed))


def choose_members(grid: Grid, count: int | None, seed: int) -> list[dict[str, str]]:
    """The whole grid in order, or `count` different members of it, chosen by the seed."""
    if count is not None and count < grid.size:
        return [grid.member(at) for at in sorted(random.Random(seed).sample(range(grid.size), count))]
    if grid.size > MOST_MEMBERS:
        raise SpecError(
            f"the grid has {grid.size:,} members; at most {MOST_MEMBERS:,} are started at once",
            hint="give fewer values, or choose some of it with --random 50",
        )
    return [grid.member(at) for at in range(grid.size)]


def member_names(sweep: str, members: Sequence[Mapping[str, str]]) -> list[str]:
    """`digits-lr0.1-batch32`; where that is too long or not unique, `digits-0007`."""
    names = ["-".join([sweep, *(f"{name}{_plain(value)}" for name, value in member.items())]) for member in members]
    if len(set(names)) == len(names) and all(NAME_PATTERN.fullmatch(name) for name in names):
        return names
    digits = max(4, len(str(len(members))))
    short = sweep[: _LONGEST_NAME - digits - 1]
    return [f"{short}-{number:0{digits}d}" for number in range(1, len(members) + 1)]


def _plain(value: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", value)
