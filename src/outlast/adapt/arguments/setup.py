"""How a script reads its arguments, and how one more is added there.

Each kind answers the same questions: which options exist, where their values can be read, how to declare one more,
and where to put lines that run as soon as the values are known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import variable
from outlast.adapt.statements import is_docstring
from outlast.migrate.tree import inner, tail

#: what lies beside code and is never data, whatever folder it is joined with
_BESIDE_CODE = (
    r"\.(?:py|sh|rst|ipynb)$|(?:^|/)(?:\.(?:git\w*|env|netrc|\w+ignore|\w+rc)$|\.git/|requirements(?:[\w.-]*|/[\w.-]+)\.txt$|"
    r"(?:README|LICEN[SC]E|CHANGELOG|CONTRIBUTING|AUTHORS)(?:\.\w+)?$|(?:Makefile|Dockerfile|VERSION|setup\.cfg)$)"
)
BESIDE_CODE = re.compile(_BESIDE_CODE, re.I)
#: what travels with the code: settings, and code itself
CODE_FILE = re.compile(
    r"\.(?:ya?ml|toml|ini|cfg|md)$|(?:config|conf|hparams|hyp|args|params)[^/]*\.json$|(?:^|/)(?:configs?|cfgs?)/(?:.*\.\w+)?$|"
    + _BESIDE_CODE,
    re.I,
)


@dataclass(frozen=True)
class Option:
    """An option the script has. `call` is where it is declared, for those that can be given another name."""

    name: str
    default: str = ""
    is_text: bool = True
    is_required: bool = False
    is_set: bool = False  # has a value although nobody gave one
    is_positional: bool = False
    is_many: bool = False  # its value is a list
    call: cst.Call | None = None
    flags: tuple[cst.CSTNode, ...] = ()
    #: parsers of sub-commands that have it; none where it is there in every start
    commands: frozenset[str] = frozenset()

    def may_meet(self, other: Option) -> bool:
        """Whether both can be given in one start."""
        return not self.commands or not other.commands or not self.commands.isdisjoint(other.commands)

    def asked(self, target: str, *, is_set: bool) -> str:
        """A condition for one that only some sub-commands have; nothing for one that is always there.

        `target`: the expression that holds it; `is_set`: whether it must have a value, too.
        """
        if not self.commands:
            return ""
        if target.endswith("]"):
            holder = target.rpartition("[")[0]
            return f'{holder}.get("{self.name}")' if is_set else f'"{self.name}" in {holder}'
        holder = target.rpartition(".")[0]
        return f'getattr({holder}, "{self.name}", None)' if is_set else f'hasattr({holder}, "{self.name}")'

    @property
    def shown(self) -> str:
        """As it is spelled on the command line."""
        words = [inner(flag) for flag in self.flags]
        long = next((word for word in words if word.startswith("--")), "")
        return self.name if self.is_positional else long or next(iter(words), f"--{self.name}")


#: set-ups whose options take a function that makes their values
_TYPED = frozenset({"argparse", "created"})


@dataclass
class Setup:
    """The base of all kinds."""

    draft: Draft
    kind: str = ""
    options: dict[str, Option] = field(default_factory=dict)
    #: names whose attributes are options, like `args`
    holders: frozenset[str] = frozenset()
    #: `X.value` → option, where an object stands for it
    objects: dict[str, str] = field(default_factory=dict)
    #: function → parameters that are options
    parameters: dict[int, frozenset[str]] = field(default_factory=dict)
    #: options to declare that must not depend on the folder in which somebody reads them
    anchored: frozenset[str] = frozenset()

    def default(self, name: str, value: str = "None") -> str:
        """What an option is declared with: a relative path is told from where the script is started."""
        if name not in self.anchored or self.kind not in _TYPED:
            return f"default={value}"
        self.draft.need_import("os")
        return f"type=os.path.abspath, default={value}"

    def value(self, name: str, at: cst.CSTNode | None = None) -> str:
        """The expression that holds an option's value, where a node stands or where the arguments become known."""
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

    def anchor(self, names: Sequence[str]) -> None:
        """Tell a relative path from where the script is started, where no declaration can say so."""
        for name in (each for each in names if each in self.anchored and self.kind not in _TYPED):
            self.draft.need_import("os")
            self.follow([f"if {self.value(name)}:", f"    {self.value(name)} = os.path.abspath({self.value(name)})"])

    def prepare(self, lines: Sequence[str]) -> None:
        """Put lines where the contract's values are known, which may be before the script's own are."""
        if lines:
            self.follow(lines)

    def missing(self, option: Option) -> list[str]:
        """Lines that end the script as its parser does without an option; none where that is not possible."""
        return []

    def ask_later(self, option: Option, target: str) -> list[str]:
        """Lines that ask whether a place is there, where the parser does so before the contract's can stand for it."""
        return []

    def let_out(self, option: Option, name: str) -> bool:
        """Let what must be given be left out where the contract's option is there; False where that is not possible."""
        return False

    def hand_on(self, contract: str, options: Sequence[tuple[str, str]]) -> list[str]:
        """Lines that tell what reads the command line later of the contract's options, which were taken away."""
        return []

    def alias(self, option: Option, name: str) -> bool:
        """Give an option a second name; False where that is not possible."""
        if option.call is None or not option.flags:
            return False
        self.draft.insert(self.draft.span(option.flags[-1])[1], f', "--{name}"')
        return True

    def is_read(self, name: str) -> bool:
        """Whether the script already makes something of an option."""
        return any(
            isinstance(node, cst.Attribute) and node.attr.value == name and tail(node.value) in self.holders
            for node in self.draft.nodes
        )


@dataclass(frozen=True)
class Value:
    """What one option holds, spelled for each place that reads it."""

    setup: Setup
    name: str

    def at(self, node: cst.CSTNode) -> str:
        return self.setup.value(self.name, node)

    @property
    def first(self) -> str:
        """The spelling where the arguments become known."""
        return self.setup.value(self.name)


@dataclass
class CreatedSetup(Setup):
    """A parser of its own at the top; it takes the contract's options away from whatever reads arguments later."""

    kind: str = "created"
    inner: Setup | None = None
    takes: bool = True  # something else reads the command line too
    before: cst.CSTNode | None = None  # an import that does so when its module is read
    handed: Sequence[str] = ()  # options that modules of the program read
    is_inherited: bool = False  # processes that this one starts read them, too
    holder: str = ""

    def __post_init__(self) -> None:
        self.holder = self.draft.free("contract")
        if self.inner is not None:
            self.options, self.holders, self.parameters = self.inner.options, self.inner.holders, self.inner.parameters

    def value(self, name: str, at: cst.CSTNode | None = None) -> str:
        return f"{self.holder}.{name}"

    def own_value(self, name: str) -> str:
        return self.inner.own_value(name) if self.inner is not None else self.value(name)

    def reaches(self, node: cst.CSTNode) -> bool:
        return self.draft.start(node) >= self.draft.start(self.draft.first)

    def declare(self, options: Sequence[tuple[str, str]]) -> None:
        self.declare_beside(options, ())

    def declare_beside(self, options: Sequence[tuple[str, str]], own: Sequence[tuple[str, str]]) -> None:
        """Take `options` away from what reads arguments later, and only look at those that it has itself."""
        parser = self.draft.free("contract_parser")
        takes = self.takes and bool(options)
        handed = [name for name, _ in (*options, *own)] if self.is_inherited else self.handed
        added = [
            f'{parser}.add_argument("--{name}", {self.default(name, self._default(name))}, help="{words}")'
            for name, words in (*options, *own)
        ]
        count = len(options) if takes else len(added)
        lines = [
            f"{parser} = argparse.ArgumentParser({'add_help=False, ' if self.takes else ''}allow_abbrev=False)",
            *added[:count],
            f"{self.holder}, {'sys.argv[1:]' if takes else '_'} = {parser}.parse_known_args()",
        ]
        if takes and own:
            lines += ["# The script has this itself: it is read here, and stays in its place.", *added[count:]]
            lines += [f"{parser}.parse_known_args(namespace={self.holder})"]
        lines += self.inner.hand_on(self.holder, [*options, *own]) if self.inner is not None else []
        lines += hand_over([(name, self.value(name)) for name in handed])
        modules = ["argparse", *(["os"] if handed or self.anchored else []), *(["sys"] if takes else [])]
        if self.before is not None:
            self.draft.import_before(self.before, modules, lines)
            return
        self.draft.need_import(*modules)
        self.draft.add_on_top(lines)

    def _default(self, name: str) -> str:
        return f'os.environ.get("{variable(name)}")' if self.is_inherited else "None"

    def let_out(self, option: Option, name: str) -> bool:
        return self.inner is not None and self.inner.kind == "dataclasses" and self.inner.let_out(option, name)

    def anchor(self, names: Sequence[str]) -> None:
        """Tell a relative path from where the script is started, where no declaration can say so."""
        for name in (each for each in names if each in self.anchored and self.kind not in _TYPED):
            self.draft.need_import("os")
            self.follow([f"if {self.value(name)}:", f"    {self.value(name)} = os.path.abspath({self.value(name)})"])

    def prepare(self, lines: Sequence[str]) -> None:
        if lines:
            self.draft.add_on_top(lines)

    def follow(self, lines: Sequence[str]) -> None:
        if self.inner is None:
            self.draft.add_on_top(lines)
        else:
            self.inner.follow(lines)


def hand_over(values: Sequence[tuple[str, str]]) -> list[str]:
    """Lines that leave options where the modules of a program find them. `values`: name and expression of each."""
    lines = ["# Modules of this program, and processes that it starts, find the places here."] if values else []
    for name, value in values:
        lines += [f"if {value}:", f'    os.environ["{variable(name)}"] = {value}']
    return lines


def body_start(function: cst.FunctionDef) -> cst.CSTNode | None:
    """The first statement of a function behind its docstring; None where the body shares the line of `def`."""
    if not isinstance(function.body, cst.IndentedBlock):
        return None
    body = function.body.body
    return body[1] if len(body) > 1 and is_docstring(body[0]) else body[0]
