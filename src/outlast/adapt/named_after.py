"""Names that a script makes of the option which says what weights it starts from: `f"{args.out}/{args.model}.pth"`.

Behind the contract's option it holds a folder of the platform. A result that is named after it would lie there, and
`"bert" in args.model` would ask for letters of that folder: both go on with what the option held before.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import Needs, Role, old_place
from outlast.adapt.placing.option_loads import loads_of
from outlast.adapt.placing.spoken_names import is_name
from outlast.adapt.placing.telling import is_told
from outlast.adapt.sight import Sight


def keep_names(sights: Sequence[Sight], needs: Needs) -> None:
    """Let names that are made of an option for weights, and questions about its text, be of its old value."""
    if Role.WEIGHTS not in needs.options or any(sight.takes_weights for sight in sights):
        return
    drafts = [sight.draft for sight in sights]
    for sight in sights:
        options = sight.paths.options.get(Role.WEIGHTS, {}) if sight.native is not None else {}
        if sight.native is None or len(options) != 1:
            continue  # several are passed by hand
        own = next(iter(options))
        for node in loads_of(drafts, own, sight.native.parameters):
            draft = sight.draft.home(node)
            if is_name(draft, node) and not is_told(draft, node):
                _put(draft, node, own)
                sight.named.add(own)


def _put(draft: Draft, node: cst.CSTNode, own: str) -> None:
    texts = [each for each in draft.above(node) if isinstance(each, cst.FormattedString)]
    old = old_place(own).replace('"', "'") if any('"' in text.start for text in texts) else old_place(own)
    stands_alone = isinstance(draft.parent(node), cst.Arg | cst.FormattedStringExpression)
    draft.enclose(node, f"{old} or " if stands_alone else f"({old} or ", "" if stands_alone else ")")
    draft.need_import("os")
