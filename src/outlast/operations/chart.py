"""Curves of runs as one figure, and as a picture in a file."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from outlast.errors import NotFoundError, UsageError
from outlast.keeper.view import stint_views
from outlast.model.parameters import run_parameters
from outlast.operations.faults import spoken
from outlast.operations.locate import Located, locate
from outlast.operations.points import read_metrics
from outlast.settings import Settings
from outlast.track.drawing.figure import Figure
from outlast.track.drawing.plot import MOST_POINTS, X_KINDS, Subject, plot
from outlast.track.drawing.telling import telling_metrics
from outlast.track.series import Series

#: How many metrics are shown when nobody says which.
SHOWN_METRICS = 4
_LABEL_LENGTH = 28
_LEAST_POINTS = 400  # of a curve among many others


class Charted(NamedTuple):
    """One run and everything that it measured."""

    run: str
    name: str
    label: str
    series: Mapping[str, Series]
    elapsed_s: Mapping[int, float]


def chart_runs(
    settings: Settings, refs: Sequence[str], *, metrics: Sequence[str] = (), x: str | None = None,
    smooth: float = 0.0, log: bool = False,
) -> Figure:  # fmt: skip
    """The curves of some runs: the metrics that match the given names (or globs), or the most telling ones."""
    kind = next((each for each in X_KINDS if each == x), None)
    if x is not None and kind is None:
        raise UsageError(f"unknown x {x!r}", hint=f"one of: {', '.join(X_KINDS)}")
    if not 0 <= smooth < 1:
        raise UsageError(f"cannot smooth by {smooth:g}", hint="from 0 (not at all) to less than 1, like 0.6")
    most = max(_LEAST_POINTS, 2 * MOST_POINTS // len(refs)) if refs else MOST_POINTS
    # A mean over every value needs every value.
    charted = read_charted(settings, refs, most_points=None if smooth else most)
    subjects = [Subject(one.label, one.series, one.elapsed_s) for one in charted]
    figure = plot(subjects, choose_metrics(charted, metrics), x=kind, smooth=smooth, log=log, most_points=most)
    if not figure.panels:
        raise UsageError("nothing to draw: " + "; ".join(figure.notes), hint=_advice(x, log))
    return figure


def read_charted(settings: Settings, refs: Sequence[str], *, most_points: int | None = None) -> list[Charted]:
    """Each run once, in the order it was named, with a label that tells it from the others.

    With `most_points` long series come with about so many points that look the same.
    """
    found: dict[str, Located] = {}
    for ref in refs:
        one = locate(settings, ref)
        found.setdefault(one.run, one)
    folders = {run: one.folder() for run, one in found.items()}
    labels = run_labels({run: folder.spec for run, folder in folders.items()})
    charted = []
    for run, one in found.items():
        with spoken(f"metrics of {run}"):
            series = read_metrics(settings, one, most_points)
        elapsed_s = {stint.number: stint.elapsed_s or 0.0 for stint in stint_views(folders[run])}
        charted.append(Charted(run, str(folders[run].spec["name"]), labels[run], series, elapsed_s))
    return charted


def run_labels(specs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """What tells runs apart: their names, else the parameters that differ when these are short, else their ids."""
    names = {run: str(spec.get("name", run)) for run, spec in specs.items()}
    params = {run: run_parameters(spec) for run, spec in specs.items()}
    differ = sorted(
        {name for mine in params.values() for name in mine if len({p.get(name) for p in params.values()}) > 1}
    )
    by_params = {run: " ".join(f"{name}={mine.get(name, '-')}" for name in differ) for run, mine in params.items()}
    for labels in (names, by_params):
        if len(set(labels.values())) == len(specs) and all(0 < len(text) <= _LABEL_LENGTH for text in labels.values()):
            return labels
    return {run: run for run in specs}


def choose_metrics(charted: Sequence[Charted], wanted: Sequence[str], most: int = SHOWN_METRICS) -> list[str]:
    """The metrics that match the wanted names or globs, or the most telling ones; each wanted word must match one."""
    names = sorted({name for one in charted for name in one.series})
    if not names:
        runs = ", ".join(one.run for one in charted)
        raise NotFoundError(
            f"no metrics in {runs} yet", hint="a script that prints 'loss 0.3' or calls outlast.track(loss=…) has some"
        )
    if not wanted:
        return telling_metrics(names, most)
    chosen: dict[str, None] = {}
    for word in wanted:
        matching = [name for name in names if name == word] or [n for n in names if fnmatch.fnmatchcase(n, word)]
        if not matching:
            near = difflib.get_close_matches(word, names, n=1)
            guess = f"; did you mean {near[0]!r}?" if near else ""
            raise UsageError(f"no metric {word!r}{guess}", hint=f"there are: {_some(names)}")
        chosen.update(dict.fromkeys(matching))
    return list(chosen)


def save_picture(figure: Figure, path: Path, *, theme: str = "auto") -> Path:
    """Write a figure as SVG or PNG, by the ending of the name. A PNG is light unless `theme` is dark."""
    from outlast.track.drawing.svg import draw_svg

    suffix = path.suffix.lower()
    if suffix == ".svg":
        data = draw_svg(figure, theme=theme).encode()
    elif suffix == ".png":
        from outlast.track.drawing.png import to_png

        data = to_png(draw_svg(figure, theme="dark" if theme == "dark" else "light"))
    else:
        raise UsageError(f"cannot write a picture as {path.name!r}", hint="end the name with .svg or .png")
    return write_file(path, data)


def write_file(path: Path, data: bytes) -> Path:
    """Write a file that the user asked for; whoever made it impossible is told in one sentence."""
    try:
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", hint="name a file in a folder that exists") from None
    return path


def _advice(x: str | None, log: bool) -> str:
    if x is not None:
        return "try another --x, or none at all"
    return "try without --log" if log else "choose another --metric"


def _some(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
