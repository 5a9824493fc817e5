"""Arguments that become dataclasses: `HfArgumentParser((Extra, TrainingArguments))`, and what is made from it.

Such a parser takes only what its classes have, so the contract's options are taken away before it; the fields that
hold paths are set behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from outlast.adapt.arguments.namespaces import Namespaces
from outlast.adapt.arguments.parsers import ArgparseSetup
from outlast.adapt.arguments.setup import Option, Setup, body_start
from outlast.adapt.draft import Draft
from outlast.adapt.libraries import TRAINING_ARGUMENTS, is_library
from outlast.adapt.needs import HELP, Role
from outlast.migrate.tree import argument, dotted, inner, positional, tail

_PARSERS = frozenset({"HfArgumentParser", "TrlParser", "H4ArgumentParser"})
_DIRECT = frozenset({"simple_parsing.parse", "tyro.cli"})
_PARSES = re.compile(r"parse_(?:args_into_dataclasses|args_and_config|json_file|yaml_file|dict)|parse")


@dataclass
class DataclassSetup(Setup):
    """`model_args, training_args = parser.parse_args_into_dataclasses()`; the options are their fields."""

    kind: str = "dataclasses"
    owners: dict[str, str] = field(default_factory=dict)  # field → the name that holds it
    held: cst.CSTNode = field(default_factory=cst.Ellipsis)
    is_taken: bool = False  # `held` is the first statement of the function that takes the object
    has_file: bool = True  # whether a file of arguments may stand for all of them
    stood_for: dict[str, str] = field(default_factory=dict)  # field that must be given → the contract's option

    def own_value(self, name: str) -> str:
        return f"{self.owners[name]}.{name}"

    def reaches(self, node: cst.CSTNode) -> bool:
        return False

    def follow(self, lines: Sequence[str]) -> None:
        if self.is_taken:
            self.draft.add_before(self.held, lines)
        else:
            self.draft.add_after(self.held, lines)

    def hand_on(self, contract: str, options: Sequence[tuple[str, str]]) -> list[str]:
        """Some versions insist on --output_dir; a file of arguments has to be the only argument."""
        output = next((name for name, words in options if words == HELP[Role.OUTPUT]), "")
        given = dict(self.stood_for)
        if output and self.has_file and "output_dir" in self.options:
            given["output_dir"] = output
        is_file = 'len(sys.argv) == 2 and sys.argv[1].endswith((".json", ".yaml", ".yml"))'
        unless = f" and not ({is_file})" if self.has_file else ""
        return [
            line
            for own, name in given.items()
            for line in (f"if {contract}.{name}{unless}:", f'    sys.argv += ["--{own}", {contract}.{name}]')
        ]

    def let_out(self, option: Option, name: str) -> bool:
        self.stood_for[option.name] = name
        return True


def with_dataclasses(draft: Draft, native: Setup | None) -> Setup | None:
    """The set-up of dataclasses where it is the script's only one; a parser for the contract may stand before it."""
    found = find_dataclasses(draft)
    if found is None or native is None:
        return found or native
    if isinstance(native, ArgparseSetup) and native.parser.startswith("contract"):
        native.options = {**found.options, **native.options}
        native.holders |= found.holders
    return native


def find_dataclasses(draft: Draft) -> DataclassSetup | None:
    """The one parser of this kind, whichever of its ways to parse are there."""
    made = [call for call in draft.calls() if tail(call.func) in _PARSERS]
    direct = list(_direct(draft)) if not made else []
    if len(made) + len(direct) != 1:
        return None
    if direct:
        parses, classes = [direct[0][0]], [direct[0][1]]
    else:
        names = {dotted(each.targets[0].target) for each in _assigns(draft) if each.value is made[0]}
        parses = [
            call for call in draft.calls()
            if isinstance(call.func, cst.Attribute) and _PARSES.fullmatch(call.func.attr.value)
            and (call.func.value is made[0] or dotted(call.func.value) in names)
        ]  # fmt: skip
        classes = _classes(made[0])
    targets = [_targets(draft, call) for call in parses]
    taker = _taker(draft, parses) if not any(targets) else None
    if taker is not None:
        targets = [[taker.name]]
    if not parses or not all(targets) or len({tuple(each) for each in targets}) != 1:
        return None
    held = _around(draft, parses) if taker is None else taker.first
    if held is None or not draft.stands_alone(held):
        return None
    owners: dict[str, str] = {}
    options: dict[str, Option] = {}
    for owner, kind in zip(targets[0], classes, strict=False):
        for option in _fields(draft, kind):
            owners.setdefault(option.name, owner)
            options.setdefault(option.name, option)
    return DataclassSetup(
        draft, options=options, holders=frozenset(targets[0]), owners=owners, held=held, is_taken=taker is not None,
        has_file=bool(made),
    )  # fmt: skip


@dataclass(frozen=True)
class _Taker:
    """A function that is called with what was parsed: `main(Args().parse_args())`."""

    name: str
    first: cst.CSTNode  # its first statement


def _taker(draft: Draft, parses: Sequence[cst.Call]) -> _Taker | None:
    places = Namespaces(draft, parses[0]).places if len(parses) == 1 else []
    if len(places) != 1 or not isinstance(places[0].scope, cst.FunctionDef) or places[0].start:
        return None
    first = body_start(places[0].scope)
    return _Taker(places[0].name, first) if first is not None else None


def _direct(draft: Draft) -> Iterator[tuple[cst.Call, cst.BaseExpression]]:
    """Calls that make an object of one class from the command line: `Args().parse_args()` of Tap, `tyro.cli(Args)`."""
    taps = {
        node.name.value
        for node in draft.nodes
        if isinstance(node, cst.ClassDef) and any(draft.resolve(base.value).endswith("tap.Tap") for base in node.bases)
    }
    for call in draft.calls():
        owner = call.func.value if isinstance(call.func, cst.Attribute) else None
        first = positional(call, 0)
        if isinstance(owner, cst.Call) and tail(owner.func) in taps and tail(call.func) == "parse_args":
            yield call, owner.func
        elif draft.resolve(call.func) in _DIRECT and isinstance(first, cst.Name):
            yield call, first


def _assigns(draft: Draft) -> Iterator[cst.Assign]:
    return (node for node in draft.nodes if isinstance(node, cst.Assign))


def _targets(draft: Draft, call: cst.Call) -> list[str]:
    """The names that a parse is given to; one behind `[0]` too."""
    node: cst.CSTNode = call
    parent = draft.parent(node)
    if isinstance(parent, cst.Subscript) and draft.source(parent).endswith("[0]"):
        node, parent = parent, draft.parent(parent)
    if not isinstance(parent, cst.Assign) or len(parent.targets) != 1:
        return []
    target = parent.targets[0].target
    parts = [each.value for each in target.elements] if isinstance(target, cst.Tuple | cst.List) else [target]
    return [part.value for part in parts if isinstance(part, cst.Name)] if all(
        isinstance(part, cst.Name) for part in parts) else []  # fmt: skip


def _around(draft: Draft, calls: Sequence[cst.Call]) -> cst.CSTNode | None:
    """The statement that holds all of them: the parse, or the `if` with one in each branch."""
    if len(calls) == 1:
        return draft.statement(calls[0])
    for each in draft.above(calls[0]):
        if isinstance(each, cst.If) and all(each in list(draft.above(call)) for call in calls):
            return draft.statement(each)
    return None


def _classes(made: cst.Call) -> list[cst.BaseExpression]:
    named = argument(made, "dataclass_types")
    given = named.value if named is not None else positional(made, 0)
    if isinstance(given, cst.Tuple | cst.List):
        return [each.value for each in given.elements]
    return [given] if given is not None else []


def _fields(draft: Draft, kind: cst.BaseExpression) -> Iterator[Option]:
    """Text fields of a class of the program and of its bases; of a class from elsewhere only what is known."""
    home, own = next(
        ((file, each) for file in (draft, *draft.others) for each in file.nodes
         if isinstance(each, cst.ClassDef) and each.name.value == tail(kind)), (draft, None),
    )  # fmt: skip
    if own is None or is_library(draft.resolve(kind)):
        if TRAINING_ARGUMENTS.fullmatch(tail(kind)):
            yield Option("output_dir", default="trainer_output", is_set=False)
        return
    for base in own.bases:
        yield from _fields(home, base.value)
    for node in home.below(own.body):
        if isinstance(node, cst.AnnAssign) and isinstance(node.target, cst.Name):
            default = node.value
            if isinstance(default, cst.Call):
                named = argument(default, "default")
                default = named.value if named is not None else None
            is_text = bool(re.search(r"\bstr\b", home.source(node.annotation.annotation)))
            is_required = node.value is None or (isinstance(node.value, cst.Call) and _must_be_given(node.value))
            yield Option(
                node.target.value, inner(default), is_text, is_set=bool(inner(default)), is_required=is_required
            )


def _must_be_given(call: cst.Call) -> bool:
    """`field(metadata=…)`: a field without a default."""
    return tail(call.func) == "field" and not (argument(call, "default") or argument(call, "default_factory"))
