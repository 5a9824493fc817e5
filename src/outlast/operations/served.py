"""The switch between this home and a server: an operation that has a twin in `outlast.remote` is done there."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from outlast.settings import Settings

P = ParamSpec("P")
R = TypeVar("R")


def served(module: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """With a server in the settings, the function of the same name in `outlast.remote.<module>` does it.

    The twin takes the same words and gives the same answer. Found by name when it is needed: at home nothing of it
    is imported.
    """

    def switch(here: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(here)
        def either(*args: P.args, **words: P.kwargs) -> R:
            if not _settings(args).server:
                return here(*args, **words)
            twin = getattr(importlib.import_module(f"outlast.remote.{module}"), here.__name__)
            return cast(R, twin(*args, **words))

        return either

    return switch


def _settings(args: tuple[Any, ...]) -> Settings:
    return next(each for each in args if isinstance(each, Settings))
