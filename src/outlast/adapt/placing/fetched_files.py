"""Files that a script fills itself with what it has fetched, to read them: they are data, though it writes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.fetchers import fetched_by
from outlast.adapt.placing.flow import Flow
from outlast.adapt.placing.paths import Paths
from outlast.adapt.placing.sinks import Sink
from outlast.adapt.placing.sites import text_of
from outlast.migrate.engine import Kind
from outlast.migrate.tree import dotted, positional, tail

_ASKS = ("exists", "isfile", "is_file", "isdir", "is_dir")


def take_for_data(draft: Draft, flow: Flow, sinks: Sequence[Sink]) -> list[Sink]:
    """The same sinks; what is filled from the network and read again is a place of data."""
    filled = {id(sink) for sink in sinks if sink.role is Role.OUTPUT and not sink.makes and _is_filled(draft, sink)}
    if not filled:
        return list(sinks)
    read = {key for sink in sinks if sink.role is Role.DATA for key in _sources(draft, flow, sink)}
    return [
        replace(sink, role=Role.DATA)
        if id(sink) in filled and not read.isdisjoint(_sources(draft, flow, sink)) else sink
        for sink in sinks
    ]  # fmt: skip


def find_asked(draft: Draft, before: Sequence[Sink], after: Sequence[Sink]) -> list[cst.If]:
    """Questions whether such a file is there, behind which it is fetched: `if not os.path.exists(path):`."""
    calls = [new.call for old, new in zip(before, after, strict=True) if old is not new]
    return [
        each for call in calls for each in draft.above(call)
        if isinstance(each, cst.If) and any(word in draft.source(each.test) for word in _ASKS)
    ]  # fmt: skip


def find_filled(draft: Draft, flow: Flow, sinks: Sequence[Sink], paths: Paths) -> list[cst.If]:
    """Questions whether something of the data is there, where it is fetched if not: `if not os.path.exists(ROOT):`."""
    sites = paths.sites.get(Role.DATA, ())
    texts = {site.text.rstrip("/") for site in sites if site.is_folder}
    folders = {id(site.literal) for site in sites if site.text.rstrip("/") in texts}
    options = {name for name, is_folder in paths.options.get(Role.DATA, {}).items() if is_folder}
    asked: dict[int, tuple[cst.If, set[int]]] = {}
    for sink in sinks if folders or options else ():
        around = next((each for each in draft.above(sink.call) if isinstance(each, cst.BaseCompoundStatement)), None)
        is_of_data = any(id(use.literal) in folders or use.option in options for use in flow.uses(sink))
        if sink.role is None and isinstance(around, cst.If) and is_of_data:
            asked.setdefault(id(around), (around, set()))[1].add(id(sink.call))
    found: list[cst.If] = []
    for node, calls in asked.values():
        there = _answer(node.test, calls)
        filling = None if there is None else node.orelse if there else node.body
        if filling is not None and any(fetched_by(draft, call) for call in draft.calls(filling)):
            found.append(node)
            # What else is made on the way there needs no word.
            inside = (each for each in draft.below(filling) if isinstance(each, cst.SimpleString))
            paths.known |= {id(each) for each in inside}
    return found


def _answer(test: cst.BaseExpression, there: set[int]) -> bool | None:
    """What a condition comes out as where all that it asks for is there; None where something else decides."""
    if id(test) in there:
        return True
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        inside = _answer(test.expression, there)
        return None if inside is None else not inside
    if isinstance(test, cst.BooleanOperation):
        sides = _answer(test.left, there), _answer(test.right, there)
        enough = isinstance(test.operator, cst.Or)
        return enough if enough in sides else None if None in sides else not enough
    return None


def tell_asked(draft: Draft, asked: Sequence[cst.If], name: str) -> None:
    for each in asked:
        said = f"what is fetched behind this question is fetched only where --{name} does not have it"
        advice = (
            f"declare the data: outlast run … --data {name}=FOLDER, with what the script asks for as the diff shows it"
        )
        draft.say(Kind.KEPT, "downloads", each, said, advice)


def _sources(draft: Draft, flow: Flow, sink: Sink) -> Iterator[str]:
    for use in flow.ways(sink):
        if use.literal is not None:
            yield f"literal {text_of(use.literal).rstrip('/')}"
        elif use.option or use.other is not None:
            yield use.option or draft.source(use.other or sink.path)


def _is_filled(draft: Draft, sink: Sink) -> bool:
    """Whether what a call opens is written with what the network gave: `f.write(urlopen(url).read())`."""
    handle = _handle(draft, sink.call)
    scope = draft.scope(sink.call)
    fetched = _fetched(draft, scope) if handle else set()
    for call in draft.calls(scope) if handle else ():
        is_written = dotted(call.func) == f"{handle}.write"
        is_copied = tail(call.func) == "copyfileobj" and tail(positional(call, 1)) == handle
        given = positional(call, 0) if is_written or is_copied else None
        if given is not None and _is_of(draft, given, fetched):
            return True
    return False


def _handle(draft: Draft, call: cst.Call) -> str:
    around = draft.parent(call)
    if isinstance(around, cst.WithItem) and around.asname is not None:
        return tail(around.asname.name)
    return tail(around.targets[0].target) if isinstance(around, cst.Assign) else ""


def _fetched(draft: Draft, scope: cst.CSTNode) -> set[str]:
    """Names for what the network gave, whole or in pieces: `r = requests.get(url)`, `for piece in r.iter_content()`."""
    found: set[str] = set()
    for node in draft.below(scope):
        value, target = None, None
        if isinstance(node, cst.Assign):
            value, target = node.value, node.targets[0].target
        elif isinstance(node, cst.WithItem) and node.asname is not None:
            value, target = node.item, node.asname.name
        elif isinstance(node, cst.For):
            value, target = node.iter, node.target
        if value is not None and isinstance(target, cst.Name) and _is_of(draft, value, found):
            found.add(target.value)
    return found


def _is_of(draft: Draft, value: cst.BaseExpression, names: set[str]) -> bool:
    """Whether a value is what was fetched, or something that it has or gives: `r.content`, `r.read()`."""
    while True:
        if isinstance(value, cst.Name):
            return value.value in names
        if isinstance(value, cst.Call):
            if is_request(draft, value):
                return True
            first = positional(value, 0)
            if tail(value.func) in ("tqdm", "iter") and first is not None:
                value = first
                continue
            value = value.func
        elif isinstance(value, cst.Attribute | cst.Subscript):
            value = value.value
        else:
            return False


def is_request(draft: Draft, call: cst.Call) -> bool:
    """Whether a call asks the network for one address: `urlopen(url)`, `requests.get(url)`."""
    return tail(call.func) == "urlopen" or draft.resolve(call.func) in ("requests.get", "requests.request")
