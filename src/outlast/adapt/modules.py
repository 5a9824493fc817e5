"""The modules of a script's own folder that it imports, and what of each of them it runs.

Only names are followed: a function or a class is run where its name stands in code that is run. What stands for itself
in a module is run when it is imported, except behind `if __name__ == "__main__"`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from outlast.adapt.composed import Read, composed_paths
from outlast.adapt.libraries import is_library

#: More than any script has that one person oversees; of a larger program the nearest modules are taken.
_MOST = 60

#: `python scripts/train.py` with the project's folder on the path
_ABOVE = ("../", "../../", "../../../")

_Named = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass
class Module:
    """One file of a program."""

    path: str  # from the folder of the script, with slashes
    text: str
    tree: ast.Module = field(repr=False)
    imports: list[str] = field(default_factory=list)  # paths of modules
    run: set[int] = field(default_factory=set)  # lines at which a function or class begins that is run
    composed: set[str] = field(default_factory=set)  # paths of modules whose names it puts together when it runs
    paths: set[str] = field(default_factory=set)  # every path by which it is imported: through its package, too
    meant: set[str] = field(default_factory=set)  # names of its own that code of it, which is run, speaks of

    @property
    def idle(self) -> frozenset[int]:
        """Lines at which something begins that is not run: functions and classes, and what a start by itself does."""
        body = self.tree.body
        named = {_line(each) for each in body if isinstance(each, _Named) and _line(each) not in self.run}
        return frozenset(named | {each.lineno for each in body if _is_start(each)})


class Found(NamedTuple):
    """What a script imports of its own."""

    modules: list[Module]  # nearest first
    is_shared: bool = False  # one of them imports the script itself
    #: files that this Python cannot parse, with the line: what they import is not known
    unread: Sequence[tuple[str, int]] = ()


def find_modules(script: str, text: str, read: Read) -> Found:
    """The modules that a script imports. `read` gives the text of a path below its folder, or None."""
    entry = _parsed(script, text)
    if entry is None:
        return Found([], unread=[(script, _wrong_line(text))])
    is_shared = False
    found: dict[str, Module | None] = {script: entry}
    waiting, above = [entry], (*_added(entry.tree), *_ABOVE)
    while waiting and len(found) <= _MOST:
        module = waiting.pop(0)
        for asked in _imported(module, read, above):
            path = _nearest(asked, script, text, read)
            module.composed |= {path} if asked in module.composed else set()
            # The script may be part of a package that it imports from: it is one file, under two names.
            is_shared = is_shared or path == script
            if path not in found:
                found[path] = _parsed(path, read(path) or "")
                waiting += [each] if (each := found[path]) is not None else []
            if (at := found[path]) is not None and at is not entry:
                at.paths |= {asked, path}
                module.imports.append(path)
    modules = [each for each in found.values() if each is not None and each is not entry]
    _mark_run(entry, modules)
    texts = {path: read(path) or "" for path, module in found.items() if module is None}
    return Found(modules, is_shared, [(path, _wrong_line(text)) for path, text in texts.items() if text])


def _nearest(path: str, script: str, text: str, read: Read) -> str:
    """The path of a module from the script's own folder, where it leads out of that and back into it.

    `from shop.nets import Net` in `shop/train.py` means the file beside it, as `from nets import Net` does.
    """
    parts = path.split("/")
    down = parts.count("..") * 2
    if not down or len(parts) <= down or read("/".join([*parts[:down], script])) != text:
        return path
    return "/".join(parts[down:])


def folders_up(text: str) -> int:
    """How far above its own folder a script looks for modules: 1 for `sys.path.append(dirname(dirname(__file__)))`."""
    entry = _parsed("", text)
    return max((each.count("../") for each in _added(entry.tree)), default=0) if entry is not None else 0


def _added(tree: ast.Module) -> list[str]:
    """The folders that a script puts on `sys.path`, from its own one."""
    nodes = list(ast.walk(tree))
    values = {
        each.id: node.value for node in nodes if isinstance(node, ast.Assign)
        for each in node.targets if isinstance(each, ast.Name)
    }  # fmt: skip
    added = [
        _folder(node.args[-1], values) for node in nodes
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func) in ("sys.path.append", "sys.path.insert")
    ]  # fmt: skip
    found = [f"{'../' * up}{''.join(f'{name}/' for name in names)}" for up, names in added if up <= len(_ABOVE)]
    return [each for each in dict.fromkeys(found) if each]


def _folder(node: ast.AST, values: dict[str, ast.expr], depth: int = 4) -> tuple[int, list[str]]:
    """How many folders up an expression leads, and by which names down again."""
    up, names = 0, list[str]()
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            up += _called(each) == "dirname"
        elif isinstance(each, ast.Attribute):
            up += each.attr in ("parent", "pardir")
        elif isinstance(each, ast.Subscript) and isinstance(each.value, ast.Call):
            is_head = isinstance(each.slice, ast.Constant) and each.slice.value == 0
            up += is_head and ast.unparse(each.value.func).endswith("path.split")
        elif isinstance(each, ast.Subscript) and isinstance(each.value, ast.Attribute):
            index = each.slice.value if isinstance(each.slice, ast.Constant) else 0
            up += index + 1 if each.value.attr == "parents" and isinstance(index, int) else 0
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            parts = each.value.split("/")
            up += parts.count("..")
            names += [part for part in parts if part not in ("", ".", "..")]
        elif isinstance(each, ast.Name) and each.id == "__file__":
            up -= 1  # the first step up from a file is the folder that it lies in
        elif isinstance(each, ast.Name) and each.id in values and depth:
            more, below = _folder(values[each.id], values, depth - 1)
            up, names = up + more, below + names
    return max(up, 0) if depth == 4 else up, names


def _parsed(path: str, text: str) -> Module | None:
    try:
        return Module(path, text, ast.parse(text.removeprefix("\ufeff")))
    except (SyntaxError, ValueError, RecursionError):
        return None


def _wrong_line(text: str) -> int:
    try:
        ast.parse(text.removeprefix("\ufeff"))
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, RecursionError):
        pass
    return 1


def _imported(module: Module, read: Read, above: Sequence[str]) -> Iterator[str]:
    """Paths of what a file imports, wherever in it."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files("", alias.name, read, above)
        elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__") and node.args:
            given = node.args[0]
            if isinstance(given, ast.Constant) and isinstance(given.value, str):
                yield from _files("", given.value, read, above)
            else:
                composed = list(composed_paths(module.tree, given, read))
                module.composed |= set(composed)
                yield from composed
        elif isinstance(node, ast.ImportFrom):
            folder = module.path.split("/")[: -node.level] if node.level else []
            start = "/".join(folder) + ("/" if folder else "")
            if not node.level and is_library(node.module or "") and not _at(start, node.module or "", read, above):
                continue
            yield from _files(start, node.module or "", read, above)
            for alias in node.names:
                name = f"{node.module}.{alias.name}" if node.module else alias.name
                yield from _at(start, name, read, above)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _files(start: str, name: str, read: Read, above: Sequence[str]) -> Iterator[str]:
    """The module and the packages that it lies in, which are run, too."""
    parts = name.split(".") if name else []
    for count in range(1, len(parts) + 1):
        yield from _at(start, ".".join(parts[:count]), read, above)


def _at(start: str, name: str, read: Read, above: Sequence[str]) -> list[str]:
    """The file of a module, in a folder or from where a script of a subfolder may be started."""
    path = name.replace(".", "/")
    roots = (start, *(() if start or is_library(name) else above))
    files = [f"{root}{path}{ending}" for root in roots for ending in (".py", "/__init__.py")]
    return [each for each in files if name and read(each) is not None][:1]


def _mark_run(entry: Module, modules: list[Module]) -> None:
    words = _words_of(entry, entry.tree)
    named = {path for module in (entry, *modules) for path in module.composed}
    for module in (*_handed_on(entry, modules), *(each for each in modules if each.path in named)):
        words |= {each.name for each in module.tree.body if isinstance(each, _Named)}
        words |= {node.name for node in ast.walk(module.tree) if isinstance(node, ast.alias)}  # of `nets/__init__.py`
    for module in modules:
        for statement in module.tree.body:
            if not isinstance(statement, _Named) and not _is_start(statement):
                words |= _words_of(module, statement)
    is_growing = True
    while is_growing:
        is_growing = False
        for module in modules:
            for each in module.tree.body:
                is_meant = isinstance(each, _Named) and (each.name in words or each.name in module.meant)
                if isinstance(each, _Named) and is_meant and _line(each) not in module.run:
                    module.run.add(_line(each))
                    words |= _words_of(module, each)
                    is_growing = True


def _words_of(module: Module, tree: ast.AST) -> set[str]:
    """Words that may mean something of any file; a bare name of its own (`main()`) means nothing of another one."""
    own = {each.name for each in module.tree.body if isinstance(each, _Named)}
    bare = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & own
    module.meant |= bare
    return _words(tree) - (bare - _words(tree, is_bare=False))


def _handed_on(entry: Module, modules: list[Module]) -> Iterator[Module]:
    """Modules that are values somewhere: of `make("loader", loaders)` nobody sees what it takes of `loaders`."""
    for module in (entry, *modules):
        inside = {id(node.value) for node in ast.walk(module.tree) if isinstance(node, ast.Attribute)}
        names = {node.id for node in ast.walk(module.tree) if isinstance(node, ast.Name) and id(node) not in inside}
        for path in (path for name, path in _called_here(module) if name in names):
            for each in _at_path(path, modules, module):
                yield each
                yield from _opened(each, modules)


def _opened(package: Module, modules: list[Module]) -> Iterator[Module]:
    """What a package takes everything from: `from .sets import *`."""
    for node in package.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and any(alias.name == "*" for alias in node.names):
            yield from _at_path(node.module.replace(".", "/"), modules, package)


def _at_path(path: str, modules: list[Module], asking: Module) -> list[Module]:
    endings = (f"/{path}.py", f"/{path}/__init__.py")
    return [
        each for each in modules
        if each is not asking and any(f"/{at}".endswith(endings) for at in (each.path, *each.paths))
    ]  # fmt: skip


def _called_here(module: Module) -> Iterator[tuple[str, str]]:
    """What a file calls that which it imports, with the path that this has if it is a module."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name, alias.name.replace(".", "/")
        elif isinstance(node, ast.ImportFrom):
            start = f"{node.module}.".replace(".", "/") if node.module else ""
            yield from ((alias.asname or alias.name, start + alias.name) for alias in node.names)


def _line(node: _Named) -> int:
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _words(tree: ast.AST, *, is_bare: bool = True) -> set[str]:
    """Every name that stands there, without `is_bare` those of parts (`nets.Net`) and texts alone.

    Imports are no use yet, but `from model import *` may be one.
    """
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.update({node.id} if is_bare else ())
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            # `getattr(models, "UNet")`; nobody asks for the start of a module so, and `env="main"` is only a word.
            found.update({node.value} - {"main"})
        elif isinstance(node, ast.alias) and node.asname:
            found.add(node.name.rpartition(".")[2])
    return found


def _is_start(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and any(
        isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(statement.test)
    )
