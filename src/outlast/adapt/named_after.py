"""Names that a script makes of the option which says what weights it starts from: `f"{args.out}/{args.model}.pth"`.

Behind the contract's option it holds a folder of the platform. A result that is named after it would lie there, and
`"bert" in args.model` would ask for letters of that folder: both go on with what the option held before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import Needs, Role, old_place
from outlast.adapt.placing.spoken_names import is_name, reads_option
from outlast.adapt.placing.telling import is_told
from outlast.adapt.sight import Sight


def keep_names(sights: Sequence[Sight], needs: Needs) -> None:
    """Let names that are made of an option for weights, and questions about its text, be of its old value."""
    if Role.WEIGHTS not in needs.options or any(sight.takes_weights for sight in sights):
        return
    for home in sights:
        options = home.paths.options.get(Role.WEIGHTS, {}) if home.native is not None else {}
        if len(options) != 1:
            continue  # several are passed by hand
        own = next(iter(options))
        for sight in sights:
            found = list(_names(sight, own))
            for node in found:
                _put(sight.draft, node, own)
            home.named.update({own} if found else ())


def _names(sight: Sight, own: str) -> Iterator[cst.CSTNode]:
    """Where a file reads the option as a name."""
    draft = sight.draft
    given = sight.native.parameters if sight.native is not None else {}
    for node in draft.nodes:
        if isinstance(node, cst.Attribute | cst.Name) and own in (getattr(node, "value", ""), _field(node)):
            is_read = reads_option(draft, node, own, given.get(id(draft.scope(node)), ()))
            if is_read and is_name(draft, node) and not is_told(draft, node):
                yield node


def _field(node: cst.CSTNode) -> str:
    return node.attr.value if isinstance(node, cst.Attribute) else ""


def _put(draft: Draft, node: cst.CSTNode, own: str) -> None:
    texts = [each for each in draft.above(node) if isinstance(each, cst.FormattedString)]
    old = old_place(own).replace('"', "'") if any('"' in text.start for text in texts) else old_place(own)
    stands_alone = isinstance(draft.parent(node), cst.Arg | cst.FormattedStringExpression)
    draft.enclose(node, f"{old} or " if stands_alone else f"({old} or ", "" if stands_alone else ")")
    draft.need_import("os")
