"""Weights that are told by what their files begin with: `yolo.tf` stands for `yolo.tf.index` and `yolo.tf.data-…`.

A script that asks for these parts before it loads must ask where it loads from.
"""

from __future__ import annotations

from collections.abc import Iterable

from outlast.adapt.needs import Role
from outlast.adapt.placing.sources import Use
from outlast.migrate.tree import tail

_FINDS = frozenset({"glob", "iglob", "Glob"})


def is_question(use: Use) -> bool:
    """Whether a call only asks what is there: whether a file is, or which ones fit a pattern."""
    return use.role is None or (use.role is Role.DATA and tail(use.sink.call.func) in _FINDS)


def stem_of(text: str, others: Iterable[str]) -> str:
    """The one of some paths that this one begins with and is a part of by its name; empty where there is none."""
    return next((other for other in others if other and _is_part(text, other)), "")


def _is_part(text: str, other: str) -> bool:
    return text != other and text.startswith(other) and "/" not in text[len(other) :] and not other.endswith("/")
