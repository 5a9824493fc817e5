"""Names with values as rows that one adds and removes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nicegui import ui

from outlast.server.console.newrun.wanted import Rows
from outlast.server.console.parts import button, field
from outlast.server.console.words import say


class Pairs:
    """Rows of two fields. `on_change` is told after every change by the visitor, not after `fill`."""

    def __init__(
        self, first: str, second: str, add: str, on_change: Callable[[], None],
        browse: Callable[[], Awaitable[str]] | None = None,
    ) -> None:  # fmt: skip
        self._labels = (first, second)
        self._on_change = on_change
        self._browse = browse
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

    def _add(self, name: str, value: str) -> None:
        with self._place, ui.element("div").classes("o-pair") as row:
            pair = field(self._labels[0], name), field(self._labels[1], value)
            self._fields.append(pair)
            for each in pair:
                each.on_value_change(self._on_change)
            if self._browse is not None:
                button(say("Browse"), lambda: self._choose(pair))
            label = say("Remove {name}", name=name) if name else say("Remove this row")
            button("✕", lambda: self._remove(row, pair), label=label)

    def _remove(self, row: ui.element, pair: tuple[ui.input, ui.input]) -> None:
        self._fields.remove(pair)
        row.delete()
        self._on_change()

    async def _choose(self, pair: tuple[ui.input, ui.input]) -> None:
        assert self._browse is not None
        address = await self._browse()
        if address:
            pair[1].set_value(address)
            if not pair[0].value:
                pair[0].set_value(address.rstrip("/").rpartition("/")[2].partition(".")[0])
