"""Settings that a program fills from an option: `config.OUTPUT = args.output`, in whichever file.

Whatever takes such a setting takes the option, so it is the option that gives way, where it is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED
from outlast.migrate.tree import dotted, inner, tail

#: what parsed arguments are called
_PARSED = re.compile(r"(?:\w+_)?(?:args?|opts?|options?|flags)", re.I)


def copied_options(drafts: Iterable[Draft]) -> dict[str, str]:
    """Names of settings, each with the option that it is filled from: one that is sure to come through, and alone."""
    found: dict[str, set[str]] = {}
    for draft in drafts:
        for name, option in _filled(draft):
            found.setdefault(name, set()).add(option)
    return {name: option for name, options in found.items() for option in options if option and len(options) == 1}


def _filled(draft: Draft) -> Iterator[tuple[str, str]]:
    """Each setting that functions fill, and the option that this comes from; nothing for any other value."""
    for node in draft.nodes:
        target = node.targets[0].target if isinstance(node, cst.Assign) and len(node.targets) == 1 else None
        if not isinstance(node, cst.Assign) or not isinstance(target, cst.Attribute | cst.Subscript):
            continue
        owner = dotted(target.value)
        if draft.scope(node) is draft.module or not owner or _is_parsed(owner):
            continue
        source = node.value
        if isinstance(source, cst.Attribute) and _is_parsed(dotted(source.value)):
            option = source.attr.value
            is_sure = option not in PASSED and all(_asks_for(draft, each, option) for each in _around(draft, node))
            yield tail(target), option if is_sure else ""
        elif not any(draft.source(each) == draft.source(target) for each in draft.below(source)):
            yield tail(target), ""  # `config.OUTPUT = os.path.join(config.OUTPUT, name)` is below it as before


def _is_parsed(owner: str) -> bool:
    return bool(_PARSED.fullmatch(owner.removeprefix("self.")))


def _around(draft: Draft, node: cst.CSTNode) -> Iterator[cst.If]:
    for each in draft.above(node):
        if isinstance(each, cst.FunctionDef):
            return
        if isinstance(each, cst.If):
            yield each


def _asks_for(draft: Draft, branch: cst.If, option: str) -> bool:
    """Whether a branch is taken wherever the option is given: `if args.output:`."""
    named = [
        each for each in (branch.test, *draft.below(branch.test))
        if (isinstance(each, cst.Attribute) and each.attr.value == option) or inner(each) == option
    ]  # fmt: skip
    others = isinstance(branch.test, cst.BooleanOperation) and isinstance(branch.test.operator, cst.And)
    return bool(named) and not others
