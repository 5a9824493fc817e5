"""What the curves of a training say, for each run of a grid search that it held.

A script that tries values one after the other prints one training behind another: a new one begins wherever the epoch
goes back. Which values it had is told by lists, batch size first, momentum last, unless the log itself says it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from outlast.errors import NotFoundError
from outlast.operations.evaluate import evaluate_run
from outlast.operations.faults import spoken
from outlast.operations.locate import locate
from outlast.server.hub.trainings.envelope import BAD_BODY, BAD_PARAM, Refusal
from outlast.server.hub.trainings.progress import COMPLETED, Seen
from outlast.settings import Settings
from outlast.track.evaluation.standard import Evaluation, evaluate
from outlast.track.series import Series, SeriesPoint, read_series

#: Field of the body → what a label calls it, and how its values are written; in the order of the loops.
SCOPES = {
    "batch_size_scope": ("batch size", re.compile(r"[1-9][0-9]{0,8}")),
    "learning_rate_scope": ("learning rate", re.compile(r"[0-9]{0,9}\.?[0-9]{1,12}(?:[eE]-?[0-9]{1,3})?")),
    "momentum_scope": ("momentum", re.compile(r"[0-9]{0,9}\.?[0-9]{1,12}")),
}
_MOST_VALUES = 20
#: What logs call the values of a label.
_IN_LOGS = {"batch size": ("batch_size", "batchsize"), "learning rate": ("lr", "learning_rate"),
            "momentum": ("momentum",)}  # fmt: skip


@dataclass(frozen=True)
class Part:
    """One training of a grid, or the only one."""

    label: dict[str, str]
    evaluation: Evaluation


@dataclass(frozen=True)
class Report:
    """What a page shows."""

    kind: str
    parts: list[Part]
    notices: list[str] = field(default_factory=list)


def read_evaluation(body: object, seen: Seen) -> dict[str, Any]:
    """What is asked for, checked: an evaluation of a training that is completed."""
    if not isinstance(body, dict):
        raise Refusal(BAD_BODY, "the body must be one JSON object")
    kind = body.get("type")
    if kind not in ("standard", "custom"):
        raise Refusal(BAD_PARAM, f"type: {str(kind)[:40]!r} is neither standard nor custom")
    if seen.status != COMPLETED:
        raise Refusal(BAD_PARAM, f"only a Completed training is evaluated; this one is {seen.status}")
    if kind == "custom":
        if not seen.training.body["enable_aim"]:
            raise Refusal(BAD_PARAM, "type: custom needs a training with enable_aim", hint="ask for a standard one")
        return {"type": kind}
    return {"type": kind, **{name: _values(body, name) for name in SCOPES}}


def _values(body: Mapping[str, Any], name: str) -> list[str]:
    given = body.get(name)
    if not isinstance(given, list) or not 0 < len(given) <= _MOST_VALUES:
        raise Refusal(BAD_PARAM, f"{name}: must be a list of 1 to {_MOST_VALUES} values")
    values = [str(each).strip() for each in given]
    wrong = next((each for each in values if not SCOPES[name][1].fullmatch(each)), None)
    if wrong is not None:
        raise Refusal(BAD_PARAM, f"{name}: {wrong[:40]!r} is no {SCOPES[name][0]}")
    return values


def make_report(settings: Settings, seen: Seen) -> Report:
    """Evaluate a training as it was last asked for; `NotFoundError` when it measured nothing that can be judged."""
    asked = seen.training.evaluation
    found = locate(settings, seen.training.run)
    with spoken(f"metrics of {found.run}"):
        series = read_series(found.store, found.run)
    cut = split_runs(series)
    if len(cut) <= 1:
        return Report(asked["type"], [Part(_first_label(asked), evaluate_run(settings, found.run).evaluation)])
    labels = list(_labels(asked))
    parts = [
        Part(_seen_label(labels[at] if at < len(labels) else {}, one), evaluate(one)) for at, one in enumerate(cut)
    ]
    if not any(part.evaluation.metrics for part in parts):
        raise NotFoundError(f"training {seen.training.name} has no losses or accuracies in its output")
    return Report(asked["type"], parts, _mismatch(len(cut), len(labels)) if asked["type"] == "standard" else [])


def split_runs(series: Mapping[str, Series]) -> list[dict[str, Series]]:
    """The trainings that follow each other in one log: each metric cut wherever its epoch goes back."""
    cut = {name: list(_pieces(one.curve)) for name, one in series.items()}
    count = max((len(pieces) for pieces in cut.values()), default=0)
    return [{name: Series(name, pieces[at]) for name, pieces in cut.items() if at < len(pieces)} for at in range(count)]


def _pieces(points: Iterable[SeriesPoint]) -> Iterable[list[SeriesPoint]]:
    piece: list[SeriesPoint] = []
    for point in points:
        before = piece[-1].epoch if piece else None
        if before is not None and point.epoch is not None and point.epoch < before:
            yield piece
            piece = []
        piece.append(point)
    if piece:
        yield piece


def _labels(asked: Mapping[str, Any]) -> Iterable[dict[str, str]]:
    names = [name for name in SCOPES if asked.get(name)]
    for values in itertools.product(*(asked[name] for name in names)) if names else ():
        yield {SCOPES[name][0]: value for name, value in zip(names, values, strict=True)}


def _first_label(asked: Mapping[str, Any]) -> dict[str, str]:
    return next(iter(_labels(asked)), {})


def _seen_label(label: dict[str, str], series: Mapping[str, Series]) -> dict[str, str]:
    """The label with what the log says: a value that it printed, and that never changed, is the real one."""
    found = dict(label)
    for name, called in _IN_LOGS.items():
        printed = {point.value for each in called if each in series for point in series[each].points}
        if len(printed) == 1:
            found[name] = f"{printed.pop():g}"
    return found


def _mismatch(runs: int, labels: int) -> list[str]:
    if runs == labels:
        return []
    return [f"the log holds {runs} trainings and the lists make {labels}; what has no list is shown by its number"]
