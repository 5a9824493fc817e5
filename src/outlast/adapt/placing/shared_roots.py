"""One folder for everything: data is found in a part of it, and results are written to others.

The folder itself follows the results. A file that is read below it is looked for when the script runs (`delivered`);
what is found by a pattern, or in a folder that is listed, is not: its path follows the data where it is put together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.flow import Flow
from outlast.adapt.placing.roles import RESULTS
from outlast.adapt.placing.sources import Use
from outlast.adapt.placing.spelling import UNKNOWN
from outlast.migrate.tree import tail

_SEARCHES = frozenset({"glob", "iglob", "rglob", "iterdir", "list_files"})


def data_of(draft: Draft, flow: Flow, uses: Sequence[Use]) -> list[Use]:
    """Of a literal's uses those that find data where nothing is written, as uses of what puts their paths together.

    `glob(os.path.join(ROOT, "data", "*"))` beside `torch.save(net, os.path.join(ROOT, "net.pt"))`.
    """
    written = {_top(use) for use in uses if use.role is Role.OUTPUT or use.sink.makes}
    if not written or {UNKNOWN, ""} & written:
        return []  # it may be written anywhere below
    beside = [use for use in uses if use.role is Role.DATA and not is_searched(flow, use)]
    found = []
    for use in uses:
        top, put = _top(use), use.put or _divided(draft, use)
        is_own = top in written or not top or top == UNKNOWN or "*" in top or RESULTS.search(top) is not None
        if use.role is not Role.DATA or use.sink.makes or is_own or not is_searched(flow, use) or put is None:
            continue
        text = flow.spelling.of(put).rstrip("/")
        is_whole = "*" not in text and all(flow.full(other).startswith(f"{text}/") for other in beside)
        found.append(replace(use, literal=None, other=put, is_folder=is_whole))
    return found


def is_searched(flow: Flow, use: Use) -> bool:
    """Whether a path is a pattern, or a folder that one is looked for in."""
    return "*" in flow.full(use) or tail(use.sink.call.func) in _SEARCHES


def _divided(draft: Draft, use: Use) -> cst.BaseExpression | None:
    """`ROOT / "data" / "train"` around the name that it begins with."""
    at: cst.BaseExpression | None = use.hops[-1].node if use.hops else None
    around = draft.parent(at) if at is not None else None
    while isinstance(around, cst.BinaryOperation) and isinstance(around.operator, cst.Divide) and around.left is at:
        at, around = around, draft.parent(around)
    return at if isinstance(at, cst.BinaryOperation) else None


def _top(use: Use) -> str:
    """The first name below the folder; unknown where that is filled in."""
    first = use.after.removeprefix("/").partition("/")[0]
    return UNKNOWN if UNKNOWN in first else first
