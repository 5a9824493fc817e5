"""Changing a call of a framework so that it goes on: what is written around it, and where its helpers stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import tail

#: where the output folder is read, and what makes the change when that is known
Fitted = tuple[cst.CSTNode, Callable[[str], None]]


def add_argument(draft: Draft, call: cst.Call, text: str) -> None:
    """Behind the last one; a comma at the end of the call's last line stays where it is."""
    comma = ", " if call.args and not isinstance(call.args[-1].comma, cst.Comma) else ""
    draft.insert(draft.span(call)[1] - 1, f"{comma}{text}")


def wrap_method(draft: Draft, call: cst.Call, helper: str, given: Sequence[str]) -> None:
    """`trainer.fit(…)` becomes `helper(trainer.fit, given)(…)`: it need not stand alone, nor have a name."""
    start, end = draft.span(call.func)
    draft.insert(start, f"{helper}(")
    draft.insert(end, "".join(f", {each}" for each in given) + ")")


def add_helpers(draft: Draft, user: cst.CSTNode, names: Sequence[str], lines: Sequence[str]) -> None:
    """Put definitions behind the imports at the top, or, where what they need is imported later, before their user.

    What the block of their user imports (`if __name__ == "__main__": import lightning`) is there in that block alone.
    """
    roots = {name.partition(".")[0] for name in names}
    bound = [each for each in draft.module.body if roots & set(imported_by(each))]
    if all(draft.start(each) < draft.start(draft.first) for each in bound):
        draft.add_on_top(lines)
        return
    top = draft.top_statement(user)
    at = _in_block(draft, top, user) if top in bound else top
    draft.add_before(at, [*lines[lines[0] == "" :], ""])


def _in_block(draft: Draft, top: cst.CSTNode, user: cst.CSTNode) -> cst.CSTNode:
    """The statement of a block at the top that holds a node."""
    chain = [user, *draft.above(user)]
    blocks = [at for at, node in enumerate(chain) if isinstance(node, cst.IndentedBlock)]
    return chain[blocks[-1] - 1] if blocks and isinstance(top, cst.If | cst.Try) else top


def imported_by(statement: cst.CSTNode) -> list[str]:
    """Names that a statement of the module imports."""
    found = []
    for node in [statement, *_below(statement)]:
        if isinstance(node, cst.Import | cst.ImportFrom) and not isinstance(node.names, cst.ImportStar):
            for alias in node.names:
                root: cst.CSTNode = alias.name
                while isinstance(root, cst.Attribute) and isinstance(node, cst.Import):
                    root = root.value
                found.append(tail(alias.asname.name) if alias.asname else tail(root))
    return found


def _below(statement: cst.CSTNode) -> list[cst.CSTNode]:
    if isinstance(statement, cst.SimpleStatementLine):
        return list(statement.body)
    if isinstance(statement, cst.Try | cst.If) and isinstance(statement.body, cst.IndentedBlock):
        return [each for line in statement.body.body for each in (line, *_below(line))]
    return []
