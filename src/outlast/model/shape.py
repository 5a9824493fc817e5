"""Documents into dataclasses and back: every field checked against its annotation, every fault named with its place.

The core validates one kind of document, the spec. A general library for this costs a fifth of a second at each start
of a command, which is a third of the time from `outlast run` to the script's first line.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, Union

T = TypeVar("T")

_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}


def read(kind: type[T], body: object) -> T:
    """The dataclass that a decoded JSON document describes. `ValueError` names the field and the value."""
    return typing.cast(T, _read(kind, body, ""))


def plain(value: object) -> Any:
    """The same as JSON knows it: dictionaries, lists, text, numbers."""
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


def _read(hint: Any, value: object, where: str) -> object:
    origin = typing.get_origin(hint)
    if hint is Any:
        return value
    if dataclasses.is_dataclass(hint):
        return _read_dataclass(typing.cast(type[Any], hint), value, where)
    if origin in (Union, types.UnionType):
        return _read_union(typing.get_args(hint), value, where)
    if origin is Literal:
        if value not in typing.get_args(hint):
            known = ", ".join(repr(each) for each in typing.get_args(hint))
            raise ValueError(f"{where or 'value'} is {value!r}; possible: {known}")
        return value
    if origin is tuple and isinstance(value, list | tuple):
        inner = typing.get_args(hint)[0]
        return tuple(_read(inner, each, f"{where}[{number}]") for number, each in enumerate(value))
    if origin is dict and isinstance(value, Mapping):
        inner = typing.get_args(hint)[1]
        return {_key(key, where): _read(inner, each, f"{where}.{key}") for key, each in value.items()}
    if _is(value, hint):
        return float(typing.cast(float, value)) if hint is float else value
    raise ValueError(f"{where or 'value'} is {value!r}, not {_called(hint)}")


def _read_dataclass(kind: type[Any], value: object, where: str) -> object:
    if isinstance(value, kind):
        return value
    if not isinstance(value, Mapping):
        raise ValueError(f"{where or 'value'} is {value!r}, not an object")
    hints = typing.get_type_hints(kind)
    unknown = sorted(str(key) for key in value if key not in hints)
    if unknown:
        raise ValueError(f"{_below(where, unknown[0])} is not known")
    given = {name: _read(hint, value[name], _below(where, name)) for name, hint in hints.items() if name in value}
    for field in dataclasses.fields(kind):
        has_default = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        if field.name not in given and not has_default:
            raise ValueError(f"{_below(where, field.name)} is missing")
    try:
        return kind(**given)
    except ValueError as error:
        raise ValueError(f"{where}: {error}" if where else str(error)) from None


def _read_union(hints: tuple[Any, ...], value: object, where: str) -> object:
    """The first that fits. Only "or null" is used, so the fault of the last real one is the one to tell."""
    if value is None and type(None) in hints:
        return None
    fault: ValueError | None = None
    for hint in hints:
        if hint is not type(None):
            try:
                return _read(hint, value, where)
            except ValueError as error:
                fault = error
    assert fault is not None
    raise fault


def _is(value: object, hint: Any) -> bool:
    if isinstance(value, bool) or hint is bool:
        return isinstance(value, bool) and hint is bool
    if hint is float:
        return isinstance(value, int | float)
    return isinstance(hint, type) and isinstance(value, hint)


def _called(hint: Any) -> str:
    origin = typing.get_origin(hint)
    return {tuple: "a list", dict: "an object"}.get(origin) or _NAMES.get(hint) or str(hint)


def _key(key: object, where: str) -> str:
    if not isinstance(key, str):
        raise ValueError(f"{where} has the key {key!r}, which is not text")
    return key


def _below(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name
