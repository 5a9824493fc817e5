"""Models of which the script chooses one from a table of names: `from_pretrained(NAMES[args.kind])`.

The contract's weights are one of them, whichever that is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.flow import Flow
from outlast.adapt.placing.sinks import Sink
from outlast.adapt.placing.spoken_names import names_model
from outlast.adapt.placing.words import Wrap
from outlast.migrate.tree import dotted, inner

if TYPE_CHECKING:
    from outlast.adapt.placing.paths import Paths


def add_from_tables(draft: Draft, flow: Flow, sinks: Iterable[Sink], paths: Paths) -> None:
    """Where nothing else is loaded: what chooses the name is not known, and need not be."""
    if paths.has(Role.WEIGHTS):
        return
    paths.wraps[Role.WEIGHTS] = [
        Wrap(use, use.sink.path, flow.spelling.of(use.sink.path))
        for sink in sinks for use in flow.ways(sink)
        if not use.is_known and names_model(use) and isinstance(use.sink.path, cst.Subscript)
        and _holds_names(draft, dotted(use.sink.path.value))
    ]  # fmt: skip


def _holds_names(draft: Draft, table: str) -> bool:
    values = [
        node.value for node in draft.nodes
        if isinstance(node, cst.Assign) and any(dotted(each.target) == table for each in node.targets)
    ]  # fmt: skip
    return (
        bool(table)
        and len(values) == 1
        and isinstance(values[0], cst.Dict)
        and all(
            isinstance(each.value, cst.SimpleString) and inner(each.value)[:1] not in (".", "/", "~")
            for each in values[0].elements
        )
    )
