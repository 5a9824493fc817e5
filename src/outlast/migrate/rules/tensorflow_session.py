"""TensorFlow 1.15 sessions and estimators: their configuration goes through npu_bridge."""

from __future__ import annotations

from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import Kind, Rule, Script
from outlast.migrate.lines import add_line, remove_line
from outlast.migrate.tree import argument, dotted, positional, tail

_ROOTS = ("tensorflow", "tensorflow.compat.v1", "tensorflow._api.v1")
_SESSIONS = frozenset(f"{root}.{name}" for root in _ROOTS for name in ("Session", "InteractiveSession"))
_MONITORED = frozenset(
    f"{root}.train.{name}"
    for root in _ROOTS
    for name in ("MonitoredTrainingSession", "SingularMonitoredSession", "ChiefSessionCreator", "WorkerSessionCreator")
)
#: methods of a Supervisor and a SessionManager; nothing else is called so
_MANAGED = frozenset({"managed_session", "prepare_or_wait_for_session"})
_ESTIMATORS = frozenset(f"{root}.estimator.Estimator" for root in _ROOTS)
_PROTO = ("config", "npu_config_proto", "config_proto")
#: callee → (keyword of the configuration, function that wraps it, its parameter)
_WRAPS = dict.fromkeys(_SESSIONS | _MONITORED, _PROTO) | dict.fromkeys(
    _ESTIMATORS, ("config", "npu_run_config_init", "run_config")
)
#: callees that take the configuration as their third argument as well
_THIRD = _SESSIONS | _ESTIMATORS
_MODULE = "npu_bridge.npu_init"


class TensorflowSession(Rule):
    name: ClassVar[str] = "tensorflow-session"
    summary: ClassVar[str] = "TensorFlow 1.15: Session(config=…) and Estimator(config=…) through npu_bridge, and back"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.Call, cst.Import, cst.ImportFrom)

    def __init__(self) -> None:
        self._needed: set[str] = set()
        self._import: cst.CSTNode | None = None
        self._present = False

    def look(self, node: Any, script: Script) -> None:
        if isinstance(node, cst.Call):
            if script.direction.target == "npu":
                self._wrap(node, script)
            else:
                self._unwrap(node, script)
            return
        modules = (
            [dotted(node.module)] if isinstance(node, cst.ImportFrom) else [dotted(each.name) for each in node.names]
        )
        top = not any(isinstance(each, cst.FunctionDef | cst.ClassDef) for each in script.parents)
        if any(module.partition(".")[0] == "tensorflow" for module in modules) and top and self._import is None:
            self._import = script.parents[1]
        if any(module.startswith("npu_bridge") for module in modules):
            self._present = True
            if script.direction.target == "cuda":
                self._remove(node, script)

    def _wrap(self, node: cst.Call, script: Script) -> None:
        name = script.resolve(node.func)
        is_managed = tail(node.func) in _MANAGED and "tensorflow" in script.names.roots
        found = _PROTO if is_managed else _WRAPS.get(name)
        if found is None:
            return
        keyword, wrapper, parameter = found
        if self._import is None and not self._present:
            script.report(
                node, Kind.HAND, f"{tail(node.func)} where tensorflow is not imported at the top", f"use {wrapper}"
            )
            return
        config = argument(node, keyword)
        value = config.value if config else positional(node, 2) if name in _THIRD else None
        if value is None and any(arg.star or (arg.keyword is None and name not in _THIRD) for arg in node.args):
            script.report(node, Kind.HAND, f"the configuration of {tail(node.func)} is hard to see", f"use {wrapper}")
            return
        if value is None:
            at = script.span(node)[1] - 1
            comma = ", " if node.args and not script.data[:at].rstrip().endswith(b",") else ""
            script.replace(at, at, f"{comma}{keyword}={wrapper}()", f"{keyword}={wrapper}()")
        elif isinstance(value, cst.Call) and tail(value.func) == wrapper:
            return
        else:
            start, end = script.span(value)
            script.replace(start, start, f"{wrapper}({parameter}=", f"{keyword} through {wrapper}")
            script.replace(end, end, ")", f"{keyword} through {wrapper}")
        self._needed.add(wrapper)

    def _unwrap(self, node: cst.Call, script: Script) -> None:
        for keyword, wrapper, parameter in set(_WRAPS.values()):
            config = argument(node, keyword) or next(iter(node.args[2:3]), None)
            value = config.value if config else None
            if not isinstance(value, cst.Call) or tail(value.func) != wrapper or config is None:
                continue
            inside = argument(value, parameter)
            if inside is not None:
                script.change(value, script.source(inside.value), f"{keyword} without {wrapper}")
            else:
                start, end = script.span(config)
                while script.data[start - 1 : start] in (b" ", b","):
                    start -= 1
                script.replace(start, end, "", f"{keyword} without {wrapper}")
            script.claim(config)

    def _remove(self, node: cst.Import | cst.ImportFrom, script: Script) -> None:
        statement = script.parent()
        if statement is None or not remove_line(script, statement, "npu_bridge is not needed"):
            script.report(node, Kind.HAND, "npu_bridge is not there", "leave this import out")

    def finish(self, script: Script) -> None:
        if self._needed and not self._present and self._import is not None:
            # Not into a `try`: there a missing npu_bridge would pass for a missing tensorflow.
            before = not isinstance(self._import, cst.SimpleStatementLine)
            add_line(script, self._import, f"from {_MODULE} import {', '.join(sorted(self._needed))}", before=before)
