"""The same question about many things: one after the other here, several at a time where each is a request."""

from __future__ import annotations

from typing import Callable, Iterable, List, TypeVar

from .stores.base import Store

T = TypeVar("T")
R = TypeVar("R")

_AT_ONCE = 8
#: Threads cost more than they save below this.
_FEW = 4


def abreast(store: Store, ask: Callable[[T], R], things: Iterable[T]) -> List[R]:
    """The answers in order. When one raises, that is raised as soon as no other question is under way."""
    wanted = list(things)
    if not store.pace_s or len(wanted) < _FEW:
        return [ask(each) for each in wanted]
    import concurrent.futures  # a stint in a folder of this machine starts without it

    with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(ask, wanted))
