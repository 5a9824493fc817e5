"""One folder for everything: data is found in a part of it, and results are written to others.

The folder itself follows the results. A file that is read below it is looked for when the script runs (`delivered`);
what is found by a pattern, or in a folder that is listed, is not: its path follows the data where it is put together.

Where nothing is written there, and all data lies in one folder below that in which the script is started (`root =
os.getcwd()`, `os.path.join(root, "data", "train")`), what is brought is the content of that one, as for `"data/train"`:
such paths follow the data where they are put together, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.code_folder import HERE
from outlast.adapt.placing.flow import Flow
from outlast.adapt.placing.roles import RESULTS
from outlast.adapt.placing.sources import Use
from outlast.adapt.placing.spelling import UNKNOWN, Spelling
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


def lift_data(draft: Draft, spelling: Spelling, others: dict[Role, list[Use]]) -> None:
    """Let uses of such a start be uses of what is put together; where results begin there, too, it stays theirs."""
    every = [use for uses in others.values() for use in uses]
    for start in {id(use.other): use.other for use in every if _is_start(draft, use.other)}.values():
        from_here = [use for use in every if use.other is start]
        lifted = [_lift(draft, spelling, use) for use in from_here]
        if _is_one_folder(from_here) and all(lifted):
            others[Role.DATA] = [use for use in others[Role.DATA] if use.other is not start]
            others[Role.DATA] += [use for use in lifted if use is not None]


def _is_start(draft: Draft, node: cst.CSTNode | None) -> bool:
    return isinstance(node, cst.Call) and draft.resolve(node.func) in HERE


def _is_one_folder(uses: Sequence[Use]) -> bool:
    """Whether all of it is data below one folder, of which more is told than its name, or which is read as such."""
    tops = {_top(use) for use in uses}
    is_data = all(use.role is Role.DATA and not use.sink.makes for use in uses)
    is_folder = any(use.sink.is_folder or "/" in use.after.strip("/") for use in uses)
    return is_data and is_folder and len(tops) == 1 and not {"", UNKNOWN} & tops


def _lift(draft: Draft, spelling: Spelling, use: Use) -> Use | None:
    put = use.put or _divided(draft, use)
    text = spelling.of(put).removeprefix(UNKNOWN).strip("/")
    if put is None or UNKNOWN in text:
        return None
    return replace(use, other=put, is_folder=use.sink.is_folder or use.after.strip("/") != text)
