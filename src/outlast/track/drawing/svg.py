"""A figure as SVG: small, self-contained, light and dark by the reader's own setting."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from outlast.track.drawing.colours import DARK, LIGHT, THEMES, Theme
from outlast.track.drawing.figure import Curve, Figure, Line, Panel
from outlast.track.drawing.scale import Scale, place_scale, short_number, value_scale
from outlast.track.spark import display_width, fit

#: A word in the reader's language.
Say = Callable[[str], str]

PANEL_WIDTH, PANEL_HEIGHT = 460, 264
_WIDE_PANEL = 720  # a picture of one panel
_GAP = 20
_TOP, _BOTTOM = 44, 40
_FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif"
_CHARACTER = 6.4  # pixels that a character of the labels takes at most, on average
_LABEL_COLUMNS = 22
_LABEL_ROW = 13.0
_SEAM_LABEL = 44.0  # pixels that "stint 12" needs
_SEAM_LEAST = 5.0  # seams closer than this would be a grey carpet
_FEW_POINTS = 30  # so few are also shown as dots
#: What XML does not allow, and what would turn the direction of the text around it.
_FORBIDDEN = re.compile(
    r"[^\t\n\r\x20-\x7e\x85\xa0-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)


def draw_svg(figure: Figure, *, columns: int = 2, theme: str = "auto") -> str:
    """A picture of its own: panels side by side on paper. `theme` is auto, light or dark."""
    columns = max(1, min(columns, len(figure.panels)))
    wide = PANEL_WIDTH if columns > 1 else _WIDE_PANEL
    rows = -(-len(figure.panels) // columns)
    width, height = columns * (wide + _GAP) + _GAP, rows * (PANEL_HEIGHT + _GAP) + _GAP
    names = ", ".join(panel.metric for panel in figure.panels)
    title = escape(_short(f"{names} of {', '.join(figure.runs)}", 200))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'class="ol" role="img" font-family="{_FONT}" font-size="11">',
        f"<title>{title}</title>",
        f"<style>{style_sheet(theme)}</style>",
        f'<rect class="ol-paper" width="{width}" height="{height}" rx="8"/>',
    ]
    for number, panel in enumerate(figure.panels):
        x, y = _GAP + number % columns * (wide + _GAP), _GAP + number // columns * (PANEL_HEIGHT + _GAP)
        parts.append(f'<g transform="translate({x} {y})">{_draw(panel, figure, wide, str)}</g>')
    return "\n".join([*parts, "</svg>", ""])


def draw_inline(panel: Panel, figure: Figure, *, width: int = PANEL_WIDTH, say: Say = str) -> str:
    """One panel to stand in a page, whose style sheet holds `style_sheet` and whose words `say` gives."""
    return (
        f'<svg viewBox="0 0 {width} {PANEL_HEIGHT}" class="ol" role="img" font-family="{_FONT}" font-size="11">'
        f"<title>{escape(_short(panel.metric, 80))}</title>{_draw(panel, figure, width, say)}</svg>"
    )


def style_sheet(theme: str = "auto") -> str:
    """The rules of a picture. Plain colours, no variables: what turns SVG into PNG does not know those."""
    shapes = (
        ".ol-line{fill:none;stroke-width:1.7;stroke-linejoin:round;stroke-linecap:round}"
        ".ol-pale{stroke-opacity:.32;stroke-width:1.4}"
        ".ol-seam{stroke-width:1;stroke-dasharray:1 4;stroke-linecap:round}"
        ".ol-grid{stroke-width:1}.ol-title{font-size:13px;font-weight:600}.ol-end{font-weight:500}"
    )
    if theme in THEMES:
        return shapes + _colours(THEMES[theme])
    return f"{shapes}{_colours(LIGHT)}@media screen and (prefers-color-scheme:dark){{{_colours(DARK)}}}"


def _colours(theme: Theme) -> str:
    rules = [
        f".ol-paper{{fill:{theme.paper}}}.ol-title{{fill:{theme.ink}}}.ol-soft{{fill:{theme.soft}}}"
        f".ol-grid{{stroke:{theme.grid}}}.ol-seam{{stroke:{theme.seam}}}.ol-ring{{fill:{theme.paper}}}"
    ]
    rules += [f".ol-s{at}{{stroke:{colour}}}.ol-f{at}{{fill:{colour}}}" for at, colour in enumerate(theme.lines)]
    return "".join(rules)


def escape(text: str) -> str:
    """Text for SVG and HTML: what XML forbids becomes �, so that no name and no log can break the document."""
    return html.escape(_FORBIDDEN.sub("�", text))


class _Frame(NamedTuple):
    """The area of the curves within a panel, in pixels, and its axes."""

    left: float
    right: float
    top: float
    bottom: float
    across: Scale
    upright: Scale

    def x(self, value: float) -> float:
        return self.left + self.across.share(value) * (self.right - self.left)

    def y(self, value: float) -> float:
        return self.bottom - self.upright.share(value) * (self.bottom - self.top)


def _draw(panel: Panel, figure: Figure, width: int, say: Say) -> str:
    upright = value_scale(panel.ys, 5, log=figure.log)
    labels = upright.labels()
    left = max(display_width(label) for label in labels) * _CHARACTER + 10
    right = width - max(display_width(text) for text in _end_texts(panel, figure)) * _CHARACTER - 12
    across = place_scale(panel.xs, max(2, int((right - left) / 56)))
    frame = _Frame(left, right, _TOP, PANEL_HEIGHT - _BOTTOM, across, upright)
    few = sum(len(line.xs) for curve in panel.curves for line in curve.lines) <= _FEW_POINTS * len(panel.curves)
    parts = [_title(panel, figure, say), *_axes(frame, labels, say(figure.x_title))]
    if not figure.is_overlay:
        parts += [_seams(curve, frame, say("stint")) for curve in panel.curves]
    # What is obsolete lies below everything that counts.
    for faint in (True, False):
        parts += [_line(curve, line, frame) for curve in panel.curves for line in curve.lines if line.faint is faint]
    parts += [_dots(curve, frame, few=few, overlay=figure.is_overlay) for curve in panel.curves]
    return "".join([*parts, _ends(panel, figure, frame)])


def _title(panel: Panel, figure: Figure, say: Say) -> str:
    facts = []
    if not figure.is_overlay:
        (curve,) = panel.curves
        facts = [f"{say('best')} {short_number(curve.best)}"] if curve.best is not None else []
    left_out = sum(curve.left_out for curve in panel.curves)
    if left_out:
        facts.append(f"{left_out} {say('not shown')}")
    room = 60 - sum(len(fact) for fact in facts)
    soft = f'<tspan dx="10" class="ol-soft" font-size="11" font-weight="400">{escape(" · ".join(facts))}</tspan>'
    return f'<text class="ol-title" y="12">{escape(_short(panel.metric, room))}{soft if facts else ""}</text>'


def _axes(frame: _Frame, labels: Sequence[str], x_title: str) -> Iterable[str]:
    grid = "".join(f"M{_px(frame.left)} {_px(frame.y(tick))}H{_px(frame.right)}" for tick in frame.upright.ticks)
    yield f'<path class="ol-grid" d="{grid}"/>'
    yield '<g class="ol-soft" text-anchor="end">'
    for tick, label in zip(frame.upright.ticks, labels, strict=True):
        yield f'<text x="{_px(frame.left - 8)}" y="{_px(frame.y(tick) + 4)}">{label}</text>'
    yield '</g><g class="ol-soft" text-anchor="middle">'
    for tick, label in zip(frame.across.ticks, frame.across.labels(), strict=True):
        yield f'<text x="{_px(frame.x(tick))}" y="{_px(frame.bottom + 17)}">{label}</text>'
    x, y = _px((frame.left + frame.right) / 2), _px(frame.bottom + 33)
    yield f'<text x="{x}" y="{y}">{escape(x_title)}</text></g>'


def _seams(curve: Curve, frame: _Frame, word: str) -> str:
    """A dotted line where each stint begins, labelled where there is room."""
    drawn, labels = [], []
    line_at = label_at = -1e9
    for mark in curve.seams:
        x = frame.x(mark.x)
        if x - line_at >= _SEAM_LEAST:
            line_at = x
            drawn.append(f"M{_px(x)} {_px(frame.top - 4)}V{_px(frame.bottom)}")
        if x - label_at >= _SEAM_LABEL:
            label_at = x
            labels.append(f'<text x="{_px(x)}" y="{_px(frame.top - 9)}">{word} {mark.stint}</text>')
    if not drawn:
        return ""
    texts = f'<g class="ol-soft" text-anchor="middle" font-size="10">{"".join(labels)}</g>'
    return f'<path class="ol-seam" d="{"".join(drawn)}"/>{texts}'


def _line(curve: Curve, line: Line, frame: _Frame) -> str:
    path = "".join(
        "M" + "L".join(f"{_px(frame.x(x))} {_px(frame.y(y))}" for x, y in stroke)
        for stroke in line.strokes()
        if len(stroke) > 1
    )
    pale = " ol-pale" if line.faint else ""
    return f'<path class="ol-line ol-s{_colour(curve)}{pale}" d="{path}"/>' if path else ""


def _dots(curve: Curve, frame: _Frame, *, few: bool, overlay: bool) -> str:
    """Each point of a short curve, and of a long one those that stand alone; over several runs the seams as rings."""
    colour = _colour(curve)
    parts = [
        f'<circle class="ol-f{colour}" cx="{_px(frame.x(x))}" cy="{_px(frame.y(y))}" r="2"/>'
        for line in curve.lines
        if not line.faint
        for stroke in line.strokes()
        if few or len(stroke) == 1
        for x, y in stroke
    ]
    if overlay:
        parts += [
            f'<circle class="ol-ring ol-s{colour}" cx="{_px(frame.x(mark.x))}" cy="{_px(frame.y(mark.y))}" r="2.6"/>'
            for mark in curve.seams
        ]
    return "".join(parts)


def _ends(panel: Panel, figure: Figure, frame: _Frame) -> str:
    """The label of each curve beside its end, pushed apart where they would lie on each other."""
    texts = _end_texts(panel, figure)
    wanted = []
    for curve, text in zip(panel.curves, texts, strict=True):
        ends = [stroke[-1] for line in curve.lines if not line.faint for stroke in line.strokes()]
        if ends:
            wanted.append((frame.y(ends[-1][1]), frame.x(ends[-1][0]), curve, text))
    wanted.sort(key=lambda row: row[0])
    places = spread([row[0] for row in wanted], frame.top, frame.bottom)
    return "".join(
        f'<circle class="ol-f{_colour(curve)}" cx="{_px(x)}" cy="{_px(y)}" r="2.8"/>'
        f'<text class="ol-end ol-f{_colour(curve)}" x="{_px(frame.right + 9)}" y="{_px(place + 4)}">'
        f"{escape(text)}</text>"
        for (y, x, curve, text), place in zip(wanted, places, strict=True)
    )


def spread(wanted: Sequence[float], top: float, bottom: float) -> list[float]:
    """Heights of labels near the wanted ones (sorted), a row apart, within the frame as far as there is room."""
    places: list[float] = []
    for height in wanted:
        places.append(max(height, places[-1] + _LABEL_ROW) if places else max(height, top))
    limit = bottom
    for at in range(len(places) - 1, -1, -1):
        places[at] = min(places[at], limit)
        limit = places[at] - _LABEL_ROW
    return places


def _end_texts(panel: Panel, figure: Figure) -> list[str]:
    if figure.is_overlay:
        return [_short(curve.label, _LABEL_COLUMNS) for curve in panel.curves]
    return ["" if curve.last is None else short_number(curve.last) for curve in panel.curves]


def _short(text: str, columns: int) -> str:
    # Cut first: fitting goes back character by character, and a name may have thousands.
    return fit(text[: 4 * columns], columns).rstrip()


def _colour(curve: Curve) -> int:
    return curve.index % len(LIGHT.lines)


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
