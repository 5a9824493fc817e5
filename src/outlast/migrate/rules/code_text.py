"""Code in texts: `patch('torch.cuda.is_available')` is followed, other programs in texts are listed."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.context import Shape, Use, use_of
from outlast.migrate.engine import Kind, Rule, Script
from outlast.migrate.neutral import ADVICE
from outlast.migrate.rules.torch_module import is_absent
from outlast.migrate.tree import inner, opening, tail

#: Calls that take the full name of something as a text.
_BY_NAME = frozenset({"patch", "setattr", "delattr", "import_module", "spy", "importorskip", "resolve", "locate"})
#: Code, settings and commands, as they look inside a text; quotes may be escaped there.
_LOOKS = (
    r"torch\.{word}\.\w|\w\.{word}\(|(?:\.to|device)\(\\?['\"]{word}|device=\\?['\"]{word}"
    r"|(?:\b|\\n)device: *['\"]?{word}|environ\b.*\b{variable}_"
)
_CODE = {
    word: re.compile(_LOOKS.format(word=word, variable=variable))
    for word, variable in (("cuda", "CUDA"), ("npu", "ASCEND"))
}
_KEPT = "code in a text is kept as it is"


class CodeText(Rule):
    name: ClassVar[str] = "code-text"
    summary: ClassVar[str] = (
        "Full names as texts: patch('torch.cuda.…') ↔ patch('torch.npu.…'); other code in texts is listed"
    )
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.SimpleString, cst.FormattedStringText)

    def __init__(self) -> None:
        self._found: list[cst.CSTNode] = []

    def look(self, node: Any, script: Script) -> None:
        text = node.value if isinstance(node, cst.FormattedStringText) else inner(node)
        if not any(_CODE[word].search(text) for word in script.direction.sources):
            return
        name = re.fullmatch(r"(?:\w+\.)*torch\.(cuda|npu)\.(\w+(?:\.\w+)*)", text)
        if name and self._is_by_name(script):
            self._full_name(node, name, script)
        elif use_of(node, Shape.BARE, script) is not Use.PROSE:
            self._found.append(node)

    def _is_by_name(self, script: Script) -> bool:
        call = script.parent(2)
        return isinstance(script.parent(), cst.Arg) and isinstance(call, cst.Call) and tail(call.func) in _BY_NAME

    def _full_name(self, node: cst.SimpleString, name: re.Match[str], script: Script) -> None:
        target = script.direction.target
        if target == "any" or is_absent(f"torch.{name.group(1)}", name.group(2), script):
            script.report(node, Kind.HAND, f"{node.value} has no twin", ADVICE)
            return
        start = script.span(node)[0] + opening(node) + name.start(1)
        script.replace(start, start + len(name.group(1)), target)

    def finish(self, script: Script) -> None:
        for node in self._found:
            if not script.is_said(node):
                script.report(node, Kind.KEPT, _KEPT, "change it by hand if it is run on the device")
