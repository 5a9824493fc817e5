"""Who looks at the hub, wherever they come from: a token, a session, or this machine's own terminal."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Visitor:
    """A name and its groups. `sees_all`: an admin, or the user whose home this is; `may_write`: more than a viewer."""

    name: str
    groups: tuple[str, ...] = ()
    sees_all: bool = False
    may_write: bool = True

    def is_owner(self, owner: str, is_group: bool) -> bool:
        return self.sees_all or (owner in self.groups if is_group else owner == self.name)
