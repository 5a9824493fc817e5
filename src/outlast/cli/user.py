"""`outlast user`: the accounts of the server."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.command import new_group, open_client, print_json, verb
from outlast.cli.options import AsJson
from outlast.errors import UsageError

if TYPE_CHECKING:
    from outlast.server.accounts.people import User

_EXITS = {0: "done", 2: "the request is wrong; nothing was changed", 10: "no such user",
          12: "the database cannot be reached"}  # fmt: skip

app = new_group(
    "user",
    about="Changes accounts in the server's database (the setting database) directly; the server need not run. A new "
    "user gets a link that works once and lets them choose a password. Admins do everything, members run and change "
    "their own runs, viewers look; members and viewers see the runs of their groups.",
    examples=[
        ("outlast user add ann --role admin", "the first account"),
        ("outlast user list", "everybody; the word list may be left out"),
    ],
    exits=_EXITS,
    default="list",
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the user", show_default=False)]
RoleText = Annotated[
    str | None,
    typer.Option("--role", metavar="ROLE", help="admin, member or viewer (default: member)", show_default=False),
]
PasswordStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input", show_default=False)
]


@verb(
    app,
    "list",
    sentence="List users",
    about="Removed ones are shown too: their names stay taken, because runs carry them.",
    examples=[("outlast user list", "as a table"), ("outlast user list --json", "for programs")],
    exits=_EXITS,
)
def list_(as_json: AsJson = False) -> None:
    from outlast.cli.paint import Column, Ink, ago, table
    from outlast.server.terminal import open_desk

    with open_desk(open_client().settings) as desk:
        found = desk.accounts.users.list()
    if as_json:
        print_json([user.to_json() for user in found])
    elif not found:
        print("no users yet; make the first one with: outlast user add NAME --role admin")
    else:
        ink = Ink()
        columns = [Column("name", flexible=True, paint=lambda text: ink("bold", text)), Column("role"),
                   Column("groups", flexible=True), Column("password"), Column("made"), Column("state")]  # fmt: skip
        rows = [
            [user.name, user.role, ", ".join(user.groups), "yes" if user.has_password else "no",
             ago(str(user.to_json()["created_at"])), "" if user.active else "removed"]
            for user in found
        ]  # fmt: skip
        print("\n".join(table(columns, rows, ink)))


@verb(
    app,
    "add",
    sentence="Make an account",
    about="Prints a link that works once, within two days, and lets the new user choose a password. With "
    "--password-stdin the password is set now.",
    examples=[
        ("outlast user add ann --role admin", "an admin"),
        ("outlast user add bob --group vision", "a member of a group"),
    ],
    exits=_EXITS,
)
def add(
    name: Name,
    role: RoleText = None,
    group: Annotated[
        list[str] | None,
        typer.Option("--group", metavar="GROUP", help="Join this group; repeat for more", show_default=False),
    ] = None,
    password_stdin: PasswordStdin = False,
    restore: Annotated[
        bool, typer.Option("--restore", help="Bring back a removed account, with its runs", show_default=False)
    ] = False,
    as_json: AsJson = False,
) -> None:
    from outlast.server.accounts.people import Role, check_role
    from outlast.server.terminal import open_desk

    chosen = check_role(role or "member")
    password = _password() if password_stdin else None
    with open_desk(open_client().settings) as desk:
        if chosen is not Role.ADMIN and not desk.accounts.users.exist():
            raise UsageError("the first account must be an admin's", hint=f"outlast user add {name} --role admin")
        for each in group or []:
            desk.accounts.groups.get(each)
        user = desk.accounts.users.add(name, chosen, password, restore=restore)
        for each in group or []:
            desk.accounts.groups.join(each, name)
        desk.note("user.add", name, role=chosen)
        link = None if password_stdin else desk.link(name)
        _show(desk.accounts.users.get(name), f"added {user.name} ({user.role})", link, as_json)


@verb(
    app,
    "change",
    sentence="Change a role or a password",
    about="A new password ends all sessions of that user; tokens stay.",
    examples=[
        ("outlast user change bob --role viewer", "let bob only look"),
        ("outlast user change bob --password-stdin < secret.txt", "set a password"),
    ],
    exits=_EXITS,
)
def change(name: Name, role: RoleText = None, password_stdin: PasswordStdin = False, as_json: AsJson = False) -> None:
    from outlast.server.accounts.people import check_role
    from outlast.server.terminal import open_desk

    if role is None and not password_stdin:
        raise UsageError("nothing to change", hint="give --role or --password-stdin")
    chosen = check_role(role) if role is not None else None
    password = _password() if password_stdin else None
    with open_desk(open_client().settings) as desk:
        user = desk.accounts.users.change(name, role=chosen, password=password)
        desk.note("user.change", name, role=chosen, password=password is not None)
    _show(user, f"changed {user.name} ({user.role})", None, as_json)


@verb(
    app,
    "link",
    sentence="Make a link that lets a user choose a password",
    about="For a new user, or one who has forgotten theirs. It works once, within two days.",
    examples=[("outlast user link bob", "prints the link"), ("outlast user link bob --json", "for programs")],
    exits=_EXITS,
)
def link(name: Name, as_json: AsJson = False) -> None:
    from outlast.server.terminal import open_desk

    with open_desk(open_client().settings) as desk:
        user = desk.accounts.users.get_active(name)
        desk.note("user.link", name)
        _show(user, f"link for {name}", desk.link(name), as_json)


@verb(
    app,
    "remove",
    sentence="Shut an account",
    about="Tokens and sessions end at once; runs stay, and so does the name. The last admin cannot be removed.",
    examples=[
        ("outlast user remove bob", "by the name"),
        ("outlast user add bob --restore", "brings the account back"),
    ],
    exits=_EXITS,
)
def remove(name: Name, as_json: AsJson = False) -> None:
    from outlast.server.terminal import open_desk

    with open_desk(open_client().settings) as desk:
        user = desk.accounts.users.remove(name)
        desk.note("user.remove", name)
    _show(user, f"removed {name}; their runs stay", None, as_json)


def _show(user: User, words: str, link: str | None, as_json: bool) -> None:
    if as_json:
        print_json(user.to_json() | ({"link": link} if link else {}))
        return
    print(words)
    if link:
        print(f"to choose a password, once, within two days: {link}")


def _password() -> str:
    text = sys.stdin.readline().rstrip("\r\n")
    if not text:
        raise UsageError("no password on standard input", hint="for example: --password-stdin < secret.txt")
    return text
