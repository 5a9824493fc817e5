"""One folder, one value: what is put below the contract's folder is put there once, where its name gets its value.

Were it joined at each use that is understood, the others (a test, `chmod`, code of another file) would look elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.arguments.setup import Value, body_start
from outlast.adapt.draft import Draft
from outlast.adapt.placing.flow import Flow
from outlast.adapt.placing.sources import Use
from outlast.adapt.placing.words import Words, Wrap
from outlast.migrate.engine import Kind


@dataclass(frozen=True)
class Rebound(Wrap):
    """A parameter that is bound anew at the top of its function; `node` is the first statement there."""

    name: str = ""
    is_object: bool = False  # may be a path object, and must stay one

    @property
    def key(self) -> tuple[int, str]:
        return id(self.node), self.name

    def put(self, draft: Draft, value: Value, name: str) -> None:
        given, own = value.at(self.node), self.name
        new = f"os.path.join({given}, os.path.basename(os.path.normpath({own})))"
        new = f"type({own})({new})" if self.is_object else new
        draft.add_before(self.node, [f"if {given} and {own}:", f"    {own} = {new}"])
        draft.need_import("os")
        draft.say(Kind.CHANGED, "paths", self.node, f"{own} goes to --{name}")


def gather(draft: Draft, flow: Flow, words: Words, wraps: Sequence[Wrap]) -> list[Wrap]:
    """The same wraps, those of one unknown folder as one; where that cannot be, all of its uses are joined or none."""
    leads = [_lead(wrap) for wrap in wraps]
    # A word may begin names of files and choose a model besides; what holds files is a place wherever it is used.
    folders = [lead for wrap, lead in zip(wraps, leads, strict=True) if lead is not None and wrap.use.is_folder]
    found: list[Wrap] = []
    refused: list[cst.Name] = []
    for wrap, lead in zip(wraps, leads, strict=True):
        if lead is None or not any(words.is_same(lead, each) for each in folders):
            found.append(wrap)
            continue
        function = flow.from_outside(lead)
        start = body_start(function) if function is not None else None
        if start is not None:
            is_object = "pathlib" in draft.names.roots or words.is_object(lead)
            found.append(Rebound(wrap.use, start, wrap.text, lead.value, is_object))
        elif wrap.use.whole is not None and flow.is_value(lead, wrap.use.whole) and not words.is_object(lead):
            found.append(Wrap(wrap.use, wrap.use.whole, wrap.text))
        elif words.is_left(lead, [each.node for each in wraps]):
            if not any(words.is_same(lead, each) for each in refused):
                said = f"{lead.value} stays as it is: it is used in ways that cannot all be followed"
                draft.say(Kind.DIFFERS, "paths", lead, said, "put it below the output folder where it gets its value")
            refused.append(lead)
        else:
            found.append(wrap)
    return found


def _lead(wrap: Wrap) -> cst.Name | None:
    """The name that an unknown path begins with."""
    node = wrap.use.hops[-1].node if wrap.use.hops and not wrap.use.is_known else None
    return node if isinstance(node, cst.Name) else None


def join_once(wraps: Sequence[Wrap], ways: Iterable[Use], literals: Iterable[cst.CSTNode]) -> list[Wrap]:
    """Without those that would join what is joined already, before or behind them."""
    sources = {id(each) for each in literals}
    joined = {id(wrap.node) for wrap in wraps}
    chains = [_joins(use, joined) + [id(use.literal)] * (id(use.literal) in sources) for use in ways]
    for node in list(joined):
        # Joined where each of its values comes from: not here again.
        behind = [chain[chain.index(node) + 1 :] for chain in chains if node in chain]
        if behind and all(any(each in joined or each in sources for each in rest) for rest in behind):
            joined.discard(node)
    for node in list(joined):
        before = [chain[: chain.index(node)] for chain in chains if node in chain]
        if before and all(any(each in joined for each in rest) for rest in before):
            joined.discard(node)
    return [wrap for wrap in wraps if id(wrap.node) in joined]


def _joins(use: Use, joined: set[int]) -> list[int]:
    """What is joined on the way from a call to its source, in that order."""
    levels = [hop.whole for hop in use.hops] + [use.put, use.whole]
    return list(dict.fromkeys(id(each) for each in levels if id(each) in joined))
