"""The formats that training output comes in: one table, tried from the particular to the general.

A format names the substrings that its lines must hold (a cheap test before its patterns) and a function that reads
one line. To add one, write the function, put it in the table, and give the tests lines that it must and must not read.
"""

from __future__ import annotations

from typing import Callable, NamedTuple, Optional, Tuple

from .bars import read_keras, read_paddle, read_tqdm
from .frameworks import read_boosting, read_estimator, read_mindvision, read_table
from .plain import read_plain
from .reading import Context, Reading
from .text import clean


class Format(NamedTuple):
    name: str
    hints: Tuple[str, ...]  # a line without any of these is not of this format; empty: any line may be
    read: Callable[[str, Context], Optional[Reading]]


FORMATS: Tuple[Format, ...] = (
    Format("table", ("GPU_mem", "Class", "all", "/"), read_table),
    Format("tqdm", ("%|",), read_tqdm),
    Format("keras", ("Epoch", "/step", " - "), read_keras),
    Format("paddle", ("/step", "Eval "), read_paddle),
    Format("mindvision", ("Epoch:[",), read_mindvision),
    Format("estimator", ("global step", "global_step"), read_estimator),
    Format("boosting", ("]",), read_boosting),
    Format("plain", (), read_plain),
)


def read_line(line: bytes, context: Context) -> Optional[Reading]:
    """What one line says, by the first format that recognises it; None when it says nothing."""
    text = clean(line)
    for _name, hints, read in FORMATS:
        if hints and not _has_any(text, hints):
            continue
        reading = read(text, context)
        if reading is not None:
            return None if reading.is_empty else reading
    return None


def _has_any(text: str, hints: Tuple[str, ...]) -> bool:
    for hint in hints:  # noqa: SIM110 - twice as fast as any() here, and this runs for every line and format
        if hint in text:
            return True
    return False


__all__ = ["FORMATS", "Context", "Format", "Reading", "read_line"]
