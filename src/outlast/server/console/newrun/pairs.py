"""Names with values as rows that one adds and removes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from nicegui import ui

from outlast.server.console.newrun.wanted import Rows
from outlast.server.console.parts import button, field
from outlast.server.console.words import say
from outlast.store.assets import read_asset

#: Asks the visitor for an address; empty when they leave.
Browse = Callable[[], Awaitable[str]]


class Pairs:
    """Rows of two fields, with buttons beside them that ask for an address: `browse`, and others by their words.

    `on_change` is told after every change by the visitor, not after `fill`.
    """

    def __init__(
        self, first: str, second: str, add: str, on_change: Callable[[], None],
        browse: Browse | None = None, more: Mapping[str, Browse] | None = None,
    ) -> None:  # fmt: skip
        self._labels = (first, second)
        self._on_change = on_change
        self._browse = ({say("Browse"): browse} if browse is not None else {}) | dict(more or {})
        self._fields: list[tuple[ui.input, ui.input]] = []
        self._place = ui.element("div").classes("o-pairs")
        button(f"+ {add}", lambda: self._add("", ""))

    @property
    def rows(self) -> Rows:
        """What stands there; rows that hold nothing do not count."""
        found = ((name.value or "", value.value or "") for name, value in self._fields)
        return tuple(row for row in found if any(row))

    def fill(self, rows: Rows) -> None:
        self._place.clear()
        self._fields.clear()
        for name, value in rows:
            self._add(name, value)

    def add(self, address: str) -> None:
        """One more row, named after what lies at an address."""
        self._add(_name_of(address), address)

    def _add(self, name: str, value: str) -> None:
        with self._place, ui.element("div").classes("o-pair o-wide" if len(self._browse) > 1 else "o-pair") as row:
            pair = field(self._labels[0], name), field(self._labels[1], value)
            self._fields.append(pair)
            for each in pair:
                each.on_value_change(self._on_change)
            for words, browse in self._browse.items():
                button(words, partial(self._choose, pair, browse))
            label = say("Remove {name}", name=name) if name else say("Remove this row")
            button("✕", lambda: self._remove(row, pair), label=label)

    def _remove(self, row: ui.element, pair: tuple[ui.input, ui.input]) -> None:
        self._fields.remove(pair)
        row.delete()
        self._on_change()

    async def _choose(self, pair: tuple[ui.input, ui.input], browse: Browse) -> None:
        address = await browse()
        if address:
            pair[1].set_value(address)
            if not pair[0].value:
                pair[0].set_value(_name_of(address))


def _name_of(address: str) -> str:
    asset = read_asset(address)
    name = asset.name if asset is not None else address.rstrip("/").rpartition("/")[2]
    return name.partition(".")[0]
