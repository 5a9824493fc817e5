"""A repository as people and programs see it: what the command line, the library and the API show."""

from __future__ import annotations

from dataclasses import dataclass, field

from outlast.errors import NotFoundError
from outlast.hub.hub import Hub
from outlast.hub.repository import Repository


@dataclass(frozen=True)
class RepositoryView:
    """One repository; what only a look into it tells is filled by `show` alone."""

    path: str  # owner/name
    owner: str
    name: str
    kind: str
    visibility: str
    group: bool = False
    description: str = ""
    tags: tuple[str, ...] = ()
    licence: str = ""
    created_at: str = ""
    forked_from: str = ""
    clone_url: str = ""
    head: str = ""
    commit: str | None = None  # of the head; None while the repository is empty
    branches: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)  # git's tags
    stored_bytes: int | None = None


def short_view(repository: Repository, base: str = "") -> RepositoryView:
    """Without looking into it. `base` is the server's address with a slash at its end."""
    words = {name: value for name, value in vars(repository).items() if name not in ("format", "id", "related")}
    clone_url = f"{base}{repository.path}.git" if base else ""
    return RepositoryView(path=repository.path, clone_url=clone_url, **words)


def full_view(hub: Hub, repository: Repository, base: str = "") -> RepositoryView:
    bare = hub.bare(repository)
    try:
        commit = bare.commit()
    except NotFoundError:
        commit = None
    found = {
        "head": bare.head(), "commit": commit, "branches": bare.refs("heads"), "versions": bare.refs("tags"),
        "stored_bytes": hub.stored_bytes(repository),
    }  # fmt: skip
    return RepositoryView(**{**vars(short_view(repository, base)), **found})
