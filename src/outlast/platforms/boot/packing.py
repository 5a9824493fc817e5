"""Sources made small for the journey: comments and docstrings go, every line keeps its number for tracebacks."""

from __future__ import annotations

import ast
import io
import tokenize


def blank(source: str) -> str:
    """The same program without comments and docstrings; what is left stands on the same lines."""
    lines = source.split("\n")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            _blank_docstring(node, lines)
    return _without_comments("\n".join(lines))


def _blank_docstring(
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]
) -> None:
    if ast.get_docstring(node, clean=False) is None:
        return
    text = node.body[0]
    first, last = text.lineno - 1, (text.end_lineno or text.lineno) - 1
    # Columns count bytes.
    before, after = lines[first].encode()[: text.col_offset], lines[last].encode()[text.end_col_offset :]
    if len(node.body) == 1 or after.lstrip().startswith(b";"):
        before += b"0"  # neither a body nor the left of a semicolon may be empty
    lines[first : last + 1] = [""] * (last + 1 - first)
    lines[first] = (before + after).decode().rstrip()


def _without_comments(text: str) -> str:
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    return "\n".join(lines)
