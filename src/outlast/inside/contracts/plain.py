"""The plain contract: exactly the user's arguments, parameters last, everything where the script expects it."""

from __future__ import annotations

from .base import Facts, Rendered, Spec, kept, options, start_of


def render(spec: Spec, facts: Facts) -> Rendered:
    start = start_of(spec["script"], facts.python)
    argv = [*start, *spec.get("args", ()), *kept(options(spec.get("params", {})), spec)]
    return Rendered(argv, {}, facts.code_dir, [], {}, [], [], [], bool(spec.get("network", True)))
