"""Frameworks that a file may train with: one that only brings its samples trains nothing there."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import dotted

_FRAMEWORKS = ("torch", "tensorflow", "keras", "mindspore", "jax", "flax", "paddle", "mxnet", "chainer")
#: By their full names: what gives arrays of numpy, and has nothing that a step could change.
_BRINGS = re.compile(
    r"(?:tensorflow\.(?:python\.|compat\.v\d\.)?)?keras\."
    r"(?:datasets\b|preprocessing\.(?:text|sequence)\b|utils\.(?:np_utils|to_categorical|get_file)\b)"
    r"|tensorflow\.examples\.tutorials\.mnist\b"
)


def frameworks_of(draft: Draft) -> list[str]:
    """The frameworks that a file does more with than to fetch samples: `from keras.datasets import mnist`."""
    return [root for root in _FRAMEWORKS if root in draft.names.roots and not _only_brings(draft, root)]


def _only_brings(draft: Draft, root: str) -> bool:
    if any(_opens(node, root) for node in draft.nodes):
        return False
    used = [
        name
        for node in draft.nodes
        if isinstance(node, cst.Name | cst.Attribute) and not _is_part(draft, node)
        if (name := draft.resolve(node)).partition(".")[0] == root
    ]
    # Where nothing of it is used by its name, something else may be done with it.
    return bool(used) and all(_BRINGS.match(name) for name in used)


def _opens(node: cst.CSTNode, root: str) -> bool:
    is_star = isinstance(node, cst.ImportFrom) and isinstance(node.names, cst.ImportStar)
    return is_star and isinstance(node, cst.ImportFrom) and dotted(node.module).partition(".")[0] == root


def _is_part(draft: Draft, node: cst.CSTNode) -> bool:
    """Whether a name is only the beginning of a longer one, or stands in an import."""
    parent = draft.parent(node)
    if isinstance(parent, cst.Attribute):
        return True
    return any(isinstance(each, cst.Import | cst.ImportFrom) for each in draft.above(node))
