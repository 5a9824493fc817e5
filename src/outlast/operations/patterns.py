"""The user's own patterns for metrics, checked before anything is spent."""

from __future__ import annotations

from outlast.errors import SpecError
from outlast.operations.tomlfile import TomlFile

_HINT = "give every number that is a metric a name, like 'my loss (?P<loss>[0-9.]+)'"


def find_patterns(toml: TomlFile | None) -> tuple[str, ...]:
    """`metrics.patterns` of the file; `SpecError` names the first one that cannot be used."""
    patterns: tuple[str, ...] = () if toml is None else toml.values.get(("metrics", "patterns"), ())
    for pattern in patterns:
        from outlast.inside.patterns import check_pattern

        try:
            check_pattern(pattern)
        except ValueError as error:
            raise SpecError(f"metrics.patterns in outlast.toml: {error}", hint=_HINT) from None
    return patterns
