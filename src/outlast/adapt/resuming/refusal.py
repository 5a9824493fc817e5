"""Saying no: a training that is not made to resume."""

from __future__ import annotations

import libcst as cst

from outlast.migrate.engine import Kind


class Refusal(Exception):
    """Why a script is not made to resume, where, and what to do about it."""

    def __init__(
        self,
        why: str,
        node: cst.CSTNode | None = None,
        advice: str = "",
        kind: Kind = Kind.HAND,
        *,
        is_absent: bool = False,
        there: str = "",
    ) -> None:
        """`is_absent`: the file has no training; another one of the program may, and `there` is its module if known."""
        super().__init__(why)
        self.node, self.advice, self.kind, self.is_absent, self.there = node, advice, kind, is_absent, there
