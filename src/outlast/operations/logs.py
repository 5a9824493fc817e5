"""What the script printed: one stint's output, or all of it in order, now or as it comes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from outlast.errors import NotFoundError
from outlast.keeper.home import Home
from outlast.keeper.view import decide_from_folder
from outlast.operations.faults import spoken
from outlast.operations.locate import locate
from outlast.operations.runs import OUTAGE_S, Outage, ensure_keeper_of
from outlast.operations.served import served
from outlast.settings import Settings

_LOOK_S = 0.2
#: The output is asked for every `pace_s`, the rest of the folder, which takes twice the requests, less often.
_REMOTE_LOOKS = 3


def check_node(run: str, spec: Mapping[str, Any], node: int) -> None:
    """`NotFoundError` when the stints of a run have no such node."""
    count = int((spec.get("resources") or {}).get("nodes") or 1)
    if not 0 <= node < count:
        known = f"they are numbered 0 to {count - 1}" if count > 1 else "its stints have one machine each, node 0"
        raise NotFoundError(f"run {run} has no node {node}; {known}")


@served("logs")
def read_logs(
    settings: Settings, ref: str, *, stint: int | None = None, follow: bool = False, node: int = 0
) -> Iterator[bytes]:  # fmt: skip
    """The output of a run on one of its nodes, in pieces. With `follow` until the run (or that stint) is over."""
    from outlast.track.logs import LogTail

    found = locate(settings, ref)
    folder = found.folder()
    if stint is not None and stint not in folder.orders:
        known = f"it has {folder.last}" if folder.last else "it has none yet"
        raise NotFoundError(f"run {found.run} has no stint {stint}; {known}")
    check_node(found.run, folder.spec, node)
    home = Home(settings.home)
    tail = LogTail(found.store, found.run, node)
    checked = read = time.monotonic()
    pace_s = found.store.pace_s
    outage = Outage(found.store, OUTAGE_S if follow else 0.0)
    while True:
        # Whether it is over is read before the output: then nothing can come after the last look.
        over = not follow or decide_from_folder(folder, settings).state.is_final or stint in folder.ends
        pieces: list[tuple[int, bytes]] = []
        with outage.tolerated(), spoken(f"output of {found.run}"):
            pieces = tail.poll()
        yield from (piece for number, piece in pieces if stint is None or number == stint)
        if over and not outage.words:
            return
        if time.monotonic() - checked >= 1.0:
            checked = time.monotonic()
            ensure_keeper_of(home, folder)
        time.sleep(max(_LOOK_S, pace_s))
        if time.monotonic() - read >= _REMOTE_LOOKS * pace_s:
            read = time.monotonic()
            with outage.tolerated(), spoken(f"run {found.run}"):
                folder.refresh()
