"""`.cuda(…)` and `.npu(…)`: the methods that move tensors and modules."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import Kind, Rule, Script
from outlast.migrate.names import is_device_name
from outlast.migrate.neutral import ADVICE, device_expression, type_expression
from outlast.migrate.tree import dotted, inner, positional, tail

#: Other frameworks whose tensors have a method of the same name.
_STRANGERS = frozenset({"paddle", "cupy", "numba", "mxnet", "jittor", "oneflow", "pycuda", "tvm"})
_MODULES = frozenset({"torch.Tensor", "torch.nn.Module", "torch.nn.Parameter"})


#: How people call the number of a card.
_NUMBER = re.compile(r"(?i)rank|gpu|card|idx|index|(?:^|_)(?:id|i|n)$")
#: What makes a method something that is read.
_NOT_CALLED = frozenset({"property", "cached_property", "setter", "getter", "deleter"})


class DeviceMethod(Rule):
    name: ClassVar[str] = "device-method"
    summary: ClassVar[str] = "Moves to the device: x.cuda(…) ↔ x.npu(…), or x.to(…) for any device"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.Call, cst.Attribute, cst.FunctionDef)

    def look(self, node: Any, script: Script) -> None:
        if isinstance(node, cst.Call):
            self._call(node, script)
        elif isinstance(node, cst.Attribute):
            self._reference(node, script)
        else:
            self._definition(node, script)

    def _call(self, node: cst.Call, script: Script) -> None:
        func = node.func
        if isinstance(func, cst.Attribute) and func.attr.value in script.direction.sources:
            if self._is_strange(node, func, script):
                return
            if script.direction.target == "any":
                self._to_any(node, func, script)
            else:
                script.change(
                    func.attr, script.direction.target, f".{func.attr.value}() → .{script.direction.target}()"
                )
        elif isinstance(func, cst.Call) and tail(func.func) == "getattr" and script.direction.target != "any":
            word = positional(func, 1)
            if inner(word) in script.direction.sources and isinstance(word, cst.SimpleString):
                script.change(word, word.value.replace(inner(word), script.direction.target))
                script.claim(word)

    def _to_any(self, node: cst.Call, func: cst.Attribute, script: Script) -> None:
        device = positional(node, 0)
        where = device_expression(script)
        keywords = [arg.keyword.value for arg in node.args if arg.keyword]
        if (device is None and "device" not in keywords and not where) or any(arg.star for arg in node.args):
            script.report(node, Kind.HAND, f".{func.attr.value}() where torch is not imported", ADVICE)
            return
        script.change(func.attr, "to", f".{func.attr.value}() → .to()")
        if isinstance(device, cst.Integer) and where:
            # A bare number names a card of the accelerator, and fails where there is only the processor.
            script.change(device, f'f"{{{type_expression(script)}}}:{device.value}"')
        if device is None and "device" not in keywords:
            at = script.span(node.args[0])[0] if node.args else script.span(node)[1] - 1
            script.replace(at, at, where + (", " if node.args else ""), "the accelerator, or the processor")

    def _is_strange(self, node: cst.Call, func: cst.Attribute, script: Script) -> bool:
        """A function called cuda of some module, or a tensor of another framework."""
        root = dotted(func.value).partition(".")[0]
        found = script.resolve(func.value)
        if root and found and found.partition(".")[0] in _STRANGERS:
            return True
        if root and found and found == root and root in script.names.roots and root not in ("torch", "torch_npu"):
            return True  # `import helpers` … `helpers.cuda(x)`
        if root and found.partition(".")[0] not in ("", "torch", "torch_npu", root) and _takes_data(node):
            script.report(func, Kind.KEPT, f"{script.source(func)} kept: a function that takes the data")
            return True  # `from helpers import utils` … `utils.cuda(batch)`
        if script.names.roots & _STRANGERS and not script.is_torch():
            script.report(func, Kind.KEPT, f".{func.attr.value}() of another framework", "torch is not imported here")
            return True
        return found == "torch"

    def _reference(self, node: cst.Attribute, script: Script) -> None:
        """`map(torch.Tensor.cuda, xs)`, `[m.cuda for m in ms]`, `move = model.cuda` with `move()` somewhere."""
        parent = script.parent()
        if node.attr.value not in script.direction.sources or script.direction.target == "any":
            return
        if (isinstance(parent, cst.Call) and parent.func is node) or isinstance(parent, cst.Attribute):
            return
        found = script.resolve(node.value)
        assigned = isinstance(parent, cst.Assign) and any(
            isinstance(each.target, cst.Name) and each.target.value in script.names.called for each in parent.targets
        )
        applied = isinstance(parent, cst.Arg) and tail(script.parent(2)) in ("map", "apply", "tree_map", "partial")
        listed = isinstance(parent, cst.ListComp | cst.SetComp | cst.GeneratorExp) and parent.elt is node
        replaced = isinstance(parent, cst.AssignTarget) and _is_function(script.parent(2))
        if found in _MODULES or (found != "torch" and (assigned or applied or listed or replaced)):
            script.change(node.attr, script.direction.target)
        elif found != "torch":
            script.report(node, Kind.KEPT, f"{script.source(node)} kept: not called, so a flag of this program")

    def _definition(self, node: cst.FunctionDef, script: Script) -> None:
        """Calls get the new name wherever they are, so a class's own method must have it, too."""
        in_class = len(script.parents) > 1 and isinstance(script.parents[-2], cst.ClassDef)
        if not in_class or node.name.value not in script.direction.sources:
            return
        if any(tail(each.decorator) in _NOT_CALLED for each in node.decorators) or self._only_tells(node, script):
            script.report(node.name, Kind.KEPT, f"{node.name.value} kept: it tells something and moves nothing")
        elif script.direction.target == "any":
            script.report(node.name, Kind.HAND, f"a method called {node.name.value}", "call it to(), with the device")
        else:
            script.change(node.name, script.direction.target, f"def {node.name.value} → def {script.direction.target}")

    def _only_tells(self, node: cst.FunctionDef, script: Script) -> bool:
        """`def cuda(self): return self.flag`."""
        start, end = script.span(node.body)
        moves = re.search(rb"\.(?:cuda|npu|to|_apply)\b|super\(", script.data[start:end])
        return moves is None and len(node.params.params) == 1 and not (node.decorators or node.params.star_kwarg)


def _takes_data(node: cst.Call) -> bool:
    """Whether the call's first argument is no device: the methods of torch take nothing else."""
    first = positional(node, 0)
    plain = isinstance(first, cst.Integer) or (isinstance(first, cst.Name) and first.value == "None")
    return not (first is None or plain or is_device_name(tail(first)) or _NUMBER.search(tail(first)))


def _is_function(statement: cst.CSTNode | None) -> bool:
    """`model.cuda = lambda …`, `model.cuda = types.MethodType(…)`, `model.cuda = partial(…)`."""
    value = statement.value if isinstance(statement, cst.Assign) else None
    return isinstance(value, cst.Lambda) or tail(value) in ("MethodType", "partial", "no_op", "noop")
