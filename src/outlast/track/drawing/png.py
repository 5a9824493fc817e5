"""SVG as PNG.

By resvg: 3 MB, MIT, and it draws the very SVG that we write, so that the two pictures cannot differ. (A plotting
library would weigh thirty times as much and draw a second picture; cairo needs a system library.)
"""

from __future__ import annotations

from pathlib import Path

from outlast.errors import UsageError

_ZOOM = 2  # sharp on dense screens and in print
_FONT_FOLDERS = (
    "/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts", "/System/Library/Fonts",
    "/Library/Fonts", "C:/Windows/Fonts",
)  # fmt: skip


def to_png(svg: str) -> bytes:
    """The picture at twice its size. `UsageError` when what draws it, or any font, is missing."""
    try:
        import resvg_py
    except ImportError:
        raise UsageError(
            "a PNG needs a package that is not installed here",
            hint="pip install 'outlast[charts]', or write an .svg, which needs nothing",
        ) from None
    if not _has_fonts():
        raise UsageError(
            "this machine has no font to write the labels of a PNG with",
            hint="install one (apt install fonts-dejavu-core), or write an .svg, which needs none",
        )
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=_ZOOM, sans_serif_family="DejaVu Sans"))


def _has_fonts() -> bool:
    folders = (Path(folder).expanduser() for folder in _FONT_FOLDERS)
    return any(path.suffix.lower() in (".ttf", ".otf", ".ttc") for folder in folders for path in folder.rglob("*.*"))
