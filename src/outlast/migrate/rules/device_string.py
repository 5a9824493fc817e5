"""Device strings in every form: literals, f-strings, `%`, `.format`, concatenation, defaults, lists, comparisons."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.context import Shape, Use, use_of
from outlast.migrate.engine import ONE_WAY, Kind, Rule, Script
from outlast.migrate.neutral import ADVICE, type_expression
from outlast.migrate.tree import inner, opening, tail

_INDEX = r"(?::(?:\d+|%[dsi]|\{[^{}]*\})?)?"
_WHY = {
    Use.KEY: "a name or a key, not a device",
    Use.UNSURE: "nothing in this file shows that it is a device",
}
#: An expression cannot stand there, or would mean something else.
_LITERALS_ONLY = (cst.Comparison, cst.MatchValue, cst.ConcatenatedString, cst.Index)
#: Only a name that goes straight into torch makes 'gpu:0' a device.
_GPU_SINKS = frozenset({"to", "device", "set_device"})


class DeviceString(Rule):
    name: ClassVar[str] = "device-string"
    summary: ClassVar[str] = "Device strings that reach a device: 'cuda:0' ↔ 'npu:0', in every way of writing them"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.SimpleString, cst.FormattedString)

    def look(self, node: Any, script: Script) -> None:
        if isinstance(node, cst.FormattedString):
            self._formatted(node, script)
            return
        text = inner(node)
        words = "|".join(script.direction.sources)
        if re.fullmatch(rf"(?:{words}){_INDEX}(?:, ?(?:(?:{words}){_INDEX}|cpu))*", text):
            shape = Shape.BARE if text in script.direction.sources else Shape.INDEXED
            self._judged(node, opening(node), text, shape, script)
        elif re.match(rf"\^?(?:{words}):?[\\\[(]", text) and self._is_pattern(script):
            self._pattern(node, text, script)
        elif script.direction.target == "npu" and re.fullmatch(r"gpu(?::\d+)?", text):
            self._gpu(node, script)

    def _formatted(self, node: cst.FormattedString, script: Script) -> None:
        first = node.parts[0] if node.parts else None
        if not isinstance(first, cst.FormattedStringText):
            return
        found = re.match(rf"({'|'.join(script.direction.sources)}):?$", first.value)
        if found is None or len(node.parts) != 2:
            return
        use = use_of(node, Shape.INDEXED, script)
        if use is not Use.DEVICE:
            self._kept(node, use, script)
            return
        start = script.span(node)[0] + opening(node)
        if script.direction.target != "any":
            script.replace(start, start + len(found.group(1)), script.direction.target)
            return
        expression = type_expression(script)
        if expression:
            script.replace(start, start + len(found.group(1)), "{" + expression + "}")
        else:
            script.report(node, Kind.HAND, "a device string where torch is not imported", ADVICE)

    def _is_pattern(self, script: Script) -> bool:
        call = script.parent(2)
        return isinstance(call, cst.Call) and script.resolve(call.func).startswith("re.")

    def _pattern(self, node: cst.SimpleString, text: str, script: Script) -> None:
        """`re.match(r"cuda:(\\d+)", str(device))`."""
        if script.direction.target == "any":
            script.report(node, Kind.HAND, f"{node.value} is a pattern for one device", ADVICE)
            return
        found = script.direction.device.search(text)
        assert found is not None
        start = script.span(node)[0] + opening(node) + found.start(1)
        script.replace(start, start + len(found.group(1)), script.direction.target)

    def _judged(self, node: cst.SimpleString, skip: int, text: str, shape: Shape, script: Script) -> None:
        use = use_of(node, shape, script)
        if use is not Use.DEVICE:
            self._kept(node, use, script)
        elif script.direction.target == "any":
            self._to_any(node, text, script)
        else:
            self._cut(node, script)
            base = script.span(node)[0] + skip
            for found in script.direction.device.finditer(text):
                script.replace(
                    base + found.start(1), base + found.end(1), script.direction.target, _said(node, found, script)
                )

    def _cut(self, node: cst.SimpleString, script: Script) -> None:
        """`str(device)[:4] == 'cuda'`: the words differ in length, so the slice has to follow."""
        comparison = next((each for each in reversed(script.parents) if isinstance(each, cst.Comparison)), None)
        sides = [comparison.left, *(each.comparator for each in comparison.comparisons)] if comparison else []
        if node not in sides:
            return
        for side in sides:
            index = side.slice[0].slice if isinstance(side, cst.Subscript) and len(side.slice) == 1 else None
            upper = index.upper if isinstance(index, cst.Slice) and index.lower is None else None
            if isinstance(upper, cst.Integer) and upper.value == str(len(inner(node))):
                script.change(upper, str(len(script.direction.device.sub(script.direction.target, inner(node)))))

    def _kept(self, node: cst.SimpleString | cst.FormattedString, use: Use, script: Script) -> None:
        if use in _WHY:
            advice = "" if use is Use.KEY else "change it by hand if it names a device"
            script.report(node, Kind.KEPT, f"{script.source(node)} kept: {_WHY[use]}", advice)

    def _gpu(self, node: cst.SimpleString, script: Script) -> None:
        arg, call = script.parent(), script.parent(2)
        if isinstance(arg, cst.Arg) and arg.keyword is None and isinstance(call, cst.Call):
            is_torch = script.is_torch() and tail(call.func) in _GPU_SINKS
            if is_torch and not script.resolve(call.func).startswith("tensorflow"):
                start = script.span(node)[0] + opening(node)
                script.replace(start, start + 3, "npu", advice=ONE_WAY)

    def _to_any(self, node: cst.SimpleString, text: str, script: Script) -> None:
        parent, above = script.parent(), script.parent(2)
        target = parent if isinstance(parent, cst.ComparisonTarget) else None
        if target is not None and isinstance(above, cst.Comparison):
            self._compare(node, target, text, script)
            return
        expression = type_expression(script)
        method = isinstance(parent, cst.Arg) and isinstance(above, cst.Call) and isinstance(above.func, cst.Attribute)
        if method and tail(getattr(above, "func", None)) in ("startswith", "endswith", "replace", "split"):
            expression = ""
        if not expression or isinstance(parent, _LITERALS_ONLY):
            script.report(node, Kind.HAND, f"{node.value} has no neutral form here", ADVICE)
        elif text in script.direction.sources:
            script.change(node, expression)
        elif re.fullmatch(r"\w+:\d+", text):
            quote = node.value[-1]
            script.change(node, f"f{quote}{{{expression}}}:{text.partition(':')[2]}{quote}")
        else:
            rest = node.value[: opening(node)] + text[text.index(":") :] + node.value[-1]
            script.change(node, f"{expression} + {rest}")

    def _compare(self, node: cst.SimpleString, target: cst.ComparisonTarget, text: str, script: Script) -> None:
        turned = {cst.Equal: "!=", cst.NotEqual: "=="}.get(type(target.operator))
        if turned is None or text not in script.direction.sources:
            script.report(node, Kind.HAND, f"a comparison with {node.value} has no neutral form", ADVICE)
            return
        start, end = script.span(target)
        code = script.data[start:end].decode()
        old = "==" if turned == "!=" else "!="
        script.replace(start, end, code.replace(old, turned, 1).replace(text, "cpu", 1))


def _said(node: cst.SimpleString, found: re.Match[str], script: Script) -> str:
    old = inner(node)
    return f"{old!r} → {script.direction.device.sub(script.direction.target, old)!r}"
