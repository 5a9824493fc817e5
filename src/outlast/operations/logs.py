"""What the script printed: one stint's output, or all of it in order, now or as it comes."""

from __future__ import annotations

import time
from collections.abc import Iterator

from outlast.errors import NotFoundError
from outlast.keeper.home import Home
from outlast.keeper.view import decide_from_folder
from outlast.operations.faults import spoken
from outlast.operations.locate import locate
from outlast.operations.runs import ensure_keeper_of
from outlast.settings import Settings

_LOOK_S = 0.2


def read_logs(
    settings: Settings, ref: str, *, stint: int | None = None, follow: bool = False
) -> Iterator[bytes]:  # fmt: skip
    """The output of a run in pieces. With `follow` it goes on until the run (or that stint) is over."""
    from outlast.track.logs import LogTail

    found = locate(settings, ref)
    folder = found.folder()
    if stint is not None and stint not in folder.orders:
        known = f"it has {folder.last}" if folder.last else "it has none yet"
        raise NotFoundError(f"run {found.run} has no stint {stint}; {known}")
    home = Home(settings.home)
    tail = LogTail(found.store, found.run)
    checked = time.monotonic()
    while True:
        # Whether it is over is read before the output: then nothing can come after the last look.
        over = not follow or decide_from_folder(folder, settings).state.is_final or stint in folder.ends
        with spoken(f"output of {found.run}"):
            for number, piece in tail.poll():
                if stint is None or number == stint:
                    yield piece
        if over:
            return
        if time.monotonic() - checked >= 1.0:
            checked = time.monotonic()
            ensure_keeper_of(home, folder)
        time.sleep(_LOOK_S)
        with spoken(f"run {found.run}"):
            folder.refresh()
