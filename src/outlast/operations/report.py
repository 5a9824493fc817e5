"""Everything about a run on one page, as HTML or PDF."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import outlast
from outlast.errors import UsageError
from outlast.inside import layout
from outlast.inside.errors import NotFound
from outlast.inside.records import now_text
from outlast.keeper.observe import RunFolder
from outlast.model.parameters import run_parameters
from outlast.model.quantities import format_size
from outlast.model.view import RunView
from outlast.operations.chart import write_file
from outlast.operations.faults import spoken
from outlast.operations.locate import locate
from outlast.operations.packs import pack_text
from outlast.operations.parameters import reproduce_command, run_conditions
from outlast.operations.points import read_metrics
from outlast.operations.runs import show_run
from outlast.settings import Settings
from outlast.store.base import Store
from outlast.track.drawing.figure import Figure
from outlast.track.drawing.plot import Subject, plot
from outlast.track.drawing.telling import telling_metrics
from outlast.track.report.page import Report, build_page
from outlast.track.report.words import LANGUAGES
from outlast.track.series import Series, best_metrics, final_metrics

PANELS = 8
#: Of a line in a picture of half a page; the whole page stays well below a megabyte.
_MOST_POINTS = 500
_TAIL_LINES, _LINE_LENGTH, _TAIL_BYTES = 120, 400, 64 << 10
_REQUIREMENTS_BYTES = 8 << 10
_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-_])")


def report_run(settings: Settings, ref: str, target: Path, *, lang: str | None = None) -> Path:
    """Write a run's report; the ending of the name says whether as .html or as .pdf."""
    language = (lang or "en").lower().replace("_", "-").partition("-")[0]
    if language not in LANGUAGES:
        raise UsageError(f"no report in {lang!r}", hint=f"one of: {', '.join(LANGUAGES)}")
    kind = target.suffix.lower()
    if kind not in (".html", ".htm", ".pdf"):
        raise UsageError(f"cannot write a report as {target.name!r}", hint="end the name with .html or .pdf")
    if kind == ".pdf":
        from outlast.operations.pdf import find_browser, print_pdf

        browser = find_browser()
        return print_pdf(browser, build_page(collect_report(settings, ref), language), target)
    return write_file(target, build_page(collect_report(settings, ref), language).encode("utf-8", "replace"))


def collect_report(settings: Settings, ref: str) -> Report:
    """Read everything that the page shows."""
    found = locate(settings, ref)
    view = show_run(settings, found.run)
    folder = found.folder()
    with spoken(f"report of {found.run}"):
        series = read_metrics(settings, found, _MOST_POINTS)
        tail = log_tail(found.store, folder)
        requirements = _requirements(found.store, view.spec)
    return Report(
        view=view,
        figure=_figure(view, series),
        best=best_metrics(series),
        final=final_metrics(series),
        params=run_parameters(view.spec),
        conditions=run_conditions(view.spec),
        environment=_environment(view, folder),
        command=reproduce_command(view.spec),
        log_tail=tail,
        version=outlast.__version__,
        written_at=f"{now_text()[:16].replace('T', ' ')} UTC",
        requirements=requirements,
        hosts={stint: claim.host for stint, claim in folder.claims.items()},
    )


def _figure(view: RunView, series: Mapping[str, Series]) -> Figure | None:
    names = telling_metrics(series, PANELS)
    elapsed_s = {stint.number: stint.elapsed_s or 0.0 for stint in view.stint_list}
    figure = plot([Subject(view.name, series, elapsed_s)], names, most_points=_MOST_POINTS)
    return figure if figure.panels else None


def _requirements(store: Store, spec: dict[str, Any]) -> str:
    """Packages that were asked for: those of the named environment, then those of the code's own file."""
    pinned = [str(line) for line in (spec.get("environment") or {}).get("requirements") or ()]
    name = spec.get("requirements")
    own = pack_text(store, spec, str(name)) if name else None
    return "\n".join([*pinned, own or ""]).strip()[:_REQUIREMENTS_BYTES]


def _environment(view: RunView, folder: RunFolder) -> dict[str, str]:
    """What is known of the software and of the machines."""
    spec, device = view.spec, view.device
    code, pinned = spec.get("code") or {}, spec.get("environment") or {}
    cards = [
        f"{card.get('kind', 'gpu')} {card.get('name', card.get('index', 0))}"
        for card in device.get("accelerators") or ()
    ]
    hosts = sorted({claim.host for claim in folder.claims.values()})
    peak_bytes = device.get("memory_peak_bytes")
    return {
        "platform": ", ".join(sorted({order.platform for order in folder.orders.values()}) or [view.platform]),
        "machine": ", ".join(hosts[:8]) + (" …" if len(hosts) > 8 else ""),
        "processors": str(device.get("cpus") or (spec.get("resources") or {}).get("cpus") or ""),
        "peak memory": format_size(peak_bytes) if peak_bytes else "",
        "accelerators": ", ".join(cards),
        "python": str(spec.get("python", "")),
        "packages": str(pinned.get("name") or ""),
        "image": str(pinned.get("image") or ""),
        "code": f"sha256 {str(code.get('sha256', ''))[:16]}, {format_size(code.get('size_bytes', 0))}" if code else "",
    }


def log_tail(store: Store, folder: RunFolder) -> str:
    """The last lines of the output as a terminal would have left them. Reads no more than the last segments."""
    pieces: list[bytes] = []
    size_bytes = 0
    for stint in sorted(folder.orders, reverse=True):
        prefix = layout.log_prefix(folder.run, stint)
        numbers = sorted(int(name) for entry in store.list(prefix) if (name := entry.key[len(prefix) :]).isdigit())
        for number in reversed(numbers):
            try:
                pieces.append(store.get(layout.log_key(folder.run, stint, number)))
            except NotFound:
                continue
            size_bytes += len(pieces[-1])
            if size_bytes >= _TAIL_BYTES:
                return _readable(b"".join(reversed(pieces)))
    return _readable(b"".join(reversed(pieces)))


def _readable(data: bytes) -> str:
    lines = data[-_TAIL_BYTES:].decode("utf-8", "replace").split("\n")
    # A line that overwrote itself is shown as it was left; colours have no meaning here.
    shown = [_ESCAPES.sub("", line.rstrip("\r").rsplit("\r", 1)[-1]).rstrip() for line in lines]
    while shown and not shown[-1]:
        shown.pop()
    return "\n".join(line[:_LINE_LENGTH] for line in shown[-_TAIL_LINES:])
