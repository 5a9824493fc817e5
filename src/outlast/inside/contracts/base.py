"""What a contract is: from a spec and the stint's folders to the command, the variables and what lies where.

Rendering is pure, so that `outlast explain` shows exactly what a stint will do. `NAMES` is the table of contracts.
"""

from __future__ import annotations

import importlib
import os
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Tuple

from ..errors import RequestError


class Facts(NamedTuple):
    """What a stint knows when its script is about to start."""

    run: str
    stint: int
    code_dir: str  # the code, and the folder that relative paths are relative to
    work: str  # the stint's own folder, for what is private to it
    bundle: str  # the zip or folder from which `outlast` is imported
    python: str
    cpus: int = 1
    gpus: Tuple[str, ...] = ()
    npus: Tuple[str, ...] = ()
    sandboxed: bool = False
    node: int = 0
    hosts: Tuple[str, ...] = ("127.0.0.1",)  # of every node, node 0 first
    cards: Tuple[Tuple[str, ...], ...] = ()  # Ascend cards of every node; empty: `npus`, of one


class Rendered(NamedTuple):
    """How the script is started and what it finds."""

    argv: List[str]
    env: Dict[str, str]
    cwd: str  # where it starts
    folders: List[str]  # to be made, writable for the script
    files: Dict[str, str]  # to be written before the start, path -> text
    binds: List[Tuple[str, str]]  # folders of the stint that shall also appear at another path
    python_path: List[str]  # ahead of everything else
    notices: List[str]
    network: bool  # whether the script may reach it


Spec = Mapping[str, Any]
Render = Callable[[Spec, Facts], Rendered]

#: contract -> the module that renders it
NAMES: Dict[str, str] = {
    "plain": "plain",
    "modelarts": "modelarts",
    "modelarts-v1": "modelarts",
    "xihe": "xihe",
    "openpai": "openpai.contract",
}


def render(spec: Spec, facts: Facts) -> Rendered:
    """What the spec's contract makes of it. The module of a contract is imported only when it is used."""
    name = str(spec.get("contract", "plain"))
    if name not in NAMES:
        raise RequestError("unknown contract %r; known: %s" % (name, ", ".join(sorted(NAMES))))
    module = importlib.import_module("." + NAMES[name], __package__)
    rendered: Rendered = module.render(spec, facts)
    return rendered


def start_of(script: str, python: str) -> List[str]:
    """How a script is started, by its kind."""
    if script.endswith(".py"):
        return [python, script]
    if script.endswith(".sh"):
        return ["bash", script]
    return [script if os.path.isabs(script) else os.path.join(".", script)]


def options(pairs: Mapping[str, str]) -> List[str]:
    """`--name=value`, each one word, as every one of these systems passes them."""
    return ["--%s=%s" % pair for pair in pairs.items()]


def kept(given: List[str], spec: Spec) -> List[str]:
    """The arguments without those that the script does not know and the user said to leave out."""
    dropped = {"--" + name for name in spec.get("drop_args", ())}
    return [word for word in given if word.split("=", 1)[0] not in dropped]
