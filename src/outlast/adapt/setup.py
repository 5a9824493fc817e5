"""How a script reads its arguments, and how one more is added there.

Each kind answers the same questions: which options exist, where their values can be read, how to declare one more,
and where to put lines that run as soon as the values are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from outlast.adapt.draft import Draft, Scope, is_docstring
from outlast.migrate.tree import argument, dotted, inner, positional, tail


@dataclass(frozen=True)
class Option:
    """An option the script has. `call` is where it is declared, for those that can be given another name."""

    name: str
    default: str = ""
    is_text: bool = True
    is_required: bool = False
    is_set: bool = False  # has a value although nobody gave one
    is_positional: bool = False
    call: cst.Call | None = None
    last_flag: cst.CSTNode | None = None


@dataclass
class Setup:
    """The base of all kinds."""

    draft: Draft
    kind: str = ""
    options: dict[str, Option] = field(default_factory=dict)
    #: names whose attributes are options, like `args`
    holders: frozenset[str] = frozenset()
    #: function → parameters that are options
    parameters: dict[int, frozenset[str]] = field(default_factory=dict)

    def value(self, name: str) -> str:
        """The expression that holds an option's value."""
        raise NotImplementedError

    def own_value(self, name: str) -> str:
        """The same for an option that the script has always had."""
        return self.value(name)

    def reaches(self, node: cst.CSTNode) -> bool:
        """Whether `value` can be read where this node runs."""
        raise NotImplementedError

    def declare(self, options: Sequence[tuple[str, str]]) -> None:
        """Add options (name, help) that are None unless they are given."""
        raise NotImplementedError

    def follow(self, lines: Sequence[str]) -> None:
        """Put lines where the values are known and nothing has used them yet."""
        raise NotImplementedError

    def alias(self, option: Option, name: str) -> bool:
        """Give an option a second name; False where that is not possible."""
        if option.call is None or option.last_flag is None:
            return False
        self.draft.insert(self.draft.span(option.last_flag)[1], f', "--{name}"')
        return True

    def is_read(self, name: str) -> bool:
        """Whether the script already makes something of an option."""
        return any(
            isinstance(node, cst.Attribute) and node.attr.value == name and tail(node.value) in self.holders
            for node in self.draft.nodes
        )


@dataclass
class ArgparseSetup(Setup):
    """`args = parser.parse_args()`, in the module, in a function, or through a function that returns it."""

    kind: str = "argparse"
    parser: str = ""
    parse: cst.CSTNode = field(default_factory=cst.Ellipsis)  # the statement of the parse call
    held: cst.CSTNode = field(default_factory=cst.Ellipsis)  # the statement that binds the holder
    holder: str = ""

    def value(self, name: str) -> str:
        return f"{self.holder}.{name}"

    def reaches(self, node: cst.CSTNode) -> bool:
        home, here = self.draft.scope(self.held), self.draft.scope(node)
        is_later = self.draft.start(node) > self.draft.start(self.held)
        if here is home:
            return is_later
        if isinstance(here, cst.FunctionDef) and self.holder in _parameters(here):
            return self._is_given(here)
        return home is self.draft.module and self.holder not in _bound_in(self.draft, here)

    def _is_given(self, function: cst.FunctionDef) -> bool:
        """Whether every call in the file hands the holder over under its own name."""
        index = _parameters(function).index(self.holder)
        given = [call for call in self.draft.calls() if tail(call.func) == function.name.value]
        return bool(given) and all(
            tail(named.value if (named := argument(call, self.holder)) else positional(call, index)) == self.holder
            for call in given
        )

    def declare(self, options: Sequence[tuple[str, str]]) -> None:
        self.draft.add_before(self.parse, [
            f'{self.parser}.add_argument("--{name}", default=None, help="{words}")' for name, words in options
        ])  # fmt: skip

    def follow(self, lines: Sequence[str]) -> None:
        self.draft.add_after(self.held, lines)


@dataclass
class CreatedSetup(Setup):
    """A parser of its own at the top; it takes the contract's options away from whatever reads arguments later."""

    kind: str = "created"
    inner: Setup | None = None
    takes: bool = True  # something else reads the command line too
    holder: str = ""

    def __post_init__(self) -> None:
        self.holder = self.draft.free("contract")
        if self.inner is not None:
            self.options, self.holders, self.parameters = self.inner.options, self.inner.holders, self.inner.parameters

    def value(self, name: str) -> str:
        return f"{self.holder}.{name}"

    def own_value(self, name: str) -> str:
        return self.inner.own_value(name) if self.inner is not None else self.value(name)

    def reaches(self, node: cst.CSTNode) -> bool:
        return self.draft.start(node) >= self.draft.start(self.draft.first)

    def declare(self, options: Sequence[tuple[str, str]]) -> None:
        parser = self.draft.free("contract_parser")
        taken = f"{self.holder}, sys.argv[1:]" if self.takes else f"{self.holder}, _"
        lines = [
            f"{parser} = argparse.ArgumentParser({'add_help=False, ' if self.takes else ''}allow_abbrev=False)",
            *(f'{parser}.add_argument("--{name}", default=None, help="{words}")' for name, words in options),
            f"{taken} = {parser}.parse_known_args()",
        ]
        self.draft.need_import("argparse", *(["sys"] if self.takes else []))
        self.draft.add_on_top(lines)

    def follow(self, lines: Sequence[str]) -> None:
        if self.inner is None:
            self.draft.add_on_top(lines)
        else:
            self.inner.follow(lines)


def find_argparse(draft: Draft) -> ArgparseSetup | None:
    """The one parse call of the file; one that takes the contract's options away is preferred."""
    found = [call for call in draft.calls() if tail(call.func) in ("parse_args", "parse_known_args")]
    found = [call for call in found if isinstance(call.func, cst.Attribute) and isinstance(call.func.value, cst.Name)]
    taking = [call for call in found if "contract" in draft.source(draft.statement(call)).split("=")[0]]
    others = [call for call in found if call not in taking]
    setup = _argparse_at(draft, taking[:1] or others)
    if setup is not None and taking and _argparse_at(draft, others) is None:
        # What the script itself parses is out of sight; its options are not those of the contract's parser.
        setup.options = {name: each for name, each in setup.options.items() if _is_of(each, setup.parser)}
    return setup


def _is_of(option: Option, parser: str) -> bool:
    func = option.call.func if option.call is not None else None
    return isinstance(func, cst.Attribute) and tail(func.value) == parser


def _argparse_at(draft: Draft, calls: Sequence[cst.Call]) -> ArgparseSetup | None:
    """The set-up of one statement that parses, in whichever of several ways."""
    if not calls or any(call.args for call in calls):
        return None
    call = calls[0]
    assert isinstance(call.func, cst.Attribute)
    statement, parser = draft.statement(call), tail(call.func.value)
    if any(draft.statement(each) is not statement or dotted(each.func).split(".")[0] != parser for each in calls):
        return None
    bound = _holder(draft, calls, statement)
    if bound is None or not draft.stands_alone(statement) or not draft.stands_alone(bound[1]):
        return None
    holder, held = bound
    return ArgparseSetup(
        draft, options=dict(argparse_options(draft)), holders=frozenset({holder, "args", "opt", "opts", "FLAGS"}),
        parser=parser, parse=statement, held=held, holder=holder,
    )  # fmt: skip


def _is_parsed(value: cst.CSTNode | None, calls: Sequence[cst.Call]) -> bool:
    """A parse call, its first result, or a choice between such."""
    if isinstance(value, cst.IfExp):
        return _is_parsed(value.body, calls) and _is_parsed(value.orelse, calls)
    return any(value is call or (isinstance(value, cst.Subscript) and value.value is call) for call in calls)


def _holder(draft: Draft, calls: Sequence[cst.Call], statement: cst.CSTNode) -> tuple[str, cst.CSTNode] | None:
    line = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    if isinstance(line, cst.Assign) and len(line.targets) == 1:
        target: cst.BaseExpression = line.targets[0].target
        value = line.value
        if isinstance(target, cst.Tuple) and value is calls[0]:
            target = target.elements[0].value
        elif not _is_parsed(value, calls):
            return None
        return (target.value, statement) if isinstance(target, cst.Name) else None
    function = draft.scope(calls[0])
    if isinstance(line, cst.Return) and _is_parsed(line.value, calls) and isinstance(function, cst.FunctionDef):
        for other in draft.calls():
            where = draft.statement(other)
            first = where.body[0] if isinstance(where, cst.SimpleStatementLine) else None
            is_call = tail(other.func) == function.name.value and draft.is_reached(other)
            if is_call and isinstance(first, cst.Assign) and first.value is other:
                target = first.targets[0].target
                return (target.value, where) if isinstance(target, cst.Name) else None
    return None


def argparse_options(draft: Draft) -> Iterator[tuple[str, Option]]:
    """Every option that some parser of the file declares, by each of its names."""
    for call in draft.calls():
        flags = [arg.value for arg in call.args if arg.keyword is None and isinstance(arg.value, cst.SimpleString)]
        if tail(call.func) != "add_argument" or not flags:
            continue
        words = [inner(flag) for flag in flags]
        named = argument(call, "dest")
        long = next((word for word in words if word.startswith("--")), words[0])
        name = inner(named.value) if named else long.lstrip("-").replace("-", "_")
        kind, default, required = argument(call, "type"), argument(call, "default"), argument(call, "required")
        is_text = not any(argument(call, each) for each in ("action", "choices", "nargs")) and (
            kind is None or tail(kind.value) in ("str", "Path")
        )
        option = Option(
            name, inner(default.value) if default else "", is_text,
            is_set=default is not None and draft.source(default.value) not in ("None", "''", '""'),
            is_required=required is not None and draft.source(required.value) == "True",
            is_positional=not words[0].startswith("-"), call=call, last_flag=flags[-1],
        )  # fmt: skip
        for each in {name, *(word.lstrip("-").replace("-", "_") for word in words if word.startswith("--"))}:
            yield each, option


def body_start(function: cst.FunctionDef) -> cst.CSTNode | None:
    """The first statement of a function behind its docstring; None where the body shares the line of `def`."""
    if not isinstance(function.body, cst.IndentedBlock):
        return None
    body = function.body.body
    return body[1] if len(body) > 1 and is_docstring(body[0]) else body[0]


def _parameters(function: cst.FunctionDef) -> list[str]:
    return [param.name.value for param in (*function.params.params, *function.params.kwonly_params)]


def _bound_in(draft: Draft, scope: Scope) -> set[str]:
    if isinstance(scope, cst.Module):
        return set()
    targets = [node.target for node in draft.below(scope) if isinstance(node, cst.AssignTarget)]
    return {tail(target) for target in targets if isinstance(target, cst.Name)} | set(_parameters(scope))
