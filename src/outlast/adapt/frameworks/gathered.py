"""What modules and callbacks of Lightning gather by themselves: lists of losses to be drawn, counters, best values.

The Trainer keeps weights and the state of its own parts alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.draft import Draft, Scope
from outlast.adapt.frameworks.keras_callbacks import CHANGES, assigned_fields, changed_fields, is_plain
from outlast.adapt.resuming.visible import parts_of
from outlast.adapt.whole import files_of
from outlast.migrate.tree import dotted, tail

_BASES = frozenset({"Callback", "LightningModule", "EarlyStopping", "ModelCheckpoint"})
#: what is set here is set anew in each epoch, or for each start
_FRESH = frozenset(
    "on_train_epoch_start on_validation_epoch_start on_epoch_start on_validation_start on_fit_start on_train_start "
    "setup prepare_data configure_model configure_optimizers".split()
)


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
                "            vars(each).update(copy.deepcopy(values))",
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


def gathered_fields(draft: Draft) -> list[str]:
    """Fields that such a class begins with a plain value and changes while it is called: `self.losses.append(…)`."""
    found: set[str] = set()
    for file in files_of(draft):
        for home in _classes(file):
            first: set[str] = set()
            changed: set[str] = set()
            fresh: set[str] = set()
            for function in file.functions():
                if file.parent(function) is not home.body:
                    continue
                assigned = dict(assigned_fields(file, function))
                if function.name.value == "__init__":
                    first = {name for name, value in assigned.items() if is_plain(value) and tail(value) != "None"}
                    continue
                changed |= {*assigned, *changed_fields(file, function)}
                fresh |= set(assigned) if function.name.value in _FRESH else _emptied(file, function, assigned)
            found |= (first & changed) - fresh
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
            place: cst.CSTNode | None = None
            if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and tail(node.func) in CHANGES:
                place = node.func.value
            elif isinstance(node, cst.AssignTarget) and isinstance(node.target, cst.Subscript):
                place = node.target
            while isinstance(place, cst.Subscript):
                place = place.value
            if isinstance(place, cst.Name) and place.value not in own:
                yield place.value


def _bound(node: cst.CSTNode) -> Sequence[str]:
    return [dotted(node.target)] if isinstance(node, cst.AssignTarget | cst.For) else []
