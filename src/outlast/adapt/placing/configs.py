"""Configurations that are handed on: what is set in them where the script gets them holds for code of other files, too.

Were their values replaced only where this file uses them, a folder would be made here and looked for elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import libcst as cst

from outlast.adapt.arguments.namespaces import Namespaces
from outlast.adapt.arguments.setup import Value
from outlast.adapt.draft import Draft
from outlast.adapt.libraries import is_library
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.placing.merges import Merge, find_merges
from outlast.adapt.placing.others import is_filled, is_made
from outlast.adapt.placing.shapes import FIELDS
from outlast.adapt.placing.sources import Use
from outlast.adapt.placing.tails import Tails
from outlast.migrate.context import is_prose_call
from outlast.migrate.engine import Kind
from outlast.migrate.tree import dotted, inner, tail

if TYPE_CHECKING:
    from outlast.adapt.placing.paths import Paths

#: parts of parts that have names of their own, more than any script has
_DEPTH = 4


@dataclass(frozen=True)
class Entry:
    """A value of such a configuration: behind which call it can be set, and how it is spelled there."""

    role: Role
    call: cst.Call
    spelled: str  # `config["train"]["folder"]`
    is_folder: bool
    uses: tuple[Use, ...]
    is_done: bool = False  # by an earlier adaptation
    is_optional: str = ""  # how to ask whether it is there, where only another file is seen to take it
    merge: Merge | None = None  # of settings that a file is merged into


def take_entries(draft: Draft, paths: Paths) -> list[Entry]:
    """Values that are to be set where their configuration is got; they are no longer replaced where they are used."""
    configs = Configs(draft)
    found: dict[str, Entry] = {}
    for role in (Role.OUTPUT, Role.WEIGHTS, Role.DATA):
        left = []
        for use in paths.others.get(role, []):
            entry = configs.entry(role, use)
            if entry is None:
                left.append(use)
                continue
            before = found.get(entry.spelled)
            uses = (*before.uses, use) if before is not None else (use,)
            is_folder = entry.is_folder or (before is not None and before.is_folder)
            found[entry.spelled] = replace(before or entry, is_folder=is_folder, uses=uses)
        paths.others[role] = left
    return list(found.values())


def set_entries(draft: Draft, role: Role, paths: Paths, given: Value, name: str, beside: Sequence[str] = ()) -> None:
    """Lines behind the calls that give configurations: the contract's folder, or what has a name there.

    `beside`: folders that are written in the script.
    """
    mine = [entry for entry in paths.entries if entry.role is role and not entry.is_done]
    if role is Role.WEIGHTS and len(mine) > 1:
        said = f"{', '.join(entry.spelled for entry in mine)} each take weights, and --{name} is one place"
        draft.say(Kind.DIFFERS, "paths", mine[0].call, said, "set them in the configuration")
        return
    is_only = len(mine) == 1 and not paths.others.get(role)
    is_one = is_only and not beside
    tails = Tails(draft, role, [*[""] * len(mine), *beside], is_whole=is_only and all(each.is_folder for each in mine))
    for entry in mine:
        is_whole = role is Role.WEIGHTS or (is_one and entry.is_folder)
        value = given.at(entry.call)
        new = value if is_whole else tails.of(value, entry.spelled)
        asked = f"{value} and {entry.is_optional}" if entry.is_optional else value
        test = asked if is_whole else f"{asked} and {entry.spelled}"
        lines = [f"if {test}:", f"    {entry.spelled} = {new}"]
        if not is_whole and any(map(is_filled, entry.uses)) and not is_made(draft, entry.spelled):
            lines.append(f"    os.makedirs({entry.spelled}, exist_ok=True)")
        if entry.merge is not None:
            entry.merge.put(draft, lines)
        else:
            draft.add_after(draft.statement(entry.call), lines)
        said = f"{entry.spelled} follows --{name}{'' if is_whole else f' {tails.said}'}"
        draft.say(Kind.CHANGED, "paths", entry.call, said)


class Configs:
    """The configurations of a file: what a call gave, and what is handed to code that is not seen."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._places: dict[int, Namespaces] = {}
        self._known: dict[int, Namespaces | None] = {}
        self._merges = find_merges(draft)
        self._got = [
            (node.targets[0].target.value, node.value)
            for node in draft.nodes
            if isinstance(node, cst.Assign) and len(node.targets) == 1 and isinstance(node.targets[0].target, cst.Name)
            and isinstance(node.value, cst.Call) and draft.stands_alone(draft.statement(node))
        ]  # fmt: skip
        self._own = {each.name.value for each in draft.nodes if isinstance(each, cst.FunctionDef | cst.ClassDef)}
        self._set = {
            draft.source(node.targets[0].target).replace("'", '"')
            for node in draft.nodes
            if isinstance(node, cst.Assign) and any(
                isinstance(each, cst.If) and any(name in draft.source(each.test) for name in PASSED)
                for each in draft.above(node)
            )
        }  # fmt: skip

    @property
    def merged(self) -> frozenset[str]:
        """Names of settings that a file is merged into."""
        return frozenset(self._merges)

    def entry(self, role: Role, use: Use) -> Entry | None:
        fields = list(keys_of(use.other))
        if fields and (found := self._merged(role, use, fields[-1][0], [key for _, key in reversed(fields)])):
            return found
        chain = list(_keys(use.other))
        root = chain[-1][0] if chain else None
        if not isinstance(root, cst.Name) or use.other is None:
            return None
        whole, keys = unaliased(self._draft, root, [key for _, key in reversed(chain)])
        for name, call in self._got:
            spaces = self._handed(call)
            if spaces is not None and spaces.at(whole) == whole.value:
                spelled = name + "".join(f"[{_source(key)}]" for key in keys)
                return Entry(role, call, spelled, use.is_folder, (), spelled in self._set)
        return None

    def behind(self, role: Role, use: Use, root: cst.Name, keys: Sequence[cst.BaseExpression | str]) -> Entry | None:
        """The entry of a configuration that code of another file takes by these keys; None where it cannot be set."""
        if found := self._merged(role, use, root, keys):
            return found
        root, keys = unaliased(self._draft, root, keys)
        for name, first in self._got:
            if self._spaces(first).at(root) != root.value:
                continue
            call = self._converted(name, first)
            is_text = all(isinstance(key, str) for key in keys)
            if not keys or (any(isinstance(key, str) for key in keys) and not (is_text and self._has_fields(call))):
                return None
            spelled, asked = name, []
            for key in keys:
                shown = _source(key)
                asked.append(f"{shown} in {spelled}")
                spelled += f".{key}" if isinstance(key, str) else f"[{shown}]"
            return Entry(role, call, spelled, use.is_folder, (), spelled in self._set, " and ".join(asked))
        return None

    def _spaces(self, call: cst.Call) -> Namespaces:
        """Where the settings of a call are known; many places ask, and finding that out takes long in a large file."""
        if id(call) not in self._places:
            self._places[id(call)] = Namespaces(self._draft, call)
        return self._places[id(call)]

    def _converted(self, name: str, call: cst.Call) -> cst.Call:
        """The last call that makes something else of what another one gave: `config = EasyDict(config)`."""
        later = [each for own, each in self._got if own == name and self._draft.start(each) > self._draft.start(call)]
        of_it = [each for each in later if any(dotted(arg.value) == name for arg in each.args)]
        return of_it[-1] if of_it else call

    def _merged(
        self, role: Role, use: Use, root: cst.CSTNode, keys: Sequence[cst.BaseExpression | str]
    ) -> Entry | None:
        """An entry of settings that a file is merged into: it is set behind that."""
        merge = self._merges.get(root.value) if isinstance(root, cst.Name) else None
        if merge is None or not keys:
            return None
        shown = [f".{key}" if isinstance(key, str) else f"[{_source(key)}]" for key in keys]
        spelled = merge.name + "".join(shown)
        return Entry(role, merge.call, spelled, use.is_folder, (), spelled in self._set, merge=merge)

    def _has_fields(self, call: cst.Call) -> bool:
        """Whether entries of what a call gives are fields, which can be set."""
        return any(FIELDS.search(self._draft.source(each.func)) for each in (call, *self._draft.calls(call)))

    def _handed(self, call: cst.Call) -> Namespaces | None:
        """Where a configuration is known, if code of another file gets it, too."""
        if id(call) not in self._known:
            spaces = self._spaces(call)
            is_out = any(
                self._is_it(spaces, arg.value)
                for each in self._draft.calls() if self._is_unseen(each) for arg in each.args
            )  # fmt: skip
            self._known[id(call)] = spaces if is_out else None
        return self._known[id(call)]

    def _is_it(self, spaces: Namespaces, node: cst.BaseExpression) -> bool:
        """The configuration, or a part of it that may be one as well."""
        root = next((each for each, _ in reversed(list(_keys(node)))), node)
        return isinstance(root, cst.Name) and spaces.at(node) == root.value

    def _is_unseen(self, call: cst.Call) -> bool:
        """Whether a call leads out of this file, to what may read an entry by its name."""
        name = self._draft.resolve(call.func)
        is_known = tail(call.func) in self._own or is_prose_call(tail(call.func))
        return not is_known and "." in name and (name.startswith(".") or not is_library(name))


def keys_of(node: cst.CSTNode | None) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression | str]]:
    """The same where entries may be fields, too, whose keys are names: `cfg.data.root`."""
    while isinstance(node, cst.Subscript | cst.Attribute):
        if isinstance(node, cst.Attribute):
            if dotted(node.value) == "self":
                return
            yield node.value, node.attr.value
            node = node.value
            continue
        found = list(_keys(node))
        if not found:
            return
        yield found[0]
        node = node.value


def unaliased(
    draft: Draft, root: cst.Name, keys: Sequence[cst.BaseExpression | str]
) -> tuple[cst.Name, Sequence[cst.BaseExpression | str]]:
    """Settings by the name that the script got them under: `rows = config["data"]`, `rows["root"]`."""
    for _ in range(_DEPTH):
        function, name = draft.scope(root), root.value
        values = [
            each.value for each in draft.all_assigns
            if draft.scope(each) is function and any(tail(one.target) == name for one in each.targets)
        ]  # fmt: skip
        chain = list(_keys(values[0])) if len(values) == 1 else []
        if not chain or not isinstance(chain[-1][0], cst.Name):
            break
        root, keys = chain[-1][0], [*(key for _, key in reversed(chain)), *keys]
    return root, keys


def _source(node: cst.BaseExpression | str) -> str:
    """A key as it is written, with the quotes that all files share."""
    if isinstance(node, str):
        return f'"{node}"'
    return f'"{inner(node)}"' if isinstance(node, cst.SimpleString) else inner(node)


def _keys(node: cst.CSTNode | None) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """What is asked, and by which key, from the last key to the first: `config["train"]["folder"]`."""
    while isinstance(node, cst.Subscript):
        index = node.slice[0].slice
        if len(node.slice) != 1 or not isinstance(index, cst.Index) or not inner(index.value):
            return
        yield node.value, index.value
        node = node.value
