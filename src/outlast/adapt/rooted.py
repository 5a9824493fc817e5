"""Places with a dot put before them: `f"./{args.out}/net.pth"`.

Once the value is a folder of the contract, which begins at a root, the text leads to a folder of that name below the
script. `os.path.join(".", args.out)` is the same text as before for any other value, and leaves that one as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.elsewhere import function_elsewhere
from outlast.adapt.needs import Role
from outlast.adapt.placing.sinks import Sink
from outlast.adapt.sight import Sight
from outlast.migrate.tree import inner, tail

_DOT = "./"
#: stands for whoever takes the path
_CALL = cst.Call(cst.Name("path"))


def root_texts(sights: Sequence[Sight]) -> None:
    """Let each such text be joined where the value follows the contract."""
    placed = {id(site.literal) for each in sights for sites in each.paths.sites.values() for site in sites}
    options = {name for each in sights for names in each.paths.options.values() for name in names}
    homes = {id(each.draft): each for each in sights}
    for sight in sights:
        for whole, value in list(_dotted(sight.draft)):
            if not _follows(sight, value, placed, options, homes):
                continue
            for role, sites in sight.paths.sites.items():
                lost = (id(whole), id(whole.left) if isinstance(whole, cst.BinaryOperation) else 0)
                sight.paths.sites[role] = [site for site in sites if id(site.literal) not in lost]
            _join(sight.draft, whole, value)


def _dotted(draft: Draft) -> Iterator[tuple[cst.FormattedString | cst.BinaryOperation, cst.BaseExpression]]:
    """Texts that begin with a dot and go on with a value."""
    for node in draft.nodes:
        if isinstance(node, cst.FormattedString) and len(node.parts) > 1:
            first, second = node.parts[0], node.parts[1]
            is_dot = isinstance(first, cst.FormattedStringText) and first.value == _DOT
            if is_dot and isinstance(second, cst.FormattedStringExpression) and second.format_spec is None:
                yield node, second.expression
        elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add) and not node.lpar:
            yield from [(node, node.right)] if inner(node.left) == _DOT else []


def _follows(
    sight: Sight, value: cst.BaseExpression, placed: set[int], options: set[str], homes: dict[int, Sight]
) -> bool:
    """Whether a value is a place that gives way to the contract's, in whichever file."""
    if not isinstance(value, cst.Name | cst.Attribute | cst.Subscript | cst.Call):
        return False
    for way in sight.flow.ways(Sink(_CALL, value, Role.OUTPUT, is_folder=True)):
        name = way.option or (tail(way.other) if isinstance(way.other, cst.Attribute | cst.Subscript) else "")
        if name in options or (way.literal is not None and id(way.literal) in placed):
            return True
        found = None if way.is_known else function_elsewhere(sight.draft, way.whole)
        home = homes.get(id(found[0])) if found is not None else None
        if found is not None and home is not None:
            returned = (each.value for each in home.draft.below(found[1]) if isinstance(each, cst.Return))
            if any(id(each) in placed for each in returned if each is not None):
                return True
    return False


def _join(draft: Draft, whole: cst.FormattedString | cst.BinaryOperation, value: cst.BaseExpression) -> None:
    draft.need_import("os")
    if isinstance(whole, cst.BinaryOperation):
        draft.change(draft.start(whole.left), draft.start(value), 'os.path.join(".", ')
        draft.insert(draft.span(value)[1], ")")
        return
    quote = "'" if '"' in whole.start else '"'
    draft.change(*draft.span(whole.parts[0]), "")
    draft.enclose(value, f"os.path.join({quote}.{quote}, ", ")")
