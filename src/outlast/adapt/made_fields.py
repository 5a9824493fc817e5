"""Places that a class of settings puts together of what its maker is given: `self.rows = root + "/rows.txt"`.

Other files use them as `config.rows`. What is read below `root` follows it, where the script gives it; what is written
below a root of data gives way where the class puts it together.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.arguments.namespaces import called_name
from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.flow import Flow
from outlast.adapt.placing.sinks import Sink, find_sinks
from outlast.adapt.placing.sources import Use
from outlast.adapt.placing.takers import Takers, add_handed
from outlast.migrate.tree import dotted, tail

#: stands for the calls of other files
_CALL = cst.Call(cst.Name("settings"))
Root = tuple[int, str, str]  # the function, how it is called, and its parameter


@dataclass(frozen=True)
class Field:
    """A field that begins with a parameter of its class's `__init__`, and what other files do with it."""

    draft: Draft
    name: str
    value: cst.BaseExpression
    root: Root
    role: Role
    is_folder: bool
    is_apart: bool = False  # a result below a root of data

    @property
    def sink(self) -> Sink:
        return Sink(_CALL, self.value, self.role, self.is_folder)


def find_fields(drafts: Sequence[Draft], takers: Takers) -> list[Field]:
    """`drafts`: all files; `takers`: functions of them that take places."""
    flows = {id(draft): Flow(draft, frozenset(), {}) for draft in drafts}
    made = {tail(call.func) for draft in drafts for call in draft.calls()}
    roots = [each for draft in drafts for each in _put_together(draft, flows[id(draft)], made)]
    if not roots:
        return []
    uses = _uses(drafts, flows, takers)
    found: list[Field] = []
    for root in dict.fromkeys(each[3] for each in roots):
        fields = [(draft, name, value) for draft, name, value, at in roots if at == root and name in uses]
        spelled = {name: flows[id(draft)].spelling.of(value) for draft, name, value in fields}
        # What is only read tells where the data lies: a list that is made where it is missing lies there, too.
        only_read = {posixpath.dirname(text) for name, text in spelled.items() if not _is_written(uses[name])}
        is_read = bool(only_read) or any(
            each.name == root[2] and each.role is Role.DATA for each in takers.get(root[1], ())
        )
        for draft, name, value in fields:
            is_result = _is_written(uses[name]) and posixpath.dirname(spelled[name]) not in only_read
            roles = [use.role for use in uses[name] if use.role not in (None, Role.OUTPUT)]
            role = Role.OUTPUT if is_result or not roles else roles[0] or Role.DATA
            is_folder = any(use.is_folder for use in uses[name])
            is_apart = role is Role.OUTPUT and is_read
            found.append(Field(draft, name, value, root, role, is_folder, is_apart))
    return found


def of_file(fields: Iterable[Field], draft: Draft) -> list[Sink]:
    """What tells the roots of a file's classes what they are for."""
    return [each.sink for each in fields if each.draft is draft and not each.is_apart]


def fields_of(fields: Iterable[Field], draft: Draft, use: Use) -> list[Field]:
    """The fields that a use of another file may mean."""
    name = tail(use.other) if isinstance(use.other, cst.Attribute) else ""
    return [each for each in fields if name and each.name == name and each.draft is not draft]


def _is_written(uses: Sequence[Use]) -> bool:
    return any(use.role is Role.OUTPUT and not use.sink.makes for use in uses)


def _put_together(
    draft: Draft, flow: Flow, made: Collection[str]
) -> Iterator[tuple[Draft, str, cst.BaseExpression, Root]]:
    """Fields that a class makes of a parameter of its `__init__` and a text. `made`: what calls call."""
    for function in draft.functions():
        called = called_name(draft, function)
        if function.name.value != "__init__" or called not in made:
            continue
        for node in draft.below(function.body):
            if not isinstance(node, cst.Assign) or not isinstance(node.value, cst.BinaryOperation | cst.Call):
                continue
            name = dotted(node.targets[0].target).removeprefix("self.") if len(node.targets) == 1 else ""
            ways = flow.ways(Sink(_CALL, node.value, Role.DATA)) if name.isidentifier() else []
            start = ways[0].hops[-1].node if len(ways) == 1 and ways[0].hops and not ways[0].is_known else None
            if isinstance(start, cst.Name) and flow.function_of(start) is function and "/" in ways[0].after:
                yield draft, name, node.value, (id(function), called, start.value)


def _uses(drafts: Sequence[Draft], flows: Mapping[int, Flow], takers: Takers) -> dict[str, list[Use]]:
    """Fields of objects by their name, and what files do with them; what is named in a text may be an option."""
    found: dict[str, list[Use]] = defaultdict(list)
    for draft in drafts:
        for sink in add_handed(draft, find_sinks(draft), takers):
            for use in flows[id(draft)].ways(sink) if not sink.is_guess else ():
                if isinstance(use.other, cst.Attribute) and dotted(use.other.value) != "self":
                    found[tail(use.other)].append(use)
    text = "\n".join(draft.text for draft in drafts)
    return {
        name: uses
        for name, uses in found.items()
        if not re.search(f"[\"'](?:--)?{name.replace('_', '[-_]')}[\"']", text)
    }
