"""Whether one more run fits into what its owner's groups were given: pure, so that every case can be tried."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from outlast.model.quantities import format_size
from outlast.server.accounts.people import Group
from outlast.server.refusals import QuotaExceeded


class Use(NamedTuple):
    """What runs use, or would use: stints at the same time, accelerators in them, bytes in stores."""

    stints: int = 0
    accelerators: int = 0
    stored_bytes: int = 0


def check(groups: Iterable[tuple[Group, Use]], need: Use, what: str = "run") -> None:
    """Raise `QuotaExceeded` when `need` on top of a group's use is more than its quota.

    A group's use is that of all its members; who is in several groups counts in each, and each must have room. What
    is not needed more of is not checked: a group that stores too much may still run what stores nothing.
    """
    for group, use in groups:
        for each, limit, used, more in zip(Use._fields, _limits(group), use, need, strict=True):
            if limit is not None and more > 0 and used + more > limit:
                raise QuotaExceeded(
                    f"the group {group.name} uses {_words(each, used)} of {_words(each, limit)}; this {what} needs "
                    f"{_words(each, more)} more",
                    hint=_HINTS[each],
                )


def _limits(group: Group) -> tuple[int | None, int | None, int | None]:
    return group.quota.stints, group.quota.accelerators, group.quota.stored_bytes


_HINTS = {
    "stints": "wait for a run of the group to end, or stop one",
    "accelerators": "ask for fewer, wait for a run of the group to end, or stop one",
    "stored_bytes": "remove runs with outlast rm, or old checkpoints with outlast gc",
}


def _words(what: str, value: int) -> str:
    if what == "stored_bytes":
        return format_size(value)
    noun = what.removesuffix("s")
    return f"{value} {noun if value == 1 else what}"
