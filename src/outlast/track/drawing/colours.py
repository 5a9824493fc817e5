"""Colours that readers with any kind of colour vision tell apart, on white and on black.

The hues are those of Okabe and Ito, a little darker on white and lighter on black so that thin lines stay legible.
"""

from __future__ import annotations

from typing import NamedTuple


class Theme(NamedTuple):
    """The colours of one picture."""

    paper: str
    ink: str  # titles
    soft: str  # labels of the axes
    grid: str
    seam: str
    lines: tuple[str, ...]


LIGHT = Theme(
    "#ffffff", "#1f2328", "#656d76", "#e7eaee", "#9aa3ad",
    ("#0072b2", "#d55e00", "#00875f", "#b8589a", "#b47800", "#3f9bd6", "#5b6570", "#8a4b2f"),
)  # fmt: skip
DARK = Theme(
    "#0d1117", "#e6edf3", "#8b949e", "#21262d", "#6e7681",
    ("#58b4f0", "#ff8b4d", "#35c79a", "#e39ac8", "#eab54a", "#9bd8ff", "#aab4bf", "#cf8f70"),
)  # fmt: skip
THEMES = {"light": LIGHT, "dark": DARK}

#: The same order for terminals, whose users have chosen their own shades.
TERMINAL = ("cyan", "yellow", "green", "magenta", "blue", "red")
