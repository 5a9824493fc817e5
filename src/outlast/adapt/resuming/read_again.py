"""What a data set keeps of what it has read: it can be read again, and may be too much for a checkpoint.

def __getitem__(self, index):
    if index not in self.seen:
        self.seen[index] = Image.open(self.names[index])
    return self.seen[index]
"""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.called import whole_of
from outlast.adapt.resuming.kept import CHANGES
from outlast.adapt.resuming.parts import targets_in
from outlast.adapt.resuming.uses import Uses
from outlast.migrate.tree import dotted, positional, tail

_READS = frozenset({"__getitem__", "__getitems__"})


def can_be_read_again(draft: Draft, uses: Uses, holder: str) -> bool:
    """Whether all that changes in a data set is set where a sample is asked for, and by nothing that counts on."""
    homes = uses.holders[holder]
    if not any(tail(base.value).endswith("Dataset") for home in homes for base in home.bases):
        return False
    methods = [each for home in homes for each in home.body.body if isinstance(each, cst.FunctionDef)]
    reading = _run_by_reading(draft, methods)
    fields = {name.replace(holder, "self", 1) for name in uses.changing(holder)}
    return bool(fields) and all(
        method.name.value in reading and not _counts_on(draft, node, field)
        for method in methods
        if method.name.value != "__init__"
        for node in draft.below(method.body)
        for field in fields
        if _changes(node, field)
    )


def is_archive(draft: Draft, uses: Uses, name: str) -> bool:
    """Whether a field may be an archive of numpy's, which is an open file: `self.rows = np.load(path)["x"]` is none."""
    holder, _, last = name.rpartition(".")
    loads = [
        value
        for value in uses.field_values(name)
        if isinstance(value, cst.Call) and draft.home(value).resolve(value.func) == "numpy.load"
    ]
    paths = [positional(value, 0) for value in loads]
    is_named = any(isinstance(path, cst.SimpleString) and path.raw_value.endswith(".npz") for path in paths)
    return is_named or any(
        isinstance(node, cst.Subscript) and dotted(node.value) == f"self.{last}"
        and any(isinstance(each, cst.SimpleString) for part in node.slice for each in draft.below(part.slice))
        for home in (uses.holders[holder] if loads else ()) for node in draft.below(home)
    )  # fmt: skip


def _run_by_reading(draft: Draft, methods: list[cst.FunctionDef]) -> set[str]:
    """Methods that ask for a sample, and those of the object that only these call."""
    reading = set(_READS)
    for _ in methods:
        callers: dict[str, set[str]] = {}
        for method in methods:
            for call in draft.calls(method.body):
                if dotted(call.func).startswith("self."):
                    callers.setdefault(tail(call.func), set()).add(method.name.value)
        reading |= {called for called, by in callers.items() if by <= reading}
    return reading


def _changes(node: cst.CSTNode, field: str) -> bool:
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        return tail(node.func) in CHANGES and dotted(whole_of(node.func.value)) == field
    targets = [node.target] if isinstance(node, cst.Del) else targets_in(node)
    return any(dotted(whole_of(target)) == field for target in targets)


def _counts_on(draft: Draft, node: cst.CSTNode, field: str) -> bool:
    """Whether what is set depends on what was there: `self.count += 1`, `self.seen.append(row)`."""
    around = draft.parent(node) if isinstance(node, cst.AssignTarget) else None
    if not isinstance(around, cst.Assign):
        return True
    return any(dotted(each) == field for each in (around.value, *draft.below(around.value)))
