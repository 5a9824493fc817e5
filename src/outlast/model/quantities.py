"""Durations and sizes as people write them: `90s`, `1h30m`, `4GB`."""

from __future__ import annotations

import re

_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(d|h|min|ms|m|s)")
_SECONDS = {"d": 86400.0, "h": 3600.0, "min": 60.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def parse_duration(text: str) -> float:
    """Seconds in `15s`, `1h`, `1h30m`, `90` (a bare number means seconds)."""
    value = text.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return float(value)
    parts = _DURATION_PART.findall(value)
    if not parts or _DURATION_PART.sub("", value).strip():
        raise ValueError(f"{text!r} is not a duration; write it like 90s, 15m, 1h30m or 2d")
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def parse_size(text: str) -> int:
    """Bytes in `512M`, `4GB`, `4GiB`; units are powers of 1024, as schedulers read them."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a size; write it like 512M, 4G or 16GiB")
    return int(float(match.group(1)) * 1024 ** _POWERS[match.group(2).lower()])


def format_duration(seconds: float) -> str:
    """`0.4 s`, `15 s`, `3 min 20 s`, `16 h 40 min`, `2 d 3 h`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    days, rest = divmod(whole, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, secs = divmod(rest, 60)
    if days:
        return f"{days} d {hours} h" if hours else f"{days} d"
    if hours:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    if minutes:
        return f"{minutes} min {secs} s" if secs else f"{minutes} min"
    return f"{secs} s"


def format_size(size_bytes: float) -> str:
    """`812 B`, `3.4 KB`, `1.2 GB`; powers of 1024."""
    if size_bytes < 1024:
        return f"{int(size_bytes)} B"
    for unit in ("KB", "MB", "GB", "TB"):
        size_bytes /= 1024
        if size_bytes < 1024 or unit == "TB":
            return f"{size_bytes:.1f} {unit}"
    raise AssertionError("unreachable")
