"""Evaluating runs: the standard evaluation of their curves, and what evaluation scripts measured of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from outlast.errors import NotFoundError, SpecError, UsageError
from outlast.inside.better import direction
from outlast.model.query import linked
from outlast.model.view import RunView
from outlast.operations.faults import spoken
from outlast.operations.listing import find_runs
from outlast.operations.locate import locate
from outlast.operations.problems import guess
from outlast.operations.runs import show_run
from outlast.settings import Settings
from outlast.track.evaluation.standard import Evaluation, evaluate
from outlast.track.series import Series, read_series


@dataclass(frozen=True)
class EvaluatedRun:
    """A run, what its curves say, and the runs that evaluated its results (newest first)."""

    view: RunView
    evaluation: Evaluation
    evaluations: tuple[RunView, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints."""
        body = dataclasses.asdict(self.evaluation)
        told = [
            {"run": view.id, "name": view.name, "state": str(view.state), "metrics": dict(view.metrics)}
            for view in self.evaluations
        ]
        head = {"run": self.view.id, "name": self.view.name, "state": str(self.view.state)}
        return {**head, **body, "evaluations": told}


def evaluate_run(settings: Settings, ref: str, metrics: Sequence[str] = ()) -> EvaluatedRun:
    """The standard evaluation of one run; `metrics` are names, or `NAME:max` where the name does not say it.

    `NotFoundError` when the run has measured nothing that can be judged.
    """
    found = locate(settings, ref)
    view = show_run(settings, found.run)
    with spoken(f"metrics of {found.run}"):
        series = read_series(found.store, found.run)
    signs = dict(_sign(text, series, found.run) for text in metrics)
    done = evaluate(series, view.useful_fraction, signs or None)
    if not done.metrics and not done.findings:
        raise _nothing(found.run, view, series)
    return EvaluatedRun(view, done, tuple(evaluations_of(settings, found.run)))


def evaluations_of(settings: Settings, run: str) -> list[RunView]:
    """The runs that evaluated the results of this one, newest first."""
    return find_runs(settings, linked("of", run)).views


def read_metric(text: str) -> tuple[str, int]:
    """`val_acc`, or `speed:max` where the name does not say what is good: the name, and +1 or -1."""
    name, sign = _split(text)
    if not sign:
        raise SpecError(
            f"--metric {text}: its name does not say whether more or less of it is better",
            hint=f"write --metric {text}:max or --metric {text}:min",
        )
    return name, sign


def _split(text: str) -> tuple[str, int]:
    name, colon, word = text.rpartition(":")
    if colon and word in ("max", "min"):
        return name, 1 if word == "max" else -1
    return text, direction(text)


def _sign(text: str, series: dict[str, Series], run: str) -> tuple[str, int]:
    name, _ = _split(text)
    if name not in series:
        known = ", ".join(series) or "nothing yet"
        raise UsageError(f"run {run} has not measured {name!r}{guess(name, series)}", hint=f"it has measured: {known}")
    return read_metric(text)


def _nothing(run: str, view: RunView, series: dict[str, Series]) -> NotFoundError:
    if series:
        names = ", ".join(list(series)[:8])
        return NotFoundError(
            f"run {run} has measured {names}, none of which says whether more or less is better",
            hint=f"name one: outlast evaluate {run} --metric {next(iter(series))}:max",
        )
    return NotFoundError(
        f"run {run} ({view.state}) has no losses or accuracies in its output",
        hint="print them like 'epoch 1 loss 0.5', or call outlast.track(loss=0.5)",
    )
