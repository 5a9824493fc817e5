"""Logs of ended jobs on their way to OBS, where the job said they belong: `log_url`, `log_export_path`.

A log is brought when its job is over, under the name that it has in the cloud, by whichever process of the server
comes first. A place that cannot be reached is tried again, and after that a Warning event of the job says so.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
from pathlib import Path

from fastapi import APIRouter

from outlast.errors import OutlastError, StoreError
from outlast.inside.errors import InsideError
from outlast.inside.move.plan import Options
from outlast.keeper.home import Home
from outlast.operations.transfer import carry_out, failure_words, plan_copy
from outlast.server.database import Database
from outlast.server.gateways.modelarts.bodiesv1 import resource_id
from outlast.server.gateways.modelarts.book import JobBook
from outlast.server.gateways.modelarts.exports import Export, Exports
from outlast.server.gateways.modelarts.jobs import SeenJob, see
from outlast.server.gateways.modelarts.logs import open_log
from outlast.server.gateways.modelarts.phases import FINAL
from outlast.server.logtext import LogText
from outlast.server.rounds import Rounds, while_serving
from outlast.settings import Settings

log = logging.getLogger("outlast.server")

#: Waits after tries that failed; when they are used up, the log stays where it is.
BACKOFF_S = (10.0, 60.0, 600.0)
#: The cloud keeps so much of an output and drops the rest; of ours the newest part is brought.
MOST_BYTES = 1 << 30
_PIECE_BYTES = 1 << 20


class Carrier(Rounds):
    """Looks for jobs that have ended and brings their logs."""

    what = "logs of ModelArts jobs"

    def __init__(self, settings: Settings, database: Database) -> None:
        super().__init__()
        self._settings = settings
        self._book = JobBook(database)
        self._exports = Exports(database)

    def round(self) -> int:
        """Bring what can be brought; how many logs arrived."""
        return sum(self._look(each) for each in self._exports.due() if not self._stopping.is_set())

    def _look(self, export: Export) -> bool:
        row = self._book.by_number(export.number)
        seen = see(self._settings, row) if row is not None else None
        if row is None or seen is None or (seen.folder is None and seen.progress.phase in FINAL):
            self._exports.remove(export.number)  # the job was deleted, or its run by another door
            return False
        if seen.progress.phase not in FINAL or not self._exports.claim(export):
            return False
        try:
            self._bring(seen, export.target)
        except (OutlastError, InsideError, OSError) as error:
            self._failed(seen, export, error)
            return False
        self._exports.remove(export.number)
        return True

    def _failed(self, seen: SeenJob, export: Export, error: Exception) -> None:
        log.warning("the log of job %s is not at %s: %s", seen.row.id, export.target, error)
        if export.tries < len(BACKOFF_S):
            self._exports.postpone(export, BACKOFF_S[export.tries])
            return
        self._book.add_notice(seen.row, f"the log could not be brought to {export.target}: {error}")
        self._exports.remove(export.number)

    def _bring(self, seen: SeenJob, target: str) -> None:
        folder = Path(tempfile.mkdtemp(dir=Home(self._settings.home).cache, prefix="modelarts-log-"))
        try:
            files = [folder / export_name(seen, node) for node in range(seen.nodes)]
            for node, file in enumerate(files):
                _write(open_log(seen, node), file)
            # A slash: the target is a folder, whether or not there is anything in it.
            plan = plan_copy(self._settings, files, f"{target.rstrip('/')}/", Options(force=True))
            outcome = carry_out(plan)
            if outcome.failures:
                raise StoreError(failure_words(outcome))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def export_name(seen: SeenJob, node: int = 0) -> str:
    """What a machine's log is called in OBS, in the job's generation."""
    if seen.row.generation == "v1":
        return f"{resource_id(seen)}-job-{seen.row.name}-{node}.log"
    return f"modelarts-job-{seen.row.id}-worker-{node}.log"


def _write(text: LogText | None, path: Path) -> None:
    """A job that printed nothing has an empty log."""
    with path.open("wb") as file:
        place = max(0, text.size_bytes - MOST_BYTES) if text is not None else 0
        while text is not None and place < text.size_bytes:
            piece = text.get(place, _PIECE_BYTES)
            if not piece:
                return
            file.write(piece)
            place += len(piece)


router = APIRouter(lifespan=while_serving(lambda state: Carrier(state.settings, state.database)))
