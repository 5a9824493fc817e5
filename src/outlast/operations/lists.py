"""The part of `Client.runs` that lists runs and reads their points; imports the work when it is asked for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outlast.model.view import RunView
    from outlast.operations.listing import Found
    from outlast.settings import Settings
    from outlast.track.columns import Column
    from outlast.track.series import Series


class Listing:
    """The part of `Client.runs` that lists runs and reads their points."""

    _settings: Settings

    def find(
        self, *, name: str = "", states: Iterable[str] = (), where: Iterable[str] = (), sort: str = "created",
        limit: int | None = None, recent: int | None = None,
    ) -> Found:  # fmt: skip
        """`list`, with the number of runs that `limit` left out.

        `recent` shows all open runs and so many of the others.
        """
        from outlast.model.query import RunQuery
        from outlast.operations.listing import find_runs

        query = RunQuery.build(name, states, where, sort, limit)
        return find_runs(self._settings, dataclasses.replace(query, recent=recent))

    def list(
        self, *, name: str = "", states: Iterable[str] = (), where: Iterable[str] = (), sort: str = "created",
        limit: int | None = None,
    ) -> list[RunView]:  # fmt: skip
        """The runs of this home in the short form, newest first: all of them, or those that fit.

        best = client.runs.list(name="mnist-*", where=["lr<0.1", "val_acc>=0.9"], sort="val_acc", limit=5)
        """
        return self.find(name=name, states=states, where=where, sort=sort, limit=limit).views

    def points(self, ref: str) -> dict[str, Series]:
        """Every metric as one series over all stints.

        loss = client.runs.points("mnist")["loss"]
        """
        from outlast.operations.faults import spoken
        from outlast.operations.locate import locate
        from outlast.track.series import read_series

        found = locate(self._settings, ref)
        with spoken(f"metrics of {found.run}"):
            return read_series(found.store, found.run)

    def columns(self, ref: str, names: Iterable[str] | None = None) -> dict[str, Column]:
        """`points` as numpy arrays from a cache in the home folder: for runs with many of them.

        loss = client.runs.columns("mnist")["loss"].curve
        print(loss.value.min())
        """
        from outlast.keeper.home import Home
        from outlast.operations.faults import spoken
        from outlast.operations.locate import locate
        from outlast.track.columns import read_columns

        found = locate(self._settings, ref)
        with spoken(f"metrics of {found.run}"):
            return read_columns(found.store, found.run, names, cache=Home(self._settings.home).points)
