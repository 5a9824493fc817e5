"""Output folders that are there already: the platform made them, or the stint before filled them.

A script that ends, asks or clears where its folder exists does so only without the contract's option.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.arguments.setup import Value
from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.placing.flow import Flow
from outlast.adapt.placing.paths import Paths
from outlast.adapt.placing.sinks import Sink
from outlast.adapt.placing.sources import Use
from outlast.adapt.placing.spelling import UNKNOWN
from outlast.adapt.wrapping import add_argument
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, inner, positional, tail

_ASKS = frozenset({"exists", "isdir", "is_dir", "listdir", "scandir", "Exists", "IsDirectory"})
_FILES = frozenset({"exists", "isfile", "is_file", "Exists"})
_CLEARS = frozenset({"rmtree", "DeleteRecursively"})
_ENDS = frozenset({"exit", "_exit", "quit", "abort", "input", "raw_input", "error", *_CLEARS})


@dataclass(frozen=True)
class Guard:
    """One place that would end, ask or clear, and how it is held back."""

    node: cst.CSTNode
    kind: str  # test, other branch, assert, call, make, copy, open
    what: str


def find_guards(
    draft: Draft, sinks: Sequence[Sink], flow: Flow, paths: Paths, is_handed: Callable[[Use], bool] = lambda use: False
) -> list[Guard]:
    """Everything that minds whether the output folder exists. `is_handed`: by another file of the program."""
    ours = [
        (sink, use) for sink in sinks for use in flow.ways(sink) if is_result(paths, use) or is_handed(use)
    ]  # fmt: skip
    # Nobody answers in a job: whoever asks what is to become of a result that is there finds it in a later stint, too.
    found = [guard for sink, _ in ours if tail(sink.call.func) in _FILES for guard in _asking(draft, sink.call)]
    found = [guard for guard in found if "input()" in guard.what]
    made = {draft.source(sink.path) for sink, use in ours if sink.makes and not use.up}
    # What is named when the script runs and not made here is one of many below the folder: an old model gives way.
    ours = [(sink, use) for sink, use in ours if draft.source(sink.path) in made or UNKNOWN not in _below(flow, use)]
    cleared = {draft.source(sink.path) for sink, _ in ours if tail(sink.call.func) in _CLEARS}
    for sink, use in ours:
        name, source = tail(sink.call.func), draft.source(sink.path)
        is_whole = not use.is_folder and _is_folder(paths, use)
        if name in _ASKS and (is_whole or source in made | cleared):
            found += _asking(draft, sink.call)
    for sink, use in ours:
        name, source = tail(sink.call.func), draft.source(sink.path)
        is_held = any(guard.kind != "make" and _is_below(draft, sink.call, guard) for guard in found)
        if name in _CLEARS and (not use.is_folder or source in made) and not is_held:
            found.append(Guard(sink.call, "call", f"{name} clears the output folder"))
        elif name == "copytree" and sink.role is Role.OUTPUT and argument(sink.call, "dirs_exist_ok") is None:
            found.append(Guard(sink.call, "copy", f"{name} ends the script"))
        elif sink.makes and name in ("makedirs", "mkdir") and not _is_open(draft, sink, flow, found):
            found.append(Guard(sink.call, "make", f"{name} ends the script"))
    found += _opening(draft, flow, [sink for sink, _ in ours if sink.makes])
    return [guard for guard in {id(guard.node): guard for guard in found}.values() if not _is_done(draft, guard)]


def _opening(draft: Draft, flow: Flow, makes: Sequence[Sink]) -> Iterator[Guard]:
    """`if not os.path.exists("out"): os.mkdir("out/nets")`: the contract's folder is there, and what lies in it not."""
    for sink in makes:
        for each in draft.above(sink.call):
            if isinstance(each, cst.FunctionDef):
                break
            is_asked = isinstance(each, cst.If) and isinstance(each.test, cst.UnaryOperation)
            if not is_asked or not isinstance(each, cst.If) or not _is_in(draft, each.body, sink.call):
                continue
            if any(_is_above(draft, flow, place, sink) for place in _asked(draft, each.test)):
                yield Guard(each, "open", "")
                for other in makes:
                    if _is_in(draft, each.body, other.call) and argument(other.call, "exist_ok") is None:
                        yield Guard(other.call, "make", "")


def tell_moves(draft: Draft, paths: Paths) -> None:
    """A script that goes to a folder of its own before it reads and writes: what its paths mean, is not followed."""
    done = {id(site.literal) for sites in paths.sites.values() for site in sites}
    for call in draft.calls():
        place = positional(call, 0)
        if draft.resolve(call.func) == "os.chdir" and isinstance(place, cst.SimpleString) and id(place) not in done:
            said = f"the script goes to {inner(place)!r} before it uses other paths, and that may not be there"
            draft.say(Kind.HAND, "folders", call, said, "leave os.chdir out, and put the folder into the paths")


def _below(flow: Flow, use: Use) -> str:
    """What is known of a path, without what an option holds."""
    return flow.full(use) if use.literal is not None else use.after


def _is_done(draft: Draft, guard: Guard) -> bool:
    """Whether it minds an option of the contract already."""
    node = guard.node.test if isinstance(guard.node, cst.If | cst.Assert) else draft.statement(guard.node)
    if guard.kind == "make" and isinstance(guard.node, cst.Call):
        # The folder itself may be called so: `cfg.output_path.mkdir()`.
        told = argument(guard.node, "exist_ok")
        return told is not None and any(name in draft.source(told.value) for name in PASSED)
    return any(name in draft.source(node) for name in PASSED)


def is_result(paths: Paths, use: Use) -> bool:
    """Whether what a use leads to lies in the contract's output folder."""
    if any(wrap.use.sink is use.sink for wrap in paths.wraps.get(Role.OUTPUT, ())):
        return True
    if use.literal is not None:
        return any(site.literal is use.literal for site in paths.sites.get(Role.OUTPUT, ()))
    if use.option in paths.options.get(Role.OUTPUT, {}):
        return True
    others = [*paths.others.get(Role.OUTPUT, ())]
    others += [each for entry in paths.entries if entry.role is Role.OUTPUT for each in entry.uses]
    return use.other is not None and any(use.other is each.other for each in others)


def _is_folder(paths: Paths, use: Use) -> bool:
    """Whether what a use leads to is a folder: asking for a file of results is the script's own way to go on."""
    if use.literal is not None:
        return any(site.literal is use.literal and site.is_folder for site in paths.sites.get(Role.OUTPUT, ()))
    return paths.options.get(Role.OUTPUT, {}).get(use.option, True)


def _asking(draft: Draft, call: cst.Call) -> Iterator[Guard]:
    """The condition around a question, if the answer yes ends the script."""
    is_negated = False
    for each in draft.above(call):
        if isinstance(each, cst.UnaryOperation) and isinstance(each.operator, cst.Not):
            is_negated = not is_negated
        if isinstance(each, cst.Assert) and is_negated:
            yield Guard(each, "assert", "the script ends where its output folder exists")
        if isinstance(each, cst.If):
            if not _holds(draft, each.test, call):
                return
            branch: cst.CSTNode | None = each.orelse if is_negated else each.body
            ending = _ending(draft, branch) if branch is not None else ""
            if ending and isinstance(branch, cst.If):
                yield Guard(branch, "test", f"{ending} where the output folder exists")
            elif ending:
                kind = "other branch" if is_negated else "test"
                yield Guard(branch if is_negated and branch is not None else each, kind,
                            f"{ending} where the output folder exists")  # fmt: skip
            return
        if isinstance(each, cst.BaseStatement):
            return


def _holds(draft: Draft, node: cst.CSTNode, other: cst.CSTNode) -> bool:
    return node is other or any(each is other for each in draft.below(node))


def _ending(draft: Draft, branch: cst.CSTNode) -> str:
    body = branch.body if isinstance(branch, cst.If | cst.Else) else branch
    for node in draft.below(body):
        if isinstance(node, cst.Raise):
            return "an error is raised"
        if isinstance(node, cst.Call) and tail(node.func) in _ENDS:
            return f"{tail(node.func)}() is called"
        if isinstance(node, cst.Return) and _trains(draft, draft.scope(node), draft.start(node)):
            return "nothing is done"
    return ""


def _trains(draft: Draft, scope: cst.CSTNode, start: int) -> bool:
    """Whether loops follow in the function that is left; one that only makes a folder has none."""
    return any(isinstance(each, cst.For | cst.While) and draft.start(each) > start for each in draft.below(scope))


def _is_in(draft: Draft, block: cst.CSTNode, node: cst.CSTNode) -> bool:
    return any(each is block for each in draft.above(node))


def _is_below(draft: Draft, node: cst.CSTNode, guard: Guard) -> bool:
    return any(each is guard.node for each in (node, *draft.above(node)))


def _is_open(draft: Draft, sink: Sink, flow: Flow, found: Sequence[Guard]) -> bool:
    """Whether making the folder goes well where it exists: told so, or only done where it does not."""
    call = sink.call
    told = argument(call, "exist_ok")
    if told is not None:
        return draft.source(told.value) == "True"
    for each in draft.above(call):
        if isinstance(each, cst.If) and any(guard.node is each or guard.node is each.orelse for guard in found):
            return False
        if isinstance(each, cst.If) and _asks_for(draft, flow, each.test, sink):
            return True
        if isinstance(each, cst.Try) and not any(_ending(draft, handler.body) for handler in each.handlers):
            return True
    return False


def _asks_for(draft: Draft, flow: Flow, test: cst.BaseExpression, sink: Sink) -> bool:
    """Whether a test asks for a folder, or for one that it lies in: of a file in it the answer tells nothing."""
    asked, place = _asked(draft, test), sink.path
    if not asked:
        return re.search(r"exists|isdir|is_dir|Exists", draft.source(test)) is not None
    return any(
        draft.source(each) == draft.source(place) or flow.spelling.of(each) == flow.spelling.of(place)
        or _is_above(draft, flow, each, sink)
        for each in asked
    )  # fmt: skip


def _asked(draft: Draft, test: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The places that a test asks for."""
    calls = [call for call in (test, *draft.calls(test)) if isinstance(call, cst.Call) and tail(call.func) in _ASKS]
    owners = [call.func.value if isinstance(call.func, cst.Attribute) else None for call in calls]
    given = [positional(call, 0) or owner for call, owner in zip(calls, owners, strict=True)]
    return [each for each in given if each is not None]


def _is_above(draft: Draft, flow: Flow, folder: cst.BaseExpression, sink: Sink) -> bool:
    """Whether what is made lies in a folder: by their texts, or because one is put together of the other."""
    text, whole = flow.spelling.of(folder).rstrip("/"), flow.spelling.of(sink.path).rstrip("/")
    if UNKNOWN not in text:
        return whole.startswith(f"{text}/") and whole != text
    name = draft.source(folder)
    parts = {draft.source(hop.node) for use in flow.ways(sink) if use.after for hop in use.hops}
    return draft.source(sink.path) != name and name in parts


def hold_back(draft: Draft, guards: Sequence[Guard], value: Value, name: str) -> None:
    """Let each of them mind only where the contract's option is not given."""
    for guard in guards:
        given = value.at(guard.node)
        if guard.kind == "make":
            assert isinstance(guard.node, cst.Call)
            _make_gently(draft, guard.node, given)
            continue
        if guard.kind == "open":
            assert isinstance(guard.node, cst.If)
            _narrow(draft, guard.node.test, f"{given} or ")
            continue
        if guard.kind == "copy":
            assert isinstance(guard.node, cst.Call)
            add_argument(draft, guard.node, f"dirs_exist_ok=bool({given})")
            continue
        if guard.kind == "test":
            assert isinstance(guard.node, cst.If)
            _narrow(draft, guard.node.test, f"not {given} and ")
        elif guard.kind == "assert":
            assert isinstance(guard.node, cst.Assert)
            _narrow(draft, guard.node.test, f"{given} or ")
        elif guard.kind == "other branch":
            start = draft.start(guard.node)
            draft.change(start, start + len("else"), f"elif not {given}")
        else:
            draft.insert(draft.start(guard.node), f"None if {given} else ")
        draft.say(Kind.CHANGED, "folders", guard.node, f"{guard.what}: no longer when --{name} is given")


def _narrow(draft: Draft, test: cst.BaseExpression, first: str) -> None:
    start, end = draft.span(test)
    is_or = isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.Or)
    is_loose = (is_or or isinstance(test, cst.IfExp | cst.NamedExpr | cst.Lambda)) and not test.lpar
    draft.insert(start, first + "(" if is_loose else first)
    if is_loose:
        draft.insert(end, ")")


def _make_gently(draft: Draft, call: cst.Call, given: str) -> None:
    told = argument(call, "exist_ok")
    if told is not None:
        is_no = draft.source(told.value) == "False"
        draft.replace(told.value, f"bool({given})" if is_no else f"bool({given} or {draft.source(told.value)})")
        return
    if draft.resolve(call.func) == "os.mkdir":
        if isinstance(call.func, cst.Attribute):
            draft.replace(call.func.attr, "makedirs")
        else:
            draft.replace(call.func, "os.makedirs")
            draft.need_import("os")
    end = draft.span(call)[1] - 1
    comma = "" if draft.data[:end].rstrip().endswith((b",", b"(")) else ", "
    draft.insert(end, f"{comma}exist_ok=bool({given})")
