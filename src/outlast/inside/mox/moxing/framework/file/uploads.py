"""What a script brought to a store, noted where its checkpoints are looked for.

A script of ModelArts' first generation saves by uploading. The note tells the runner that it has, so that the stint
can be handed over right after it; the uploaded files themselves are where the script finds them again.
"""

from __future__ import annotations

import json
import os
from typing import Dict

from outlast.inside.contracts.modelarts import UPLOADS

_NOTED_AT_MOST = 1000


def note_upload(url: str, files: int) -> None:
    """So many files went to a url. Costs nothing where nobody asked for notes; never fails."""
    path = os.environ.get(UPLOADS)
    if not path or not files:
        return
    noted = _read(path)
    if url in noted or len(noted) < _NOTED_AT_MOST:
        noted[url] = files
    aside = "%s.%d.tmp" % (path, os.getpid())
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(aside, "w", encoding="utf-8") as file:
            json.dump(noted, file, indent=1, sort_keys=True)
        os.replace(aside, path)  # a new file each time: that is what is noticed, whatever stands in it
    except OSError:
        pass


def _read(path: str) -> Dict[str, int]:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
