"""Whether a script goes on by itself after a stop, and what must be passed for that."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.arguments.parsers import argparse_options
from outlast.adapt.arguments.setup import Option
from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED
from outlast.adapt.resuming.counters import find_loops, find_while_loops
from outlast.adapt.resuming.restored import LOADS
from outlast.adapt.resuming.state import RULE
from outlast.migrate.context import is_prose_call
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, inner, tail

_STARTS = re.compile(
    r"(?:start|begin|initial|resume|resumed|first|last)_(?:epoch|step|iter|iteration|round)s?(?:_done)?|"
    r"(?:epoch|step|iter|iteration)_start",
    re.I,
)
#: what options that turn resuming on are called; others around a load (`--rank`, `--gpu`) decide something else
_FLAG = re.compile(
    r"resume|checkpoint|ckpt|restore|continue|snapshot|load|start_from|pretrain|weights|model_name_or_path", re.I
)


def is_resume(name: str) -> bool:
    """Whether an option of that name says where to go on: `--resume`, `--continue-from`."""
    return re.search(r"resume|restore|continue|start_from", name, re.I) is not None


@dataclass(frozen=True)
class OwnResume:
    """`flag`: the option without which nothing is loaded; empty where the script looks for itself."""

    flag: str = ""
    takes: str = "PATH"  # what it must be told; empty for a switch
    setting: str = ""  # what decides instead of an option: a parameter, a field of a configuration
    #: what is counted from, as far as nobody has to tell it to go on
    starts: tuple[cst.BaseExpression, ...] = ()
    spelled: str = ""  # the option as a command line has it: `-resume`

    @property
    def is_asked(self) -> bool:
        """Whether somebody must tell it to go on."""
        return bool(self.flag or self.setting)

    @property
    def words(self) -> str:
        """As it is written on a command line, or called in the file."""
        if self.setting:
            return self.setting
        return (self.spelled or f"--{self.flag}") + (f"={self.takes}" if self.takes else "")


def say_asked(draft: Draft, own: OwnResume | None, *, is_asked_no_more: bool = False) -> bool:
    """Name the way in which a script can be told to go on, where it has one: somebody must tell it, in every stint.

    `is_asked_no_more`: it goes on by itself now.
    """
    if own is None or not own.is_asked:
        return False
    if is_asked_no_more:
        draft.say(Kind.KEPT, RULE, draft.first, f"{own.words} goes on as before; in a stint nothing need be passed")
        return True
    said, advice = f"goes on only when {own.setting} is set", "set it to a place in the output folder"
    if not own.setting:
        said = f"goes on only when it is started with {own.words}"
        advice = f"pass it, with a place in the output folder: outlast run … -- {own.words}"
    draft.say(Kind.DIFFERS, RULE, draft.first, said, advice)
    return True


def find_own_resume(draft: Draft) -> OwnResume | None:
    """None where nothing is loaded, or no count goes on from what was loaded."""
    counted = list(_counted(draft))
    loads = [call for call in draft.calls() if tail(call.func) in LOADS]
    if not counted or not loads:
        return None
    options = dict(argparse_options(draft))
    flags = [_flag(draft, place, options) for place in counted]
    if not all(flags):
        settings = [flag or _setting(draft, place) for flag, place in zip(flags, counted, strict=True)]
        setting = next(each for each in settings if each) if all(settings) else ""
        return OwnResume(setting=setting, starts=tuple(_start(draft, place) for place in counted))
    name = flags[0]
    option = options.get(name)
    call = option.call if option is not None else None
    kind = argument(call, "type") if call is not None else None
    takes = "NUMBER" if kind is not None and tail(kind.value) == "int" else "PATH"
    is_switch = call is not None and argument(call, "action") is not None
    flag, spelled = (option.name, option.shown) if option is not None else (name, "")
    return OwnResume(flag, takes="" if is_switch else takes, spelled=spelled)


def is_on(draft: Draft, node: cst.BaseExpression) -> bool:
    """Whether a name is that of an option that is on by itself."""
    option = dict(argparse_options(draft)).get(tail(node))
    return option is not None and _is_on(draft, option)


def _start(draft: Draft, place: cst.CSTNode) -> cst.BaseExpression:
    if isinstance(place, cst.Assign):
        return place.value
    first = next(loop.first for loop in find_loops(draft) if loop.node is place)
    assert first is not None  # it was found by that
    return first


def _counted(draft: Draft) -> Iterator[cst.CSTNode]:
    """Where the count is set to something that was found out; a loop may also start at such a thing itself."""
    names = {tail(loop.first) for loop in find_loops(draft) if isinstance(loop.first, cst.Name | cst.Attribute)}
    loaded = {
        tail(node.targets[0].target)
        for node in draft.nodes
        if isinstance(node, cst.Assign) and isinstance(node.value, cst.Call) and "load" in tail(node.value.func)
    }
    for loop in find_loops(draft):
        if loop.first is not None and any(
            isinstance(node, cst.Name) and node.value in loaded for node in (loop.first, *draft.below(loop.first))
        ):
            yield loop.node
    self_counting = {loop.variable for loop in find_while_loops(draft)}
    for node in draft.nodes:
        if not isinstance(node, cst.Assign) or not _is_found_out(node.value):
            continue
        for target in (each.target for each in node.targets):
            parts = [element.value for element in target.elements] if isinstance(target, cst.Tuple) else [target]
            # `scheduler.last_epoch = start_epoch - 1` follows on what was found out elsewhere.
            is_start = any(
                (tail(part) in names or _STARTS.fullmatch(tail(part)))
                and not (isinstance(part, cst.Attribute) and tail(part) == "last_epoch")
                for part in parts
            )
            is_counter = any(tail(part) in self_counting for part in parts) and _is_loaded(draft, node, loaded)
            is_start = is_start and any(_is_read(draft, tail(part)) for part in parts)
            if is_start or (is_counter and not _is_switched(draft, node)):
                yield node


def _is_read(draft: Draft, name: str) -> bool:
    """Whether a count goes anywhere but into a message."""
    for node in draft.nodes:
        if not isinstance(node, cst.Name) or node.value != name:
            continue
        around = list(itertools.takewhile(lambda each: not isinstance(each, cst.BaseSuite), draft.above(node)))
        is_target = any(isinstance(each, cst.AssignTarget | cst.AugAssign | cst.Param) for each in around)
        is_told = any(
            isinstance(each, cst.FormattedString) or (isinstance(each, cst.Call) and is_prose_call(tail(each.func)))
            for each in around
        )
        if not is_target and not is_told:
            return True
    return False


def _is_loaded(draft: Draft, node: cst.Assign, loaded: set[str]) -> bool:
    """`step = state["step"]`, where the counter of a `while` loop also changes in other ways."""
    names = (each for each in (node.value, *draft.below(node.value)) if isinstance(each, cst.Name))
    return any(each.value in loaded or "load" in each.value or "restore" in each.value for each in names)


def _is_switched(draft: Draft, node: cst.CSTNode) -> bool:
    """Whether a constant of the file decides (`init_from = "scratch"`): in a stint nobody edits it."""
    constants = {
        tail(each.targets[0].target)
        for each in draft.nodes
        if isinstance(each, cst.Assign) and (isinstance(each.value, cst.SimpleString) or tail(each.value) == "False")
    }
    return any(
        isinstance(each, cst.Name) and each.value in constants and not isinstance(draft.parent(each), cst.Arg)
        for test in _tests(draft, node, depth=1)
        for each in (test, *draft.below(test))
    )


def _is_found_out(value: cst.BaseExpression) -> bool:
    """Not a number, another name (`start_epoch = args.start_epoch`), or several of these."""
    if isinstance(value, cst.Tuple):
        return any(_is_found_out(element.value) for element in value.elements)
    return not isinstance(value, cst.Integer | cst.Name | cst.Attribute | cst.UnaryOperation | cst.Float)


def _flag(draft: Draft, place: cst.CSTNode, options: dict[str, Option]) -> str:
    """The option that decides whether a place is reached; empty for none, or one that is on by itself."""
    for test in _tests(draft, place, depth=3):
        for node in (test, *draft.below(test)):
            # A local name is often the option's: `resume = opt.resume`.
            name = tail(node) if isinstance(node, cst.Attribute | cst.Name) else ""
            is_flag = name in options or (isinstance(node, cst.Attribute) and tail(node.value) == "FLAGS")
            if is_flag and name not in PASSED and _FLAG.search(name) and not _is_on(draft, options.get(name)):
                return name
    return ""


def _setting(draft: Draft, place: cst.CSTNode) -> str:
    """A parameter, a constant or a field of a configuration that decides whether a place is reached."""
    for test in _tests(draft, place, depth=3):
        for node in (test, *draft.below(test)):
            around = draft.parent(node)
            is_asked = not isinstance(around, cst.Attribute | cst.Arg | cst.Subscript | cst.ComparisonTarget)
            is_asked = is_asked and not (isinstance(around, cst.Call) and around.func is node)
            is_asked = is_asked or (_key(node) != "" and isinstance(around, cst.If | cst.IfExp | cst.BooleanOperation))
            if isinstance(around, cst.Comparison):
                is_asked = is_asked and not isinstance(around.comparisons[0].operator, cst.In | cst.NotIn)
            is_named = isinstance(node, cst.Name | cst.Attribute) or _key(node) != ""
            is_flag = is_named and bool(_FLAG.search(tail(node)))
            if is_flag and is_asked and tail(node) not in PASSED and _is_set_elsewhere(draft, node):
                return draft.source(node)
    return ""


def _is_set_elsewhere(draft: Draft, node: cst.CSTNode) -> bool:
    """Whether nothing in this file finds a value out, or turns it on: it is a parameter, or empty at first."""
    name = tail(node)
    if name == "latest_checkpoint":  # what a manager of TensorFlow has found
        return False
    values: list[cst.BaseExpression | None] = [
        each.value
        for each in draft.nodes
        if isinstance(each, cst.Assign | cst.AnnAssign)
        for target in (each.targets if isinstance(each, cst.Assign) else [each])
        if tail(target.target) == name and not (isinstance(node, cst.Name) and _is_after(draft, each, node))
    ]
    params = [each for each in draft.nodes if isinstance(each, cst.Param) and each.name.value == name]
    values += [each.default for each in params]
    values += [
        arg.value
        for call in draft.calls()
        for arg in call.args
        if arg.keyword is not None and arg.keyword.value == name
    ]
    if _key(node):
        values += [each.value for each in draft.nodes if isinstance(each, cst.DictElement) and inner(each.key) == name]
    known = [value for value in values if value is not None]
    is_empty = all(
        draft.source(value) in ("None", "False", "0", "''", '""') or isinstance(value, cst.Attribute | cst.Name)
        for value in known
    )
    return is_empty and "True" not in map(tail, known) and bool(params or known or not isinstance(node, cst.Name))


def _key(node: cst.CSTNode) -> str:
    """The key of `config["preload"]`."""
    return tail(node) if isinstance(node, cst.Subscript) and tail(node) != tail(node.value) else ""


def _is_after(draft: Draft, assigned: cst.CSTNode, node: cst.CSTNode) -> bool:
    return draft.scope(assigned) is draft.scope(node) and draft.start(assigned) > draft.start(node)


def _is_on(draft: Draft, option: Option | None) -> bool:
    default = argument(option.call, "default") if option is not None and option.call is not None else None
    return default is not None and draft.source(default.value) not in ("None", "False", "0", "''", '""')


def _tests(draft: Draft, place: cst.CSTNode, depth: int) -> Iterator[cst.BaseExpression]:
    """Conditions around a place, also around the one call of its function."""
    before: cst.CSTNode = place
    if isinstance(place, cst.Assign) and isinstance(place.value, cst.IfExp):
        yield place.value.test
    for each in draft.above(place):
        if isinstance(each, cst.If) and before is each.body:
            yield each.test
        if isinstance(each, cst.FunctionDef):
            calls = [call for call in draft.calls() if tail(call.func) == each.name.value]
            if depth and len(calls) == 1:
                yield from _tests(draft, calls[0], depth - 1)
            return
        before = each
