"""Calls that CUDA answers even without a card, while `torch.accelerator` raises there: they need a question before."""

from __future__ import annotations

import re

import libcst as cst

from outlast.migrate.engine import Script
from outlast.migrate.lines import can_stand_beside, ending_at, line_start

#: What each of them gives where there is no card.
_GIVES = {
    "empty_cache": "None",
    "memory_allocated": "0",
    "memory_reserved": "0",
    "max_memory_allocated": "0",
    "max_memory_reserved": "0",
    "memory_stats": "{}",
}
_ASKS = re.compile(rb"cuda|npu(?![a-z])|gpu|accelerator|is_available|device_count", re.I)
#: Around these a condition needs no parentheses.
_WHOLE = (cst.Assign, cst.Return, cst.Arg, cst.Expr)


def is_quiet(name: str, script: Script) -> bool:
    """Whether the walk stands at such a call, and nothing around it asks for a card already."""
    call = script.parent()
    if name not in _GIVES or not isinstance(call, cst.Call):
        return False
    inside: cst.CSTNode = call
    for above in reversed(script.parents[:-1]):
        if isinstance(above, cst.If | cst.IfExp) and above.body is inside and _asks(above.test, script):
            return False
        inside = above
    # A device among the arguments is for other rules to change.
    return not any(_asks(each, script) for each in call.args)


def change_quiet(name: str, torch: str, script: Script) -> None:
    """Let the call be made only where there is a card."""
    call = script.parent()
    assert isinstance(call, cst.Call)
    arguments = script.source(call)[len(script.source(call.func)) :]
    new, asked = f"{torch}.accelerator.{name}{arguments}", f"{torch}.accelerator.is_available()"
    said = f"{script.source(call)} → {new}, where there is a card"
    line = script.parent(3)
    if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 and _is_statement(script, line):
        start, end = script.span(call)
        lead = script.data[line_start(script.data, start) : start].decode()
        block = f"if {asked}:{ending_at(script.data, end)}{lead}{script.module.default_indent}{new}"
        script.change(call, block, said)
        return
    guarded = f"{new} if {asked} else {_GIVES[name]}"
    script.change(call, guarded if isinstance(script.parent(2), _WHOLE) else f"({guarded})", said)


def _is_statement(script: Script, line: cst.CSTNode) -> bool:
    return isinstance(script.parent(2), cst.Expr) and can_stand_beside(script, line)


def _asks(node: cst.CSTNode, script: Script) -> bool:
    start, end = script.span(node)
    return _ASKS.search(script.data[start:end]) is not None
