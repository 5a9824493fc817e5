"""Names inside of archives: they are places of nobody's disk."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import tail

_ARCHIVES = frozenset({"zipfile.ZipFile", "tarfile.open", "tarfile.TarFile", "tarfile.TarFile.open", "zipfile.Path"})
#: only archives have these
_MEMBERS = frozenset({"extractfile", "getmember", "getinfo"})
_METHODS = frozenset({"open", "read", "extract", "writestr", "add", "write"})


def is_of_archive(draft: Draft, call: cst.Call) -> bool:
    """Whether a call takes the name of a member: `tar.extractfile("a/b.txt")`, `archive.open("a/b.txt")`."""
    if not isinstance(call.func, cst.Attribute) or tail(call.func) in _MEMBERS:
        return isinstance(call.func, cst.Attribute)
    owner = call.func.value
    made = [owner] if isinstance(owner, cst.Call) else list(_made(draft, owner))
    is_archive = any(isinstance(each, cst.Call) and draft.resolve(each.func) in _ARCHIVES for each in made)
    return tail(call.func) in _METHODS and is_archive


def _made(draft: Draft, owner: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What a name, or a field, is set to anywhere in the file."""
    name = tail(owner)
    found: list[cst.BaseExpression] = []
    for node in draft.nodes:
        if isinstance(node, cst.WithItem) and node.asname is not None and tail(node.asname.name) == name:
            found.append(node.item)
        elif isinstance(node, cst.Assign) and any(tail(each.target) == name for each in node.targets):
            found.append(node.value)
    return found
