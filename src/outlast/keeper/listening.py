"""Stints that cannot be heard, by what their platform says of them.

Before its first sign of life, and when its beats have stopped, a stint tells nothing; a platform that writes down
events and device use is asked instead, and what it says lies in the run folder for everybody to read. A stint that
speaks is believed: what was said of it is taken away again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from outlast.inside import layout
from outlast.inside.errors import InsideError
from outlast.keeper.observe import Ages, RunFolder
from outlast.keeper.platforms import Platforms
from outlast.model.hearsay import Hearsay
from outlast.platforms.base import Job, JobState, Tells, job_name

#: A beat comes every second or so: after so long without one, others are asked.
QUIET_S = 20.0


class Listening:
    """One run's. Asks only about the newest stint: the others are over."""

    def __init__(self) -> None:
        self._written: dict[int, bytes] = {}  # by stint; empty: it speaks for itself

    def look(self, folder: RunFolder, jobs: Mapping[str, Job], platforms: Platforms, ages: Ages) -> str:
        """The newest words of the platform about an open stint that says nothing itself; empty otherwise."""
        number = folder.last
        job = jobs.get(job_name(folder.run, number), Job(JobState.ABSENT))
        if number not in folder.orders or number in folder.ends or job.state is JobState.ABSENT or job.unheard:
            return ""
        line = platforms.line(folder.orders[number].platform)
        if not isinstance(line.platform, Tells):
            return ""
        quiet_s = ages.known(("beat", number)) or 0.0
        if number in folder.claims and quiet_s < QUIET_S and job.state is not JobState.ENDED:
            self._keep(folder, number, None)
            return ""
        heard = line.hearsay(job_name(folder.run, number), job.state)
        if heard is None or heard.is_empty:
            return ""
        self._keep(folder, number, heard)
        return heard.newest

    def _keep(self, folder: RunFolder, number: int, heard: Hearsay | None) -> None:
        """Write it down when it is news. It is for people only: a store that fails says so elsewhere."""
        data, key = heard.to_bytes() if heard is not None else b"", layout.platform_key(folder.run, number)
        if self._written.get(number) == data:
            return
        with contextlib.suppress(InsideError):
            if data:
                folder.store.put_quick(key, data)
            else:
                folder.store.delete(key)
            self._written[number] = data
