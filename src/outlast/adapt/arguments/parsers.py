"""`args = parser.parse_args()` in its many forms: which options it has, and where its result is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from outlast.adapt.arguments.namespaces import Namespaces, bound_in, calls_of, parameters_of
from outlast.adapt.arguments.setup import CODE_FILE, Option, Setup
from outlast.adapt.draft import Draft
from outlast.migrate.tree import argument, dotted, inner, positional, tail

_PARSING = ("parse_args", "parse_known_args")
#: names that people give to parsed arguments that come from elsewhere
_USUAL = frozenset({"args", "opt", "opts", "FLAGS"})
#: functions through which a command line is handed on, `main(argv)` to `parse(argv)`: more than any script has
_HANDED_ON = 4


@dataclass
class ArgparseSetup(Setup):
    """A parser of this file, of argparse or optparse, whose arguments are known by one name or several."""

    kind: str = "argparse"
    parser: str = ""
    before: cst.CSTNode = field(default_factory=cst.Ellipsis)  # options are declared before this statement
    parsed: cst.BaseExpression = field(default_factory=cst.Ellipsis)
    spaces: Namespaces = field(kw_only=True)
    _is_named: bool = False  # by lines that were added

    def value(self, name: str, at: cst.CSTNode | None = None) -> str:
        holder = (self.spaces.at(at) if at is not None else "") or self._first_name()
        return f'{holder}["{name}"]' if self.spaces.is_dict else f"{holder}.{name}"

    def reaches(self, node: cst.CSTNode) -> bool:
        return bool(self.spaces.at(node)) and not self.spaces.is_missing_anew(node)

    def declare(self, options: Sequence[tuple[str, str]]) -> None:
        method = "add_option" if self.kind == "optparse" else "add_argument"
        self.draft.add_before(self.before, [
            f'{self.parser}.{method}("--{name}", {self.default(name)}, help="{words}")' for name, words in options
        ])  # fmt: skip

    def follow(self, lines: Sequence[str]) -> None:
        statement, name = self.draft.statement(self.parsed), self._first_name()
        if self._is_bound():
            self.draft.add_after(statement, lines)
            return
        # `return parser.parse_args()`, `main(parser.parse_args())`: the value gets a name first.
        naming = [] if self._is_named else [f"{name} = {self.draft.source(self.parsed)}"]
        self.draft.add_before(statement, [*naming, *lines])
        self.draft.replace(self.parsed, name)
        self._is_named = True

    def missing(self, option: Option) -> list[str]:
        # The parser must be known where the arguments are.
        if self.kind != "argparse" or self.draft.scope(self.before) is not self.draft.scope(self.parsed):
            return []
        return [f'    {self.parser}.error("the following arguments are required: {_shown(option)}")']

    def is_read(self, name: str) -> bool:
        return super().is_read(name) or any(
            isinstance(node, cst.Subscript) and tail(node) == name and tail(node.value) in self.holders
            for node in self.draft.nodes
        )

    def _is_bound(self) -> bool:
        return isinstance(self.draft.parent(self.parsed), cst.Assign | cst.AnnAssign)

    def _first_name(self) -> str:
        if self._is_bound():
            return self.spaces.places[0].name
        scope = self.draft.scope(self.parsed)
        taken = self.draft.words if scope is self.draft.module else bound_in(self.draft, scope)
        return "args" if "args" not in taken else "parsed_args"


def _shown(option: Option) -> str:
    """An option as argparse calls it when it is missing."""
    metavar = argument(option.call, "metavar") if option.call is not None else None
    if option.is_positional:
        return (inner(metavar.value) if metavar is not None else "") or option.name
    return "/".join(inner(flag) for flag in option.flags)


def find_argparse(draft: Draft) -> ArgparseSetup | None:
    """The one parse call of the file; one that takes the contract's options away is preferred."""
    found = [call for call in draft.calls() if tail(call.func) in _PARSING and isinstance(call.func, cst.Attribute)]
    taking = [call for call in found if "contract" in draft.source(draft.statement(call)).split("=")[0]]
    others = [call for call in found if call not in taking]
    setup = _argparse_at(draft, taking[:1] or others)
    own = _argparse_at(draft, others) if setup is not None and taking else None
    if setup is not None and own is not None:
        setup.holders |= own.holders
    elif setup is not None and taking:
        # What the script itself parses is out of sight; its options are not those of the contract's parser.
        setup.options = {name: each for name, each in _declared(draft) if _is_of(each, setup.parser)}
        setup.holders = setup.spaces.names()
    return setup


def _is_of(option: Option, parser: str) -> bool:
    func = option.call.func if option.call is not None else None
    return isinstance(func, cst.Attribute) and tail(func.value) == parser


def _argparse_at(draft: Draft, calls: Sequence[cst.Call]) -> ArgparseSetup | None:
    """The set-up of one statement that parses, in whichever of several ways."""
    if not calls or not all(_takes_command_line(draft, call) for call in calls):
        return None
    first = draft.statement(calls[0])
    calls = _last(draft, calls)
    statement = draft.statement(calls[0])
    owners = {draft.source(call.func.value) for call in calls if isinstance(call.func, cst.Attribute)}
    if len(owners) > 1 or any(draft.statement(each) is not statement for each in calls):
        return None
    made = _maker(draft, calls[0], first)
    parsed = _whole(draft, calls)
    if made is None or parsed is None or not draft.stands_alone(statement) or not draft.stands_alone(made[1]):
        return None
    spaces = Namespaces(draft, parsed)
    kept = draft.parent(parsed)
    if isinstance(kept, cst.Arg) and spaces.is_dict:
        parsed = next(each for each in draft.above(kept) if isinstance(each, cst.Call))
        kept = draft.parent(parsed)
    if not spaces.places and not isinstance(kept, cst.Return | cst.Arg):
        return None
    kind = "optparse" if _is_optparse(draft, made[0]) else "argparse"
    return ArgparseSetup(
        draft, kind=kind, options=dict(argparse_options(draft)), holders=spaces.names() | _USUAL,
        parser=made[0], before=made[1], parsed=parsed, spaces=spaces,
    )  # fmt: skip


def _last(draft: Draft, calls: Sequence[cst.Call]) -> Sequence[cst.Call]:
    """Of one parser that a function asks again when it has more options, the last call: what that gives is used."""
    scope, last = draft.scope(calls[0]), draft.statement(calls[-1])
    owners = {draft.source(call.func.value) for call in calls if isinstance(call.func, cst.Attribute)}
    is_one = len(owners) == 1 and all(draft.scope(each) is scope for each in calls)
    is_given = isinstance(scope, cst.FunctionDef) and any(isinstance(each, cst.Return) for each in draft.below(last))
    return [each for each in calls if draft.statement(each) is last] if is_one and is_given else calls


def _takes_command_line(draft: Draft, call: cst.Call) -> bool:
    """`parse_args()`, or with what holds the command line: `sys.argv[1:]`, a parameter that is None by default."""
    if not call.args:
        return True
    if len(call.args) > 1 or (call.args[0].keyword is not None and call.args[0].keyword.value != "args"):
        return False
    return _holds_command_line(draft, call.args[0].value, _HANDED_ON)


def _holds_command_line(draft: Draft, given: cst.BaseExpression, depth: int) -> bool:
    if _is_command_line(draft, given):
        return True
    function = draft.scope(given)
    name = tail(given.value) if isinstance(given, cst.Subscript) else tail(given)
    if isinstance(function, cst.FunctionDef) and name in parameters_of(function):
        names = parameters_of(function)
        index = names.index(name) - (names[0] in ("self", "cls"))
        passed = [
            named.value if (named := argument(each, name)) else positional(each, index)
            for each in calls_of(draft, function)
        ]  # fmt: skip
        return depth > 0 and all(value is None or _holds_command_line(draft, value, depth - 1) for value in passed)
    bound = [
        node.value for node in draft.nodes if isinstance(node, cst.Assign) and tail(node.targets[0].target) == name
    ]
    return isinstance(given, cst.Name) and len(bound) == 1 and _is_command_line(draft, bound[0])


def _is_command_line(draft: Draft, value: cst.CSTNode) -> bool:
    return draft.source(value) in ("None", "sys.argv[1:]", "sys.argv", "argv[1:]") and not (
        draft.source(value) == "argv[1:]" and "argv" in bound_in(draft, draft.scope(value))
    )


def _maker(draft: Draft, call: cst.Call, statement: cst.CSTNode) -> tuple[str, cst.CSTNode] | None:
    """What the parser is called, and the statement before which it can take one more option."""
    assert isinstance(call.func, cst.Attribute)
    owner = call.func.value
    if dotted(owner):
        return dotted(owner), statement
    if not isinstance(owner, cst.Call):
        return None
    functions = [each for each in draft.functions() if each.name.value == tail(owner.func)]
    lines = [each for function in functions for each in draft.below(function) if isinstance(each, cst.Return)]
    if len(functions) != 1 or len(lines) != 1 or not isinstance(lines[0].value, cst.Name):
        return None
    return lines[0].value.value, draft.statement(lines[0])


def _whole(draft: Draft, calls: Sequence[cst.Call]) -> cst.BaseExpression | None:
    """The parse call, its first result, or a choice between such: the expression whose value are the arguments."""
    node: cst.CSTNode = calls[0]
    parent = draft.parent(node)
    if isinstance(parent, cst.Subscript) and parent.value is node:
        node, parent = parent, draft.parent(parent)
    elif tail(calls[0].func) == "parse_known_args" and not _is_unpacked(parent):
        return None
    if isinstance(parent, cst.IfExp) and _is_parsed(parent, calls):
        node = parent
    return node if isinstance(node, cst.BaseExpression) else None


def _is_unpacked(parent: cst.CSTNode | None) -> bool:
    return isinstance(parent, cst.Assign) and isinstance(parent.targets[0].target, cst.Tuple)


def _is_parsed(value: cst.CSTNode | None, calls: Sequence[cst.Call]) -> bool:
    if isinstance(value, cst.IfExp):
        return _is_parsed(value.body, calls) and _is_parsed(value.orelse, calls)
    return any(value is call or (isinstance(value, cst.Subscript) and value.value is call) for call in calls)


def _is_optparse(draft: Draft, parser: str) -> bool:
    return any(
        isinstance(node, cst.Assign) and dotted(node.targets[0].target) == parser and tail(node.value) == "OptionParser"
        for node in draft.nodes
    )


def _names_settings(draft: Draft, default: cst.BaseExpression) -> bool:
    return any(CODE_FILE.search(inner(node)) for node in (default, *draft.below(default)))


def _is_stored(call: cst.Call) -> bool:
    """Whether an option holds the word that it is given, also by an action of the program: `action=MakeFolder`."""
    action = argument(call, "action")
    if action is None or isinstance(action.value, cst.SimpleString):
        return action is None or inner(action.value) == "store"
    return tail(action.value) != "BooleanOptionalAction"


def _is_many(call: cst.Call) -> bool:
    count = argument(call, "nargs")
    return count is not None and inner(count.value) != "?"


def _commands(draft: Draft, call: cst.Call) -> frozenset[str]:
    """The parser of a sub-command that an option belongs to; none where the script's one parser has it."""
    mains = {
        draft.source(each.func.value) for each in draft.calls()
        if tail(each.func) == "add_subparsers" and isinstance(each.func, cst.Attribute)
    }  # fmt: skip
    owner = draft.source(call.func.value) if isinstance(call.func, cst.Attribute) else ""
    return frozenset({owner} - mains) if mains else frozenset()


def argparse_options(draft: Draft) -> Iterator[tuple[str, Option]]:
    """Every option that some parser of the file declares, by each of its names."""
    found: dict[str, Option] = {}
    for name, option in _declared(draft):
        before = found.get(name, option)
        is_of_commands = before.commands and option.commands
        commands = before.commands | option.commands if is_of_commands else frozenset()
        found[name] = replace(option, commands=commands)
    yield from found.items()


def _declared(draft: Draft) -> Iterator[tuple[str, Option]]:
    for call in draft.calls():
        flags = [arg.value for arg in call.args if arg.keyword is None and isinstance(arg.value, cst.SimpleString)]
        if tail(call.func) not in ("add_argument", "add_option") or not flags:
            continue
        words = [inner(flag) for flag in flags]
        named = argument(call, "dest")
        long = next((word for word in words if word.startswith("--")), words[0])
        name = inner(named.value) if named else long.lstrip("-").replace("-", "_")
        kind, default, required = argument(call, "type"), argument(call, "default"), argument(call, "required")
        is_text = (
            _is_stored(call)
            and argument(call, "choices") is None
            and (kind is None or tail(kind.value) in ("str", "Path") or inner(kind.value) in ("str", "string"))
        )
        # `default=ROOT / "data/hyp.yaml"`: settings are no place of the contract; `default=False` may stand for none.
        is_other = default is not None and (_names_settings(draft, default.value) or _is_yes_or_number(default.value))
        is_text = is_text and not is_other
        option = Option(
            name, inner(default.value) if default else "", is_text,
            is_set=default is not None and draft.source(default.value) not in ("None", "''", '""'),
            is_required=required is not None and draft.source(required.value) == "True",
            is_positional=not words[0].startswith("-"), is_many=_is_many(call), call=call, flags=tuple(flags),
            commands=_commands(draft, call),
        )  # fmt: skip
        for each in {name, *(word.lstrip("-").replace("-", "_") for word in words if word.startswith("--"))}:
            yield each, option


def _is_yes_or_number(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.Integer | cst.Float) or tail(value) == "True"
