"""The report as one HTML page that needs nothing else: no script, no font, no address outside."""

from __future__ import annotations

import html
from collections.abc import Iterable

from outlast.migrate.engine import Finding, Kind
from outlast.migrate.report import Migration

_TITLES = {
    Kind.HAND: ("By hand", "No twin on the other side: somebody must decide."),
    Kind.UNPARSED: ("Left alone", "These files cannot be read as Python 3."),
    Kind.DIFFERS: ("Silent differences", "Runs, but not with the same speed, precision or effect."),
    Kind.CHANGED: ("Changed", "What the rules rewrote."),
    Kind.KEPT: ("Kept", "Has the look of a device, but is a name, a key or a text."),
}
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1c2024 }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
.score { font-size: 2.4rem; font-weight: 600 } .dim { color: #68707a }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .3rem .8rem .3rem 0;
vertical-align: top; border-bottom: 1px solid #e4e7ea } code { font: 13px ui-monospace, monospace }
@media (prefers-color-scheme: dark) { body { background: #14171a; color: #e6e8ea } td, th { border-color: #2b3036 } }
"""


def render(migration: Migration) -> str:
    """The whole page."""
    counts = migration.counts
    summary = (
        f"{migration.files} files looked at, {len(migration.changed)} to change; {counts['changed']} changes, "
        f"{counts['by-hand']} by hand, {counts['differs']} silent differences"
    )
    sections = "".join(_section(kind, migration.of(kind)) for kind in _TITLES)
    title = f"Migration to {migration.target}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{html.escape(title)}</h1>"
        f'<p><span class="score">{migration.score}</span> of 100 ready<br><span class="dim">{summary}</span></p>'
        f"{sections}</body></html>\n"
    )


def _section(kind: Kind, found: Iterable[tuple[str, Finding]]) -> str:
    rows = "".join(_row(path, finding) for path, finding in found)
    if not rows:
        return ""
    title, about = _TITLES[kind]
    head = "<tr><th>where</th><th>what</th><th>advice</th><th>rule</th></tr>"
    return f'<h2>{title}</h2><p class="dim">{about}</p><table>{head}{rows}</table>'


def _row(path: str, finding: Finding) -> str:
    where = f"{path}:{finding.line}" + (f" (cell {finding.cell})" if finding.cell else "")
    cells = (f"<code>{html.escape(where)}</code>", html.escape(finding.message), html.escape(finding.advice),
             f'<span class="dim">{finding.rule}</span>')  # fmt: skip
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
