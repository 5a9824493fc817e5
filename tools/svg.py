"""A terminal screen as SVG, drawn so that it looks the same in every browser.

Only letters are left to the reader's fonts, each word at its own column. Lines, bars and the dots of small charts are
drawn as shapes: many fonts have no such characters, and a borrowed one has another width. Nothing is loaded from
anywhere: a picture in a README must not ask any other server for anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from rich.cells import cell_len
from rich.color import blend_rgb
from rich.color_triplet import ColorTriplet
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from rich.text import Text

CELL_WIDTH, CELL_HEIGHT, BASELINE, FONT_SIZE = 8.4, 19.0, 14.0, 14
MARGIN = 16.0
RULE_COLOUR = "#484f58"
FONTS = "Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"

THEME = TerminalTheme(
    (13, 17, 23),
    (201, 209, 217),
    [(72, 79, 88), (255, 123, 114), (63, 185, 80), (210, 153, 34), (88, 166, 255), (188, 140, 255), (57, 197, 207),
     (177, 186, 196)],
    [(110, 118, 129), (255, 161, 152), (86, 211, 100), (227, 179, 65), (121, 192, 255), (210, 168, 255),
     (86, 212, 221), (240, 246, 252)],
)  # fmt: skip

#: character → (left, top, right, bottom) as parts of its cell
_STROKES = {
    "━": (0.0, 0.42, 1.0, 0.58),
    "╸": (0.0, 0.42, 0.5, 0.58),
    "╺": (0.5, 0.42, 1.0, 0.58),
    "─": (0.0, 0.48, 1.0, 0.52),
    "│": (0.46, 0.0, 0.54, 1.0),
}
_BRAILLE = range(0x2800, 0x2900)
# Which of the eight dots each bit of a braille character stands for: (column, row).
_DOTS = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))


@dataclass(frozen=True)
class _Piece:
    """Characters of one style that stand beside each other."""

    column: int
    row: int
    text: str
    colour: str
    bold: bool


def draw_screens(screens: Sequence[str], columns: int, title: str) -> str:
    """The screens, as a terminal gave them with its colour codes, below each other with a line between."""
    pieces: list[_Piece] = []
    rules: list[float] = []
    row = 0
    for number, screen in enumerate(screens):
        if number:
            rules.append(MARGIN + (row + 0.5) * CELL_HEIGHT)
            row += 1
        # As one text: the terminal names a style once, and it holds until the next, over the ends of lines.
        lines = list(Text.from_ansi(screen).split("\n", allow_blank=True))
        pieces += _pieces(lines, row, columns)
        row += len(lines)
    width, height = columns * CELL_WIDTH + 2 * MARGIN, row * CELL_HEIGHT + 2 * MARGIN
    body = [_rule(top, width) for top in rules]
    for piece in pieces:
        body += _draw(piece)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width:g}" height="{height:g}" rx="8" fill="{THEME.background_color.hex}"/>',
            f'<g font-family="{FONTS}" font-size="{FONT_SIZE}">',
            *body,
            "</g>",
            "</svg>\n",
        ]
    )


def _pieces(lines: Sequence[Text], first_row: int, columns: int) -> Iterator[_Piece]:
    console = Console(width=columns, force_terminal=True, color_system="truecolor")
    for row, line in enumerate(lines, first_row):
        column = 0
        for segment in line.render(console):
            text, style = segment.text.rstrip("\n"), segment.style or Style.null()
            for match in re.finditer(r"[⠀-⣿━╸╺─│]+|[^\s⠀-⣿━╸╺─│]+(?: [^\s⠀-⣿━╸╺─│]+)*", text):
                before = cell_len(text[: match.start()])
                yield _Piece(column + before, row, match.group(), _colour(style), bool(style.bold))
            column += cell_len(text)


def _colour(style: Style) -> str:
    colour = style.color.get_truecolor(THEME) if style.color else THEME.foreground_color
    if style.dim:
        colour = blend_rgb(ColorTriplet(*THEME.background_color), ColorTriplet(*colour), 0.5)
    return colour.hex


def _draw(piece: _Piece) -> Iterator[str]:
    if ord(piece.text[0]) in _BRAILLE or piece.text[0] in _STROKES:
        shapes = "".join(_shape(piece, place, char) for place, char in enumerate(piece.text))
        if shapes:
            yield f'<path fill="{piece.colour}" d="{shapes}"/>'
        return
    x, y = MARGIN + piece.column * CELL_WIDTH, MARGIN + piece.row * CELL_HEIGHT + BASELINE
    weight = ' font-weight="bold"' if piece.bold else ""
    # With its length given, a piece ends where it ends in the terminal, whatever the font.
    length = f'textLength="{cell_len(piece.text) * CELL_WIDTH:.1f}" lengthAdjust="spacingAndGlyphs"'
    yield f'<text x="{x:.1f}" y="{y:.1f}" fill="{piece.colour}"{weight} {length}>{escape(piece.text)}</text>'


def _shape(piece: _Piece, place: int, char: str) -> str:
    x, y = MARGIN + (piece.column + place) * CELL_WIDTH, MARGIN + piece.row * CELL_HEIGHT
    if char in _STROKES:
        left, top, right, bottom = _STROKES[char]
        return _box(x + left * CELL_WIDTH, y + top * CELL_HEIGHT, x + right * CELL_WIDTH, y + bottom * CELL_HEIGHT)
    bits, size = ord(char) - _BRAILLE.start, 2.2
    dots = [_DOTS[bit] for bit in range(8) if bits >> bit & 1]
    middles = [(x + (0.25 + 0.5 * c) * CELL_WIDTH, y + (0.125 + 0.25 * r) * CELL_HEIGHT) for c, r in dots]
    return "".join(_box(mx - size / 2, my - size / 2, mx + size / 2, my + size / 2) for mx, my in middles)


def _box(left: float, top: float, right: float, bottom: float) -> str:
    return f"M{left:.1f} {top:.1f}H{right:.1f}V{bottom:.1f}H{left:.1f}z"


def _rule(top: float, width: float) -> str:
    return f'<path stroke="{RULE_COLOUR}" stroke-dasharray="4 4" d="M{MARGIN:g} {top:g}H{width - MARGIN:g}"/>'
