"""Which runs somebody wants to see, and in which order: by name, state, parameter and metric."""

from __future__ import annotations

import fnmatch
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from outlast.errors import UsageError
from outlast.inside.better import direction
from outlast.model.states import RunState
from outlast.model.view import RunView

#: Stands before the name of a metric whose best value is meant, not its last.
BEST = "best:"
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge, "<=": operator.le, "!=": operator.ne, "==": operator.eq, "=": operator.eq, ">": operator.gt,
    "<": operator.lt,
}  # fmt: skip
#: What `sort` understands beside parameters and metrics.
FIELDS = ("created", "name", "state")
_CONDITION = re.compile(r"\s*([^<>=!]+?)\s*(>=|<=|!=|==|=|>|<)\s*(.*?)\s*", re.DOTALL)


@dataclass(frozen=True)
class Condition:
    """`lr=0.1` or `val_acc>=0.9`: a name, a comparison, and a number or a text."""

    name: str
    sign: str
    text: str
    number: float | None

    @classmethod
    def parse(cls, text: str) -> Condition:
        found = _CONDITION.fullmatch(text)
        if found is None or not found[3]:
            raise UsageError(
                f"--where {text!r} is not a condition",
                hint="write a name, one of = != < <= > >=, and a value: 'lr=0.1'",
            )
        name, sign, value = found.groups()
        number = as_number(value)
        if number is None and sign not in ("=", "==", "!="):
            raise UsageError(f"--where {text!r} compares with {value!r}, which is not a number")
        return cls(name, sign, value, number)

    def holds(self, value: float | str) -> bool:
        """Numbers are compared as numbers, so `lr=0.10` finds 0.1; everything else letter by letter."""
        number = as_number(value)
        if self.number is None or number is None:
            return self.sign in ("=", "==", "!=") and bool(OPERATORS[self.sign](str(value), self.text))
        return bool(OPERATORS[self.sign](number, self.number))


@dataclass(frozen=True)
class RunQuery:
    """A run is wanted when its name, its state and every condition fit; a run without such a value does not fit.

    `sort` is `created` (newest first), `name`, `state`, or a parameter or metric: the best first where it is known
    which way that is, the smallest otherwise. A `-` before it turns it round. `limit` keeps the first ones; `recent`
    keeps all open ones and that many of those that ended.
    """

    name: str = ""  # a glob
    states: frozenset[RunState] = frozenset()
    where: tuple[Condition, ...] = ()
    sort: str = "created"
    limit: int | None = None
    recent: int | None = field(default=None, compare=False)

    @classmethod
    def build(
        cls, name: str = "", states: Iterable[str] = (), where: Iterable[str] = (), sort: str = "created",
        limit: int | None = None,
    ) -> RunQuery:  # fmt: skip
        """A query from a user's words; `UsageError` names the wrong one."""
        if limit is not None and limit < 1:
            raise UsageError(f"--limit {limit} shows nothing; give 1 or more")
        if not sort.removeprefix("-"):
            raise UsageError("--sort needs a word: created, name, state, a parameter or a metric")
        known = frozenset(read_state(word) for word in states)
        return cls(name, known, tuple(Condition.parse(text) for text in where), sort, limit)

    @cached_property
    def fits_name(self) -> Callable[[str], object]:
        """Answers whether a name fits; a pattern is translated once, not for each of ten thousand names."""
        return re.compile(fnmatch.translate(self.name or "*")).match

    def matches(self, view: RunView) -> bool:
        """Whether this run is wanted."""
        if self.states and view.state not in self.states:
            return False
        values = run_values(vars(view))
        return bool(self.fits_name(view.name)) and all(
            any(condition.holds(value) for kind, name, value in values if named(kind, name, condition.name))
            for condition in self.where
        )

    @property
    def descending(self) -> bool:
        """Whether the largest comes first."""
        word = self.sort.removeprefix("-")
        usual = word == "created" or (word not in FIELDS and direction(word.removeprefix(BEST)) > 0)
        return usual != self.sort.startswith("-")


def linked(name: str, value: str) -> RunQuery:
    """The runs that belong to something: `linked("sweep", "grid")`, `linked("of", run)`."""
    return RunQuery(where=(Condition(name, "=", value, None),))


def using(asset: str) -> RunQuery:
    """The runs whose code or inputs are from a repository, at any revision: `using("model:ann/lenet")`."""
    return RunQuery(where=(Condition(asset, "!=", "", None),))


def read_state(word: str) -> RunState:
    try:
        return RunState(word.lower())
    except ValueError:
        raise UsageError(f"unknown state {word!r}", hint="states: " + ", ".join(RunState)) from None


def run_values(view: Mapping[str, Any]) -> list[tuple[str, str, float | str]]:
    """What a run can be found by: kind (`param`, `last`, `best` or `link`), name and value.

    `view` has the fields of a `RunView`: `vars` of one, or the JSON of one, whatever version wrote it.
    """
    counts = {name: view[name] for name in ("epoch", "step", "stints") if view.get(name) is not None}
    found: list[tuple[str, str, float | str]] = [("param", name, text) for name, text in _named(view, "params")]
    found += [("last", name, float(value)) for name, value in (counts | dict(_named(view, "metrics"))).items()]
    found += [("best", name, float(value)) for name, value in _named(view, "best")]
    found += [("link", name, str(view[name])) for name in ("sweep", "of") if view.get(name)]
    # By repository: whoever asks what uses it means every file. A run that uses two revisions has the first one here.
    pairs = (each.partition("@") for each in reversed(view.get("assets") or ()))
    revisions = {"/".join(named.split("/")[:2]): revision for named, _, revision in pairs}
    return found + [("link", repository, revision) for repository, revision in revisions.items()]


def _named(view: Mapping[str, Any], field: str) -> Iterable[tuple[str, Any]]:
    return (view.get(field) or {}).items()


def named(kind: str, name: str, wanted: str) -> bool:
    """Whether a value of this kind and name is the one that `wanted` means."""
    if wanted.startswith(BEST):
        return kind == "best" and name == wanted.removeprefix(BEST)
    return kind != "best" and name == wanted


def sort_key(view: RunView, word: str) -> float | None:
    """The number that a run is sorted by; a parameter comes before a metric of the same name."""
    found = [as_number(value) for kind, name, value in run_values(vars(view)) if named(kind, name, word)]
    return next((number for number in found if number is not None), None)


def as_number(value: float | str) -> float | None:
    """A number out of a value or a text; None for what is none, nan included: it has no place in an order."""
    try:
        number = float(value)
    except ValueError:
        return None
    return None if math.isnan(number) else number
