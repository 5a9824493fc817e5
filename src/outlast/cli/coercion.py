"""Reading option values without pydantic.

typer builds a pydantic adapter for every value it reads; importing pydantic doubles the time of a small command like
`ps`. All our options are text, numbers, paths or flags, which a few lines can read, with better words.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args, get_origin

import typer

_NUMBERS = {int: "a whole number", float: "a number"}


def lighten(params: list[Any]) -> None:
    """Let each parameter read its own value. Versions of typer without this seam keep their own way."""
    for param in params:
        if hasattr(param, "get_runtime_param") and hasattr(param, "type_descriptor"):
            param.get_runtime_param = _Reading


class _Reading:
    """Stands where typer expects its adapter."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        annotation = param.type_descriptor.annotation
        if get_origin(annotation) is list:
            (annotation,) = get_args(annotation)
        if several:
            return [_read(item, annotation, param, ctx) for item in value]
        return _read(value, annotation, param, ctx)


def _read(value: Any, kind: Any, param: Any, ctx: Any) -> Any:
    if kind is Path:
        return Path(value)
    if kind not in _NUMBERS or isinstance(value, kind):
        return value
    try:
        number = kind(value)
    except ValueError:
        raise typer.BadParameter(f"{value!r} is not {_NUMBERS[kind]}", ctx=ctx, param=param) from None
    least = param.type_descriptor.parameter_info.min
    if least is not None and number < least:
        raise typer.BadParameter(f"{value} is too small; the least is {least:g}", ctx=ctx, param=param)
    most = param.type_descriptor.parameter_info.max
    if most is not None and number > most:
        raise typer.BadParameter(f"{value} is too large; the most is {most:g}", ctx=ctx, param=param)
    return number
