"""Functions that take a path from other files of the program, and what each does with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import libcst as cst

from outlast.adapt.arguments.namespaces import called_name, parameters_of
from outlast.adapt.draft import Draft
from outlast.adapt.elsewhere import function_elsewhere
from outlast.adapt.libraries import is_library
from outlast.adapt.needs import Role
from outlast.adapt.placing.options import SUFFIX, reads_settings
from outlast.adapt.placing.sinks import Sink
from outlast.adapt.whole import files_of
from outlast.migrate.tree import argument, dotted, positional, tail

if TYPE_CHECKING:
    from outlast.adapt.placing.flow import Flow
    from outlast.adapt.placing.sources import Use

#: What a parameter is for if it is for several things: what is written is a result, whoever reads it too.
_RANKS = (Role.DATA, Role.WEIGHTS, Role.OUTPUT)

#: whether a file is there
_ASKS = re.compile(r"\b(?:exists|isfile|is_file)\(")
#: methods that containers and texts have as well: `table.update(rows)` says nothing without its table
_OF_CONTAINERS = frozenset(name for kind in (dict, list, set, str) for name in dir(kind))
_ROOT = re.compile(r"(?:data_?|image_?|img_?|video_?|dataset_?)?(?:root|dir)(?:_?path|_?dir)?")


@dataclass(frozen=True)
class Taker:
    """A parameter that is a path."""

    function: str  # as it is called: the class, for `__init__`
    name: str
    place: int  # among the arguments
    role: Role
    is_folder: bool
    is_method: bool
    expects: bool = False  # a folder that the function does not make
    is_read: bool = False  # whatever else is done there
    is_root: bool = False  # known by its name: also where its class stands in the same file
    is_of_class: bool = False  # a method that the class itself is asked for: `Vocabulary.load(path)`
    is_opened: bool = False  # a file that is opened, and not given to a reader of any kind of data
    owner: str = ""  # the class of a method

    def sink(self, draft: Draft, call: cst.Call) -> Sink | None:
        """The path that a call of this function hands over, if it is one of it."""
        if not self.is_called(draft, call):
            return None
        named = argument(call, self.name)
        path = named.value if named is not None else positional(call, self.place)
        if path is None:
            return None
        if self.is_read and argument(call, "download") is not None:
            # What a class fetches to where it reads is data: it writes nothing there as soon as that is given.
            return Sink(call, path, Role.DATA, self.is_folder)
        is_root = self.is_folder and self.role is Role.DATA
        return Sink(
            call, path, self.role, self.is_folder, expects=self.expects, is_root=is_root, is_opened=self.is_opened
        )

    def sink_of_base(self, call: cst.Call) -> Sink | None:
        """The same for `super().__init__(…)` in a class that is built on this one, and where an object is called."""
        named = argument(call, self.name)
        path = named.value if named is not None else positional(call, self.place)
        return None if path is None else Sink(call, path, self.role, self.is_folder, expects=self.expects)

    def is_called(self, draft: Draft, call: cst.Call) -> bool:
        full = draft.resolve(call.func)
        if self.is_root and isinstance(call.func, cst.Name) and call.func.value in draft.class_names:
            return True
        if self.is_method:
            is_asked = not full or (self.is_of_class and not is_library(full))
            if not isinstance(call.func, cst.Attribute) or not is_asked:
                return False
            return self.function not in _OF_CONTAINERS or _is_object_of(draft, call.func.value, self.owner)
        return (bool(full) and not is_library(full)) or _is_of_import(draft, call.func)


def _is_of_import(draft: Draft, func: cst.BaseExpression) -> bool:
    """`nets.Config(root)`, where `nets = import_module("nets." + name)`."""
    if not isinstance(func, cst.Attribute) or not isinstance(func.value, cst.Name):
        return False
    return any(
        isinstance(node.value, cst.Call) and tail(node.value.func) in ("import_module", "__import__")
        and any(dotted(each.target) == dotted(func.value) for each in node.targets)
        for node in draft.all_assigns
    )  # fmt: skip


def _is_object_of(draft: Draft, node: cst.BaseExpression, owner: str) -> bool:
    """Whether something is seen to be an object of a class of the program: `self` there, or what a call of it made."""
    if dotted(node) in ("self", "cls"):
        home = next((each for each in draft.above(node) if isinstance(each, cst.ClassDef)), None)
        return home is not None and home.name.value == owner
    return any(
        isinstance(each.value, cst.Call) and tail(each.value.func) == owner
        and any(tail(target.target) == tail(node) for target in each.targets)
        for file in files_of(draft) for each in file.all_assigns
    )  # fmt: skip


Takers = Mapping[str, tuple[Taker, ...]]


def find_takers(draft: Draft, sinks: Iterable[Sink], flow: Flow) -> Iterator[Taker]:
    """Parameters of this file's functions that lead to a call about files."""
    found: dict[tuple[int, str], list[tuple[cst.FunctionDef, Use]]] = {}
    places_of: dict[tuple[int, str], list[tuple[cst.CSTNode, Use]]] = {}
    for sink in sinks:
        is_place = sink.role is not None and not sink.is_guess and not reads_settings(draft, sink.call)
        for use in flow.ways(sink) if is_place else ():
            for hop in use.hops:
                function = flow.function_of(hop.node) if isinstance(hop.node, cst.Name) else None
                if function is not None:
                    # What the function gives it otherwise may be a folder with the rest of a name behind it.
                    taken = replace(use, is_folder=hop.is_folder)
                    found.setdefault((id(function), tail(hop.node)), []).append((function, taken))
                    places_of.setdefault((id(function), tail(hop.node)), []).append((hop.node, use))
    for (at, parameter), several in found.items():
        function = several[0][0]
        places = parameters_of(function)
        is_method = places[:1] in (["self"], ["cls"])
        # A folder that is only made holds what the same parameter leads to otherwise.
        uses = [use for _, use in several if not use.sink.makes] or [use for _, use in several]
        if _are_prepared(draft, places_of[at, parameter]):
            uses = [use for use in uses if use.role is not Role.OUTPUT]
        owner = next((each for each in draft.above(function) if isinstance(each, cst.ClassDef)), None)
        if owner is not None and _is_dataset(owner) and _has_more(uses):
            uses = [use for use in uses if use.role is not Role.OUTPUT]
        roles = [use.role for use in uses if use.role is not None]
        if not roles:  # of it only the folder is used: `Path(file).parent / "curve.png"`
            continue
        role = max(roles, key=_RANKS.index)
        called = called_name(draft, function)
        if owner is not None and called == "__call__":
            called = f"{owner.name.value}.{called}"  # an object is called by a name of its own
        is_folder = any(use.is_folder for _, use in several)
        is_bound = is_method and called == function.name.value
        is_made = any(use.sink.makes or use.sink.is_folder for _, use in several)
        expects = role is Role.OUTPUT and is_folder and not is_made
        is_read = any(use.role in (Role.DATA, Role.WEIGHTS) for use in uses)
        place = places.index(parameter) - is_method
        is_opened = not is_folder and all(use.sink.role is None or use.sink.opens for _, use in several)
        yield Taker(
            called, parameter, place, role, is_folder, is_bound, expects, is_read,
            is_of_class=places[:1] == ["cls"], is_opened=is_opened, owner=owner.name.value if owner is not None else "",
        )  # fmt: skip


def _has_more(uses: Sequence[Use]) -> bool:
    """Whether a folder has files that are read and never written there: what a data set makes of them lies beside."""
    written = {use.after for use in uses if use.role is Role.OUTPUT and not use.sink.makes}
    read = {use.after for use in uses if use.role in (Role.DATA, Role.WEIGHTS)}
    return any(map(SUFFIX.search, read - written))


def _are_prepared(draft: Draft, places: Sequence[tuple[cst.CSTNode, Use]]) -> bool:
    """Whether a function reads a file, or else writes it for later starts: `if anew: dump(path)`, `else: load(path)`.

    As a list that is made of the data does, it lies where the data do. Whoever asks whether it is there may read the
    data themselves where it is made: `if not exists(words): self.count(texts, words)`, `else: self.load(words)`.
    """
    written = [(node, use) for node, use in places if use.role is Role.OUTPUT and not use.sink.makes]
    read = [(node, use) for node, use in places if use.role in (Role.DATA, Role.WEIGHTS)]
    if not written or not read:
        return False
    if all(_choice(draft, one, other) for one, _ in written for other, _ in read):
        return True
    return all(
        any(_is_asked_for(draft, made, use) for node, use in read if tail(node) == tail(at)) for at, made in written
    )


def _is_asked_for(draft: Draft, made: Use, use: Use) -> bool:
    """Whether one place is made where a file is missing, and the other is read where it is there."""
    choices = (_choice(draft, one.node, other.node) for one in made.hops for other in use.hops)
    return any(each is not None and _ASKS.search(draft.source(each.test)) for each in choices)


def _choice(draft: Draft, one: cst.CSTNode, other: cst.CSTNode) -> cst.If | None:
    """The question that leads to one of two places, and never to both."""
    above = list(draft.above(one))
    for each in draft.above(other):
        if isinstance(each, cst.If) and each.orelse is not None and each in above:
            sides = [any(up is each.orelse for up in draft.above(node)) for node in (one, other)]
            return each if sides[0] != sides[1] else None
    return None


def find_roots(draft: Draft, found: Iterable[Taker]) -> Iterator[Taker]:
    """`VideoDataset(root_path, …)`: what a data set has for its root holds data, whatever becomes of it."""
    known = {(each.function, each.name) for each in found}
    for function in draft.functions():
        owner = next((each for each in draft.above(function) if isinstance(each, cst.ClassDef)), None)
        if owner is None or function.name.value != "__init__" or not _is_dataset(owner):
            continue
        for place, name in enumerate(parameters_of(function)[1:]):
            if _ROOT.fullmatch(name) and (owner.name.value, name) not in known:
                yield Taker(owner.name.value, name, place, Role.DATA, is_folder=True, is_method=False, is_root=True)


def _is_dataset(owner: cst.ClassDef) -> bool:
    return any(tail(base.value) == "Dataset" for base in owner.bases) or owner.name.value.endswith("Dataset")


def add_handed(draft: Draft, sinks: Sequence[Sink], takers: Takers) -> list[Sink]:
    """With the paths that calls hand to functions of other files; what was only guessed of these calls is left out."""
    known = {id(sink.path) for sink in sinks if not sink.is_guess}
    given = {id(call): [sink for sink in _handed(draft, call, takers) if id(sink.path) not in known]
             for call in draft.calls()}  # fmt: skip
    kept = [sink for sink in sinks if not (sink.is_guess and _is_known(draft, sink.call, takers))]
    found = [*kept, *(sink for several in given.values() for sink in several)]
    return sorted(found, key=lambda sink: draft.start(sink.call))


def _is_known(draft: Draft, call: cst.Call, takers: Takers) -> bool:
    """Whether a call is one of a function that is seen to take a place: its other parameters are none."""
    return any(each.is_called(draft, call) for each in takers.get(tail(call.func), ()))


def _handed(draft: Draft, call: cst.Call, takers: Takers) -> list[Sink]:
    found = [each.sink(draft, call) for each in takers.get(tail(call.func), ())]
    found += [each.sink_of_base(call) for base in bases_run(draft, call) for each in takers.get(base, ())]
    called = (*_objects_called(draft, call), *_classes_chosen(draft, call))
    found += [each.sink_of_base(call) for name in called for each in takers.get(name, ())]
    return [sink for sink in found if sink is not None]


def _objects_called(draft: Draft, call: cst.Call) -> set[str]:
    """`Stopping.__call__` for `stop(loss, net)`, where `stop = Stopping(5)`."""
    if not isinstance(call.func, cst.Name):
        return set()
    called = call.func.value
    return {
        f"{tail(node.value.func)}.__call__"
        for node in draft.all_assigns
        if isinstance(node.value, cst.Call)
        and any(isinstance(each.target, cst.Name) and each.target.value == called for each in node.targets)
    }


def _classes_chosen(draft: Draft, call: cst.Call) -> list[str]:
    """`Streets` and `Rooms` for `kind(root)`, where `kind = get_set(name)` picks one of a table of another file."""
    name = call.func.value if isinstance(call.func, cst.Name) else ""
    given = [
        node.value for node in draft.all_assigns
        if name and any(isinstance(each.target, cst.Name) and each.target.value == name for each in node.targets)
        and draft.scope(node) is draft.scope(call)
    ]  # fmt: skip
    makers = [function_elsewhere(draft, value) for value in given if isinstance(value, cst.Call)]
    return [each for maker in makers if maker is not None for each in _of_table(*maker)]


def _of_table(home: Draft, function: cst.FunctionDef) -> Iterator[str]:
    """What the values of a dictionary are called of which a function gives one back."""
    for node in home.below(function.body):
        part = node.value if isinstance(node, cst.Return) and isinstance(node.value, cst.Subscript) else None
        table = part.value if part is not None else None
        if isinstance(table, cst.Name):
            table = next(
                (each.value for each in home.nodes if isinstance(each, cst.Assign)
                 and any(tail(one.target) == tail(table) for one in each.targets)), None
            )  # fmt: skip
        for each in table.elements if isinstance(table, cst.Dict) else ():
            yield from [tail(each.value)] if isinstance(each.value, cst.Name | cst.Attribute) else []


def bases_run(draft: Draft, call: cst.Call) -> list[str]:
    """The classes of other files whose `__init__` a call of `super().__init__` runs."""
    owner = call.func.value if isinstance(call.func, cst.Attribute) and tail(call.func) == "__init__" else None
    if not isinstance(owner, cst.Call) or tail(owner.func) != "super":
        return []
    home = next((each for each in draft.above(call) if isinstance(each, cst.ClassDef)), None)
    bases = [base.value for base in home.bases] if home is not None else []
    return [tail(base) for base in bases if (full := draft.resolve(base)) and not is_library(full)]


def inherited(draft: Draft) -> Iterator[tuple[str, str]]:
    """Classes that are made as another one is, with that: they have no `__init__` of their own."""
    for node in draft.nodes:
        own = node.body.body if isinstance(node, cst.ClassDef) else ()
        if (
            isinstance(node, cst.ClassDef)
            and node.bases
            and not any(isinstance(each, cst.FunctionDef) and each.name.value == "__init__" for each in own)
        ):
            yield node.name.value, tail(node.bases[0].value)
