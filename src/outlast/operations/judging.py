"""Runs judged: these verbs of `Client.runs`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from outlast.operations.curves import Curves

if TYPE_CHECKING:
    from outlast.model.view import RunView
    from outlast.operations.evaluate import EvaluatedRun


class Judging(Curves):
    """The part of `Client.runs` that evaluates."""

    def evaluate(self, ref: str, *, metrics: Sequence[str] = ()) -> EvaluatedRun:
        """The standard evaluation: best and last values, how fast they came, and what went wrong, in sentences.

        for finding in client.runs.evaluate("mnist").evaluation.findings:
            print(finding.sentence, "-", finding.advice)
        """
        from outlast.operations.evaluate import evaluate_run

        return evaluate_run(self._settings, ref, metrics)

    def evaluations(self, ref: str) -> list[RunView]:
        """The runs that evaluated the results of this one (`submit(…, of=ref)`), newest first."""
        from outlast.operations.evaluate import evaluations_of
        from outlast.operations.locate import locate

        return evaluations_of(self._settings, locate(self._settings, ref).run)

    def aim(self, ref: str, to: str | os.PathLike[str] | None = None) -> Path:
        """Bring the Aim repository of a run to a folder, and return the path to open with Aim."""
        from outlast.operations.aim import fetch_repository

        return fetch_repository(self._settings, ref, None if to is None else Path(to))
