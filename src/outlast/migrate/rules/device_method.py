"""`.cuda(…)` and `.npu(…)`: the methods that move tensors and modules."""

from __future__ import annotations

from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import Kind, Rule, Script
from outlast.migrate.neutral import ADVICE, device_expression
from outlast.migrate.tree import dotted, inner, positional, tail

#: Other frameworks whose tensors have a method of the same name.
_STRANGERS = frozenset({"paddle", "cupy", "numba", "mxnet", "jittor", "oneflow", "pycuda", "tvm"})
_MODULES = frozenset({"torch.Tensor", "torch.nn.Module", "torch.nn.Parameter"})


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
            if self._is_strange(func, script):
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
        if device is None and "device" not in keywords:
            at = script.span(node.args[0])[0] if node.args else script.span(node)[1] - 1
            script.replace(at, at, where + (", " if node.args else ""), "the accelerator, or the processor")

    def _is_strange(self, func: cst.Attribute, script: Script) -> bool:
        """A function called cuda of some module, or a tensor of another framework."""
        root = dotted(func.value).partition(".")[0]
        found = script.resolve(func.value)
        if root and found and found.partition(".")[0] in _STRANGERS:
            return True
        if root and found and found == root and root in script.names.roots and root not in ("torch", "torch_npu"):
            return True  # `import helpers` … `helpers.cuda(x)`
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
        if found in _MODULES or (found != "torch" and (assigned or applied or listed)):
            script.change(node.attr, script.direction.target)

    def _definition(self, node: cst.FunctionDef, script: Script) -> None:
        """A class that moves its own parts must be found under the new name as well."""
        in_class = len(script.parents) > 1 and isinstance(script.parents[-2], cst.ClassDef)
        if not in_class or node.name.value not in script.direction.sources or node.decorators:
            return
        start, end = script.span(node.body)
        body = script.data[start:end]
        word = node.name.value.encode()
        if b"." + word + b"(" not in body and b".to(" not in body and b"_apply" not in body:
            return
        if script.direction.target == "any":
            script.report(node.name, Kind.HAND, f"a method called {node.name.value}", "call it to(), with the device")
        else:
            script.change(node.name, script.direction.target, f"def {node.name.value} → def {script.direction.target}")
