"""A folder moved as shards: packed on the way into a tree, or unpacked on the way out of one."""

from __future__ import annotations

import time

from ..errors import RequestError
from .aside import make_folders
from .base import FOLDER
from .engine import Ledger, Listener, Outcome
from .names import join, shown
from .packed import INDEX_NAME
from .packing import send_packed
from .plan import Options, Place, land
from .survey import find
from .unpacking import fetch_packed


def copy_packed(source: Place, destination: Place, options: Options, listener: Listener) -> Outcome:
    """Copy one folder in its packed form; the slash rule and the promises are those of `copy`."""
    if source.is_local == destination.is_local:
        raise RequestError(
            "--pack is for a folder of this machine that goes to a bucket or to HDFS, and for the way back; "
            "on one machine use: outlast data pack, outlast data unpack"
        )
    started = time.monotonic()
    if find(source, options.single).kind != FOLDER:
        raise RequestError("%s is a file; --pack is for folders" % (source.address,))
    if not source.is_local and source.tree.stat(join(source.address.path, INDEX_NAME)) is None:
        raise RequestError("%s is not packed; copy it without --pack" % (source.address,))
    landing = destination.address._replace(path=land(source.address, destination.address), into=True)
    ledger = Ledger(listener)
    if source.is_local:
        done = send_packed(source.address.path, destination.tree, landing.path, ledger, options.how)
    else:
        make_folders(landing.path)
        done = fetch_packed(source.tree, source.address.path, landing.path, ledger, options.how)
    skipped = 0 if source.is_local else done.skipped  # what was there already when packing are shards, not files
    notices = ["it is packed there; bring it back with the same option"] if source.is_local else []
    return Outcome(
        shown(str(landing)), done.files, done.size_bytes, skipped, 0, 0, sorted(ledger.failures), notices,
        time.monotonic() - started, not done.complete,
    )  # fmt: skip
