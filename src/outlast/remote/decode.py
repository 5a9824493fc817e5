"""Answers into the dataclasses that the same operation returns at home.

Fields that a newer server adds are left out. JSON has no nan: where a number must stand, null means nan.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar, Union

from outlast.model.view import RunView

T = TypeVar("T")


def decode(kind: type[T], body: Any) -> T:
    """The dataclass, enum or list that a decoded answer describes."""
    return typing.cast(T, _decode(kind, body))


def decode_run(body: Mapping[str, Any]) -> RunView:
    """A run from its short form, or from the long one, in which `stints` is the list of them."""
    fields = dict(body)
    if isinstance(fields.get("stints"), list):
        fields.update(stint_list=fields["stints"], stints=fields.get("stint_count", len(fields["stints"])))
    return decode(RunView, fields)


def _decode(hint: Any, value: Any) -> Any:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        chosen = [each for each in inner if each is not type(None)]
        return None if value is None else _decode(chosen[0], value) if len(chosen) == 1 else value
    if hint is float:
        return math.nan if value is None else float(value)
    if dataclasses.is_dataclass(hint):
        known = _hints(typing.cast(Any, hint))
        given = {name: _decode(known[name], each) for name, each in value.items() if name in known}
        return typing.cast(type[Any], hint)(**given)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint(value)
    if origin in (tuple, list):
        if origin is tuple and inner[1:] != (Ellipsis,):
            return tuple(_decode(each, one) for each, one in zip(inner, value, strict=True))
        return origin(_decode(inner[0], each) for each in value)
    if origin is dict:
        return {name: _decode(inner[1], each) for name, each in value.items()}
    return value


@functools.cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    fields = {field.name for field in dataclasses.fields(kind) if field.init}
    return {name: hint for name, hint in typing.get_type_hints(kind).items() if name in fields}
