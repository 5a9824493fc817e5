"""Reading Python that newer interpreters refuse: `.cuda(async=True)`, from the days before `async` was a keyword."""

from __future__ import annotations

import ast
import re
import warnings

import libcst as cst

_ASYNC = re.compile(r"(\.(?:cuda|to|npu|copy_|type)\([^()\n]*?(?:\([^()\n]*\)[^()\n]*?)*?)\basync(\s*=)")


class Unparsable(Exception):
    """Text that is not Python 3; `line` is where reading ended."""

    def __init__(self, why: str, line: int = 1) -> None:
        super().__init__(why)
        # LibCST lists every token that could have stood there; where reading ended says enough.
        self.why = (why.splitlines() or ["no reason given"])[0].partition(": expected one of ")[0]
        self.line = max(line, 1)


def parse(text: str) -> tuple[str, cst.Module]:
    """The text as it was read, and its tree; the old spelling of `non_blocking` is replaced if nothing else helps."""
    try:
        return text, _tree(text)
    except Unparsable:
        repaired = _ASYNC.sub(r"\1non_blocking\2", text)
        if repaired == text:
            raise
        return repaired, _tree(repaired)


def _tree(text: str) -> cst.Module:
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise complaint(text, error) from None
    except cst.CSTValidationError as error:
        raise Unparsable(str(error)) from None
    except RecursionError:
        raise Unparsable("nested too deeply") from None


def complaint(text: str, error: cst.ParserSyntaxError) -> Unparsable:
    """What is wrong with a text: Python says it in plain words and with the right line, LibCST by its tokens."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in the user's strings
            ast.parse(text)
    except SyntaxError as plain:
        return Unparsable(f"not valid Python 3: {plain.msg}", plain.lineno or 1)
    except (ValueError, RecursionError, MemoryError):  # zero bytes, deep nesting
        pass
    return Unparsable(error.message, error.raw_line)
