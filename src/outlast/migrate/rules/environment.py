"""Environment variables: `CUDA_VISIBLE_DEVICES` and its kind, as keys, as keywords and in command lines."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.context import Shape, Use, is_prose_call, use_of
from outlast.migrate.engine import ONE_WAY, Kind, Rule, Script
from outlast.migrate.tree import inner, opening, tail

#: Variables without a counterpart → what to do.
_ALONE = (
    (
        re.compile(r"NCCL_(?!SOCKET_IFNAME)\w+"),
        "HCCL has its own variables: HCCL_IF_IP, HCCL_CONNECT_TIMEOUT, ASCEND_GLOBAL_LOG_LEVEL",
    ),
    (
        re.compile(r"CUDA_(?:HOME|PATH|MODULE_LOADING|DEVICE_\w+)|TORCH_CUDA_ARCH_LIST|(?:NVIDIA|CUBLAS|CUDNN)_\w+"),
        "only for NVIDIA cards: no effect on an NPU",
    ),
)
#: Read from the environment, such names have to do with NVIDIA's software even where nobody listed them.
_FOREIGN = re.compile(r"[A-Z0-9_]*(?:CUDA|NCCL|NVIDIA|CUDNN|CUBLAS|NVML)[A-Z0-9_]*")
_NPU_ALONE = re.compile(
    r"HCCL_(?!SOCKET_IFNAME)\w+|ASCEND_(?!RT_VISIBLE_DEVICES|LAUNCH_BLOCKING)\w+|TASK_QUEUE_ENABLE|INF_NAN_MODE_ENABLE"
)
_VISIBLE = ("CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")
_COMMANDS = frozenset({"system", "popen", "Popen", "run", "call", "check_call", "check_output", "getoutput", "spawn"})
#: A command begins so: `NAME=value program`, `export NAME=value && program`, `env NAME=value`, or `NAME=` and the rest.
_SETTING = re.compile(r"\s*(?:export |env )?(?:[A-Z_]+=[^\s=]* +)*[A-Z_]+=(?:[^\s=]*(?:;| +(?:&& *)?[\w./$]|$))")
_MAPPINGS = frozenset({"dict", "update", "environ", "Popen", "run", "call"})


class Environment(Rule):
    name: ClassVar[str] = "environment"
    summary: ClassVar[str] = "Environment variables: CUDA_VISIBLE_DEVICES ↔ ASCEND_RT_VISIBLE_DEVICES and their kind"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.SimpleString, cst.FormattedStringText, cst.Arg, cst.Assign)

    def look(self, node: Any, script: Script) -> None:
        if isinstance(node, cst.Arg):
            self._keyword(node, script)
        elif isinstance(node, cst.Assign):
            self._value(node, script)
        elif isinstance(node, cst.SimpleString):
            self._text(node, inner(node), opening(node), script)
        else:
            self._text(node, node.value, 0, script)

    def _text(self, node: cst.SimpleString | cst.FormattedStringText, text: str, skip: int, script: Script) -> None:
        if "_" not in text:
            return
        table = script.direction.environment
        if text in table:
            if self._has_branch_for(table[text], node, script):
                script.report(node, Kind.KEPT, f"{text} kept: the other branch says {table[text]}")
            elif isinstance(node, cst.SimpleString) and use_of(node, Shape.BARE, script) is not Use.PROSE:
                start = script.span(node)[0] + skip
                script.replace(start, start + len(text), table[text])
            return
        settings = list(re.finditer(rf"\b(?:{'|'.join(table)})(?==)", text)) if table else []
        if not settings:
            self._alone(node, text, script)
        elif self._is_command(text, script):
            base = script.span(node)[0] + skip
            for found in settings:
                script.replace(base + found.start(), base + found.end(), table[found.group(0)])
        elif use_of(node, Shape.BARE, script) is not Use.PROSE:
            script.report(node, Kind.KEPT, f"{settings[0].group(0)} kept: a text, not a command", "change it by hand")

    def _has_branch_for(self, twin: str, node: cst.CSTNode, script: Script) -> bool:
        """`'ASCEND_RT_VISIBLE_DEVICES' if on_npu else 'CUDA_VISIBLE_DEVICES'`."""
        parent = script.parent()
        branches = [parent.body, parent.orelse] if isinstance(parent, cst.IfExp) else []
        return any(inner(branch) == twin for branch in branches if branch is not node)

    def _is_command(self, text: str, script: Script) -> bool:
        """`CUDA_VISIBLE_DEVICES=0 python train.py`, run by a shell or kept for one, whole or in pieces."""
        calls = [tail(parent.func) for parent in script.parents if isinstance(parent, cst.Call)]
        if any(name in _COMMANDS for name in calls):
            return True
        return _SETTING.match(text) is not None and not any(map(is_prose_call, calls))

    def _alone(self, node: cst.CSTNode, text: str, script: Script) -> None:
        if script.direction.target == "cuda":
            if _NPU_ALONE.fullmatch(text):
                script.report(node, Kind.DIFFERS, f"{text} means nothing to CUDA", "leave it, it does no harm")
            return
        if script.direction.target == "any" and text in _VISIBLE:
            script.report(
                node, Kind.HAND, f"{text} is read by one device only", "set it outside, where the script is started"
            )
            return
        for pattern, advice in _ALONE:
            if pattern.fullmatch(text):
                script.report(node, Kind.DIFFERS, f"{text} has no counterpart", advice)
                return
        if _FOREIGN.fullmatch(text) and text not in script.direction.environment and self._is_looked_up(script):
            script.report(node, Kind.DIFFERS, f"{text} has no counterpart", "see what reads it")

    def _is_looked_up(self, script: Script) -> bool:
        """`os.environ['…']`, `os.environ.get('…')`, `os.getenv('…')`."""
        for parent in reversed(script.parents[-4:]):
            if isinstance(parent, cst.Subscript):
                return tail(parent.value) == "environ"
            if isinstance(parent, cst.Call):
                owner = parent.func.value if isinstance(parent.func, cst.Attribute) else None
                return tail(parent.func) in ("getenv", "putenv", "unsetenv") or tail(owner) == "environ"
        return False

    def _keyword(self, node: cst.Arg, script: Script) -> None:
        name = node.keyword.value if node.keyword else ""
        if node.keyword is not None and name in script.direction.environment and tail(script.parent()) in _MAPPINGS:
            script.change(node.keyword, script.direction.environment[name])

    def _value(self, node: cst.Assign, script: Script) -> None:
        """Ascend reads the list up to the first blank."""
        names = [tail(each.target) for each in node.targets]
        text = inner(node.value)
        if script.direction.target == "npu" and "CUDA_VISIBLE_DEVICES" in names and re.search(r"\d,\s+\d", text):
            assert isinstance(node.value, cst.SimpleString)
            script.change(node.value, node.value.value.replace(text, re.sub(r"\s+", "", text)), advice=ONE_WAY)
            script.claim(node.value)
