"""Templates of protocol v2: `<% $parameters.lr %>`, dotted names and list indexes, values only."""

from __future__ import annotations

import json
import re
from typing import Any, Mapping, Sequence

_TAG = re.compile(r"<%\s*(\$?[A-Za-z_][\w.\[\]-]*)\s*%>")
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_MISSING = object()


def render(text: str, values: Mapping[str, Any], keep_unknown: bool = True) -> str:
    """Fill in what `values` has, by its first name (`$parameters`).

    A tag without a value stays as it is; up to v0.16 it became empty, which is `keep_unknown=False`. Secrets stay
    in any case until they are given: they are filled in where the command runs.
    """

    def fill(match: Any) -> str:
        name, found = match.group(1), _look_up(match.group(1), values)
        if found is _MISSING:
            return str(match.group(0)) if keep_unknown or name.startswith("$secrets.") else ""
        return _text(found)

    return _TAG.sub(fill, text)


def tags(text: str) -> Sequence[str]:
    """Every name that a text asks for."""
    return _TAG.findall(text)


def _look_up(name: str, values: Mapping[str, Any]) -> Any:
    found: Any = values
    for index, key in _STEP.findall(name):
        if index:
            found = found[int(index)] if isinstance(found, (list, tuple)) and int(index) < len(found) else _MISSING
        else:
            found = found.get(key, _MISSING) if isinstance(found, Mapping) else _MISSING
        if found is _MISSING:
            return _MISSING
    return found


def _text(value: Any) -> str:
    """As the cluster's own templates print it: lists with commas, nothing for null, lower-case booleans."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return ",".join(_text(each) for each in value)
    return json.dumps(value, ensure_ascii=False)
