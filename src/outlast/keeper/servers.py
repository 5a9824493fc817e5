"""The WebHDFS servers that runs need: there before a stint starts, kept while its run is open, gone afterwards."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from outlast.errors import OutlastError
from outlast.inside.namenodes import needed

log = logging.getLogger("outlast.keeper")

#: Stints of this platform run on this machine, where a server on the loopback address can be reached.
_PLATFORM = "local"
#: A server that could not be started again costs a process each time it is tried.
_PATIENCE_S = 30.0


class Servers:
    """The servers of one home, each a process of its own that outlives whoever started it."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._kept: frozenset[str] | None = None  # the runs that were open when we cleaned up last
        self._revive_at = 0.0

    def serve(self, run: str, spec: Mapping[str, Any], platform: str) -> None:
        """Have every name node that a stint needs; `OutlastError` says why one cannot be had."""
        nodes = needed(spec) if platform == _PLATFORM else ()
        if nodes:
            from outlast.webhdfs.running import ensure

            for node in nodes:
                ensure(self._home, node.address, node.folder, run)

    def revive(self, run: str, spec: Mapping[str, Any], platform: str) -> None:
        """The same while a stint runs: a server that died comes back, and trouble never keeps us from the run."""
        if time.monotonic() < self._revive_at:
            return
        try:
            self.serve(run, spec, platform)
        except (OSError, OutlastError) as error:
            self._revive_at = time.monotonic() + _PATIENCE_S
            log.warning("%s: %s", run, error)

    def release(self, run: str) -> None:
        """A run is over: the servers that only it needed end before anybody hears of it."""
        if self._exist():
            from outlast.webhdfs.running import release

            release(self._home, run)

    def keep_for(self, runs: Collection[str]) -> None:
        """Only these runs are open: end what was left behind by one that was removed, or by a keeper that died."""
        if self._kept != frozenset(runs) and self._exist():
            from outlast.webhdfs.running import keep_only

            keep_only(self._home, runs)
        self._kept = frozenset(runs)

    def _exist(self) -> bool:
        return (self._home / "webhdfs").is_dir()
