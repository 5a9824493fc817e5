"""Where everything about a run lies in its store: the one place that names keys.

`docs/design/store-format.md` describes each file. Keys are relative to the store's root and use forward slashes.
"""

from __future__ import annotations

import re
from typing import Optional, Tuple

_CHECKPOINT = re.compile(r"(\d{4,})-(\d{6,})")


def run_prefix(run: str) -> str:
    return "runs/%s/" % run


def spec_key(run: str) -> str:
    return "runs/%s/spec.json" % run


def control_key(run: str) -> str:
    return "runs/%s/control.json" % run


def outputs_key(run: str) -> str:
    return "runs/%s/outputs.json" % run


def sweep_key(name: str) -> str:
    """The record of a sweep, beside the folders of its runs."""
    return "sweeps/%s.json" % name


def stint_prefix(run: str, stint: int, node: int = 0) -> str:
    """The folder of a stint, or of one of its nodes: what node 0 writes is the stint's own."""
    prefix = "runs/%s/stints/%04d/" % (run, stint)
    return "%snodes/%04d/" % (prefix, node) if node else prefix


def stints_prefix(run: str) -> str:
    return "runs/%s/stints/" % run


def order_key(run: str, stint: int) -> str:
    return stint_prefix(run, stint) + "order.json"


def claim_key(run: str, stint: int, node: int = 0) -> str:
    return stint_prefix(run, stint, node) + "claim.json"


def beat_key(run: str, stint: int, node: int = 0) -> str:
    return stint_prefix(run, stint, node) + "beat.json"


def usage_key(run: str, stint: int, node: int = 0) -> str:
    return stint_prefix(run, stint, node) + "usage.json"


def platform_key(run: str, stint: int) -> str:
    """Written by the keeper: what the platform says of a stint that cannot be heard."""
    return stint_prefix(run, stint) + "platform.json"


def end_key(run: str, stint: int, node: int = 0) -> str:
    return stint_prefix(run, stint, node) + "end.json"


def ready_key(run: str, stint: int, node: int) -> str:
    """Put by a node whose script can start."""
    return stint_prefix(run, stint, node) + "ready.json"


def meeting_key(run: str, stint: int) -> str:
    """Put by node 0 when every node is ready: where they find each other."""
    return stint_prefix(run, stint) + "nodes/meeting.json"


def segment_key(prefix: str, segment: int) -> str:
    """One piece of what lies below a prefix of logs or metrics."""
    return prefix + "%06d" % segment


def log_prefix(run: str, stint: int, node: int = 0) -> str:
    return stint_prefix(run, stint, node) + "log/"


def log_key(run: str, stint: int, segment: int, node: int = 0) -> str:
    return segment_key(log_prefix(run, stint, node), segment)


def metrics_prefix(run: str, stint: int, node: int = 0) -> str:
    return stint_prefix(run, stint, node) + "metrics/"


def metrics_key(run: str, stint: int, segment: int, node: int = 0) -> str:
    return segment_key(metrics_prefix(run, stint, node), segment)


def checkpoints_prefix(run: str) -> str:
    return "runs/%s/checkpoints/" % run


def checkpoint_id(stint: int, number: int) -> str:
    """The name of a checkpoint; names sort as the pairs do up to 9999 stints (`checkpoint_order` always does)."""
    return "%04d-%06d" % (stint, number)


def checkpoint_key(run: str, checkpoint: str) -> str:
    return "%s%s.json" % (checkpoints_prefix(run), checkpoint)


def checkpoint_order(checkpoint: str) -> Tuple[int, int]:
    """(stint, number) of a checkpoint id; the highest pair is the last checkpoint."""
    match = _CHECKPOINT.fullmatch(checkpoint)
    if match is None:
        raise ValueError("not a checkpoint id: %r" % checkpoint)
    return int(match.group(1)), int(match.group(2))


def checkpoint_of_key(key: str) -> Optional[str]:
    """The checkpoint id that a manifest's key stands for, or None for any other key."""
    name = key.rsplit("/", 1)[-1]
    if not name.endswith(".json") or _CHECKPOINT.fullmatch(name[:-5]) is None:
        return None
    return name[:-5]


def cleaned_key(run: str, checkpoint: str) -> str:
    """Where the manifest of a checkpoint goes whose bytes were cleaned away: history without a promise to restore."""
    return "runs/%s/cleaned/%s.json" % (run, checkpoint)


def blob_key(sha256: str) -> str:
    return "blobs/sha256/%s/%s" % (sha256[:2], sha256[2:])


def damaged_key(sha256: str) -> str:
    """The mark of a blob that failed verification: the next upload of these bytes replaces it."""
    return "blobs/damaged/%s" % sha256


def blob_of_key(key: str) -> Optional[str]:
    """The digest that a blob's key stands for, or None for any other key."""
    parts = key.split("/")
    if len(parts) != 4 or parts[:2] != ["blobs", "sha256"]:
        return None
    return parts[2] + parts[3]
