"""Settings that a training changes: `args.lr *= 0.9`, `args.best_epoch = epoch`."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.arrays import filled_places
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.parts import parts_of
from outlast.adapt.resuming.uses import CALLED, Uses
from outlast.migrate.tree import argument, dotted, inner, tail

#: by which a table of pandas is reached into
_WINDOWS = frozenset({"loc", "iloc", "at", "iat", "data", "grad", "param_groups"})


def set_fields(draft: Draft, values: Values, uses: Uses) -> list[str]:
    """Fields of objects from elsewhere that the rounds set: after a stop they would be what the start made them."""
    found = [*_made_anew(draft, values, uses), *_on_parts(draft, values, uses), *_options(draft, values, uses)]
    found += _filled(draft, values, uses)
    return list(dict.fromkeys(found))


def _options(draft: Draft, values: Values, uses: Uses) -> list[str]:
    """Options, wherever the rounds set them; and what each round puts beside them."""
    declared = {name for each in (draft, *draft.others) for call in each.calls() for name in _declared(call)}
    found = []
    for block in (values.loop.node.body, *(function.body for function in uses.functions)) if declared else ():
        for node in draft.below(block):
            target = node.target if isinstance(node, cst.AssignTarget | cst.AugAssign) else None
            if not isinstance(target, cst.Attribute):
                continue
            is_sure = draft.parent(draft.statement(node)) is values.loop.node.body
            for root, field in uses.seen_as(dotted(target), draft.scope(node)):
                is_parsed = (made := uses.made(root)) is not None and tail(made.func).startswith("parse")
                is_there = field in declared or (is_sure and is_parsed)
                is_outside = root not in values.bound and root not in uses.holders and "." not in root
                if field and "." not in field and is_there and is_outside:
                    found.append(f"{root}.{field}")
    return found


def _declared(call: cst.Call) -> list[str]:
    """The fields that `add_argument("-e", "--n-epochs")` makes."""
    if tail(call.func) != "add_argument":
        return []
    named = argument(call, "dest")
    if named is not None:
        return [inner(named.value)] if isinstance(named.value, cst.SimpleString) else []
    words = [inner(arg.value) for arg in call.args if arg.keyword is None and isinstance(arg.value, cst.SimpleString)]
    longer = [word for word in words if not word.startswith("-") or word.startswith("--")]
    return [word.lstrip("-").replace("-", "_") for word in (longer or words)[:1]]


def _made_anew(draft: Draft, values: Values, uses: Uses) -> list[str]:
    """`args.lr`, where each round makes it from what it was."""
    found = []
    for node in draft.below(values.loop.node.body):
        target, read = None, ""
        if isinstance(node, cst.AugAssign):
            target, read = node.target, dotted(node.target)
        elif isinstance(node, cst.Assign) and len(node.targets) == 1:
            target = node.targets[0].target
            read = next(
                (dotted(each) for each in (node.value, *draft.below(node.value)) if dotted(each) == dotted(target)), ""
            )
        name = dotted(target)
        root = name.partition(".")[0]
        is_outside = root in uses.known and root not in values.bound and root not in uses.holders
        if name.count(".") == 1 and read == name and is_outside:
            found.append(name)
    return list(dict.fromkeys(found))


def _filled(draft: Draft, values: Values, uses: Uses) -> list[str]:
    """`rows.targets[at] = label`, where a library has made `rows`."""
    places = [place for node in draft.below(values.loop.node.body) for place in filled_places(node)]
    found = []
    for place in (each for each in places if isinstance(each, cst.Attribute) and tail(each) not in _WINDOWS):
        root, _, field = dotted(place).partition(".")
        is_made = isinstance(values.origins.get(root), cst.Call) and root not in values.bound
        if field and "." not in field and is_made and root not in uses.holders and not uses.methods.get(root):
            found.append(f"{root}.{field}")
    return found


def _on_parts(draft: Draft, values: Values, uses: Uses) -> list[str]:
    """`loss, self.net.centers = pull(self.net.centers)`: what a method makes from what it was, on a model it has."""
    found = []
    assigned = [
        node for function in uses.functions if values.owner is not None
        for node in draft.below(function.body) if isinstance(node, cst.Assign)
    ]  # fmt: skip
    for node in assigned:
        for name in (each for target in node.targets for each in parts_of(target.target, None, fields=True)):
            holder, _, field = name.rpartition(".")
            is_part = name.startswith("self.") and name.count(".") == 2 and field not in ("data", "grad")
            is_model = {"parameters", "train", CALLED} & uses.methods.get(holder, set())
            is_made = any(dotted(each) == name for each in draft.below(node.value))
            if is_part and is_model and is_made and holder not in uses.holders:
                found.append(name)
    return found
