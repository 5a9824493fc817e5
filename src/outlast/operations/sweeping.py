"""Sweeps in the client: the verbs of `Client.sweeps`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.model.request import RunRequest
    from outlast.model.sweep import SweepRecord
    from outlast.model.view import RunView
    from outlast.operations.sweep_table import SweepView
    from outlast.operations.sweeps import SweepPlan


class Sweeps:
    """Grids of runs. A sweep is named; its members are ordinary runs, and every verb on runs works on them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def start(
        self, request: RunRequest, *, progress: Callable[[str], None] | None = None, **options: Any
    ) -> SweepRecord:
        """Start a grid and return at once; `request.params` holds several values each, commas between.

        `options` are those of `SweepRequest`: at_once, metric, early_stop, early_stop_after, random, seed.

            client.sweeps.start(RunRequest("train.py", params=("lr=0.1,0.01", "batch=32,64")), at_once=2)
        """
        from outlast.operations.sweeps import SweepRequest, start_sweep

        return start_sweep(self._settings, SweepRequest(request, **options), progress)

    def plan(self, request: RunRequest, **options: Any) -> SweepPlan:
        """The members that such a sweep would have; starts nothing."""
        from outlast.operations.sweeps import SweepRequest, plan_sweep
        from outlast.operations.target import find_target

        find_target(request.target, request.cwd)
        return plan_sweep(SweepRequest(request, **options))

    def get(self, name: str) -> SweepView:
        """A sweep as one table, the best member first."""
        from outlast.operations.sweep_table import show_sweep

        return show_sweep(self._settings, name)

    def runs(self, name: str) -> list[RunView]:
        """The members of a sweep that exist, in the order of the grid, in the short form."""
        from outlast.operations.sweeps import find_sweep

        return find_sweep(self._settings, name).views

    def stop(self, name: str) -> list[str]:
        """Ask every open member to save and stop."""
        from outlast.operations.sweeps import stop_sweep

        return stop_sweep(self._settings, name)

    def resume(self, name: str) -> list[str]:
        """Go on with every member that failed or was stopped, except those that were stopped early."""
        from outlast.operations.sweeps import resume_sweep

        return resume_sweep(self._settings, name)

    def remove(self, name: str, *, force: bool = False) -> list[str]:
        """Remove all members and the sweep itself; with `force` also members that go on."""
        from outlast.operations.sweeps import remove_sweep

        return remove_sweep(self._settings, name, force=force)

    def list(self) -> list[tuple[str, dict[str, int]]]:
        """Every sweep, newest first, with the number of its members by state."""
        from outlast.operations.sweep_table import list_sweeps

        return list_sweeps(self._settings)
