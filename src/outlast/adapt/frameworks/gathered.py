"""What modules and callbacks of Lightning and MindSpore gather by themselves: losses to be drawn, best values.

A Trainer keeps weights and the state of its own parts alone, and `Model.train` keeps nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.draft import Draft, Scope
from outlast.adapt.frameworks.keras_callbacks import assigned_fields, changed_fields, filled_by, is_plain
from outlast.adapt.resuming.parts import parts_of
from outlast.adapt.whole import files_of
from outlast.migrate.tree import dotted, tail

_BASES = frozenset({"Callback", "LightningModule", "EarlyStopping", "ModelCheckpoint"})
#: what is set here is set anew in each epoch, or for each start
_FRESH = frozenset(
    "on_train_epoch_start on_validation_epoch_start on_epoch_start on_validation_start on_fit_start on_train_start "
    "setup prepare_data configure_model configure_optimizers "
    "begin epoch_begin step_begin on_train_begin on_train_epoch_begin on_train_step_begin".split()
)
#: puts kept values back into a part; lists and dictionaries may be known by other names, too
_PUT = """\
for key, value in {}.items():
    old = vars(each).get(key)
    if isinstance(old, dict) and isinstance(value, dict):
        old.clear()
        old.update(value)
    elif isinstance(old, list) and isinstance(value, list):
        old[:] = value
    else:
        vars(each)[key] = value
""".rstrip().split("\n")


_HOOK = "    def on_train_epoch_start(self, trainer, module):"


@dataclass(frozen=True)
class Gathered:
    """Lines for the callback that saves: the fields of all parts, and whether lists beside them are handed to it.

    Some versions call the end of the last epoch once more when they go on from there, and all try out validation
    before; so what was gathered is put back when the next epoch begins, too.
    """

    fields: list[str]
    has_lists: bool

    @property
    def is_any(self) -> bool:
        return bool(self.fields) or self.has_lists

    def first(self) -> list[str]:
        lines = ["        self.gathered = gathered"] if self.has_lists else []
        return [*lines, "        self.parts, self.is_put = [], False"] if self.is_any else []

    def pairs(self) -> list[str]:
        """As parts of what is saved."""
        names = ", ".join(f'"{name}"' for name in self.fields)
        held = f"{{key: vars(each)[key] for key in {{{names}}} & set(vars(each))}}"
        fields = [f'"fields": [{held} for each in self.parts]'] if self.fields else []
        return [*fields, *(['"gathered": self.gathered'] if self.has_lists else [])]

    def start(self) -> list[str]:
        lines = ["        self.parts = [module, *trainer.callbacks]", "        self.put_gathered()"]
        return lines if self.is_any else []

    def again(self) -> list[str]:
        return ["        self.put_gathered()"] if self.is_any else []

    def methods(self, *, has_hook: bool) -> list[str]:
        if not self.is_any:
            return []
        lines = [
            "    def put_gathered(self):",
            "        kept = self.state if self.state and not self.is_put else {}",
        ]
        if self.fields:
            lines += [
                '        for each, values in zip(self.parts, kept.get("fields", ())):',
                *("            " + line for line in put_lines("copy.deepcopy(values)")),
            ]
        if self.has_lists:
            lines += [
                '        for each, values in zip(self.gathered, kept.get("gathered", ())):',
                "            each.clear()",
                "            each.update(values) if isinstance(each, dict) else each.extend(values)",
            ]
        return [*lines, "", *([] if has_hook else [_HOOK, *self._begin(), ""])]

    def inside(self, hooks: Sequence[str]) -> list[str]:
        """The hooks that the callback has anyway, with what is done in one of them."""
        added = self._begin() if self.is_any else []
        return [line for each in hooks for line in ([each, *added] if each == _HOOK else [each])]

    def _begin(self) -> list[str]:
        return ["        self.put_gathered()", "        self.is_put = True"]


def put_lines(values: str) -> list[str]:
    """Lines that put values by their names into `each`."""
    return [line.format(values) for line in _PUT]


def gathered_fields(draft: Draft) -> list[str]:
    """Fields that such a class begins with a plain value and changes while it is called: `self.losses.append(…)`.

    What it was given at first is meant only where something is put into it.
    """
    found: set[str] = set()
    for file in files_of(draft):
        for home in _classes(file):
            first: set[str] = set()
            changed: set[str] = set()
            fresh: set[str] = set()
            given: set[str] = set()
            filled: set[str] = set()
            for function in file.functions():
                if file.parent(function) is not home.body:
                    continue
                assigned = dict(assigned_fields(file, function))
                if function.name.value == "__init__":
                    first = {name for name, value in assigned.items() if is_plain(value) and tail(value) != "None"}
                    own = {param.name.value for param in function.params.params}
                    given = {
                        name for name, value in assigned.items() if isinstance(value, cst.Name) and tail(value) in own
                    }
                    continue
                filled |= set(changed_fields(file, function))
                changed |= set(assigned)
                fresh |= set(assigned) if function.name.value in _FRESH else _emptied(file, function, assigned)
            found |= ((first & (changed | filled)) | (given & filled)) - fresh
    return sorted(found)


def gathered_names(draft: Draft, call: cst.Call) -> list[str]:
    """Lists and dictionaries beside such a class that its methods fill: `losses.append(…)`."""
    scopes: list[Scope] = [draft.scope(call)]
    scopes += [draft.module] if scopes[0] is not draft.module else []
    begun = [
        name for scope in scopes for node in draft.below(scope)
        if isinstance(node, cst.Assign) and draft.scope(node) is scope and draft.start(node) < draft.start(call)
        for target in node.targets for name, value in parts_of(target.target, node.value).items()
        if isinstance(value, cst.List | cst.Dict)
    ]  # fmt: skip
    filled = set(_filled(draft))
    return [name for name in dict.fromkeys(begun) if name in filled]


def _classes(draft: Draft) -> Iterator[cst.ClassDef]:
    for node in draft.nodes:
        if isinstance(node, cst.ClassDef) and any(tail(base.value) in _BASES for base in node.bases):
            yield node


def _emptied(draft: Draft, function: cst.FunctionDef, assigned: dict[str, cst.BaseExpression]) -> set[str]:
    """What a method empties once it has read it: the outputs of one epoch."""
    new = {name for name, value in assigned.items() if isinstance(value, cst.List | cst.Dict) and not value.elements}
    cleared = {
        dotted(call.func.value).partition(".")[2] for call in draft.calls(function.body)
        if isinstance(call.func, cst.Attribute) and tail(call.func) == "clear"
    }  # fmt: skip
    return new | cleared


def _filled(draft: Draft) -> Iterator[str]:
    """Names from around such classes that their methods put something into."""
    for function in (each for home in _classes(draft) for each in draft.below(home)):
        if not isinstance(function, cst.FunctionDef):
            continue
        own = {name for node in draft.below(function) for name in _bound(node)}
        own |= {param.name.value for param in function.params.params}
        for node in draft.below(function.body):
            yield from (each.value for each in filled_by(node) if isinstance(each, cst.Name) and each.value not in own)


def _bound(node: cst.CSTNode) -> Sequence[str]:
    return [dotted(node.target)] if isinstance(node, cst.AssignTarget | cst.For) else []
