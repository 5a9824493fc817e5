"""Modules whose names a program puts together when it runs: `import_module("models." + args.model)`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

#: The text of a path below the script's folder, or None; of a folder (`"models/"`) the names of its modules, in lines,
#: and of what is in a folder (`"models/*/"`) the names of its folders.
Read = Callable[[str], str | None]

#: from where a script of a subfolder may be started
_ROOTS = ("", "../", "../../")
#: stands for what is known only when the program runs
_OPEN = "\0"
_DEPTH = 4


def composed_paths(tree: ast.Module, name: ast.expr, read: Read) -> Iterator[str]:
    """The files of a package that a name may lead to, by what of it is written: `"data." + kind + "_dataset"`."""
    spelled = _spelled(tree, name, _DEPTH)
    if _OPEN not in spelled:  # `kind = "small"`, `import_module("models." + kind)`
        paths = (f"{root}{spelled.replace('.', '/')}.py" for root in _ROOTS)
        yield from [path for path in paths if spelled and read(path) is not None][:1]
        return
    before, *_, after = spelled.split(_OPEN)
    package, _, stem = before.rpartition(".")
    if not package or not all(part.isidentifier() for part in package.split(".")):
        return
    folder = package.replace(".", "/")
    inside, _, last = after.partition(".")
    if last and all(part.isidentifier() for part in last.split(".")):
        yield from _in_folders(folder, stem, inside, last.replace(".", "/"), read)
        return
    for root in _ROOTS:
        names = (read(f"{root}{folder}/") or "").split()
        if names:
            found = [each for each in names if each.startswith(stem) and each.endswith(after)]
            yield from (f"{root}{folder}/{each}.py" for each in found if each != "__init__")
            return


def _in_folders(folder: str, stem: str, end: str, module: str, read: Read) -> Iterator[str]:
    """`f"tasks.{name}.rows"`: the module of that name in each folder that may be meant."""
    for root in _ROOTS:
        names = [each for each in (read(f"{root}{folder}/*/") or "").split() if each.startswith(stem)]
        paths = [f"{root}{folder}/{each}/{module}.py" for each in names if each.endswith(end)]
        if found := [path for path in paths if read(path) is not None]:
            yield from found
            return


def _spelled(tree: ast.Module, node: ast.expr, depth: int) -> str:
    """A text as far as it is written."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_spelled(tree, each, depth) for each in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _spelled(tree, node.left, depth) + _spelled(tree, node.right, depth)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return _spelled(tree, node.left, depth).replace("%s", _OPEN)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return _spelled(tree, node.func.value, depth).replace("{}", _OPEN)
    values = [
        each.value for each in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(each, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == node.id for target in each.targets)
    ]  # fmt: skip
    return _spelled(tree, values[0], depth - 1) if len(values) == 1 and depth else _OPEN
