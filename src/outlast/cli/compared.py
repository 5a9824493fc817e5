"""A comparison as a table: a few runs as columns, many as rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from outlast.cli.paint import Column, Ink, number, table, terminal_width
from outlast.cli.words import display_width
from outlast.model.quantities import format_duration

if TYPE_CHECKING:
    from outlast.operations.comparing import ComparedRun, Comparison

#: More runs than this are easier to read below each other.
_SIDE_BY_SIDE = 4
_METRICS_SHOWN = 4
_FILES_NAMED = 2

Cell = Callable[["ComparedRun"], str]


def compared_lines(found: Comparison, ink: Ink, *, every: bool = False) -> list[str]:
    """The table, and below it what it leaves out."""
    rows = _facts(found, every)
    labels = [row.label for row in found.rows]
    widest = max(display_width(name) for _, name, _ in rows) + sum(display_width(label) + 2 for label in labels)
    as_columns = len(found.rows) <= _SIDE_BY_SIDE and widest <= terminal_width()
    lines = _side_by_side(found, rows, ink) if as_columns else _below_each_other(found, rows, ink)
    return [*lines, *_notes(found, ink, every)]


def _facts(found: Comparison, every: bool) -> list[tuple[str, str, Cell]]:
    """(group, name, cell) of everything that is shown."""
    from outlast.track.drawing.telling import telling_metrics

    facts: list[tuple[str, str, Cell]] = [("", "run", lambda row: row.run), ("", "state", lambda row: str(row.state))]
    for part in ("params", "conditions"):
        facts += [("parameters", name, _text(part, name)) for name in (found.names if every else found.differing)(part)]
    metrics = found.names("final")
    for name in metrics if every else telling_metrics(metrics, _METRICS_SHOWN):
        facts.append(("metrics", f"last {name}", _final(name)))
        if any(name in row.best for row in found.rows):
            facts.append(("metrics", f"best {name}", _best(name, found.winners(name))))
    facts += [
        ("time", "time", lambda row: format_duration(row.duration_s)),
        ("time", "stints", lambda row: str(row.stints)),
        ("time", "useful", lambda row: "-" if row.useful_fraction is None else f"{row.useful_fraction:.1%}"),
        ("time", "code", lambda row: _code(found, row)),
    ]
    return facts


def _side_by_side(found: Comparison, facts: list[tuple[str, str, Cell]], ink: Ink) -> list[str]:
    if [row.label for row in found.rows] == [row.run for row in found.rows]:
        facts = facts[1:]  # the ids stand above already
    columns = [Column("", paint=lambda text: ink("dim", text))]
    columns += [Column(row.label, flexible=True, paint=lambda text: _painted(text, ink)) for row in found.rows]
    return table(columns, [[name, *(cell(row) for row in found.rows)] for _, name, cell in facts], ink)


def _below_each_other(found: Comparison, facts: list[tuple[str, str, Cell]], ink: Ink) -> list[str]:
    columns = [
        Column(name, right=group == "metrics", flexible=group == "parameters", paint=lambda text: _painted(text, ink))
        for group, name, _ in facts
    ]
    return table(columns, [[cell(row) for _, _, cell in facts] for row in found.rows], ink)


def _painted(text: str, ink: Ink) -> str:
    return ink("green", text) if text.rstrip().endswith("*") else ink.state(text)


def _text(part: str, name: str) -> Cell:
    return lambda row: str(getattr(row, part).get(name, "-"))


def _final(name: str) -> Cell:
    return lambda row: number(row.final[name]) if name in row.final else "-"


def _best(name: str, winners: set[str]) -> Cell:
    def cell(row: ComparedRun) -> str:
        if name not in row.best:
            return "-"
        value, epoch = row.best[name]
        at = f" at {epoch:g}" if epoch is not None else ""
        return number(value) + at + (" *" if row.run in winners else "")

    return cell


def _code(found: Comparison, row: ComparedRun) -> str:
    if row.code == found.rows[0].code:
        return "same" if len(found.rows) > 1 and row is not found.rows[0] else row.code[:10]
    if not row.code_differs:
        return row.code[:10] + " (differs)"
    count = len(row.code_differs)
    names = ", ".join(row.code_differs[:_FILES_NAMED]) + (" …" if count > _FILES_NAMED else "")
    return f"{count} file{'s' if count != 1 else ''} differ{'s' if count == 1 else ''}: {names}"


def _notes(found: Comparison, ink: Ink, every: bool) -> list[str]:
    if every:
        return []
    equal = len(found.names("params")) - len(found.differing("params"))
    more = len(found.names("final")) - _METRICS_SHOWN
    parts = [f"{equal} equal parameter{'s' if equal != 1 else ''}"] if equal and len(found.rows) > 1 else []
    parts += [f"{more} more metric{'s' if more != 1 else ''}"] if more > 0 else []
    return [ink("dim", f"{' and '.join(parts)} not shown; see them with --all")] if parts else []
