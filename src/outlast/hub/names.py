"""What an owner, a repository and a revision may be called. Names become paths and addresses: nothing else may pass."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from outlast.errors import UsageError
from outlast.store.assets import KINDS

Kind = Literal["project", "model", "dataset"]
Visibility = Literal["public", "private"]

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
_REVISION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._/+-]{0,198}[A-Za-z0-9_+-])?")
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,39}")
DESCRIPTION_LIMIT = 200
TAG_LIMIT = 20

#: First parts of the server's own addresses, now and to come; `/<owner>/<name>.git` must never look like one.
RESERVED_OWNERS = frozenset({
    "account", "admin", "api", "assets", "compare", "console", "dataset", "datasets", "docs", "evaluate", "explore",
    "favicon.ico", "gateways", "groups", "health", "help", "hub", "login", "logout", "metrics", "model", "models",
    "new", "platforms", "project", "projects", "queues", "repositories", "repository", "rest-server", "robots.txt",
    "runs", "settings", "sign-in", "sign-out", "signin", "signout", "static", "stores", "sweep", "sweeps", "tokens",
    "uploads", "users", "v1", "v2", "webhdfs", "welcome", "ws",
})  # fmt: skip


class RepositoryPath(NamedTuple):
    """`owner/name`, taken apart."""

    owner: str
    name: str


def read_path(text: str) -> RepositoryPath:
    """Owner and name of `owner/name`; `UsageError` for anything else."""
    owner, slash, name = text.partition("/")
    if not slash or "/" in name:
        raise UsageError(f"{text!r} names no repository", hint="write it like ann/lenet")
    return RepositoryPath(check_owner(owner), check_repository_name(name))


def check_owner(name: str) -> str:
    """`name` if it can own repositories."""
    if not _NAME.fullmatch(name) or ".." in name:
        raise UsageError(f"{name!r} cannot own a repository", hint="an owner is a user or a group of the server")
    if name.lower() in RESERVED_OWNERS:
        raise UsageError(f"{name!r} cannot own a repository: the server's own pages begin so")
    return name


def check_repository_name(name: str) -> str:
    """`name` if a repository can be called so."""
    if not _NAME.fullmatch(name) or ".." in name or name.lower().endswith((".git", ".lock")):
        raise UsageError(
            f"{name!r} cannot be the name of a repository",
            hint="up to 64 letters, digits, dots, dashes and underscores; the first and the last a letter or digit; "
            "not ending in .git or .lock",
        )
    return name


def check_revision(text: str) -> str:
    """`text` if it can be a branch, a tag or a commit. Git's own operators (`^`, `~`, `:`, `@{`, `..`) are none."""
    if not _REVISION.fullmatch(text) or ".." in text or "//" in text:
        raise UsageError(f"{text!r} is no revision", hint="name a branch, a tag or a commit")
    return text


def check_kind(text: str) -> Kind:
    for kind in KINDS:
        if text == kind:
            return kind  # type: ignore[return-value]
    raise UsageError(f"{text!r} is no kind of repository", hint=f"kinds: {', '.join(KINDS)}")


def check_words(description: str, tags: tuple[str, ...], licence: str) -> None:
    """Refuse words that do not fit on one line of a list."""
    if len(description) > DESCRIPTION_LIMIT or not description.isprintable():
        raise UsageError(f"a description is one line of at most {DESCRIPTION_LIMIT} characters")
    if len(tags) > TAG_LIMIT or len(set(tags)) != len(tags):
        raise UsageError(f"{len(tags)} tags were given", hint=f"at most {TAG_LIMIT}, each once")
    for tag in tags:
        if not tag.isprintable() or not 0 < len(tag) <= 40 or "," in tag or tag != tag.strip():
            raise UsageError(f"{tag!r} cannot be a tag", hint="up to 40 characters without a comma, like vision")
    if licence and not _LABEL.fullmatch(licence):
        raise UsageError(f"{licence!r} is no licence", hint="write its short name, like apache-2.0 or mit")
