"""Evaluations as text: one run in detail, or several in one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from outlast.cli.paint import Column, Ink, number, table, wrap
from outlast.cli.sections import titled
from outlast.model.quantities import format_duration
from outlast.model.view import RunView

if TYPE_CHECKING:
    from outlast.operations.evaluate import EvaluatedRun
    from outlast.track.evaluation.curve import Spot
    from outlast.track.evaluation.signs import Finding
    from outlast.track.evaluation.standard import Evaluation, MetricSummary

_COLOURS = {"problem": "red", "warning": "yellow", "note": "cyan"}


def evaluation_lines(one: EvaluatedRun, ink: Ink) -> list[str]:
    """One run: its metrics, what they show, its time, and what other scripts measured of it."""
    view, found = one.view, one.evaluation
    lines = [f"{ink('bold', view.id)}  {view.name}  {ink.state(view.state)}"]
    lines += titled("metrics", _metric_lines(found, ink), ink)
    lines += titled("findings", _finding_lines(found, view.id, ink), ink)
    lines += titled("time", _time_lines(found), ink)
    return lines + evaluator_lines(one.evaluations, ink)


def evaluator_lines(evaluations: Sequence[RunView], ink: Ink) -> list[str]:
    """What evaluation scripts measured of a run's results: a section, or nothing."""
    columns = [Column("run"), Column("name"), Column("state", paint=ink.state), Column("metrics", flexible=True)]
    rows = [
        [
            view.id,
            view.name,
            str(view.state),
            "  ".join(f"{name} {number(value)}" for name, value in view.metrics.items()),
        ]
        for view in evaluations
    ]
    return titled("evaluations", table(columns, rows, ink, indent=2) if rows else [], ink)


def _metric_lines(found: Evaluation, ink: Ink) -> list[str]:
    columns = [
        Column(""), Column("best", right=True, paint=lambda text: ink("bold", text)), Column("at"),
        Column("last", right=True), Column("first", right=True), Column("90 % by"), Column("99 % by"),
    ]  # fmt: skip
    # The most telling one first.
    summaries = sorted(found.metrics.values(), key=lambda summary: summary.name != found.main)
    return table(columns, [_metric_cells(summary) for summary in summaries], ink, indent=2)


def _metric_cells(summary: MetricSummary) -> list[str]:
    return [
        summary.name,
        number(summary.best.value),
        f"{_place(summary.best)}, stint {summary.best.stint}",
        number(summary.last.value),
        number(summary.first.value),
        _place(summary.to_90),
        _place(summary.to_99),
    ]


def _place(spot: Spot | None) -> str:
    """`epoch 12, 3 min 20 s`, or nothing when it never came."""
    if spot is None:
        return ""
    took = format_duration(spot.time_s)
    return f"{spot.where}, {took}" if spot.epoch is not None or spot.step is not None else took


def _finding_lines(found: Evaluation, run: str, ink: Ink) -> list[str]:
    if not found.findings:
        return ["  nothing stands out: the curves go where they should"]
    lines: list[str] = []
    for finding in found.findings:
        first, *more = wrap(finding.sentence, 11)
        lines += [
            f"  {ink(_COLOURS[finding.weight], f'{finding.weight:8}')} {first}",
            *(f"{'':11}{line}" for line in more),
        ]
        lines += [ink("dim", f"{'':11}{line}") for line in wrap("→ " + finding.advice.replace("RUN", run), 11)]
    return lines


def _time_lines(found: Evaluation) -> list[str]:
    lines = []
    times = found.epoch_time
    if times is not None:
        spread = f", ±{times.spread / 2:.0%}" if times.epochs > 2 else ""
        trend = "" if times.trend is None or abs(times.trend) < 0.05 else f", {times.trend:+.0%} from start to end"
        lines.append(f"  {format_duration(times.median_s)} per epoch (median of {times.epochs}{spread}{trend})")
    if found.useful_fraction is not None:
        lines.append(f"  {found.useful_fraction:.1%} of the machine time was useful")
    return lines


def overview_lines(found: Sequence[EvaluatedRun], ink: Ink) -> list[str]:
    """Several runs in one table, by the metric that most of them are judged by."""
    mains = [one.evaluation.main for one in found if one.evaluation.main]
    main = max(sorted(set(mains)), key=mains.count, default="")
    columns = [
        Column("run", paint=lambda text: ink("bold", text)),
        Column("name", flexible=True),
        Column("state", paint=ink.state),
        Column(f"best {main}", right=True),
        Column("at"),
        Column("last", right=True),
        Column("90 % by"),
        Column("per epoch", right=True),
        Column("useful", right=True),
        Column("findings", flexible=True),
    ]
    return table(columns, [_overview_cells(one, main) for one in found], ink)


def _overview_cells(one: EvaluatedRun, main: str) -> list[str]:
    found, view = one.evaluation, one.view
    summary = found.metrics.get(main)
    numbers = (
        [number(summary.best.value), summary.best.where, number(summary.last.value), _place(summary.to_90)]
        if summary
        else ["", "", "", ""]
    )
    times = found.epoch_time
    return [
        view.id, view.name, str(view.state), *numbers,
        format_duration(times.median_s) if times else "",
        f"{found.useful_fraction:.0%}" if found.useful_fraction is not None else "",
        ", ".join(dict.fromkeys(_word(finding) for finding in found.findings if finding.weight != "note")) or "none",
    ]  # fmt: skip


def _word(finding: Finding) -> str:
    return f"{finding.kind} ({finding.metric})" if finding.metric else finding.kind
