"""The page itself: sections in the order in which a reader asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from outlast.model.quantities import format_duration, format_size
from outlast.model.states import RunState
from outlast.model.view import RunView
from outlast.track.drawing.figure import Figure
from outlast.track.drawing.scale import short_number
from outlast.track.drawing.svg import draw_inline, escape, style_sheet
from outlast.track.report.bars import ledger_bars
from outlast.track.report.style import page_style
from outlast.track.report.words import LEGEND, Words

CHECKPOINTS_SHOWN = 15
FILES_SHOWN = 40
_PAIRS_SHOWN = 120
_VALUE_LENGTH = 400
_TONES = {RunState.SUCCEEDED: "good", RunState.FAILED: "bad"}


@dataclass(frozen=True)
class Report:
    """Everything that a page shows."""

    view: RunView
    figure: Figure | None
    best: Mapping[str, tuple[float, float | None]]  # value and epoch
    final: Mapping[str, float]
    params: Mapping[str, str]
    conditions: Mapping[str, str]
    environment: Mapping[str, str]
    command: str
    log_tail: str
    version: str
    written_at: str
    requirements: str = ""
    hosts: Mapping[int, str] = field(default_factory=dict)  # by stint


def build_page(report: Report, lang: str = "en") -> str:
    """One HTML document without a single reference to anything outside of it."""
    say = Words(lang)
    view = report.view
    body = "\n".join(part for part in _sections(report, say) if part)
    return (
        f'<!doctype html>\n<html lang="{"zh-CN" if lang == "zh" else "en"}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        # Nothing may be loaded or run, whatever a hostile name or log tries to put here.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(view.name)} · {escape(view.id)}</title>\n"
        f"<style>{page_style()}{style_sheet()}</style>\n</head>\n<body><main>\n{body}\n</main></body>\n</html>\n"
    )


def _sections(report: Report, say: Words) -> Iterator[str]:
    view = report.view
    yield _header(view, say)
    yield _tiles(view, say)
    if report.figure is not None:
        panels = "".join(draw_inline(panel, report.figure, say=say) for panel in report.figure.panels)
        yield _section(say("curves"), f'<div class="curves">{panels}</div><p class="soft">{escape(say(LEGEND))}</p>')
    yield _section(say("metrics"), _metrics(report, say))
    yield _section(say("where the time went"), ledger_bars(view.stint_list, view.ledger, report.hosts, say))
    tables = _titled_pairs(say("parameters"), report.params, say) + _titled_pairs(
        say("conditions"), report.conditions, say
    )
    yield f'<div class="two">{tables}</div>' if tables else ""
    environment = _pairs(report.environment, say)
    if report.requirements:
        environment += f'<p class="soft">{escape(say("requirements"))}</p><pre>{escape(report.requirements)}</pre>'
    yield _section(say("environment"), environment)
    yield _section(say("checkpoints"), _checkpoints(view, say))
    yield _section(say("results"), _outputs(view, say))
    yield _section(say("end of the output"), f"<pre>{escape(report.log_tail)}</pre>" if report.log_tail else "")
    where = f'<p class="soft">{escape(say("in the folder of the code"))}</p>'
    yield _section(say("do it again"), f"<pre>{escape(report.command)}</pre>{where}")
    yield f"<footer>{escape(say('written by'))} outlast {escape(report.version)} · {escape(report.written_at)}</footer>"


def _section(title: str, body: str) -> str:
    return f"<section><h2>{escape(title[:1].upper() + title[1:])}</h2>{body}</section>" if body else ""


def _header(view: RunView, say: Words) -> str:
    tone = _TONES.get(view.state, "calm")
    facts = [view.id, _moment(view.created_at), view.user, view.platform]
    message = f'<p class="message">{escape(view.message)}</p>' if view.message else ""
    return (
        f'<header><h1>{escape(view.name)} <span class="state {tone}">{escape(say(str(view.state)))}</span></h1>'
        f'<div class="soft">{escape(" · ".join(fact for fact in facts if fact))}</div>{message}</header>'
    )


def _tiles(view: RunView, say: Words) -> str:
    tiles = []
    for word, at, total in (("epoch", view.epoch, view.epochs), ("step", view.step, view.steps)):
        if at is not None:
            tiles.append((f"{at:g}" + (f" / {total:g}" if total else ""), say(word)))
            break
    spent_s = sum(seconds for column, seconds in view.ledger.items() if column != "queued")
    tiles.append((say.duration(format_duration(spent_s)), say("time on machines")))
    tiles.append((str(view.stints), say("stints")))
    if view.useful_fraction is not None:
        tiles.append((f"{view.useful_fraction:.1%}", say("useful")))
    cells = "".join(
        f'<div class="tile"><b>{escape(value)}</b><span>{escape(word)}</span></div>' for value, word in tiles
    )
    return f'<div class="tiles">{cells}</div>'


def _metrics(report: Report, say: Words) -> str:
    rows = []
    for name in sorted(report.final)[:_PAIRS_SHOWN]:
        value, epoch = report.best.get(name, (None, None))
        at = "" if epoch is None else f"{epoch:g}"
        rows.append([name, short_number(report.final[name]), "" if value is None else short_number(value), at])
    titles = [say("metric"), say("last"), say("best"), say("epoch")]
    return _table(titles, rows, right=(1, 2, 3), wrap=(0,)) if rows else ""


def _checkpoints(view: RunView, say: Words) -> str:
    shown = list(view.checkpoints[-CHECKPOINTS_SHOWN:])[::-1]
    rows = [
        [
            point.id,
            _progress(point.progress, say),
            format_size(point.size_bytes),
            str(point.files),
            _moment(point.created_at),
        ]
        for point in shown
    ]
    more = len(view.checkpoints) - len(shown)
    note = f'<p class="soft">{more} {escape(say("older ones not shown"))}</p>' if more else ""
    titles = ["", say("progress"), say("size"), say("files"), say("made")]
    return _table(titles, rows, right=(2, 3)) + note if rows else ""


def _progress(progress: Mapping[str, object], say: Words) -> str:
    for word in ("epoch", "step"):
        value = progress.get(word)
        if isinstance(value, int | float):
            return say.place(word, value)
    return ""


def _outputs(view: RunView, say: Words) -> str:
    files = sorted((view.outputs or {}).items())
    rows = [[path, format_size(int(file.get("size", 0)))] for path, file in files[:FILES_SHOWN]]
    more = len(files) - len(rows)
    note = f'<p class="soft">{more} {escape(say("not shown"))}</p>' if more else ""
    return _table([say("file"), say("size")], rows, right=(1,), wrap=(0,)) + note if rows else ""


def _titled_pairs(title: str, pairs: Mapping[str, str], say: Words) -> str:
    return _section(title, _pairs(pairs, say))


def _pairs(pairs: Mapping[str, str], say: Words) -> str:
    shown = [(say(name), value) for name, value in pairs.items() if value][:_PAIRS_SHOWN]
    cells = "".join(f"<dt>{escape(_cut(name))}</dt><dd>{escape(_cut(value))}</dd>" for name, value in shown)
    more = len([value for value in pairs.values() if value]) - len(shown)
    note = f'<p class="soft">{more} {escape(say("not shown"))}</p>' if more else ""
    return f"<dl>{cells}</dl>{note}" if cells else ""


def _table(
    titles: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = (), wrap: Sequence[int] = ()
) -> str:
    """Columns in `right` are numbers; those in `wrap` may be long and break anywhere. The rest scrolls on a phone."""
    kinds = ["r" if at in right else "w" if at in wrap else "" for at in range(len(titles))]
    marks = [f' class="{kind}"' if kind else "" for kind in kinds]

    def cells(tag: str, texts: Sequence[str]) -> str:
        return "".join(f"<{tag}{mark}>{escape(_cut(text))}</{tag}>" for mark, text in zip(marks, texts, strict=True))

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{cells("th", titles)}</tr></thead><tbody>{body}</tbody></table></div>'


def _cut(text: str) -> str:
    return text if len(text) <= _VALUE_LENGTH else text[: _VALUE_LENGTH - 1] + "…"


def _moment(text: str) -> str:
    """`2026-11-15 10:00 UTC` of an ISO time."""
    return f"{text[:10]} {text[11:16]} UTC" if len(text) >= 16 and text[10] == "T" else text
