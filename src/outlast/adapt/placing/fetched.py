"""`download(url, "./", kind="zip")` of the package `download`: left out when the contract brings what it fetches.

It returns the place that it has fetched to, so the contract's folder can take its place in the same expression.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.arguments.setup import Value
from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.placing.paths import Paths
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, dotted, inner, positional

RULE = "downloads"
FETCH = "download.download"
_WEIGHTS = re.compile(r"\.(?:ckpt|pth?|safetensors|h5|pkl|onnx|mindir)$")


@dataclass(frozen=True)
class Fetch:
    """One call, what it fetches, and the file that it leaves; empty for a folder that it unpacks to."""

    call: cst.Call
    role: Role
    file: str


def find_fetches(draft: Draft, paths: Paths) -> list[Fetch]:
    """Those that fetch what the script will read from where the contract says."""
    found = []
    for call in draft.calls():
        if draft.resolve(call.func) != FETCH:
            continue
        if is_left_out(draft, call):
            paths.known.update(_literals(draft, call))
            continue
        named, kind = argument(call, "path"), argument(call, "kind")
        place = _text(draft, named.value if named is not None else positional(call, 1))
        unpacks = kind is not None and inner(kind.value) != "file"
        is_weights = any(_WEIGHTS.search(each) for each in (place, _text(draft, positional(call, 0))))
        role = Role.WEIGHTS if is_weights and not unpacks else Role.DATA
        file = "" if unpacks else place.rstrip("/").rpartition("/")[2]
        if paths.has(role) and (unpacks or file):
            found.append(Fetch(call, role, file))
            paths.known.update(_literals(draft, call))
    return found


def _literals(draft: Draft, call: cst.Call) -> set[int]:
    return {id(node) for node in draft.below(call) if isinstance(node, cst.SimpleString)}


def is_left_out(draft: Draft, call: cst.Call) -> bool:
    """Whether it is so already: `args.data_url or download(…)`."""
    around = draft.parent(call)
    asked = around.left if isinstance(around, cst.BooleanOperation) else getattr(around, "test", None)
    return isinstance(asked, cst.BaseExpression) and dotted(asked).rpartition(".")[2] in PASSED


def leave_out(draft: Draft, fetches: list[Fetch], values: dict[Role, Value], options: dict[Role, str]) -> None:
    """Fetch nothing that the contract brings."""
    for fetch in fetches:
        if fetch.role not in values:
            continue
        given, name = values[fetch.role].at(fetch.call), options[fetch.role]
        is_file = bool(fetch.file) and fetch.role is Role.DATA
        start, end = draft.span(fetch.call)
        bare = isinstance(draft.parent(fetch.call), cst.Expr | cst.Assign)
        head = f'os.path.join({given}, "{fetch.file}") if {given} else ' if is_file else f"{given} or "
        draft.insert(start, head if bare else f"({head}")
        if not bare:
            draft.insert(end, ")")
        if is_file:
            draft.need_import("os")
        what = fetch.file or "the data"
        holds = "FILE" if fetch.role is Role.WEIGHTS else f"FOLDER, a folder with {fetch.file or 'what it unpacks'}"
        said = f"{what} is not downloaded when --{name} is given"
        draft.say(Kind.CHANGED, RULE, fetch.call, said, f"declare it: outlast run … --data {name}={holds}")


def _text(draft: Draft, node: cst.CSTNode | None) -> str:
    """A literal, or the one that a name of the module stands for."""
    if isinstance(node, cst.Name):
        made = [
            each.value for each in draft.nodes
            if isinstance(each, cst.Assign) and any(dotted(part.target) == node.value for part in each.targets)
        ]  # fmt: skip
        node = made[0] if len(made) == 1 else None
    return inner(node) if node is not None else ""
