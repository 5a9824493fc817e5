"""Lines as text, and the numbers in them: `name: 0.5`, `name=1e-05`, `name is nan`, `'name': '96%'`."""

from __future__ import annotations

import re
from typing import Iterator, NamedTuple, Optional

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
#: `callback.py:363]` of a logger's prefix looks like a pair and is none; nor is `train:fit:42 -`. Both start where a
#: word does: tried at every byte they would take quadratic time.
_SOURCE_LINE = re.compile(
    r"(?<!\S)\S*\.(?:py|cc|cpp|cu|c|h|hpp|go|rs|js|ipynb):\d+(?::\d+)?|\b[\w.]+:[\w<>]+:\d+(?= - )"
)

_NUMBER = (
    r"[-+]?(?:\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
    r"|[-+]?(?:[nN][aA][nN]|[iI][nN][fF](?:inity)?)"
)
#: What must not follow a number: letters (0x1f, 2.1G), more of a date, time, version or address, or a size's unit.
_NOT_AFTER = r"(?!\w|[.:/-]\d|\.\w|-\w|\s?[KMGTkmgt]i?[Bb]\b)"
_WORD = r"(?!is\b)[^\W\d][\w@/.\-]{0,60}(?:'s)?"

_PAIR = re.compile(
    r"(?<![\w@/.\-])(?P<name>%(word)s(?:[ ]%(word)s){0,2})(?:\(\w{1,30}\))?['\"]?"
    r"(?P<sep>\s{0,4}[:=：]\s{0,8}|\s{1,4}is:?\s{1,8}|\s{1,8})"
    r"(?P<open>['\"\[(]|(?:torch\.)?tensor\(\[?|np\.float\d+\(|Tensor\(shape=\[\d*\], dtype=\w+, value=\s?\[?)?\s{0,8}"
    r"(?P<value>%(number)s)(?P<of>\s{0,4}/\s{0,4}\d+(?:\.\d+)?)?"
    r"(?P<unit>\s?%%|\s?(?:ms|us|secs?|seconds?|s|min)\b)?%(not_after)s(?P<close>\s{0,4}\])?"
    % {"word": _WORD, "number": _NUMBER, "not_after": _NOT_AFTER}
)

_FACTORS = {
    "%": 0.01, "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0, "min": 60.0,
}  # fmt: skip


class Pair(NamedTuple):
    """One `name: number` of a line. `value` is a fraction when a percent sign followed, seconds with a time unit."""

    name: str
    sep: str  # ":", "=", "is" or "" (only space between them)
    value: float
    is_plain_integer: bool
    of: Optional[float]  # the second number of `9840/10000` or `[0.123/0.457]`
    is_bracketed: bool
    is_time: bool  # a time unit followed; `value` is in seconds
    fills_cell: bool  # nothing else stands between two bars: `| ppl 147 |`


def clean(line: bytes) -> str:
    """The line as text: undecodable bytes replaced; colours, control characters and a logger's `file.py:12` gone."""
    text = line.decode("utf-8", "replace")
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    text = _CONTROL.sub("", text)
    if ":" in text:
        text = _SOURCE_LINE.sub("", text)
    return text


def to_number(text: str) -> float:
    """The value of a matched number; thousands separators are dropped, `nan` and `inf` understood."""
    return float(text.replace(",", ""))


def pairs(text: str) -> Iterator[Pair]:
    """Every `name: number` of a line, left to right, whatever the name."""
    for match in _PAIR.finditer(text):
        name, sep, opened, raw, of, unit, close = match.groups()
        is_bracketed = opened is not None and opened[0] == "["
        if is_bracketed and close is None:
            continue  # a list of several numbers is not a scalar
        value = to_number(raw)
        sep = sep.strip()
        if unit is not None:  # rounded: 71.2 % is 0.712, not 0.7120000000000001
            unit = unit.strip()
            value = value if _FACTORS[unit] == 1.0 else round(value * _FACTORS[unit], 12)
        yield Pair(
            name,
            "is" if sep.startswith("is") else sep,
            value,
            raw.isdigit() and unit != "%",
            None if of is None else float(of.replace("/", "").strip()),
            is_bracketed,
            unit is not None and unit != "%",
            "|" in text and _fills_cell(text, match.start(), match.end()),
        )


def _fills_cell(text: str, start: int, end: int) -> bool:
    return text[:start].rstrip().endswith("|") and text[end:].lstrip()[:1] in ("", "|")
