"""Lists of runs: found, filtered and sorted by the index, open ones as they are now."""

from __future__ import annotations

import dataclasses
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from outlast.errors import OutlastError
from outlast.keeper.home import Home
from outlast.keeper.view import decide_from_folder, short_view, useful_fraction, view_from_json
from outlast.keeper.wake import ensure_keeper, keeper_is_there
from outlast.model.query import FIELDS, RunQuery, sort_key
from outlast.model.states import RunState
from outlast.model.view import RunView
from outlast.operations.locate import Located, open_index, open_run_store
from outlast.operations.room import full_disk_notice
from outlast.operations.served import served
from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.keeper.index import RunRow
    from outlast.keeper.search import Hit


@dataclasses.dataclass(frozen=True)
class Found:
    """The runs that were asked for, and how many more there are that a limit left out."""

    views: list[RunView]
    left_out: int = 0


def list_runs(settings: Settings) -> list[RunView]:
    """Every run of this home, newest first; a run is there as soon as its submit has returned."""
    return find_runs(settings, RunQuery()).views


@served("runs")
def find_runs(settings: Settings, query: RunQuery) -> Found:
    """The runs that a query means, in its order.

    Open runs are read from their folders: the index may be a second behind, and the next command may rely on it.
    """
    home = Home(settings.home)
    index = open_index(settings)
    try:
        hits = index.search(query)
        fresh: dict[str, RunView] = {}
        if any(hit.open for hit in hits):
            fresh = {row.id: _fresh_view(settings, row) for row in index.open_runs()}
            ended = index.views([hit.id for hit in hits if hit.open and hit.id not in fresh])  # between the two looks
            fresh |= _views(ended)
            hits = [hit for hit in (_looked_at(hit, fresh, query) for hit in hits) if hit is not None]
        chosen = choose_hits(hits, query)
        ended = index.views([hit.id for hit in chosen if not hit.open])
    finally:
        index.close()
    if fresh and not keeper_is_there(home):
        ensure_keeper(home)
    views = fresh | _views(ended)
    return Found([views[hit.id] for hit in chosen if hit.id in views], len(hits) - len(chosen))


def _views(bodies: dict[str, dict[str, Any]]) -> dict[str, RunView]:
    return {run: view_from_json(body) for run, body in bodies.items() if "state" in body}


def _looked_at(hit: Hit, fresh: dict[str, RunView], query: RunQuery) -> Hit | None:
    """An open run as it is now, or None when it does not fit (any more)."""
    if not hit.open:
        return hit
    view = fresh.get(hit.id)
    if view is None or not query.matches(view):
        return None
    word = query.sort.removeprefix("-")
    return hit._replace(state=view.state.value, key=None if word in FIELDS else sort_key(view, word))


def choose_hits(hits: list[Hit], query: RunQuery) -> list[Hit]:
    """Those that are shown, in the query's order."""
    chosen = _sorted(hits, query)
    if query.recent is not None:
        ended = [hit.id for hit in chosen if RunState(hit.state).is_final]
        dropped = set(ended[query.recent :])
        chosen = [hit for hit in chosen if hit.id not in dropped]
    return chosen if query.limit is None else chosen[: query.limit]


def _sorted(hits: list[Hit], query: RunQuery) -> list[Hit]:
    """In the query's order; equal ones newest first, those without a value last."""
    newest = sorted(hits, key=lambda hit: (hit.created_at, hit.id), reverse=True)
    word = query.sort.removeprefix("-")
    if word == "created":
        return newest if query.descending else newest[::-1]
    known = [(_place(hit, word), hit) for hit in newest]
    placed = sorted((pair for pair in known if pair[0] is not None), key=itemgetter(0), reverse=query.descending)
    return [hit for _, hit in placed] + [hit for place, hit in known if place is None]


def _place(hit: Hit, word: str) -> Any:
    return {"name": hit.name, "state": _STATES[hit.state]}.get(word, hit.key)


#: The order of `sort=state`: what is under way, then what needs a look, then what is well.
_STATES = {
    state.value: place
    for place, state in enumerate(
        [RunState.RUNNING, RunState.QUEUED, RunState.FAILED, RunState.STOPPED, RunState.SUCCEEDED]
    )
}


def _fresh_view(settings: Settings, row: RunRow) -> RunView:
    """A run's short view as of now; what the keeper wrote last when the folder cannot be read."""
    known = view_from_json(row.view)
    try:
        store = open_run_store(Home(settings.home), row.store, row.id)
        folder = Located(row.id, row.store, store).folder()
    except OutlastError:
        return known
    view = short_view(folder, decide_from_folder(folder, settings))
    if view.state.is_final:
        return dataclasses.replace(view, useful_fraction=useful_fraction(folder))
    view = dataclasses.replace(view, useful_fraction=known.useful_fraction)
    if known.stints != view.stints:
        return view
    message = known.message if known.message.startswith(view.message) else view.message
    trouble = full_disk_notice(Home(settings.home), row.store)
    return dataclasses.replace(view, message=message, notice=trouble or known.notice or view.notice)
