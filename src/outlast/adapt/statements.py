"""What a statement at the top of a file is there for: to tell, to import, or to set up further imports."""

from __future__ import annotations

import re
from collections.abc import Iterable

import libcst as cst

from outlast.migrate.tree import dotted, inner, positional

#: What scripts set up before they import more.
_PREPARED = re.compile(r"(?:sys\.path|os\.environ|warnings|matplotlib|mpl|logging|plt)\b")
#: What they say and set there, by plain words.
_SAYING = re.compile(r"print|\w+\.set_\w+")
_WORDS = (cst.SimpleString, cst.Integer, cst.Float, cst.Name, cst.Attribute)
#: What only empties the screen; any other command may fetch something.
_CLEARS = re.compile(r"(?:cls|clear|\W)+")

#: Names that Python keeps for what a file says of itself.
_SAID = re.compile(r"__\w+__")


def is_docstring(statement: cst.CSTNode) -> bool:
    first = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    return isinstance(first, cst.Expr) and isinstance(first.value, cst.SimpleString | cst.ConcatenatedString)


def is_telling(statement: cst.CSTNode) -> bool:
    """`__author__ = "…"`: what a file says of itself may stand before its imports, and nothing else may."""
    lines = statement.body if isinstance(statement, cst.SimpleStatementLine) else ()
    return bool(lines) and all(
        isinstance(line, cst.Assign)
        and isinstance(line.value, cst.BaseString | cst.BaseNumber | cst.List | cst.Tuple)
        and all(_SAID.fullmatch(dotted(target.target)) for target in line.targets)
        for line in lines
    )


def is_preparing(statement: cst.CSTNode) -> bool:
    """`sys.path.append(…)`, `os.environ["X"] = "1"`, `matplotlib.use("Agg")`, `print("importing")`."""
    if is_docstring(statement):  # a cell of text in what was a notebook
        return True
    line = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    at: cst.CSTNode | None = None
    if isinstance(line, cst.Expr) and isinstance(line.value, cst.Call):
        at = line.value.func
        if dotted(at) == "os.system":
            return bool(_CLEARS.fullmatch(inner(positional(line.value, 0))))
        if _SAYING.fullmatch(dotted(at)):
            return all(isinstance(arg.value, _WORDS) for arg in line.value.args)
    elif isinstance(line, cst.Assign) and isinstance(line.targets[0].target, cst.Subscript):
        at = line.targets[0].target.value
    return at is not None and bool(_PREPARED.match(dotted(at)))


def is_import(statement: cst.CSTNode) -> bool:
    if isinstance(statement, cst.SimpleStatementLine):
        return all(isinstance(each, cst.Import | cst.ImportFrom) for each in statement.body)
    if isinstance(statement, cst.Try) and isinstance(statement.body, cst.IndentedBlock):
        return all(is_import(each) for each in statement.body.body)
    return False


def indented(line: str, unit: str) -> str:
    """A line that is written with four spaces for each step, with the steps of a file."""
    rest = line.lstrip(" ")
    return unit * ((len(line) - len(rest)) // 4) + rest


def of_module(node: cst.CSTNode) -> str:
    """`os.environ.get` of `__import__("os").environ.get`, as it is written where no name may be added."""
    if isinstance(node, cst.Attribute):
        before = of_module(node.value)
        return f"{before}.{node.attr.value}" if before else ""
    is_import = isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "__import__"
    return inner(positional(node, 0)) if is_import and isinstance(node, cst.Call) else ""


def is_imported_from(around: Iterable[cst.CSTNode]) -> bool:
    """Whether a name, by what is around it, is part of the module in `from numpy.random import shuffle`."""
    found = next((each for each in around if isinstance(each, cst.ImportFrom | cst.ImportAlias)), None)
    return isinstance(found, cst.ImportFrom)
