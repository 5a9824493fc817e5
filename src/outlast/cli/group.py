"""`outlast group`: people who share runs to look at, a quota and a queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.command import new_group, open_client, print_json, verb
from outlast.cli.options import AsJson
from outlast.errors import UsageError

if TYPE_CHECKING:
    from outlast.server.accounts.people import Group

_EXITS = {0: "done", 2: "the request is wrong; nothing was changed", 10: "no such group, user or queue",
          12: "the database cannot be reached"}  # fmt: skip

app = new_group(
    "group",
    about="Members of a group see each other's runs. Its quota counts the runs of all members: stints at the same "
    "time, accelerators in them, bytes of checkpoints and outputs. What would exceed it is refused when it is "
    "submitted to the server.",
    examples=[
        ("outlast group set vision --stints 4 --accelerators 8 --stored 500G --queue lab", "make one, with a quota"),
        ("outlast group join vision bob", "let bob belong to it"),
    ],
    exits=_EXITS,
    default="list",
)

Name = Annotated[str, typer.Argument(metavar="GROUP", help="Name of the group", show_default=False)]
Member = Annotated[str, typer.Argument(metavar="USER", help="Name of the user", show_default=False)]
_NO_LIMIT = ("none", "no", "unlimited")


def _limit(name: str, metavar: str, help: str) -> typer.models.OptionInfo:
    info: typer.models.OptionInfo = typer.Option(name, metavar=metavar, help=help, show_default=False)
    return info


@verb(
    app,
    "list",
    sentence="List groups",
    about="A column that is empty for a group means no limit.",
    examples=[("outlast group list", "as a table"), ("outlast group list --json", "for programs")],
    exits=_EXITS,
)
def list_(as_json: AsJson = False) -> None:
    from outlast.cli.paint import Column, Ink, table
    from outlast.model.quantities import format_size
    from outlast.server.terminal import open_desk

    with open_desk(open_client().settings) as desk:
        found = desk.accounts.groups.list()
    if as_json:
        print_json([group.to_json() for group in found])
    elif not found:
        print("no groups; make one with: outlast group set NAME")
    else:
        columns = [Column("group"), Column("queue"), Column("stints", right=True), Column("accelerators", right=True),
                   Column("stored", right=True), Column("members", flexible=True)]  # fmt: skip
        rows = [
            [group.name, group.queue or "", _count(group.quota.stints), _count(group.quota.accelerators),
             "" if group.quota.stored_bytes is None else format_size(group.quota.stored_bytes),
             ", ".join(group.members)]
            for group in found
        ]  # fmt: skip
        print("\n".join(table(columns, rows, Ink())))


@verb(
    app,
    "set",
    sentence="Make a group, or change its quota and queue",
    about="What is not named stays as it is; the word none takes a limit or the queue away.",
    examples=[
        ("outlast group set vision --stints 4 --stored 500G", "make it, or change these two"),
        ("outlast group set vision --stints none", "no limit on stints any more"),
    ],
    exits=_EXITS,
)
def set_(
    name: Name,
    stints: Annotated[str | None, _limit("--stints", "N", "Stints at the same time")] = None,
    accelerators: Annotated[str | None, _limit("--accelerators", "N", "GPU and NPU cards at the same time")] = None,
    stored: Annotated[str | None, _limit("--stored", "SIZE", "Bytes of checkpoints and outputs, like 500G")] = None,
    queue: Annotated[str | None, _limit("--queue", "QUEUE", "Wait in this queue, see outlast queue")] = None,
    as_json: AsJson = False,
) -> None:
    from outlast.errors import NotFoundError
    from outlast.model.quantities import parse_size
    from outlast.server.accounts.people import Group, Quota
    from outlast.server.terminal import open_desk

    with open_desk(open_client().settings) as desk:
        try:
            old = desk.accounts.groups.get(name)
        except NotFoundError:
            old = Group(name)
        quota = Quota(
            _number("--stints", stints, old.quota.stints, int),
            _number("--accelerators", accelerators, old.quota.accelerators, int),
            _number("--stored", stored, old.quota.stored_bytes, parse_size),
        )
        wanted = old.queue if queue is None else None if queue in _NO_LIMIT else queue
        group = desk.accounts.groups.put(name, quota, wanted)
        desk.note("group.set", name, **group.to_json())
    _show(group, f"set {name}", as_json)


@verb(
    app,
    "join",
    sentence="Let a user belong to a group",
    about="From now on they see the runs of its members, and its members see theirs.",
    examples=[("outlast group join vision bob", "one user"), ("outlast group join vision bob --json", "for programs")],
    exits=_EXITS,
)
def join(name: Name, user: Member, as_json: AsJson = False) -> None:
    from outlast.server.terminal import open_desk

    with open_desk(open_client().settings) as desk:
        group = desk.accounts.groups.join(name, user)
        desk.note("group.join", name, user=user)
    _show(group, f"{user} belongs to {name}", as_json)


@verb(
    app,
    "leave",
    sentence="Take a user out of a group",
    about="Their runs stay theirs; the group no longer sees them.",
    examples=[
        ("outlast group leave vision bob", "one user"),
        ("outlast group leave vision bob --json", "for programs"),
    ],
    exits=_EXITS,
)
def leave(name: Name, user: Member, as_json: AsJson = False) -> None:
    from outlast.server.terminal import open_desk

    with open_desk(open_client().settings) as desk:
        group = desk.accounts.groups.leave(name, user)
        desk.note("group.leave", name, user=user)
    _show(group, f"{user} no longer belongs to {name}", as_json)


@verb(
    app,
    "remove",
    sentence="Dissolve a group",
    about="Its members and their runs stay.",
    examples=[("outlast group remove vision", "by its name"), ("outlast group remove vision --json", "for programs")],
    exits=_EXITS,
)
def remove(name: Name, as_json: AsJson = False) -> None:
    from outlast.server.terminal import open_desk

    with open_desk(open_client().settings) as desk:
        group = desk.accounts.groups.get(name)
        desk.accounts.groups.remove(name)
        desk.note("group.remove", name)
    _show(group, f"removed {name}", as_json)


def _show(group: Group, words: str, as_json: bool) -> None:
    if as_json:
        print_json(group.to_json())
    else:
        print(words)


def _count(value: int | None) -> str:
    return "" if value is None else str(value)


def _number(option: str, text: str | None, old: int | None, read: Callable[[str], int]) -> int | None:
    if text is None:
        return old
    if text in _NO_LIMIT:
        return None
    try:
        return read(text)
    except ValueError:
        raise UsageError(f"{option} {text} is not a limit", hint="a number from 0, or none") from None
