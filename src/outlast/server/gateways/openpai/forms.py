"""Bodies as each generation's clients send them: JSON, YAML, and forms whose names have brackets. Pure."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qsl

from outlast.errors import SpecError

#: As the original's own parser: deeper names and longer lists are no jobs.
_DEEPEST, _LONGEST, _MOST_FIELDS = 20, 1000, 5000
_STEP = re.compile(r"\[([^\[\]]*)\]")


def read_body(text: str, media_type: str) -> Any:
    """What a body says; text of any kind is left as it is, for whoever reads YAML."""
    kind = media_type.partition(";")[0].strip().lower()
    if kind.startswith("text/"):
        return text
    if kind == "application/x-www-form-urlencoded":
        return read_form(text)
    try:
        return json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise SpecError(f"the body is not JSON: {error}") from None


def read_form(text: str) -> dict[str, Any]:
    """`taskRoles[0][name]=task` as nested objects and lists; every value is text."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise SpecError(f"the form has more than {_MOST_FIELDS} fields") from None
    found: dict[str, Any] = {}
    for name, value in pairs:
        head, bracket, _ = name.partition("[")
        steps = [head, *_STEP.findall(name[len(head) :] if bracket else "")]
        if len(steps) > _DEEPEST:
            raise SpecError(f"the field {name[:60]} is nested too deeply")
        _put(found, steps, value)
    return {name: _with_lists(value) for name, value in found.items()}


def _put(into: dict[str, Any], steps: list[str], value: str) -> None:
    for step in steps[:-1]:
        inner = into.setdefault(_key(into, step), {})
        if not isinstance(inner, dict):
            raise SpecError(f"the field {'.'.join(steps)[:60]} is both a value and an object")
        into = inner
    into[_key(into, steps[-1])] = value


def _key(into: dict[str, Any], step: str) -> str:
    """`a[]=1&a[]=2` counts for itself."""
    return step or str(len(into))


def _with_lists(value: Any) -> Any:
    """Objects whose names are numbers are the lists that they were before they were written down."""
    if not isinstance(value, dict):
        return value
    inner = {name: _with_lists(each) for name, each in value.items()}
    if inner and all(name.isdecimal() and int(name) < _LONGEST for name in inner):
        return [inner[name] for name in sorted(inner, key=int)]
    return inner
