"""Finding runs in the index: what a query means in SQL, and the values that runs are found by."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import sqlalchemy as sa

from outlast.keeper.schema import run_values as values
from outlast.keeper.schema import runs
from outlast.model.query import BEST, FIELDS, OPERATORS, Condition, RunQuery, as_number, run_values

#: Of each kind; a script that measures more is found by the first ones.
VALUES_LIMIT = 200
_NAME_LIMIT = 255


class Hit(NamedTuple):
    """A run that may be wanted, as far as it takes to choose and to sort."""

    id: str
    name: str
    state: str
    created_at: str
    open: bool  # it may have moved on since: whoever asked looks at it anew
    key: float | None  # the number it is sorted by, if that is one


def select_hits(query: RunQuery) -> sa.Select[Any]:
    """Every run that fits the state, the conditions and the beginning of the name, and every open one."""
    key = _key(query.sort.removeprefix("-"))
    found = sa.select(runs.c.id, runs.c.name, runs.c.state, runs.c.created_at, runs.c.open, key.label("key"))
    fits = [_exists(condition) for condition in query.where]
    if query.name:
        # As much of the pattern as both databases read alike; `RunQuery.fits_name` reads the rest.
        fits.append(runs.c.name.startswith(re.split(r"[*?\[]", query.name)[0], autoescape=True))
    if query.states:
        fits.append(runs.c.state.in_([state.value for state in query.states]))
    return found.where(sa.or_(runs.c.open.is_(True), sa.and_(sa.true(), *fits)))


def read_view(text: str) -> dict[str, Any]:
    """A row's `view_json`; empty when it cannot be read."""
    try:
        body = json.loads(text)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def value_rows(run: str, view: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of `run_values` for a run's short view, as `RunView.to_json` has it."""
    counts: dict[str, int] = {}
    found = []
    for kind, name, value in run_values(view):
        if len(name) > _NAME_LIMIT or "\0" in f"{name}{value}":
            continue  # PostgreSQL takes neither; nobody looks for such a name
        counts[kind] = counts.get(kind, 0) + 1
        if counts[kind] <= VALUES_LIMIT:
            found.append({"run_id": run, "kind": kind, "name": name, "number": as_number(value), "text": str(value)})
    return found


def _key(word: str) -> sa.ColumnElement[Any]:
    if word in FIELDS:
        return sa.null()
    kinds = ("best",) if word.startswith(BEST) else ("param", "last")
    of_kind = [
        sa.select(values.c.number)
        .where(values.c.run_id == runs.c.id, values.c.kind == kind, values.c.name == word.removeprefix(BEST))
        .scalar_subquery()
        for kind in kinds
    ]
    return of_kind[0] if len(of_kind) == 1 else sa.func.coalesce(*of_kind)


def _exists(condition: Condition) -> sa.ColumnElement[bool]:
    """`Condition.holds` for any of a run's values.

    A set of ids, made once from the index on names: asking for each run anew would take ten thousand look-ups.
    """
    compare = OPERATORS[condition.sign]
    is_best = condition.name.startswith(BEST)
    meant = sa.select(values.c.run_id).where(
        values.c.name == condition.name.removeprefix(BEST),
        values.c.kind.in_(["best"] if is_best else ["param", "last", "link"]),
    )
    ways = []
    if condition.number is not None:
        ways.append(meant.where(compare(values.c.number, condition.number)))
    if condition.sign in ("=", "==", "!="):
        texts = meant.where(compare(values.c.text, condition.text))
        ways.append(texts if condition.number is None else texts.where(values.c.number.is_(None)))
    return runs.c.id.in_(sa.union_all(*ways) if len(ways) > 1 else ways[0])
