"""Work that reads files, in a thread: the pages of all others go on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from nicegui import run

T = TypeVar("T")


async def aside(work: Callable[[], T]) -> T:
    """The outcome of `work`, made in a thread. Cancelled when the visitor leaves meanwhile, or the server stops.

    NiceGUI makes None of both, with which the rest of a page would go on.
    """
    made: list[T] = []
    await run.io_bound(lambda: made.append(work()))
    if not made:
        raise asyncio.CancelledError
    return made[0]
