"""What is known of a repository, apart from what git keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from outlast.hub.names import Kind, Visibility
from outlast.model.shape import plain, read
from outlast.model.visitor import Visitor


@dataclass(frozen=True, kw_only=True)
class Repository:
    """One repository. `id` is its own for ever: a later one of the same name never inherits anything."""

    format: Literal[1] = 1
    id: str
    owner: str
    name: str
    kind: Kind
    visibility: Visibility = "private"
    group: bool = False  # the owner is a group
    description: str = ""
    tags: tuple[str, ...] = ()
    licence: str = ""
    created_at: str = ""
    forked_from: str = ""  # owner/name at that time; empty when that was private
    related: tuple[str, ...] = ()  # ids of the models and data sets that it names as its own

    @property
    def path(self) -> str:
        return f"{self.owner}/{self.name}"

    @property
    def asset(self) -> str:
        """How inputs of runs name it."""
        return f"{self.kind}:{self.path}"

    @property
    def takes_lfs(self) -> bool:
        """Projects hold code only: on Xihe a training of one with LFS files cannot even start."""
        return self.kind != "project"

    def may_see(self, visitor: Visitor) -> bool:
        return self.visibility == "public" or visitor.is_owner(self.owner, self.group)

    def may_change(self, visitor: Visitor) -> bool:
        return visitor.may_write and visitor.is_owner(self.owner, self.group)

    def fits(self, kind: str | None, owner: str | None, search: str) -> bool:
        """Whether a list asks for it; `search` are words of its name, description or tags."""
        text = " ".join((self.name, self.description, *self.tags)).lower()
        wanted = kind in (None, self.kind) and owner in (None, self.owner)
        return wanted and all(word in text for word in search.lower().split())

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Repository:
        return read(cls, body)

    def to_json(self) -> dict[str, Any]:
        body: dict[str, Any] = plain(self)
        return body
