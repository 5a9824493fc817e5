"""Names that are more than the start of a path: `name = "unet"` also chooses the model, or stands in the middle.

Such a value must stay what it is; the contract's folder is joined where the path is put together instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from outlast.adapt.arguments.moments import Moments
from outlast.adapt.arguments.namespaces import parameters_of
from outlast.adapt.arguments.setup import Option, Value
from outlast.adapt.draft import Draft
from outlast.adapt.elsewhere import function_elsewhere
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.placing import shapes
from outlast.adapt.placing.flow import Flow
from outlast.adapt.placing.sites import declaring
from outlast.adapt.placing.sources import Hop, Use
from outlast.adapt.placing.spelling import UNKNOWN
from outlast.adapt.placing.spoken_names import put_together
from outlast.adapt.placing.telling import is_told
from outlast.migrate.engine import Kind
from outlast.migrate.tree import inner, tail

#: a relative path that stays below the folder that it is joined with
_BELOW = re.compile(r"(?:\./)?[\w-]")
_SUFFIX = re.compile(r"\.[A-Za-z]\w{0,8}$")
#: what a name of a place is called, whatever its value looks like
_PLACE = re.compile(r"dir|path|folder|file|dest|^out|output|ckpt|checkpoint|results?$|root", re.I)


@dataclass(frozen=True)
class Wrap:
    """An expression that is joined with the contract's folder as a whole."""

    use: Use
    node: cst.CSTNode
    text: str  # as far as it is known

    @property
    def key(self) -> tuple[int, str]:
        """What is written once, however many calls it serves."""
        return id(self.node), ""

    def put(self, draft: Draft, value: Value, name: str) -> None:
        source = draft.source(self.node)
        quote = "'" if "'" in source and '"' not in source else '"'
        start, end = draft.span(self.node)
        # What is divided, or asked for a method, is a path object and stays one.
        made = f"type({source})(" if _is_owner(draft, self.node) else ""
        draft.insert(start, f"{made}os.path.join({value.at(self.node)} or {quote}{quote}, ")
        draft.insert(end, "))" if made else ")")
        draft.need_import("os")
        draft.say(Kind.CHANGED, "paths", self.node, f"{' '.join(source.split())} can be put below --{name}")

    def stand_for(self, draft: Draft, value: Value, name: str) -> None:
        """Let the contract's place be the model that this names; what else the name is for stays."""
        source, parent = draft.source(self.node), draft.parent(self.node)
        is_open = isinstance(self.node, cst.IfExp | cst.BooleanOperation) and not self.node.lpar
        before, after = ("", "") if isinstance(parent, cst.Arg) else ("(", ")")
        start, end = draft.span(self.node)
        draft.insert(start, f"{before}{value.at(self.node)} or {'(' if is_open else ''}")
        draft.insert(end, f"{')' if is_open else ''}{after}")
        said = f"{' '.join(source.split())} can be replaced by --{name}"
        draft.say(Kind.CHANGED, "paths", self.node, said, declaring(name, is_folder=True))


class Words:
    """Tells names that are only paths from those that are more. `ways`: everything that calls lead to."""

    def __init__(self, draft: Draft, flow: Flow, ways: Iterable[Use]) -> None:
        self._draft, self._flow = draft, flow
        self._leading = {id(hop.node) for use in ways for hop in use.hops}
        self._loads: dict[tuple[object, str], list[cst.CSTNode]] = {}
        for node in draft.nodes:
            if isinstance(node, cst.Name | cst.Attribute | cst.Subscript) and _is_load(draft, node):
                self._loads.setdefault(self._key(node), []).append(node)

    def wraps(self, uses: Sequence[Use]) -> list[Wrap] | None:
        """What is to be joined because a name on the way to a literal must keep its value; None where none must."""
        hops = [next((hop for hop in use.hops if self._is_more(hop)), None) for use in uses if not use.sink.is_guess]
        if not any(hops):
            models = put_together(uses)
            return [Wrap(use, node, self._flow.spelling.of(node)) for use, node in models] or None
        found = []
        for use in uses:
            hop = next((hop for hop in use.hops if self._is_more(hop)), None) or use.hops[-1]
            if hop.whole is None:
                said = f"{self._draft.source(hop.node)} begins this path, and is more than a path"
                self._draft.say(Kind.DIFFERS, "paths", hop.node, said, "give the folder a name of its own")
            elif use.role is not None:
                found.append(Wrap(use, hop.whole, self._flow.spelling.of(hop.whole)))
                found += self._handed(use, hop) if use.role is Role.OUTPUT else []
        return list({wrap.key: wrap for wrap in found}.values())

    def _handed(self, use: Use, hop: Hop) -> list[Wrap]:
        """Where else the name is given to somebody as a place: `Monitor(directory=out)`."""
        text = self._flow.spelling.of(hop.node)
        return [
            Wrap(use, node, text)
            for node in self._loads.get(self._key(hop.node), [])
            if id(node) not in self._leading
            and isinstance(parent := self._draft.parent(node), cst.Arg)
            and parent.keyword is not None
            and _PLACE.search(parent.keyword.value)
        ]

    def cut_option(self, use: Use, option: Option | None) -> cst.BaseExpression | None:
        """The same for an option that is a word: `args.arch + ".pth"`."""
        is_ours = use.is_stem or use.role is Role.OUTPUT
        if not is_ours or option is None or option.name in PASSED or use.sink.is_guess or not use.hops:
            return None
        if not option.is_text:
            return use.put  # a number, or one of several words
        if (not use.is_stem and not option.default) or _is_path(option.default) or _PLACE.search(option.name):
            return None
        is_named = use.is_stem and bool(option.default or option.is_required)
        # A name on the way may choose something, too: `kind = args.kind`, `if kind == "small"`.
        more = next((hop for hop in use.hops if self._is_more(hop)), None)
        return (more or use.hops[-1]).whole if is_named or more is not None else None

    def is_same(self, node: cst.CSTNode, other: cst.CSTNode) -> bool:
        return self._key(node) == self._key(other)

    def is_left(self, node: cst.CSTNode, around: Sequence[cst.CSTNode]) -> bool:
        """Whether a value is used anywhere but inside these, and not only shown."""
        inside = {id(each) for each in around}
        return any(
            not is_told(self._draft, load) and not any(id(each) in inside for each in (load, *self._draft.above(load)))
            for load in self._loads.get(self._key(node), [])
        )

    def alike(self, uses: Sequence[Use], inside: set[int]) -> list[Use]:
        """Where else a value of a configuration is taken: `log_artifact(cfg.path)` behind `save(cfg.path)`."""
        found: dict[int, Use] = {}
        for use in uses:
            if not isinstance(use.other, cst.Attribute | cst.Subscript) and not self._is_same_throughout(use.other):
                continue
            assert use.other is not None
            source = self._draft.source(use.other)
            for load in self._loads.get(self._key(use.other), []):
                is_known = any(id(each) in inside for each in (load, *self._draft.above(load)))
                is_shown = is_told(self._draft, load) or is_middle(self._draft, load)
                if not is_known and not is_shown and self._draft.source(load) == source:
                    assert isinstance(load, cst.BaseExpression)
                    found[id(load)] = replace(use, other=load)
        return list(found.values())

    def _is_same_throughout(self, node: cst.CSTNode | None) -> bool:
        """Whether a parameter has one value wherever its function takes it."""
        scope = self._draft.scope(node) if isinstance(node, cst.Name) else None
        if not isinstance(scope, cst.FunctionDef) or tail(node) not in parameters_of(scope):
            return False
        targets = (each.target for each in self._draft.below(scope) if isinstance(each, cst.AssignTarget))
        return not any(tail(each) == tail(node) for each in targets if isinstance(each, cst.Name))

    def is_object(self, node: cst.CSTNode) -> bool:
        """Whether a value is divided, or asked for a method: a path object, which must not become text."""
        parents = [self._draft.parent(load) for load in self._loads.get(self._key(node), [])]
        return any(
            (isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.Divide))
            or isinstance(parent, cst.Attribute)
            for parent in parents
        )

    def _is_more(self, hop: Hop) -> bool:
        others = [
            node
            for node in self._loads.get(self._key(hop.node), [])
            if id(node) not in self._leading
            and not is_told(self._draft, node)
            and not _is_asked(self._draft, node)
            and not self._is_own(node)
        ]
        text = self._flow.spelling.of(hop.node)
        is_place = _is_path(text) or bool(_PLACE.search(tail(hop.node)))
        is_stem = not text.endswith(("/", "\\", UNKNOWN)) and any(_begins_name(self._draft, node) for node in others)
        is_inside = is_stem or any(is_middle(self._draft, node) for node in others)
        return is_inside or (bool(others) and not is_place)

    def _is_own(self, node: cst.CSTNode) -> bool:
        """`self.root = join(root, self.root)`: what it was before is a part of what it is."""
        line = next((each for each in self._draft.above(node) if isinstance(each, cst.Assign)), None)
        return line is not None and any(self._key(each.target) == self._key(node) for each in line.targets)

    def _key(self, node: cst.CSTNode) -> tuple[object, str]:
        if isinstance(node, cst.Name):
            return self._flow.home(node), node.value
        return type(node), tail(node)


def find_unknown(draft: Draft, flow: Flow, ways: Iterable[Use]) -> list[Wrap]:
    """Results whose names begin with something unknown, as `str(epoch) + ".pth"`; also where they are read again."""
    ways = list(ways)
    done = {id(use.sink) for use in ways if use.option in PASSED}  # lies below the contract's folder already
    every = [use for use in ways if not use.is_known and not use.sink.is_guess and id(use.sink) not in done]
    made = {source for use in every if use.sink.makes and not use.up for source in _sources(flow, use)}
    found = [
        Wrap(use, use.put, flow.spelling.of(use.put))
        for use in every
        if use.role is Role.OUTPUT and use.put is not None and (use.is_stem or _lead(flow, use) in made)
    ]
    names = {flow.source(wrap.node) for wrap in found}
    leads = {_lead(flow, wrap.use) for wrap in found if wrap.use.is_folder}
    strung = {flow.source(use.whole) for use in every if use.role is Role.OUTPUT and not use.sink.makes}
    begun = names | {_lead(flow, wrap.use) for wrap in found}
    numbered = {wrap.text: wrap.use.sink.call for wrap in found if wrap.text.startswith(UNKNOWN)}
    for use in every:
        inside = shapes.folder_of(use.sink.path) if use.sink.makes else None
        if inside is not None and flow.source(inside) in begun:
            found.append(Wrap(use, inside, flow.spelling.of(inside)))  # the file goes there, so its folder does
            continue
        is_ours = flow.source(use.put) in names or _is_read_again(draft, flow, use, numbered)
        if use.role is not Role.OUTPUT and use.put is not None and is_ours:
            found.append(Wrap(use, use.put, flow.spelling.of(use.put)))
        elif (
            (use.sink.makes or use.role is None)
            and use.whole is not None
            and not use.after
            and _sources(flow, use) & leads
        ):
            found.append(Wrap(use, use.whole, flow.spelling.of(use.whole)))
        elif isinstance(use.whole, cst.ConcatenatedString) and not use.sink.makes:
            # Its parts stand side by side: only the whole can be joined. What is read is a result where it is written.
            text = flow.spelling.of(use.whole)
            is_ours = use.role is Role.OUTPUT or flow.source(use.whole) in strung
            found += [Wrap(use, use.whole, text)] if is_ours and _BELOW.match(text) else []
    return list({id(wrap.node): wrap for wrap in found}.values())


def _is_read_again(draft: Draft, flow: Flow, use: Use, written: Mapping[str, cst.Call]) -> bool:
    """`load("{}.pkl".format(best))` behind `save(net, "{}.pkl".format(epoch))`: another number of the same kind."""
    text = flow.spelling.of(use.put) if use.put is not None and use.role is Role.WEIGHTS else ""
    return text in written and bool(text.strip(UNKNOWN)) and Moments(draft).is_later(use.sink.call, written[text])


def without_given(flow: Flow, wraps: Iterable[Wrap], options: Iterable[str]) -> list[Wrap]:
    """Without what is read by an option as well that names the contract's place already: joined, it would be twice."""
    follow = set(options)
    return [wrap for wrap in wraps if not any(use.option in follow for use in flow.ways(wrap.use.sink) if use.option)]


def is_unseen(draft: Draft, use: Use) -> bool:
    """Whether a result goes to a path of which nothing is known; an open file is none."""
    if use.role is not Role.OUTPUT or use.sink.is_guess or use.sink.makes or use.after or use.whole is None:
        return False
    path = use.sink.path
    if function_elsewhere(draft, use.whole) is not None:
        return False  # it is looked at there
    if isinstance(path, cst.Call):
        return tail(path.func) not in ("open", "BytesIO", "StringIO", "TemporaryFile", "NamedTemporaryFile")
    if isinstance(path, cst.Attribute) and path.attr.value == "name" and tail(path.value) != "self":
        return False  # of a file that was opened
    return isinstance(path, cst.Name | cst.Attribute) and bool(
        re.search("name", tail(path)) or _PLACE.search(tail(path))
    )


def _sources(flow: Flow, use: Use) -> set[str]:
    """How a whole place is spelled: by its value, and by the name that has it."""
    return {flow.source(use.whole), *([_lead(flow, use)] if use.hops and not use.after else [])}


def _lead(flow: Flow, use: Use) -> str:
    return flow.source(use.hops[-1].node) if use.hops else ""


def _is_path(text: str) -> bool:
    return "/" in text or "\\" in text or bool(_SUFFIX.search(text))


def _is_load(draft: Draft, node: cst.CSTNode) -> bool:
    parent = draft.parent(node)
    if isinstance(parent, cst.Call) and parent.func is node:
        return False  # `torch.save(…)` has nothing of `args.save`
    if isinstance(parent, cst.AssignTarget | cst.Param | cst.FunctionDef | cst.ClassDef | cst.NameItem):
        return False
    at = node
    while isinstance(parent, cst.Element | cst.Tuple | cst.List):  # `for name, path in …`
        at, parent = parent, draft.parent(parent)
    if isinstance(parent, cst.AnnAssign | cst.AugAssign | cst.For | cst.CompFor) and parent.target is at:
        return False
    parent = draft.parent(node)
    if isinstance(parent, cst.Arg) and parent.keyword is node:
        return False
    return not (isinstance(parent, cst.Attribute) and parent.attr is node)


def _is_owner(draft: Draft, node: cst.CSTNode) -> bool:
    parent = draft.parent(node)
    is_divided = isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.Divide)
    is_asked = isinstance(parent, cst.Attribute) and parent.attr.value != "format"
    return is_divided or is_asked


def _is_asked(draft: Draft, node: cst.CSTNode) -> bool:
    """`if path is not None`, `if path`: the answer is the same below another folder."""
    parent = draft.parent(node)
    if isinstance(parent, cst.Comparison):
        return all(tail(each.comparator) == "None" for each in parent.comparisons)
    return isinstance(parent, cst.If | cst.UnaryOperation) or (isinstance(parent, cst.IfExp) and parent.test is node)


def _begins_name(draft: Draft, node: cst.CSTNode) -> bool:
    """Whether a value is the start of a longer word: `prefix = folder + "_" + kind`."""
    parent = draft.parent(node)
    if isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.Add) and parent.left is node:
        return inner(parent.right)[:1] not in ("", "/", "\\")
    text = draft.parent(parent) if isinstance(parent, cst.FormattedStringExpression) else None
    then = (
        text.parts[1] if isinstance(text, cst.FormattedString) and text.parts[0] is parent and text.parts[1:] else None
    )
    return isinstance(then, cst.FormattedStringText) and then.value[:1] not in ("/", "\\")


def is_middle(draft: Draft, node: cst.CSTNode) -> bool:
    """Whether a value is put behind something else in a text."""
    parent = draft.parent(node)
    while isinstance(parent, cst.Arg) and isinstance(call := draft.parent(parent), cst.Call):
        if draft.resolve(call.func) == "str":
            node, parent = call, draft.parent(call)
            continue
        is_joined = draft.resolve(call.func) == "os.path.join" and call.args[0] is not parent
        return is_joined or tail(call.func) in ("format", "joinpath")
    if isinstance(parent, cst.BinaryOperation):
        return parent.right is node and isinstance(parent.operator, cst.Add | cst.Divide | cst.Modulo)
    if isinstance(parent, cst.FormattedStringExpression):
        whole = draft.parent(parent)
        return isinstance(whole, cst.FormattedString) and whole.parts[0] is not parent
    filled = draft.parent(parent) if isinstance(parent, cst.Element) else None
    text = draft.parent(filled) if isinstance(filled, cst.Tuple) else None
    is_first = isinstance(filled, cst.Tuple) and filled.elements[0] is parent
    return isinstance(text, cst.BinaryOperation) and not (is_first and shapes.begins_open(inner(text.left)))
