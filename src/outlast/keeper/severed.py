"""A platform that cannot be used any more, since somebody signed out or a file of its account is gone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from outlast.errors import OutlastError, Unavailable
from outlast.platforms.base import Job, Launch, Plan, Platform

if TYPE_CHECKING:
    from outlast.model.spec import RunSpec


class Severed(Platform):
    """Refuses to say and to do anything, for one reason. What its runners write in the store still counts."""

    def __init__(self, name: str, error: OutlastError) -> None:
        self.name = name
        self._why = error.message

    def check(self, spec: RunSpec) -> None:
        raise self._refusal()

    def plan(self, launch: Launch) -> Plan:
        raise self._refusal()

    def submit(self, launch: Launch) -> None:
        raise self._refusal()

    def poll(self, names: Iterable[str]) -> dict[str, Job]:
        raise self._refusal()

    def logs(self, name: str) -> str:
        return ""

    def cancel(self, name: str) -> None:
        """Nobody can be told; the runner leaves when it finds the end of its stint."""

    def _refusal(self) -> Unavailable:
        return Unavailable(f"{self.name} cannot be used: {self._why}", why="refused")
