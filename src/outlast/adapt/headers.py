"""The top of a file: where its imports end, and where one more has its place among them."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence

import libcst as cst

from outlast.adapt.statements import is_docstring, is_import, is_preparing, is_telling
from outlast.migrate.tree import dotted


def behind_imports(module: cst.Module) -> cst.CSTNode:
    """The first statement behind the docstring and the imports.

    What is set up between imports (`sys.path.append("..")`, `os.environ["X"] = "1"`) lies among them.
    """
    body = module.body
    for at, statement in enumerate(body):
        if is_import(statement) or is_telling(statement) or (at == 0 and is_docstring(statement)):
            continue
        rest = next((each for each in body[at:] if not is_preparing(each)), None)
        if rest is None or not is_import(rest):
            return statement
    return body[-1]


def behind_standard(header: Sequence[cst.CSTNode]) -> cst.CSTNode | None:
    """The last import of the standard library's before any other, or nothing where none comes first."""
    last = None
    for statement in _imports_of(header):
        if not (isinstance(statement, cst.SimpleStatementLine) and is_import(statement) and _is_standard(statement)):
            break
        last = statement
    return last


def ahead_of_others(header: Sequence[cst.CSTNode], module: cst.Module) -> cst.CSTNode | None:
    """The first import, where none of the standard library's comes before it, and no comment stands right above it."""
    first = next(iter(_imports_of(header)), None)
    if not isinstance(first, cst.SimpleStatementLine) or not is_import(first) or _is_standard(first):
        return None
    above = module.header if first is module.body[0] else first.leading_lines
    return None if any(line.comment for line in above[-1:]) else first


def _imports_of(header: Sequence[cst.CSTNode]) -> Sequence[cst.CSTNode]:
    """A header from its first import on; nothing where a star brings names that could hide what stands before it."""
    lines = [line for each in header if isinstance(each, cst.SimpleStatementLine) for line in each.body]
    if any(isinstance(line, cst.ImportFrom) and isinstance(line.names, cst.ImportStar) for line in lines):
        return []
    at = 1 if header and is_docstring(header[0]) else 0
    return list(itertools.dropwhile(is_telling, header[at:]))


def _is_standard(statement: cst.SimpleStatementLine) -> bool:
    named = [alias.name for line in statement.body if isinstance(line, cst.Import) for alias in line.names]
    sources = [line for line in statement.body if isinstance(line, cst.ImportFrom)]
    if any(line.relative or line.module is None for line in sources):
        return False
    modules = [*named, *(line.module for line in sources)]
    return all(dotted(module).partition(".")[0] in sys.stdlib_module_names for module in modules)
