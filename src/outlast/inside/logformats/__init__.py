"""The formats that training output comes in: one table, tried from the particular to the general.

A format names the substrings that its lines must hold (a cheap test before its patterns) and a function that reads
one line. To add one, write the function, put it in the table, and give the tests lines that it must and must not read.
"""

from __future__ import annotations

from typing import Callable, NamedTuple, Optional, Tuple

from .bars import read_keras, read_paddle, read_tqdm
from .frameworks import read_boosting, read_estimator, read_mindvision
from .plain import read_plain
from .reading import Context, Reading
from .tables import read_cells, read_table
from .text import clean


class Format(NamedTuple):
    name: str
    hints: Tuple[str, ...]  # a line without any of these is not of this format; empty: any line may be
    read: Callable[[str, Context], Optional[Reading]]


FORMATS: Tuple[Format, ...] = (
    Format("table", ("GPU_mem", "gpu_mem", "Class", "classes", "all", "/", "train_loss", ":"), read_table),
    Format("cells", ("│", "| ", "   "), read_cells),
    Format("tqdm", ("%|",), read_tqdm),
    Format("keras", ("Epoch", "/step", " - "), read_keras),
    Format("paddle", ("/step", "Eval "), read_paddle),
    Format("mindvision", ("Epoch:[",), read_mindvision),
    Format("estimator", ("global step", "global_step"), read_estimator),
    Format("boosting", ("]", "learn: "), read_boosting),
    Format("plain", (), read_plain),
)


def read_alone(line: bytes) -> Optional[Reading]:
    """What a line says by itself; None also when it only announces what the next lines mean."""
    context = Context()
    reading = read_line(line, context)
    return reading if context.is_neutral else None


def read_line(line: bytes, context: Context) -> Optional[Reading]:
    """What one line says, by the first format that recognises it; None when it says nothing."""
    text = clean(line)
    for _name, hints, read in FORMATS:
        if hints and not _has_any(text, hints):
            continue
        reading = read(text, context)
        if reading is not None:
            context.has_begun = context.has_begun or reading.epoch is not None or reading.step is not None
            return None if reading.is_empty else reading
    return None


def _has_any(text: str, hints: Tuple[str, ...]) -> bool:
    for hint in hints:  # noqa: SIM110 - twice as fast as any() here, and this runs for every line and format
        if hint in text:
            return True
    return False


__all__ = ["FORMATS", "Context", "Format", "Reading", "read_alone", "read_line"]
