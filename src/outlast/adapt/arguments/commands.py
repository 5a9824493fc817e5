"""Argument set-ups other than argparse: absl's flags, and functions that click, typer or fire call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from outlast.adapt.arguments.setup import Option, Setup, body_start
from outlast.adapt.draft import Draft
from outlast.adapt.libraries import is_library, leaves_arguments_alone
from outlast.migrate.tree import argument, dotted, inner, positional, tail

_FLAGS = ("absl.flags.", "tensorflow.app.flags.", "tensorflow.compat.v1.flags.", "tensorflow.compat.v1.app.flags.",
          "tensorflow.flags.")  # fmt: skip

#: functions and classes of other files and libraries that may read the command line
_READS = re.compile(
    r"(?:^|_)cli$|CLI$|opt\w*parse|parse\w*opt|"
    r"(?:parse|get|load|setup|read|make|init)_?(?:args|arguments?|opts?|options?|config|cfg|flags|h?params|settings)$",
    re.I,
)

_STRANGE = frozenset(
    "LightningCLI parse_args parse_known_args HfArgumentParser parse_args_into_dataclasses argv exec parse".split()
)
#: types of click that are no texts
_NUMBERS = frozenset({"int", "float", "bool", "INT", "FLOAT", "BOOL", "IntRange", "FloatRange", "DateTime"})
#: what arguments are called that another file has parsed already
_PARSED = re.compile("args|arguments|opts?|options|flags|FLAGS|config|cfg|conf|h?params|settings|parser")


@dataclass
class FlagsSetup(Setup):
    """`flags.DEFINE_string`, read as `FLAGS.name` in functions once `app.run` has started."""

    kind: str = "absl"
    define: str = ""
    flags: str = ""
    last: cst.CSTNode = field(default_factory=cst.Ellipsis)
    main: cst.FunctionDef | None = None

    def value(self, name: str, at: cst.CSTNode | None = None) -> str:
        return f"{self.flags}.{name}"

    def reaches(self, node: cst.CSTNode) -> bool:
        return isinstance(self.draft.scope(node), cst.FunctionDef)

    def declare(self, options: Sequence[tuple[str, str]]) -> None:
        self.draft.add_after(self.last, [f'{self.define}("{name}", None, "{words}")' for name, words in options])

    def alias(self, option: Option, name: str) -> bool:
        prefix = self.define.rpartition(".")[0]
        if not prefix:
            return False
        self.draft.add_after(self.last, [f'{prefix}.DEFINE_alias("{name}", "{option.name}")'])
        return True

    def follow(self, lines: Sequence[str]) -> None:
        assert self.main is not None
        first = body_start(self.main)
        assert first is not None
        self.draft.add_before(first, lines)


@dataclass
class FunctionSetup(Setup):
    """A function whose parameters are the options: click adds a decorator, typer a default, fire nothing."""

    function: cst.FunctionDef | None = None
    library: str = ""  # what click or typer is called here

    def value(self, name: str, at: cst.CSTNode | None = None) -> str:
        return name

    def reaches(self, node: cst.CSTNode) -> bool:
        return self.draft.scope(node) is self.function

    def declare(self, options: Sequence[tuple[str, str]]) -> None:
        assert self.function is not None
        if self.kind == "click":
            self._decorate(options)
        default = 'str = {0}.Option(None, "--{1}", help="{2}")' if self.kind == "typer" else ""
        added = [
            f"{name}: {default.format(self.library, name, words)}" if default else f"{name}=None"
            for name, words in options
        ]
        params = self.function.params.params
        if params:
            last = params[-1]
            self.draft.insert(self.draft.span(last.default or last.annotation or last.name)[1], ", " + ", ".join(added))
        else:
            at = self.draft.data.index(b"(", self.draft.span(self.function.name)[1]) + 1
            self.draft.insert(at, ", ".join(added))

    def _decorate(self, options: Sequence[tuple[str, str]]) -> None:
        assert self.function is not None
        last = self.function.decorators[-1]
        self.draft.add_after(
            last, [f'@{self.library}.option("--{name}", default=None, help="{words}")' for name, words in options]
        )

    def follow(self, lines: Sequence[str]) -> None:
        assert self.function is not None
        first = body_start(self.function)
        assert first is not None
        self.draft.add_before(first, lines)

    def missing(self, option: Option) -> list[str]:
        """As each library ends a program that lacks an argument."""
        if self.kind == "click" and option.is_positional:
            return [f"    raise {self.library}.UsageError(\"Missing argument '{option.name.upper()}'.\")"]
        if self.kind == "fire" and self._may_be_left_out(option):
            said = f"The function received no value for the required argument: {option.name}"
            return [f'    raise fire.core.FireError("{said}")']
        return []

    def ask_later(self, option: Option, target: str) -> list[str]:
        """`click.Path(exists=True)` wants what the script has always read, also where the contract brings it."""
        kind = argument(option.call, "type") if self.kind == "click" and option.call is not None else None
        place = kind.value if kind is not None else None
        if not isinstance(place, cst.Call) or tail(place.func) != "Path" or option.is_many:
            return []
        given = {arg.keyword.value: arg.value for arg in place.args if arg.keyword is not None}
        if "exists" not in given or tail(given["exists"]) != "True":
            return []
        self.draft.replace(given["exists"], "False")
        no_file, no_folder = (tail(given.get(f"{each}_okay")) == "False" for each in ("file", "dir"))
        what = "Directory" if no_file else "File" if no_folder else "Path"
        flags = [option.name.upper()] if option.is_positional else [inner(flag) for flag in option.flags]
        hint = " / ".join(f"'{flag}'" for flag in flags if option.is_positional or flag.startswith("-"))
        said = f"f\"{what} '{{{target}}}' does not exist.\""
        context = f"{self.library}.get_current_context()"
        return [
            f"elif {target} and not os.path.exists({target}):",
            f'    raise {self.library}.BadParameter({said}, {context}, param_hint="{hint}")',
        ]

    def let_out(self, option: Option, name: str) -> bool:
        """Give a parameter a default, where each one behind it has one."""
        if self.kind != "fire" or not self._may_be_left_out(option):
            return False
        param = next(each for each in self._params() if each.name.value == option.name)
        self.draft.insert(
            self.draft.span(param.annotation or param.name)[1], " = None" if param.annotation else "=None"
        )
        return True

    def _may_be_left_out(self, option: Option) -> bool:
        params = self._params()
        places = [at for at, param in enumerate(params) if param.name.value == option.name]
        is_last = bool(places) and all(param.default is not None for param in params[places[0] + 1 :])
        return is_last and self.draft.names.name_for("fire", [self.draft.module]) == "fire"

    def _params(self) -> Sequence[cst.Param]:
        assert self.function is not None
        return self.function.params.params

    def is_read(self, name: str) -> bool:
        return self.function is not None and any(
            isinstance(node, cst.Name) and node.value == name for node in self.draft.below(self.function.body)
        )


def find_flags(draft: Draft) -> FlagsSetup | None:
    """absl or TensorFlow 1 flags, if the function that runs with them is in this file."""
    defines = [call for call in draft.calls() if tail(call.func).startswith("DEFINE_") and _defines(draft, call.func)]
    defines = [
        call for call in defines if draft.scope(call) is draft.module and draft.stands_alone(draft.statement(call))
    ]
    main = _started(draft, ("absl.app.run", "tensorflow.app.run", "tensorflow.compat.v1.app.run"), default="main")
    if not defines or main is None:
        return None
    prefix = dotted(defines[-1].func).rpartition(".")[0]
    flags = next(
        (name for name in ("FLAGS", "flags_", "F") if _is_flags(draft, name)), f"{prefix}.FLAGS" if prefix else ""
    )
    if not flags:
        return None
    options, required = {}, set(_required(draft))
    for call in defines:
        name, default = inner(positional(call, 0)), inner(positional(call, 1))
        asked = argument(call, "required")
        options[name] = Option(
            name, default, tail(call.func) == "DEFINE_string", is_set=bool(default),
            is_required=name in required or (asked is not None and draft.source(asked.value) == "True"),
        )  # fmt: skip
    define = f"{prefix}.DEFINE_string" if prefix else "DEFINE_string"
    holders = frozenset({flags, flags.rpartition(".")[2]})
    return FlagsSetup(
        draft,
        options=options,
        holders=holders,
        define=define,
        flags=flags,
        last=draft.statement(defines[-1]),
        main=main,
        objects=dict(_objects(draft, defines)),
    )


def _objects(draft: Draft, defines: Sequence[cst.Call]) -> Iterator[tuple[str, str]]:
    """`_DATA = flags.DEFINE_string("data_dir", …)`, which is read as `_DATA.value`."""
    for call in defines:
        parent = draft.parent(call)
        if isinstance(parent, cst.Assign) and isinstance(parent.targets[0].target, cst.Name):
            yield f"{parent.targets[0].target.value}.value", inner(positional(call, 0))


def _required(draft: Draft) -> Iterator[str]:
    """Flags without which the program does not start."""
    for call in draft.calls():
        given = positional(call, 0)
        if tail(call.func) == "mark_flag_as_required":
            yield inner(given)
        elif tail(call.func) == "mark_flags_as_required" and isinstance(given, cst.List | cst.Tuple):
            yield from (inner(element.value) for element in given.elements)


def find_command(draft: Draft) -> FunctionSetup | None:
    """The one function that click, typer or fire turns into a command."""
    found = list(_commands(draft))
    if len(found) != 1:
        return None
    kind, function, library = found[0]
    params = function.params
    is_open = params.star_kwarg or params.kwonly_params or isinstance(params.star_arg, cst.Param)
    if is_open or body_start(function) is None or (kind != "fire" and not library):
        return None
    options = {param.name.value: _parameter(draft, kind, function, param) for param in params.params}
    names = frozenset(options)
    for option in list(options.values()):
        words = [inner(flag) for flag in option.flags]
        options.update((word[2:].replace("-", "_"), option) for word in words if word.startswith("--"))
    return FunctionSetup(
        draft, kind=kind, options=options, parameters={id(function): names}, function=function, library=library
    )


def _parameter(draft: Draft, kind: str, function: cst.FunctionDef, param: cst.Param) -> Option:
    name = param.name.value
    option = Option(name, _default(param), _is_text(param), is_set=bool(_default(param)))
    if kind != "click":
        return replace(option, is_required=param.default is None)
    for call in (each.decorator for each in function.decorators if isinstance(each.decorator, cst.Call)):
        flags = [arg.value for arg in call.args if arg.keyword is None and isinstance(arg.value, cst.SimpleString)]
        words = [inner(flag).partition("/")[0] for flag in flags]  # "--saves/--no-saves"
        if name in {word.lstrip("-").replace("-", "_") for word in words}:
            asked = argument(call, "required")
            is_required = asked is not None and draft.source(asked.value) == "True"
            given = argument(call, "default")
            text = inner(given.value) if given is not None else ""
            is_text = option.is_text and not isinstance(given and given.value, cst.Integer | cst.Float)
            is_text = is_text and not any("/" in inner(flag) for flag in flags) and not _is_flag(call)
            return replace(
                option, default=text, is_text=is_text, is_set=bool(text), is_required=is_required, call=call,
                flags=tuple(flags), is_positional=tail(call.func) == "argument",
                is_many=argument(call, "nargs") is not None or argument(call, "multiple") is not None,
            )  # fmt: skip
    return option


def _is_flag(call: cst.Call) -> bool:
    """Whether an option of click is a switch or a number."""
    kind, switch = argument(call, "type"), argument(call, "is_flag") or argument(call, "count")
    return switch is not None or (kind is not None and tail(kind.value) in _NUMBERS)


def reads_command_line(draft: Draft) -> bool:
    """Whether anything that runs here may read `sys.argv`: certain only where every module is known not to."""
    if any(word.startswith("DEFINE_") for word in draft.words) or _STRANGE & draft.words:
        return True
    if any(_READS.search(word) for word in draft.words):
        return True
    return not all(leaves_arguments_alone(root) for root in draft.names.roots)


def parsing_import(draft: Draft) -> cst.CSTNode | None:
    """The first import of arguments that were parsed when their module was read: `from options import args`."""
    for statement in draft.module.body:
        lines = statement.body if isinstance(statement, cst.SimpleStatementLine) else ()
        for line in lines:
            if isinstance(line, cst.ImportFrom) and not is_library(dotted(line.module)):
                names = [] if isinstance(line.names, cst.ImportStar) else [tail(each.name) for each in line.names]
                is_all = isinstance(line.names, cst.ImportStar) and _PARSED.fullmatch(tail(line.module))
                if is_all or any(_PARSED.fullmatch(name) for name in names):
                    return statement
            elif isinstance(line, cst.Import) and any(_PARSED.fullmatch(dotted(each.name)) for each in line.names):
                return statement
    return None


def _commands(draft: Draft) -> Iterator[tuple[str, cst.FunctionDef, str]]:
    click, typer = (draft.names.name_for(each, [draft.module]) for each in ("click", "typer"))
    for function in draft.functions():
        for each in function.decorators:
            call = each.decorator.func if isinstance(each.decorator, cst.Call) else each.decorator
            if draft.resolve(call) == "click.command":
                yield "click", function, click
            elif typer and isinstance(call, cst.Attribute) and call.attr.value == "command":
                yield "typer", function, typer
    for kind, starter, library in (("typer", "typer.run", typer), ("fire", "fire.Fire", "")):
        started = _started(draft, (starter,))
        if started is not None:
            yield kind, started, library


def _started(draft: Draft, starters: tuple[str, ...], default: str = "") -> cst.FunctionDef | None:
    calls = [call for call in draft.calls() if draft.resolve(call.func) in starters]
    if len(calls) != 1:
        return None
    given = positional(calls[0], 0)
    name = tail(given) if isinstance(given, cst.Name) else "" if calls[0].args else default
    found = [function for function in draft.functions() if function.name.value == name]
    return found[0] if len(found) == 1 and body_start(found[0]) is not None else None


def _defines(draft: Draft, node: cst.BaseExpression) -> bool:
    """`flags.DEFINE_string`, also after `flags = tf.app.flags`."""
    if draft.resolve(node).startswith(_FLAGS):
        return True
    owner = dotted(node).rpartition(".")[0]
    return any(
        isinstance(each, cst.Assign) and dotted(each.targets[0].target) == owner
        and (draft.resolve(each.value) + ".").startswith(_FLAGS) for each in draft.nodes
    )  # fmt: skip


def _is_flags(draft: Draft, name: str) -> bool:
    return any(
        isinstance(node, cst.Assign) and tail(node.targets[0].target) == name and tail(node.value) == "FLAGS"
        for node in draft.nodes
    ) or draft.names.resolve(cst.Name(name), [draft.module]).endswith("flags.FLAGS")


def _default(param: cst.Param) -> str:
    if isinstance(param.default, cst.Call):  # typer.Option("./data")
        return inner(positional(param.default, 0))
    return inner(param.default)


def _is_text(param: cst.Param) -> bool:
    noted = tail(param.annotation.annotation) if param.annotation else ""
    return noted in ("", "str", "Path", "Optional") and not isinstance(param.default, cst.Integer | cst.Float)
